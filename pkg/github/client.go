package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// A Client calls the REST API for one repository.
//
// Each call has a timeout and is repeated as retrier says; what may not be sent
// twice is looked for before it is sent again.
type Client struct {
	gh          *gh.Client
	owner, repo string
	repoID      int64
	token       string
	retrier     *retrier
}

// New returns a client for the repository of a workflow's run. token may be
// empty: what is public can be read.
func New(c Context, token string, o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(cmp.Or(c.APIURL, "https://api.github.com"), "/") + "/")
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("GITHUB_API_URL: want a URL such as https://api.github.com, have %q", c.APIURL)
	}
	if c.Owner == "" || c.Repository == "" {
		return nil, errors.New("GITHUB_REPOSITORY: want owner/name, have nothing")
	}
	o = o.withDefaults()
	r := &retrier{
		pause: &pause{o: o}, origin: originOf(base), token: token,
		most: maxAnswer, timeout: cmp.Or(o.Timeout, 30*time.Second),
	}
	client := gh.NewClient(&http.Client{Transport: r})
	client.BaseURL = base // as it is: go-github's own way appends /api/v3, which a Gitea is not under
	client.UserAgent = userAgent
	return &Client{client, c.Owner, c.Repository, c.RepositoryID, token, r}, nil
}

// A question is a request to the API.
type question struct {
	method string
	path   string // below /repos/{owner}/{repo}; one that begins with "/" is below the API's base
	query  url.Values
	body   any    // sent as JSON; nil for none
	needs  string // the permission of the token, for the hint of a refusal
}

// do asks, and decodes the answer into v, which may be nil.
func (c *Client) do(ctx context.Context, q question, v any) (http.Header, error) {
	path, below := strings.CutPrefix(q.path, "/")
	if !below {
		path = strings.TrimSuffix(fmt.Sprintf("repos/%s/%s/%s", url.PathEscape(c.owner), url.PathEscape(c.repo), q.path), "/")
	}
	call := q.method + " /" + path
	if len(q.query) > 0 {
		path += "?" + q.query.Encode()
	}
	req, err := c.gh.NewRequest(q.method, path, q.body)
	if err != nil {
		return nil, &Error{Call: call, Message: plain(err).Error(), cause: err}
	}
	resp, err := c.gh.Do(ctx, req, v)
	if err != nil {
		return nil, c.fault(call, q.needs, err)
	}
	return resp.Header, nil
}

// fault returns what go-github says as an error of ours.
func (c *Client) fault(call, needs string, err error) error {
	e := &Error{Call: call, Message: plain(err).Error(), cause: plain(err)}
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		body, _ := io.ReadAll(answer.Response.Body)
		e.Status = answer.Response.StatusCode
		e.Message = cmp.Or(messageOf(body), http.StatusText(e.Status))
		e.cause = causeOf(e.Status, e.Message)
		if errors.Is(e.cause, ErrForbidden) && needs != "" {
			e.Hint = fmt.Sprintf("the job needs the permission %q; the token of a pull request from a fork never has more than read", needs)
		}
	}
	e.Message = c.redact(oneLine(e.Message))
	return e
}

// redact takes the token out of text: some servers echo what they were sent.
func (c *Client) redact(s string) string {
	if c.token == "" {
		return s
	}
	return strings.ReplaceAll(s, c.token, "***")
}

// maxPages bounds a list. GitHub holds at most 2,500 comments on an issue.
const maxPages = 30

// each asks for the pages of a list and calls f with every item, until f
// returns false. The items are under key in the answer, or the answer itself
// where key is "".
//
// Whether there is another page is told by the Link header; without one by the
// total count; without that by a page being full. Gitea pages by "limit", of
// which it gives at most 50, sends no Link with artifacts, and comments all at
// once whatever page is asked for: an item seen before ends the list.
func each[T any](ctx context.Context, c *Client, q question, key string, perPage int, id func(T) string, f func(T) bool) error {
	query := url.Values{}
	for k, v := range q.query {
		query[k] = v
	}
	query.Set("per_page", strconv.Itoa(perPage))
	query.Set("limit", strconv.Itoa(perPage))
	seen := map[string]bool{}
	for page := 1; page <= maxPages; page++ {
		query.Set("page", strconv.Itoa(page))
		q.query = query
		var raw bytes.Buffer
		header, err := c.do(ctx, q, &raw)
		if err != nil {
			return err
		}
		items, total, err := pageOf[T](raw.Bytes(), key)
		if err != nil {
			return &Error{Call: q.method + " " + q.path, Status: http.StatusOK, Message: "the answer is not understood: " + oneLine(err.Error()), cause: err}
		}
		fresh := false
		for _, item := range items {
			if k := id(item); !seen[k] {
				seen[k], fresh = true, true
				if !f(item) {
					return nil
				}
			}
		}
		link := header.Get("Link")
		switch {
		case !fresh:
			return nil
		case link != "":
			if !strings.Contains(link, `rel="next"`) {
				return nil
			}
		case total >= 0:
			if len(seen) >= total {
				return nil
			}
		case len(items) < perPage:
			return nil
		}
	}
	return &Error{Call: q.method + " " + q.path, Status: http.StatusOK, Message: fmt.Sprintf("more than %d pages", maxPages), cause: ErrTooBig}
}

// pageOf decodes a page; total is -1 where it is not told.
func pageOf[T any](raw []byte, key string) (items []T, total int, err error) {
	if key == "" {
		err = json.Unmarshal(raw, &items)
		return items, -1, err
	}
	var page map[string]json.RawMessage
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, 0, err
	}
	total = -1
	if n, ok := page["total_count"]; ok {
		if err := json.Unmarshal(n, &total); err != nil {
			return nil, 0, err
		}
	}
	if list, ok := page[key]; ok {
		err = json.Unmarshal(list, &items)
	}
	return items, total, err
}

// A Repository is what the API says of the client's repository.
type Repository struct {
	ID            int64
	DefaultBranch string
}

// Repository asks what the environment left out, as under act.
func (c *Client) Repository(ctx context.Context) (Repository, error) {
	var r gh.Repository
	if _, err := c.do(ctx, question{method: http.MethodGet, needs: "metadata: read"}, &r); err != nil {
		return Repository{}, err
	}
	return Repository{r.GetID(), r.GetDefaultBranch()}, nil
}
