package github

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// File returns a file of the repository as it is at a ref, a commit or a
// branch's name. One that is not there is ErrNotFound; GitHub hands out files of
// up to 1 MiB this way.
func (c *Client) File(ctx context.Context, path, ref string) ([]byte, error) {
	parts := strings.Split(path, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	var d gh.RepositoryContent
	q := question{method: http.MethodGet, path: "contents/" + strings.Join(parts, "/"), needs: "contents: read", query: url.Values{"ref": {ref}}}
	if _, err := c.do(ctx, q, &d); err != nil {
		return nil, err
	}
	text, err := d.GetContent()
	if err != nil {
		return nil, &Error{Call: q.method + " " + q.path, Status: http.StatusOK, Message: "the file cannot be decoded", cause: err}
	}
	return []byte(text), nil
}
