package github

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// actionsBot is whom comments made with GITHUB_TOKEN are by.
const actionsBot = "github-actions[bot]"

// A Sticky names the one comment that a pull request has of a suite, or of several
// that one job brings together, and which run speaks in it.
type Sticky struct {
	PullRequest int
	Suites      []string // any texts: they are escaped
	// Merges says that the job speaks for all suites there are, and not for one
	// beside others: a comment that tells of one of these and of more is its own,
	// and what else there is of them is a duplicate. Without it such a comment is
	// left to the job that merges.
	Merges bool
	// RunNumber and Attempt are those of the run that measured: its workflow
	// counts them, so that of two the newer is known. The workflow that only
	// reports counts others.
	RunNumber, Attempt int
	SHA                string // of the head that was measured
}

// Outcome says what became of a comment.
type Outcome int8

// What may become of a comment.
const (
	Absent    Outcome = iota // there is none
	Created                  // there was none
	Edited                   // its text is replaced
	Unchanged                // it said the same
	Newer                    // it is a newer run's, and was left alone
	Wider                    // it tells of several suites, and was left to the job that merges them
)

// A Comment is where a sticky comment is and what became of it.
type Comment struct {
	ID      int64 // 0 where there is none
	URL     string
	Outcome Outcome
}

// A marker is what the first line of a comment, which no reader sees, says of
// what it tells and who wrote it.
type marker struct {
	suites             []string // as they are written
	runNumber, attempt int
}

func (s Sticky) line() string {
	field := "suite"
	if len(s.Suites) > 1 {
		field = "suites"
	}
	return fmt.Sprintf("<!-- noslower:v1 %s=%s run=%d.%d sha=%s -->", field, strings.Join(s.names(), ","), s.RunNumber, s.Attempt, escapeMarker(s.SHA))
}

// names are the suites as a marker has them. What is long stands for itself by its
// digest, behind a mark that escaping never leaves: a comment's room is its text's.
func (s Sticky) names() []string {
	const most = 64
	var names []string
	for _, suite := range s.Suites {
		name := escapeMarker(suite)
		if len(name) > most {
			name = fmt.Sprintf("~%.16x", sha256.Sum256([]byte(suite)))
		}
		names = append(names, name)
	}
	return names
}

// escapeMarker keeps text from ending an HTML comment or its field: all but
// letters and digits of ASCII, ".", "_" and a single "-" become "%" and two
// hexadecimal digits for each byte.
func escapeMarker(s string) string {
	var b strings.Builder
	dash := false
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-' && !dash:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
		dash = c == '-'
	}
	return b.String()
}

// markerLine finds the fields of a marker. The blank after the suites keeps "read"
// from being taken for "readwrite".
var markerLine = regexp.MustCompile(`^<!-- noslower:v1 suites?=(\S*) (?:run=([0-9]{1,9})\.([0-9]{1,9}) )?`)

// markerOf reads the first line of a comment; ok is false if it tells of none of
// the suites.
func (s Sticky) markerOf(body string) (m marker, ok bool) {
	f := markerLine.FindStringSubmatch(body)
	if f == nil {
		return marker{}, false
	}
	m = marker{suites: strings.Split(f[1], ","), runNumber: int(number(f[2])), attempt: int(number(f[3]))}
	return m, slices.ContainsFunc(s.names(), func(name string) bool { return slices.Contains(m.suites, name) })
}

// newer says whether the comment is by a run after that of s.
func (s Sticky) newer(m marker) bool {
	return cmp.Or(cmp.Compare(m.runNumber, s.RunNumber), cmp.Compare(m.attempt, s.Attempt)) > 0
}

// A note is a comment of ours that is there.
type note struct {
	id        int64
	url, body string
	marker    marker
}

// PutComment makes text the sticky comment: edits the one that is there, or
// creates it. One by a newer run stays. Of several, left by runs that raced or by
// jobs that did not merge their suites, the first is kept.
//
// Only comments by the token's own account count: anyone can write the marker.
// A request that may have been obeyed is never sent again before a look at what
// is there, so that no second comment is made.
func (c *Client) PutComment(ctx context.Context, s Sticky, text string) (Comment, error) {
	return c.settle(ctx, s, text, true)
}

// EditComment is PutComment where there is a comment, and nothing where there is
// none: for a comment that is only made on a regression, and says so when it has
// gone.
func (c *Client) EditComment(ctx context.Context, s Sticky, text string) (Comment, error) {
	return c.settle(ctx, s, text, false)
}

