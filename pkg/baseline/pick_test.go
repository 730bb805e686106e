package baseline

import (
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
)

const (
	ours = 1
	fork = 2
)

func push(id int64, commit string) Run {
	return Run{
		ID: id, Event: "push", Branch: "main", Commit: commit, Workflow: ".github/workflows/bench.yml",
		Conclusion: "success", RepositoryID: ours, HeadRepositoryID: ours,
	}
}

func with(r Run, change func(*Run)) Run {
	change(&r)
	return r
}

var want = Want{RepositoryID: ours, Branch: "main", Workflow: ".github/workflows/bench.yml", Ancestors: []string{"c5", "c4", "c3", "c2"}}

// TestTrust has one run for each reason not to believe it, and those that look
// odd and are all right.
func TestTrust(t *testing.T) {
	for _, tt := range []struct {
		name string
		run  Run
		why  string // "" for trusted
	}{
		{"a push", push(1, "c5"), ""},
		{"a schedule", with(push(1, "c5"), func(r *Run) { r.Event = "schedule" }), ""},
		{"a dispatch", with(push(1, "c5"), func(r *Run) { r.Event = "workflow_dispatch" }), ""},
		{"a push whose other job failed", with(push(1, "c5"), func(r *Run) { r.Conclusion = "failure" }), ""},
		{"a push that still runs", with(push(1, "c5"), func(r *Run) { r.Conclusion = "" }), ""},
		{"a pull request", with(push(1, "c5"), func(r *Run) { r.Event = "pull_request" }), "started by pull_request"},
		{"a pull request with the base's rights", with(push(1, "c5"), func(r *Run) { r.Event = "pull_request_target" }), "started by pull_request_target"},
		{"a report", with(push(1, "c5"), func(r *Run) { r.Event = "workflow_run" }), "started by workflow_run"},
		{"a comment", with(push(1, "c5"), func(r *Run) { r.Event = "issue_comment" }), "started by issue_comment"},
		{"a merge queue", with(push(1, "c5"), func(r *Run) { r.Event = "merge_group" }), "started by merge_group"},
		{"no event", with(push(1, "c5"), func(r *Run) { r.Event = "" }), "started by"},
		{"a fork with a branch called main", with(push(1, "c5"), func(r *Run) { r.HeadRepositoryID = fork }), "code of a fork"},
		{"another repository", with(push(1, "c5"), func(r *Run) { r.RepositoryID = fork }), "another repository"},
		{"another branch", with(push(1, "c5"), func(r *Run) { r.Branch = "feature" }), `ran on "feature"`},
		{"another workflow", with(push(1, "c5"), func(r *Run) { r.Workflow = ".github/workflows/other.yml" }), "of the workflow .github/workflows/other.yml"},
		{
			"Gitea: no head repository, the workflow of the branch",
			with(push(1, "c5"), func(r *Run) { r.HeadRepositoryID = 0; r.Workflow += "@refs/heads/main" }), "",
		},
		{
			"Gitea: no head repository, the workflow of a pull request",
			with(push(1, "c5"), func(r *Run) { r.HeadRepositoryID = 0; r.Workflow += "@refs/pull/7/head" }), "not told whose code",
		},
		{"no head repository and no ref", with(push(1, "c5"), func(r *Run) { r.HeadRepositoryID = 0 }), "not told whose code"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			candidates, refused := Rank([]Run{tt.run}, want)
			if tt.why == "" {
				if len(candidates) != 1 || len(refused) != 0 {
					t.Fatalf("refused: %v", refused)
				}
				return
			}
			if len(candidates) != 0 || len(refused) != 1 || !strings.Contains(refused[0].String(), tt.why) {
				t.Errorf("candidates %v, refused %v, want a refusal with %q", candidates, refused, tt.why)
			}
		})
	}
}

// TestRank: the exact commit first, then by distance; a re-run before the run it
// repeats; what is no ancestor last, and never by the order it came in.
func TestRank(t *testing.T) {
	runs := []Run{
		push(90, "elsewhere"), push(60, "c2"), push(70, "c4"), push(95, "newer"),
		with(push(80, "c5"), func(r *Run) { r.Attempt = 1 }), with(push(80, "c5"), func(r *Run) { r.Attempt = 2 }), push(75, "c5"),
	}
	candidates, refused := Rank(runs, want)
	if len(refused) > 0 {
		t.Fatalf("refused: %v", refused)
	}
	type row struct {
		id       int64
		attempt  int
		distance int
	}
	var got []row
	for _, c := range candidates {
		got = append(got, row{c.ID, c.Attempt, c.Distance})
	}
	wanted := []row{{80, 2, 0}, {80, 1, 0}, {75, 0, 0}, {70, 0, 1}, {60, 0, 3}, {95, 0, -1}, {90, 0, -1}}
	for i := range wanted {
		if len(got) != len(wanted) || got[i] != wanted[i] {
			t.Fatalf("have %v, want %v", got, wanted)
		}
	}
}

// TestCheckOrigin: what a record says of itself must be what its run is.
func TestCheckOrigin(t *testing.T) {
	run := push(80, "c5")
	record := func(change func(*Record)) Record {
		r := Record{Measurements: bench.Measurements{Suite: "read", Commit: "c5"}, Origin: Origin{RepositoryID: ours, RunID: 80}}
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name   string
		record Record
		why    string
	}{
		{"its own", record(func(*Record) {}), ""},
		{"another suite", record(func(r *Record) { r.Measurements.Suite = "write" }), `of the suite "write"`},
		{"another commit", record(func(r *Record) { r.Measurements.Commit = "c4" }), "measured c4"},
		{"another run", record(func(r *Record) { r.Origin.RunID = 79 }), "of run 79"},
		{"another repository", record(func(r *Record) { r.Origin.RepositoryID = fork }), "of the repository 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.record.CheckOrigin(run, "read")
			if tt.why == "" && err != nil || tt.why != "" && (err == nil || !strings.Contains(err.Error(), tt.why)) {
				t.Errorf("error %v, want one with %q", err, tt.why)
			}
		})
	}
}
