package github

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func body(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

func ptr[T any](v T) *T { return &v }

var fullEnvironment = map[string]string{
	"GITHUB_REPOSITORY": "noslower/sample", "GITHUB_REPOSITORY_ID": "1001",
	"GITHUB_SHA": "c0ffee", "GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main",
	"GITHUB_RUN_ID": "5001", "GITHUB_RUN_NUMBER": "17", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_JOB": "bench",
	"GITHUB_WORKFLOW_REF": "noslower/sample/.github/workflows/bench.yml@refs/heads/a@b",
	"GITHUB_SERVER_URL":   "https://github.com", "GITHUB_API_URL": "https://api.github.com",
	"GITHUB_ACTOR": "someone", "GITHUB_RETENTION_DAYS": "90",
}

func parse(t *testing.T, event, payload string, env map[string]string) Context {
	t.Helper()
	c, err := parseContext(func(name string) string {
		if name == "GITHUB_EVENT_NAME" {
			return event
		}
		return env[name]
	}, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContext(t *testing.T) {
	want := Context{
		EventName: "push", Owner: "noslower", Repository: "sample", RepositoryID: 1001, DefaultBranch: "main",
		SHA: "c0ffee", Ref: "refs/heads/main", RefName: "main", RunID: 5001, RunNumber: 17, Attempt: 2, Job: "bench",
		WorkflowPath: ".github/workflows/bench.yml", ServerURL: "https://github.com", APIURL: "https://api.github.com",
		Actor: "someone", RetentionDays: 90,
	}
	got := parse(t, "push", `{"repository":{"id":1001,"default_branch":"main"}}`, fullEnvironment)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("context\n%+v, want\n%+v", got, want)
	}
}

// TestContextOfPullRequest has what act and Gitea leave out left out.
func TestContextOfPullRequest(t *testing.T) {
	payload := func(head string) string {
		return `{"action":"synchronize","number":7,"repository":{"id":1001},"pull_request":{"number":7,"draft":true,
			"head":{"sha":"aaa","ref":"topic","repo":` + head + `},
			"base":{"sha":"bbb","ref":"main","repo":{"id":1001,"full_name":"noslower/sample"}}}}`
	}
	for _, tt := range []struct {
		name, head string
		want       PullRequestEvent
	}{
		// "fork" says that the repository is one itself.
		{"own branch of a fork", `{"id":1001,"full_name":"noslower/sample","fork":true}`, PullRequestEvent{HeadRepositoryID: ptr(int64(1001)), HeadRepository: "noslower/sample"}},
		{"from a fork", `{"id":2002,"full_name":"someone/sample"}`, PullRequestEvent{HeadRepositoryID: ptr(int64(2002)), HeadRepository: "someone/sample", Fork: true}},
		{"from a deleted fork", `null`, PullRequestEvent{Fork: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := parse(t, "pull_request", payload(tt.head), map[string]string{"GITHUB_REPOSITORY": "noslower/sample"})
			tt.want.Number, tt.want.Draft = 7, true
			tt.want.HeadSHA, tt.want.HeadRef, tt.want.BaseSHA, tt.want.BaseRef = "aaa", "topic", "bbb", "main"
			if c.PullRequest == nil || !reflect.DeepEqual(*c.PullRequest, tt.want) {
				t.Errorf("pull request %+v, want %+v", c.PullRequest, tt.want)
			}
			if c.RepositoryID != 1001 || c.Action != "synchronize" || c.WorkflowPath != "" {
				t.Errorf("context %+v", c)
			}
		})
	}
}

func TestContextOfMergeGroup(t *testing.T) {
	for ref, number := range map[string]int{
		"refs/heads/gh-readonly-queue/main/pr-104-0123456789abcdef0123456789abcdef01234567":      104,
		"refs/heads/gh-readonly-queue/release/1.x/pr-9-0123456789abcdef0123456789abcdef01234567": 9,
		"refs/heads/pr-9-0123456": 0,
		"refs/heads/gh-readonly-queue/main/pr-9999999999999999-0123456789": 0,
		"": 0,
	} {
		c := parse(t, "merge_group", `{"action":"checks_requested","merge_group":{"head_sha":"aaa","head_ref":"`+ref+`","base_sha":"bbb","base_ref":"refs/heads/main"}}`, nil)
		want := MergeGroup{BaseSHA: "bbb", HeadSHA: "aaa", BaseRef: "main", Number: number}
		if c.MergeGroup == nil || *c.MergeGroup != want {
			t.Errorf("merge group %+v, want %+v", c.MergeGroup, want)
		}
	}
}

func TestContextOfWorkflowRun(t *testing.T) {
	c := parse(t, "workflow_run", `{"action":"completed","workflow_run":{"id":42,"run_number":3,"run_attempt":2,"event":"pull_request",
		"path":".github/workflows/bench.yml","workflow_id":77,"conclusion":"failure","status":"completed","head_branch":"main","head_sha":"aaa",
		"repository":{"id":1001},"head_repository":{"id":2002,"full_name":"someone/sample"},"pull_requests":[]},
		"pull_request":{"number":1}}`, nil)
	want := Run{
		ID: 42, Number: 3, Attempt: 2, Event: "pull_request", Path: ".github/workflows/bench.yml", WorkflowID: 77, Status: "completed", Conclusion: "failure",
		HeadBranch: "main", HeadSHA: "aaa", RepositoryID: 1001, HeadRepositoryID: ptr(int64(2002)), HeadRepository: "someone/sample",
	}
	if c.WorkflowRun == nil || !reflect.DeepEqual(*c.WorkflowRun, want) || c.PullRequest != nil {
		t.Errorf("run %+v, want %+v and no pull request", c.WorkflowRun, want)
	}
}

func TestReadContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "event.json")
	env := func(name string) string { return map[string]string{"GITHUB_EVENT_PATH": path}[name] }
	if _, err := ReadContext(env); err == nil {
		t.Error("an event that is not there is taken")
	}
	for content, ok := range map[string]bool{`{"repository":{"id":5}}`: true, `{`: false, "": true, strings.Repeat(" ", maxEvent+1): false} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadContext(env); (err == nil) != ok {
			t.Errorf("an event of %d bytes: error %v", len(content), err)
		}
	}
	if _, err := ReadContext(func(string) string { return "" }); err != nil {
		t.Errorf("no event: %v", err)
	}
}
