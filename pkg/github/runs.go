package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Run is a run of a workflow. Whether it may be trusted is for others to say;
// nothing here is of the making of who opened a pull request but its branch's
// name.
type Run struct {
	ID         int64
	Number     int       // counts the runs of its workflow
	Attempt    int       // 1 for the first
	Event      string    // what started it
	Status     string    // "completed", …
	Conclusion string    // "success", "failure", …; "" before the end
	Created    time.Time // a re-run keeps it
	Started    time.Time // of the newest attempt
	URL        string    // for people

	// Path is the workflow's file, such as ".github/workflows/bench.yml";
	// PathRef what follows an "@" there, "" for none. Gitea always tells the
	// ref, "refs/heads/main", and of a pull request "refs/pull/7/head".
	Path, PathRef string
	WorkflowID    int64

	HeadBranch string // any branch's name, a fork's too, or a tag's
	HeadSHA    string
	// RepositoryID is where it ran; 0 where Gitea does not say.
	RepositoryID int64
	// HeadRepositoryID is where the head is from; nil where it is not told, as
	// by Gitea, or is deleted.
	HeadRepositoryID *int64
	HeadRepository   string // owner/name; "" with the above
}

// runDoc is a run as API and events tell it. go-github has no path.
type runDoc struct {
	ID         int64
	RunNumber  int `json:"run_number"`
	RunAttempt int `json:"run_attempt"`
	Event      string
	Status     string
	Conclusion string
	CreatedAt  time.Time `json:"created_at"`
	RunStarted time.Time `json:"run_started_at"`
	HTMLURL    string    `json:"html_url"`
	Path       string
	WorkflowID looseInt `json:"workflow_id"` // of Gitea the file's name
	HeadBranch string   `json:"head_branch"`
	HeadSHA    string   `json:"head_sha"`
	Repository repositoryDoc
	Head       *repositoryDoc `json:"head_repository"`
}

type repositoryDoc struct {
	ID       int64
	FullName string `json:"full_name"`
}

func (d runDoc) run() Run {
	r := Run{
		ID: d.ID, Number: d.RunNumber, Attempt: d.RunAttempt, Event: d.Event, Status: d.Status, Conclusion: d.Conclusion,
		Created: d.CreatedAt, Started: d.RunStarted, URL: d.HTMLURL, WorkflowID: int64(d.WorkflowID),
		HeadBranch: d.HeadBranch, HeadSHA: d.HeadSHA, RepositoryID: d.Repository.ID,
	}
	r.Path, r.PathRef, _ = strings.Cut(d.Path, "@")
	if d.Head != nil && d.Head.ID != 0 {
		r.HeadRepositoryID, r.HeadRepository = &d.Head.ID, d.Head.FullName
	}
	return r
}

// Runs returns the newest runs of a workflow on a branch that one of the events
// started, newest first, at most limit for each event. workflow is the name of
// the file, or its path.
//
// Each event is a request of its own, which is why a flood of pull requests from
// branches of the same name hides nothing. A workflow that the repository does
// not know is ErrNotFound.
func (c *Client) Runs(ctx context.Context, workflow, branch string, events []string, limit int) ([]Run, error) {
	file := workflow[strings.LastIndexByte(workflow, '/')+1:]
	limit = min(max(limit, 1), 100)
	var runs []Run
	for _, event := range events {
		found := 0
		err := each(ctx, c, question{
			method: http.MethodGet, path: "actions/workflows/" + url.PathEscape(file) + "/runs", needs: "actions: read",
			query: url.Values{"branch": {branch}, "event": {event}, "exclude_pull_requests": {"true"}},
		}, "workflow_runs", limit, runKey, func(d runDoc) bool {
			// A server that does not know a filter ignores it.
			if d.Event == event && d.HeadBranch == branch {
				runs = append(runs, d.run())
				found++
			}
			return found < limit
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(b.ID, a.ID) })
	return runs, nil
}

func runKey(d runDoc) string { return strconv.FormatInt(d.ID, 10) }

// Run returns a run as it is now.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) {
	var d runDoc
	_, err := c.do(ctx, question{
		method: http.MethodGet, path: fmt.Sprintf("actions/runs/%d", id), needs: "actions: read",
		query: url.Values{"exclude_pull_requests": {"true"}},
	}, &d)
	if err != nil {
		return Run{}, err
	}
	return d.run(), nil
}
