package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// Why a run or a merge group has no pull request to speak in.
var (
	// ErrNoPullRequest: no open one has this head.
	ErrNoPullRequest = errors.New("no open pull request")
	// ErrHeadMoved: there is one, and its head is another commit by now. What
	// was measured is out of date.
	ErrHeadMoved = errors.New("the head of the pull request has moved on")
	// ErrAmbiguous: several have this head, into different branches.
	ErrAmbiguous = errors.New("more than one open pull request")
)

// A PullRequest is a pull request as it is now.
type PullRequest struct {
	Number  int
	State   string // "open" or "closed"
	Draft   bool
	HeadSHA string
	HeadRef string // the name of the branch in the head repository
	// HeadRepositoryID is nil where the head repository is deleted.
	HeadRepositoryID *int64
	HeadRepository   string // owner/name
	BaseSHA          string
	BaseRef          string // the name of the branch
	BaseRepositoryID int64
	Labels           []string
	URL              string // for people
}

type pullDoc struct {
	Number int
	State  string
	Draft  bool
	URL    string `json:"html_url"`
	Head   endDoc
	Base   endDoc
	Labels []struct{ Name string }
}

type endDoc struct {
	SHA  string
	Ref  string
	Repo *repositoryDoc
}

func (d pullDoc) pull() PullRequest {
	p := PullRequest{
		Number: d.Number, State: d.State, Draft: d.Draft, URL: d.URL,
		HeadSHA: d.Head.SHA, HeadRef: d.Head.Ref, BaseSHA: d.Base.SHA, BaseRef: d.Base.Ref,
	}
	if r := d.Head.Repo; r != nil && r.ID != 0 {
		p.HeadRepositoryID, p.HeadRepository = &r.ID, r.FullName
	}
	if d.Base.Repo != nil {
		p.BaseRepositoryID = d.Base.Repo.ID
	}
	for _, l := range d.Labels {
		p.Labels = append(p.Labels, l.Name)
	}
	return p
}

// PullRequest returns a pull request. A number that is none is ErrNotFound.
func (c *Client) PullRequest(ctx context.Context, number int) (PullRequest, error) {
	var d pullDoc
	_, err := c.do(ctx, question{
		method: http.MethodGet, path: fmt.Sprintf("pulls/%d", number), needs: "pull-requests: read",
	}, &d)
	if err != nil {
		return PullRequest{}, err
	}
	return d.pull(), nil
}

// PullRequestOf returns the one open pull request whose head a run measured:
// the same commit, of the same repository and branch, into this repository.
// Otherwise the error is ErrNoPullRequest, ErrHeadMoved or ErrAmbiguous.
//
// Nothing that the run itself left behind is asked: of a fork, that is the
// fork's own to write. GitHub's list of pull requests in a run is empty for
// forks.
func (c *Client) PullRequestOf(ctx context.Context, run Run) (PullRequest, error) {
	call := fmt.Sprintf("pull request of run %d", run.ID)
	owner, _, _ := strings.Cut(run.HeadRepository, "/")
	if run.HeadRepositoryID == nil || owner == "" {
		return PullRequest{}, &Error{Call: call, Message: "the repository of its head is not known", cause: ErrNoPullRequest}
	}
	var here, moved []string
	var found PullRequest
	err := each(ctx, c, question{
		method: http.MethodGet, path: "pulls", needs: "pull-requests: read",
		query: url.Values{"state": {"open"}, "head": {owner + ":" + run.HeadBranch}},
	}, "", 100, func(d pullDoc) string { return strconv.Itoa(d.Number) }, func(d pullDoc) bool {
		p := d.pull()
		// A server that does not know the filter ignores it; and an owner may
		// have two forks.
		if p.State != "open" || p.HeadRepositoryID == nil || *p.HeadRepositoryID != *run.HeadRepositoryID ||
			p.HeadRef != run.HeadBranch || p.BaseRepositoryID != c.repoID {
			return true
		}
		if p.HeadSHA != run.HeadSHA {
			moved = append(moved, fmt.Sprintf("#%d is at %s", p.Number, short(p.HeadSHA)))
			return true
		}
		here, found = append(here, fmt.Sprintf("#%d", p.Number)), p
		return true
	})
	if err != nil {
		return PullRequest{}, err
	}
	subject := fmt.Sprintf("%s of %s", short(run.HeadSHA), oneLine(run.HeadRepository))
	switch {
	case len(here) == 1:
		return found, nil
	case len(here) > 1:
		return PullRequest{}, &Error{Call: call, Message: subject + " is the head of " + strings.Join(here, " and "), cause: ErrAmbiguous}
	case len(moved) > 0:
		return PullRequest{}, &Error{Call: call, Message: subject + " is not the head now: " + strings.Join(moved, ", "), cause: ErrHeadMoved}
	}
	return PullRequest{}, &Error{Call: call, Message: "no open one has " + subject + " for its head", cause: ErrNoPullRequest}
}

// MergeGroupPull returns the pull request at the end of a merge group: the one
// its branch is named for, if it is open and into the group's base.
func (c *Client) MergeGroupPull(ctx context.Context, g MergeGroup) (PullRequest, error) {
	none := &Error{Call: "pull request of the merge group " + short(g.HeadSHA), cause: ErrNoPullRequest}
	if g.Number == 0 {
		none.Message = "its branch names none"
		return PullRequest{}, none
	}
	p, err := c.PullRequest(ctx, g.Number)
	if err != nil {
		return PullRequest{}, err
	}
	if p.State != "open" || p.BaseRef != g.BaseRef || p.BaseRepositoryID != c.repoID {
		none.Message = fmt.Sprintf("its branch names #%d, which is %s and into %s", p.Number, p.State, oneLine(p.BaseRef))
		return PullRequest{}, none
	}
	return p, nil
}

func short(sha string) string { return oneLine(sha[:min(len(sha), 9)]) }

// A Labeling is when a label was put on a pull request.
type Labeling struct {
	By string // the login of who did it; "" for an account that is deleted
	At time.Time
}

// Label returns who put a label on a pull request last, and when; ok is false
// where it is not on it now. It is read from the log of the pull request: an
// event's payload is as old as the event, and says nothing of who. Gitea has no
// such log: ErrNotFound.
func (c *Client) Label(ctx context.Context, number int, label string) (l Labeling, ok bool, err error) {
	err = c.events(ctx, number, func(e *gh.IssueEvent) {
		if !strings.EqualFold(e.GetLabel().GetName(), label) {
			return
		}
		switch e.GetEvent() {
		case "labeled":
			l, ok = Labeling{e.GetActor().GetLogin(), e.GetCreatedAt().Time}, true
		case "unlabeled":
			l, ok = Labeling{}, false
		}
	})
	if err != nil {
		return Labeling{}, false, err
	}
	return l, ok, nil
}

// events calls f with what happened to a pull request, in order.
func (c *Client) events(ctx context.Context, number int, f func(*gh.IssueEvent)) error {
	var all []*gh.IssueEvent
	err := each(ctx, c, question{
		method: http.MethodGet, path: fmt.Sprintf("issues/%d/events", number), needs: "pull-requests: read",
	}, "", 100, func(e *gh.IssueEvent) string { return strconv.FormatInt(e.GetID(), 10) }, func(e *gh.IssueEvent) bool {
		all = append(all, e)
		return true
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b *gh.IssueEvent) int {
		return a.GetCreatedAt().Compare(b.GetCreatedAt().Time)
	})
	for _, e := range all {
		f(e)
	}
	return nil
}
