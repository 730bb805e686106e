package github

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// maxEvent bounds the file of an event, in bytes: GitHub sends webhooks of at
// most 25 MB. https://docs.github.com/webhooks/webhook-events-and-payloads
const maxEvent = 32 << 20

// A Context is what a step knows of its workflow's run: from the environment,
// https://docs.github.com/actions/reference/workflows-and-actions/variables,
// and from the event. act and Gitea leave out some of it; what is absent is
// zero.
//
// What the event says of a pull request is as old as the event: a re-run keeps
// it. Ask the API for its labels and its head.
type Context struct {
	EventName string // "push", "pull_request", …
	Action    string // of the event: "synchronize", "labeled", …

	Owner         string // of the repository
	Repository    string // its name, without the owner
	RepositoryID  int64
	DefaultBranch string // its name; not from the environment, so absent with some events

	SHA     string // GITHUB_SHA: of a pull request the test merge, not the head
	Ref     string // "refs/heads/main", "refs/pull/7/merge", …
	RefName string // "main", "7/merge", …

	RunID     int64
	RunNumber int // counts the runs of this workflow; a re-run keeps it
	Attempt   int // 1, and 1 more for each re-run
	Job       string
	// WorkflowPath is the workflow's file in the repository, such as
	// ".github/workflows/bench.yml".
	WorkflowPath string

	ServerURL string // "https://github.com"
	APIURL    string // "https://api.github.com", "https://HOST/api/v3"; of Gitea "https://HOST/api/v1"
	Actor     string
	// RetentionDays is how long artifacts are kept at most; 0 is unknown.
	RetentionDays int

	PullRequest *PullRequestEvent // of pull_request and pull_request_target
	MergeGroup  *MergeGroup       // of merge_group
	WorkflowRun *Run              // of workflow_run: the run that this one follows
}

// RunURL is the page of a workflow run of the repository.
func (c *Context) RunURL(id int64) string {
	return fmt.Sprintf("%s/%s/%s/actions/runs/%d", c.ServerURL, c.Owner, c.Repository, id)
}

// A PullRequestEvent is the pull request as the event has it.
type PullRequestEvent struct {
	Number  int
	Draft   bool
	HeadSHA string
	HeadRef string // the name of the branch in the head repository
	// HeadRepositoryID is nil where the head repository is deleted.
	HeadRepositoryID *int64
	HeadRepository   string // owner/name
	BaseSHA          string // of the base branch when the event was made; the test merge may stand on a later one
	BaseRef          string // name of the branch
	// Fork: the head is in another repository, so that the token is read-only.
	Fork bool
}

// A MergeGroup is what a merge queue tests.
// https://docs.github.com/webhooks/webhook-events-and-payloads#merge_group
type MergeGroup struct {
	BaseSHA string
	HeadSHA string
	BaseRef string // name of the branch, without refs/heads/
	// Number is that of the pull request after which GitHub named the group's
	// branch, gh-readonly-queue/BASE/pr-NUMBER-SHA; 0 where it is named
	// otherwise. A hint: MergeGroupPull asks the API.
	Number int
}

// ReadContext reads the environment, and the event's file that it names.
func ReadContext(getenv func(string) string) (Context, error) {
	path := getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return parseContext(getenv, nil)
	}
	f, err := os.Open(path)
	if err != nil {
		return Context{}, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	defer f.Close()
	event, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return Context{}, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	return parseContext(getenv, event)
}

