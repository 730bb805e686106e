package github

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

// TestRunsUnderAFlood shows that runs of pull requests whose branch is called
// main neither hide those of the default branch nor pass for them.
func TestRunsUnderAFlood(t *testing.T) {
	f := start(t)
	push := f.AddRun(githubtest.Run{Event: "push", SHA: "a1"})
	night := f.AddRun(githubtest.Run{Event: "schedule", SHA: "a1"})
	for range 300 {
		f.AddRun(githubtest.Run{Event: "pull_request", Branch: "main", SHA: "evil", HeadRepositoryID: 2002, HeadRepository: "evil/sample"})
	}
	f.AddRun(githubtest.Run{Event: "push", Branch: "other"})
	f.AddRun(githubtest.Run{Event: "push", Workflow: ".github/workflows/other.yml"})
	runs, err := client(t, f).Runs(t.Context(), ".github/workflows/bench.yml", "main", []string{"push", "schedule", "workflow_dispatch"}, 20)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	if want := []int64{night.ID, push.ID}; !slices.Equal(ids, want) {
		t.Errorf("runs %v, want %v", ids, want)
	}
	if n := len(f.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestRunsLimit(t *testing.T) {
	f := start(t)
	for range 30 {
		f.AddRun(githubtest.Run{})
	}
	runs, err := client(t, f).Runs(t.Context(), "bench.yml", "main", []string{"push"}, 7)
	if err != nil || len(runs) != 7 || runs[0].Number != 30 {
		t.Errorf("%d runs, %v, want the 7 newest", len(runs), err)
	}
}

func TestRunsOfAnUnknownWorkflow(t *testing.T) {
	f := start(t)
	if _, err := client(t, f).Runs(t.Context(), "none.yml", "main", []string{"push"}, 7); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v, want %v", err, ErrNotFound)
	}
}

func TestRun(t *testing.T) {
	for name, gitea := range map[string]bool{"GitHub": false, "Gitea": true} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			f.Gitea = gitea
			made := f.AddRun(githubtest.Run{Event: "pull_request", Branch: "main", SHA: "abc", HeadRepositoryID: 2002, HeadRepository: "evil/sample", Conclusion: "failure"})
			want := Run{
				ID: made.ID, Number: 1, Attempt: 1, Event: "pull_request", Status: "completed", Conclusion: "failure", Created: made.Created, Started: made.Started,
				URL: fmt.Sprintf("https://github.invalid/noslower/sample/actions/runs/%d", made.ID), Path: ".github/workflows/bench.yml", WorkflowID: 77,
				HeadBranch: "main", HeadSHA: "abc", RepositoryID: 1001, HeadRepositoryID: ptr(int64(2002)), HeadRepository: "evil/sample",
			}
			if gitea { // what is not told is not 0, and the ref is
				want.WorkflowID, want.HeadRepositoryID, want.HeadRepository, want.PathRef = 0, nil, "", "refs/heads/main"
			}
			got, err := client(t, f).Run(t.Context(), made.ID)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("run\n%+v, %v, want\n%+v", got, err, want)
			}
		})
	}
	if _, err := client(t, start(t)).Run(t.Context(), 404); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v, want %v", err, ErrNotFound)
	}
}

// TestCompare stands on a1 ← a2 ← a3 (main), with b1 on a2 and c1 apart.
func TestCompare(t *testing.T) {
	f := start(t)
	history(f)
	c := client(t, f)
	for _, tt := range []struct {
		base, head string
		want       Comparison
		ancestor   bool
	}{
		{"a1", "a3", Comparison{2, 0, "a1"}, true},
		{"a3", "a3", Comparison{0, 0, "a3"}, true},
		{"a1", "main", Comparison{2, 0, "a1"}, true},
		{"a3", "a1", Comparison{0, 2, "a1"}, false},
		{"a3", "b1", Comparison{1, 1, "a2"}, false},
	} {
		got, ok, err := c.Compare(t.Context(), tt.base, tt.head)
		if err != nil || !ok || got != tt.want || got.BaseIsAncestor() != tt.ancestor {
			t.Errorf("Compare(%s, %s) = %+v, %v, %v, want %+v", tt.base, tt.head, got, ok, err, tt.want)
		}
	}
	for _, base := range []string{"c1", "gone"} {
		if _, _, err := c.Compare(t.Context(), base, "a3"); !errors.Is(err, ErrNotFound) {
			t.Errorf("Compare(%s, a3): error %v, want %v", base, err, ErrNotFound)
		}
	}
	f.Gitea = true
	if _, ok, err := c.Compare(t.Context(), "a1", "a3"); ok || err != nil {
		t.Errorf("Compare is told by Gitea: %v, %v", ok, err)
	}
}

func history(f *githubtest.Fake) {
	f.AddCommit("main", "a1")
	f.AddCommit("main", "a2", "a1")
	f.AddCommit("topic", "b1", "a2")
	f.AddCommit("", "c1")
	f.AddCommit("main", "a3", "a2")
}

func TestCommits(t *testing.T) {
	for name, set := range map[string]func(*githubtest.Fake){
		"GitHub": func(*githubtest.Fake) {}, "Gitea": func(f *githubtest.Fake) { f.Gitea = true }, "small pages": func(f *githubtest.Fake) { f.MostPerPage = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			history(f)
			set(f)
			got, err := client(t, f).Commits(t.Context(), "main", 3)
			want := []Commit{{"a3", []string{"a2"}}, {"a2", []string{"a1"}}, {"a1", nil}}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("commits %v, %v, want %v", got, err, want)
			}
			if got, err = client(t, f).Commits(t.Context(), "b1", 1); err != nil || len(got) != 1 || got[0].SHA != "b1" {
				t.Errorf("commits %v, %v, want b1 alone", got, err)
			}
		})
	}
}