func (c *Client) settle(ctx context.Context, s Sticky, text string, create bool) (Comment, error) {
	// As JSON and GitHub will have it: otherwise what is there is never the same.
	body := s.line() + "\n" + strings.ToValidUTF8(text, "\uFFFD")
	author, err := c.author(ctx)
	if err != nil {
		return Comment{}, err
	}
	created, sent := int64(0), false
	for n := 0; n < attempts; n++ {
		own, err := c.notes(ctx, s, author)
		if err != nil {
			return Comment{}, err
		}
		if n, why := s.yields(own); why != Absent {
			// A comment created meanwhile is of no use beside it.
			mine := slices.DeleteFunc(own, func(m note) bool { return m.id != created || m.id == n.id })
			return Comment{n.id, n.url, why}, c.remove(ctx, mine)
		}
		switch {
		case len(own) > 0:
			first, outcome := own[0], Unchanged
			if !sameText(first.body, body) {
				outcome = Edited
				err := c.edit(ctx, first.id, body)
				if errors.Is(err, ErrNotFound) {
					continue // deleted since it was listed
				}
				if err != nil {
					return Comment{}, err
				}
			}
			if first.id == created || outcome == Unchanged && sent {
				outcome = Created
			}
			return Comment{first.id, first.url, outcome}, c.remove(ctx, own[1:])
		case !create:
			return Comment{}, nil
		case created != 0:
			// Created, but not yet in the list: a look at a copy that lags behind.
			return Comment{ID: created, Outcome: Created}, nil
		}
		sent = true
		d, err := c.create(ctx, s.PullRequest, body)
		switch {
		case err == nil:
			// The next round looks whether another run created one too. Whom the
			// answer names is who we are, whatever was assumed.
			created, author = d.GetID(), d.GetUser().GetLogin()
		case unclear(err) && n < attempts-1:
			if err := c.retrier.backoff(ctx, n); err != nil {
				return Comment{}, err
			}
		default:
			return Comment{}, err
		}
	}
	return Comment{}, &Error{Call: fmt.Sprintf("comment on #%d", s.PullRequest), Message: "what is there changes faster than it can be read"}
}

// yields returns the comment that stands in place of one of s, and why; Absent
// where there is none.
func (s Sticky) yields(own []note) (note, Outcome) {
	for _, n := range own {
		switch {
		case s.newer(n.marker):
			return n, Newer
		case !s.Merges && len(n.marker.suites) > 1:
			return n, Wider
		}
	}
	return note{}, Absent
}

// sameText compares what was sent with what came back: line ends and blanks
// around may differ.
func sameText(a, b string) bool {
	clean := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return clean(a) == clean(b)
}

// author returns whom comments made with the token are by. An installation's
// token, as GITHUB_TOKEN is one, may not ask who it is; if it is another app's,
// the answer to the first comment tells.
func (c *Client) author(ctx context.Context) (string, error) {
	if strings.HasPrefix(c.token, "ghs_") {
		return actionsBot, nil
	}
	var u gh.User
	_, err := c.do(ctx, question{method: http.MethodGet, path: "/user"}, &u)
	switch {
	case errors.Is(err, ErrForbidden), errors.Is(err, ErrNotFound):
		return actionsBot, nil
	case err != nil:
		return "", err
	}
	return u.GetLogin(), nil
}

// notes returns the comments of the suites by author, the first one first.
func (c *Client) notes(ctx context.Context, s Sticky, author string) ([]note, error) {
	var own []note
	err := each(ctx, c, question{
		method: http.MethodGet, path: fmt.Sprintf("issues/%d/comments", s.PullRequest), needs: "pull-requests: read",
	}, "", 100, func(d *gh.IssueComment) string { return strconv.FormatInt(d.GetID(), 10) }, func(d *gh.IssueComment) bool {
		if m, ok := s.markerOf(d.GetBody()); ok && d.GetUser().GetLogin() == author {
			own = append(own, note{d.GetID(), d.GetHTMLURL(), d.GetBody(), m})
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(own, func(a, b note) int { return cmp.Compare(a.id, b.id) })
	return own, nil
}

type commentDoc struct {
	Body string `json:"body"`
}

func (c *Client) create(ctx context.Context, number int, body string) (*gh.IssueComment, error) {
	var d gh.IssueComment
	_, err := c.do(ctx, question{
		method: http.MethodPost, path: fmt.Sprintf("issues/%d/comments", number), body: commentDoc{body}, needs: "pull-requests: write",
	}, &d)
	return &d, err
}

func (c *Client) edit(ctx context.Context, id int64, body string) error {
	_, err := c.do(ctx, question{
		method: http.MethodPatch, path: fmt.Sprintf("issues/comments/%d", id), body: commentDoc{body}, needs: "pull-requests: write",
	}, nil)
	return err
}

// remove deletes comments; one that is gone already is no error.
func (c *Client) remove(ctx context.Context, notes []note) error {
	for _, n := range notes {
		_, err := c.do(ctx, question{
			method: http.MethodDelete, path: fmt.Sprintf("issues/comments/%d", n.id), needs: "pull-requests: write",
		}, nil)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}