// parseContext reads the environment and an event's bytes, which may be none.
func parseContext(getenv func(string) string, event []byte) (Context, error) {
	if len(event) > maxEvent {
		return Context{}, fmt.Errorf("event: want at most %d bytes, have more", maxEvent)
	}
	c := Context{
		EventName: getenv("GITHUB_EVENT_NAME"),
		SHA:       getenv("GITHUB_SHA"),
		Ref:       getenv("GITHUB_REF"),
		RefName:   getenv("GITHUB_REF_NAME"),
		Job:       getenv("GITHUB_JOB"),
		ServerURL: getenv("GITHUB_SERVER_URL"),
		APIURL:    getenv("GITHUB_API_URL"),
		Actor:     getenv("GITHUB_ACTOR"),

		RunID:         number(getenv("GITHUB_RUN_ID")),
		RunNumber:     int(number(getenv("GITHUB_RUN_NUMBER"))),
		Attempt:       int(number(getenv("GITHUB_RUN_ATTEMPT"))),
		RetentionDays: int(number(getenv("GITHUB_RETENTION_DAYS"))),
		RepositoryID:  number(getenv("GITHUB_REPOSITORY_ID")),
	}
	c.Owner, c.Repository, _ = strings.Cut(getenv("GITHUB_REPOSITORY"), "/")
	// owner/name/.github/workflows/x.yml@ref: a branch may hold an "@" too.
	if file, _, ok := strings.Cut(getenv("GITHUB_WORKFLOW_REF"), "@"); ok {
		c.WorkflowPath = strings.TrimPrefix(file, c.Owner+"/"+c.Repository+"/")
	}
	if len(event) == 0 {
		return c, nil
	}
	var e eventDoc
	if err := json.Unmarshal(event, &e); err != nil {
		return Context{}, fmt.Errorf("event: want the JSON that GITHUB_EVENT_PATH names: %w", err)
	}
	c.Action = e.Action
	c.DefaultBranch = e.Repository.DefaultBranch
	if c.RepositoryID == 0 {
		c.RepositoryID = e.Repository.ID
	}
	// An event may hold more than it is about: workflow_run lists pull requests.
	switch c.EventName {
	case "pull_request", "pull_request_target":
		if e.PullRequest != nil {
			c.PullRequest = e.PullRequest.event(e.Number, c.RepositoryID)
		}
	case "merge_group":
		if e.MergeGroup != nil {
			c.MergeGroup = e.MergeGroup.group()
		}
	case "workflow_run":
		if e.WorkflowRun != nil {
			run := e.WorkflowRun.run()
			c.WorkflowRun = &run
		}
	}
	return c, nil
}

// number reads a variable that holds one; anything else is 0, as with none.
func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// The event's own types: only what is read of it.
type (
	eventDoc struct {
		Action      string
		Number      int
		PullRequest *pullDoc       `json:"pull_request"`
		MergeGroup  *mergeGroupDoc `json:"merge_group"`
		WorkflowRun *runDoc        `json:"workflow_run"`
		Repository  struct {
			ID            int64
			DefaultBranch string `json:"default_branch"`
		}
	}
	mergeGroupDoc struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	}
)

func (d *pullDoc) event(number int, repositoryID int64) *PullRequestEvent {
	p := d.pull()
	if p.Number == 0 {
		p.Number = number
	}
	return &PullRequestEvent{
		Number: p.Number, Draft: p.Draft,
		HeadSHA: p.HeadSHA, HeadRef: p.HeadRef, HeadRepositoryID: p.HeadRepositoryID, HeadRepository: p.HeadRepository,
		BaseSHA: p.BaseSHA, BaseRef: p.BaseRef,
		// The API's own field "fork" of the head says whether that repository is
		// a fork of any, as ours itself may be.
		Fork: p.HeadRepositoryID == nil || *p.HeadRepositoryID != repositoryID,
	}
}

var queueRef = regexp.MustCompile(`^(?:refs/heads/)?gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{7,64}$`)

func (d *mergeGroupDoc) group() *MergeGroup {
	g := &MergeGroup{BaseSHA: d.BaseSHA, HeadSHA: d.HeadSHA, BaseRef: strings.TrimPrefix(d.BaseRef, "refs/heads/")}
	if m := queueRef.FindStringSubmatch(d.HeadRef); m != nil {
		g.Number = int(number(m[1]))
	}
	return g
}
