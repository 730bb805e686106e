package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// ErrPushUnknown: nothing tells when the head of a pull request was pushed.
var ErrPushUnknown = errors.New("when the head was pushed is not known")

// HeadPushed returns when the head of a pull request became the commit that it
// is: what was said of it earlier was said of another one.
//
// A commit's own dates are whatever its maker wrote into it. GitHub keeps the
// time of every push in the head repository's log of activity, which its owner
// cannot write: https://docs.github.com/rest/repos/repos#list-repository-activities.
// The newest entry of the branch is the push, and only if it ends at the commit.
//
// Where that log cannot be read (a private fork, a server that has none), the
// time is the later of two: that of the newest force-push in the pull request's
// log, and that of the first run that a pull_request event started for the
// commit, since the branch last had another one for which such a run started. A
// branch that went back to an earlier commit is so seen either way; a commit
// that starts no workflow ("[skip ci]") in between, and no force-push, is not.
func (c *Client) HeadPushed(ctx context.Context, p PullRequest) (time.Time, error) {
	at, err := c.pushLogged(ctx, p)
	if err == nil || ctx.Err() != nil {
		return at, err
	}
	started, err := c.firstRun(ctx, p)
	if err != nil {
		return time.Time{}, err
	}
	err = c.events(ctx, p.Number, func(e *gh.IssueEvent) {
		if t := e.GetCreatedAt().Time; e.GetEvent() == "head_ref_force_pushed" && t.After(started) {
			started = t
		}
	})
	if err != nil {
		return time.Time{}, err
	}
	return started, nil
}

// pushLogged returns the time of the push by the log of activity.
func (c *Client) pushLogged(ctx context.Context, p PullRequest) (time.Time, error) {
	owner, name, ok := strings.Cut(p.HeadRepository, "/")
	if !ok {
		return time.Time{}, ErrPushUnknown
	}
	// Not every field of it is in go-github's type.
	var entries []struct {
		After string
		Ref   string
		Time  time.Time `json:"timestamp"`
	}
	ref := "refs/heads/" + p.HeadRef
	_, err := c.do(ctx, question{
		method: http.MethodGet, path: fmt.Sprintf("/repos/%s/%s/activity", url.PathEscape(owner), url.PathEscape(name)), needs: "contents: read",
		query: url.Values{"ref": {ref}, "per_page": {"1"}},
	}, &entries)
	if err != nil {
		return time.Time{}, err
	}
	if len(entries) == 0 || entries[0].Ref != ref || entries[0].After != p.HeadSHA || entries[0].Time.IsZero() {
		return time.Time{}, ErrPushUnknown
	}
	return entries[0].Time, nil
}

// firstRun returns when the first of the newest runs that are all of the head's
// commit was created.
func (c *Client) firstRun(ctx context.Context, p PullRequest) (time.Time, error) {
	var first time.Time
	n := 0
	err := each(ctx, c, question{
		method: http.MethodGet, path: "actions/runs", needs: "actions: read",
		query: url.Values{"event": {"pull_request"}, "branch": {p.HeadRef}, "exclude_pull_requests": {"true"}},
	}, "workflow_runs", 100, runKey, func(d runDoc) bool {
		n++
		r := d.run()
		if r.HeadRepositoryID == nil || p.HeadRepositoryID == nil || *r.HeadRepositoryID != *p.HeadRepositoryID ||
			r.HeadBranch != p.HeadRef || r.Event != "pull_request" {
			return n < 100
		}
		if r.HeadSHA != p.HeadSHA {
			return false
		}
		first = r.Created
		return n < 100 // then it is later than it was: the careful side
	})
	if err != nil {
		return time.Time{}, err
	}
	if first.IsZero() {
		return time.Time{}, &Error{Call: fmt.Sprintf("pull request #%d", p.Number), Message: "no push and no run of " + short(p.HeadSHA) + " is on record", cause: ErrPushUnknown}
	}
	return first, nil
}
