package github

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An Artifact is a zip file that a run left behind. What a server does not tell
// is nil, which is not the same as zero: Gitea tells neither digest, nor head
// repository, nor head branch.
type Artifact struct {
	ID      int64
	Name    string
	Size    int64 // bytes of the zip, as told: a download has its own bound
	Expired bool
	Created time.Time
	Digest  *string // "sha256:" and hexadecimal digits, of the zip
	RunID   int64   // 0 where it is not told

	RepositoryID     *int64
	HeadRepositoryID *int64
	HeadBranch       *string
	HeadSHA          *string
}

// artifactDoc has what go-github's type lacks: the digest, and what is not told
// apart from zero.
type artifactDoc struct {
	ID        int64
	Name      string
	Size      int64 `json:"size_in_bytes"`
	Expired   bool
	CreatedAt time.Time `json:"created_at"`
	Digest    *string
	Run       *struct {
		ID               int64
		RepositoryID     *int64  `json:"repository_id"`
		HeadRepositoryID *int64  `json:"head_repository_id"`
		HeadBranch       *string `json:"head_branch"`
		HeadSHA          *string `json:"head_sha"`
	} `json:"workflow_run"`
}

func (d artifactDoc) artifact() Artifact {
	a := Artifact{ID: d.ID, Name: d.Name, Size: d.Size, Expired: d.Expired, Created: d.CreatedAt, Digest: d.Digest}
	if d.Run != nil {
		a.RunID = d.Run.ID
		a.RepositoryID, a.HeadRepositoryID = d.Run.RepositoryID, d.Run.HeadRepositoryID
		a.HeadBranch, a.HeadSHA = d.Run.HeadBranch, d.Run.HeadSHA
	}
	return a
}

// Artifacts returns the artifacts of a run, the one uploaded last first, expired
// ones too. With a name, only those that Results.Upload made for it: of that
// name, or of that name with the attempt's suffix where the name was taken. A
// re-run may leave two of one name.
func (c *Client) Artifacts(ctx context.Context, run Run, name string) ([]Artifact, error) {
	names := []string{name}
	if name != "" {
		// The suffix first after a re-run: what it has is newer.
		names = append(names, attemptName(name, max(run.Attempt, 1)))
		if run.Attempt > 1 {
			slices.Reverse(names)
		}
	}
	for _, name := range names {
		found, err := c.artifactsNamed(ctx, run.ID, name)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, nil
}

func (c *Client) artifactsNamed(ctx context.Context, run int64, name string) ([]Artifact, error) {
	q := question{method: http.MethodGet, path: fmt.Sprintf("actions/runs/%d/artifacts", run), needs: "actions: read", query: url.Values{}}
	if name != "" {
		q.query.Set("name", name)
	}
	var found []Artifact
	key := func(d artifactDoc) string { return strconv.FormatInt(d.ID, 10) }
	err := each(ctx, c, q, "artifacts", 100, key, func(d artifactDoc) bool {
		if name == "" || d.Name == name {
			found = append(found, d.artifact())
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Artifact) int { return cmp.Compare(b.ID, a.ID) })
	return found, nil
}

// attemptName is what an artifact is called where its own name is taken.
func attemptName(name string, attempt int) string { return fmt.Sprintf("%s-a%d", name, attempt) }

// Download returns the zip of an artifact: at most most bytes, and those whose
// digest is told, if one is.
//
// The API answers with a signed URL of another host, valid for a minute, which
// is asked without the token: the storage refuses a second authorization, and
// is not to see it.
func (c *Client) Download(ctx context.Context, a Artifact, most int64) ([]byte, error) {
	call := fmt.Sprintf("artifact %q (%d)", a.Name, a.ID)
	switch {
	case a.Expired:
		return nil, &Error{Call: call, Message: "it has expired", cause: ErrGone}
	case a.Size > most:
		return nil, &Error{Call: call, Message: fmt.Sprintf("want at most %d bytes, have %d", most, a.Size), cause: ErrTooBig}
	}
	blobs := &retrier{pause: c.retrier.pause, most: most, timeout: c.retrier.timeout}
	for n := 0; ; n++ {
		target, err := c.archiveURL(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		data, again, err := fetch(ctx, blobs, target)
		if err == nil {
			if err := verify(call, data, a.Digest); err != nil {
				return nil, err
			}
			return data, nil
		}
		if !again || n == attempts-1 || ctx.Err() != nil {
			return nil, &Error{Call: call, Message: oneLine(plain(err).Error()), cause: plain(err)}
		}
		if err := c.retrier.backoff(ctx, n); err != nil {
			return nil, &Error{Call: call, Message: err.Error(), cause: err}
		}
	}
}

// archiveURL returns where the zip of an artifact lies.
func (c *Client) archiveURL(ctx context.Context, id int64) (*url.URL, error) {
	path := fmt.Sprintf("repos/%s/%s/actions/artifacts/%d/zip", url.PathEscape(c.owner), url.PathEscape(c.repo), id)
	call := "GET /" + path
	req, err := c.gh.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, &Error{Call: call, Message: plain(err).Error(), cause: err}
	}
	// Not by go-github: it takes only a 302 for an answer and hides the others.
	stay := &http.Client{Transport: c.retrier, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := stay.Do(req.WithContext(ctx))
	if err != nil {
		return nil, c.fault(call, "actions: read", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusFound {
		body, _ := io.ReadAll(resp.Body)
		e := &Error{Call: call, Status: resp.StatusCode, Message: c.redact(oneLine(cmp.Or(messageOf(body), http.StatusText(resp.StatusCode))))}
		if e.cause = causeOf(e.Status, e.Message); errors.Is(e.cause, ErrForbidden) {
			e.Hint = `the job needs the permission "actions: read"`
		}
		return nil, e
	}
	target, err := resp.Location()
	if err != nil {
		return nil, &Error{Call: call, Status: resp.StatusCode, Message: "a redirection to nowhere"}
	}
	if target.Scheme != "https" && target.Scheme != c.gh.BaseURL.Scheme {
		return nil, &Error{Call: call, Status: resp.StatusCode, Message: fmt.Sprintf("a redirection to %s:, want https:", target.Scheme)}
	}
	return target, nil
}

// fetch gets a signed URL; again says whether a new one may do better.
func fetch(ctx context.Context, via http.RoundTripper, target *url.URL) (data []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, false, err
	}
	resp, err := (&http.Client{Transport: via}).Do(req)
	if err != nil {
		return nil, !errors.Is(err, ErrTooBig) && !errors.Is(err, ErrRateLimited), err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		// 403 is what Azure answers after the minute.
		return nil, resp.StatusCode == http.StatusForbidden, fmt.Errorf("the storage at %s answers with status %d", target.Host, resp.StatusCode)
	}
	data, err = io.ReadAll(resp.Body)
	return data, true, err
}

// verify compares data with a digest that was told.
func verify(call string, data []byte, digest *string) error {
	if digest == nil {
		return nil
	}
	if have := digestOf(data); !strings.EqualFold(have, *digest) {
		return &Error{Call: call, Message: fmt.Sprintf("its digest differs: want %s, have %s", oneLine(*digest), have), cause: ErrDigest}
	}
	return nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// A looseInt is a number that some servers put into a string, and is 0 where
// the string is none: protojson quotes 64-bit numbers, and a workflow's number
// is the name of its file with Gitea.
type looseInt int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseInt) UnmarshalJSON(data []byte) error {
	*n = 0
	data = bytes.Trim(data, `"`)
	v, err := json.Number(data).Int64()
	if err == nil {
		*n = looseInt(v)
	}
	return nil
}
