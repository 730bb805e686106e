package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/github/githubtest"
)

const (
	workflowFile = ".github/workflows/bench.yml"
	jobToken     = "ghs_workflow"
	readToken    = "ghs_of_a_fork"
	forkID       = 2002
)

// commit makes a commit's name of a letter.
func commit(c string) string { return strings.Repeat(c, 40) }

// A repo is a repository with a gate, in a fake GitHub.
type repo struct {
	*githubtest.Fake
	t       *testing.T
	dir     string
	number  int64
	waits   int            // pauses between attempts, which take no time here
	run     githubtest.Run // of the step before
	lastRun int64          // its number
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	r := &repo{Fake: githubtest.Start(t), t: t, dir: t.TempDir(), number: 100}
	r.AddToken(jobToken, githubtest.Identity{Login: "github-actions[bot]", Installation: true})
	r.AddToken(readToken, githubtest.Identity{Login: "github-actions[bot]", Installation: true, ReadOnly: true})
	r.AddCommit("main", commit("a"))
	return r
}

// A step is one step of a workflow that gates.
type step struct {
	event    string
	sha      string // of the commit that is measured: of a pull request the test merge
	head     string // of a pull request
	pull     int
	fork     bool
	payload  map[string]any // of the event, beside what is filled in
	ns       string         // what the benchmark takes
	flags    []string
	rerun    int64  // number of a run that is run again
	beside   bool   // it is another job of the same run as the step before
	branch   string // of a push, "" for main
	command  string // "gate" where it is not said
	nameless bool   // the environment does not name the workflow, as under act
	server   string // GITHUB_SERVER_URL, where it is not GitHub's
}

// An ended is what became of a step.
type ended struct {
	status               int
	stdout, log, summary string
	outputs              string
}

// do runs a step.
func (r *repo) do(s step) ended {
	r.t.Helper()
	branch := s.branch
	if branch == "" {
		branch = "main"
	}
	event := map[string]any{"repository": map[string]any{"id": r.RepositoryID, "default_branch": "main", "full_name": "noslower/sample"}}
	ref, refName, headBranch, headRepository := "refs/heads/"+branch, branch, branch, int64(0)
	runSHA := s.sha
	switch s.event {
	case "pull_request":
		ref, refName = fmt.Sprintf("refs/pull/%d/merge", s.pull), fmt.Sprintf("%d/merge", s.pull)
		id, name := r.RepositoryID, "noslower/sample"
		headBranch = "feature"
		if s.fork {
			id, name, headRepository, headBranch = forkID, "stranger/sample", forkID, "main"
		}
		runSHA = s.head
		event["number"] = s.pull
		event["pull_request"] = map[string]any{
			"number": s.pull,
			"head":   map[string]any{"sha": s.head, "ref": headBranch, "repo": map[string]any{"id": id, "full_name": name}},
			"base":   map[string]any{"sha": commit("a"), "ref": "main", "repo": map[string]any{"id": r.RepositoryID, "full_name": "noslower/sample"}},
		}
	case "workflow_run":
		runSHA = commit("a")
	}
	for k, v := range s.payload {
		event[k] = v
	}
	var run githubtest.Run
	switch {
	case s.beside:
		run = r.run
	case s.rerun != 0:
		run = r.Rerun(s.rerun)
	default:
		r.number++
		added := githubtest.Run{Number: int(r.number), Workflow: workflowFile, Event: s.event, Branch: headBranch, SHA: runSHA, HeadRepositoryID: headRepository}
		if headRepository != 0 {
			added.HeadRepository = "stranger/sample"
		}
		run = r.AddRun(added)
	}
	r.run, r.lastRun = run, run.ID
	return r.gate(s, run, event, ref, refName)
}

// gate calls the command as the runner does.
func (r *repo) gate(s step, run githubtest.Run, event map[string]any, ref, refName string) ended {
	r.t.Helper()
	dir := r.t.TempDir()
	data, err := json.Marshal(event)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "event.json"), data, 0o644); err != nil {
		r.t.Fatal(err)
	}
	withToken := jobToken
	if s.fork {
		withToken = readToken
	}
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": s.event, "GITHUB_EVENT_PATH": filepath.Join(dir, "event.json"),
		"GITHUB_REPOSITORY": "noslower/sample", "GITHUB_REPOSITORY_ID": fmt.Sprint(r.RepositoryID),
		"GITHUB_SHA": s.sha, "GITHUB_REF": ref, "GITHUB_REF_NAME": refName, "GITHUB_JOB": "bench",
		"GITHUB_RUN_ID": fmt.Sprint(run.ID), "GITHUB_RUN_NUMBER": fmt.Sprint(run.Number), "GITHUB_RUN_ATTEMPT": fmt.Sprint(run.Attempt),
		"GITHUB_WORKFLOW_REF": "noslower/sample/" + workflowFile + "@" + ref, "GITHUB_API_URL": r.APIURL, "GITHUB_SERVER_URL": "https://github.com",
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
		"ACTIONS_RESULTS_URL": r.ResultsURL, "ACTIONS_RUNTIME_TOKEN": r.RuntimeToken(run.ID),
		"INPUT_GITHUB-TOKEN": withToken, "PATH": os.Getenv("PATH"), "INPUT_RUNS": "5", "INPUT_WARMUP": "0",
	}
	if s.nameless {
		delete(env, "GITHUB_WORKFLOW_REF")
	}
	if s.server != "" {
		env["GITHUB_SERVER_URL"] = s.server
	}
	if s.command == "" {
		s.command = "gate"
	}
	if s.ns != "" {
		env["INPUT_COMMAND"] = fmt.Sprintf("echo BenchmarkEncode 1000 %s ns/op", s.ns)
	}
	var environ []string
	for k, v := range env {
		environ = append(environ, k+"="+v)
	}
	var stdout, log bytes.Buffer
	w := world{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &log,
		Getenv: func(name string) string { return env[name] }, Environ: environ, Now: r.Now,
		GitHub: github.Options{
			Sleep: func(context.Context, time.Duration) error { r.waits++; return nil },
			Now:   r.Now, Rand: func() float64 { return 0.5 },
		},
	}
	e := ended{status: w.run(context.Background(), append([]string{s.command}, s.flags...)), stdout: stdout.String(), log: log.String()}
	for file, into := range map[string]*string{"output": &e.outputs, "summary": &e.summary} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil && s.command == "gate" && s.event != "workflow_run" && e.status < 2 {
			r.t.Errorf("%s: %v", file, err)
		}
		*into = string(data)
	}
	for _, secret := range []string{withToken, r.RuntimeToken(run.ID)} {
		if s.command == "gate" && e.status != 2 && !strings.Contains(e.log, "::add-mask::"+secret+"\n") {
			r.t.Errorf("a token is not hidden:\n%s", e.log)
		}
	}
	for _, secret := range []string{jobToken, readToken, r.RuntimeToken(run.ID)} {
		said := strings.ReplaceAll(e.log, "::add-mask::"+secret, "")
		for _, text := range []string{said, e.stdout, e.summary, e.outputs} {
			if strings.Contains(text, secret) {
				r.t.Errorf("a token is told:\n%s", text)
			}
		}
	}
	return e
}

// measured writes measurements of so many nanoseconds and returns the flags that
// take them, so that no program need run.
func (r *repo) measured(ns float64) []string {
	r.t.Helper()
	m := bench.Measurements{Suite: "default", Set: &bench.Set{}}
	for run := range 5 {
		if err := m.Set.Add(run, bench.Result{Name: "Encode", Values: []bench.Value{bench.Measure("time_per_op", ns, "ns/op")}}); err != nil {
			r.t.Fatal(err)
		}
	}
	path := filepath.Join(r.dir, fmt.Sprintf("%g.json", ns))
	if err := writeMeasurements(path, m); err != nil {
		r.t.Fatal(err)
	}
	return []string{"--measurements", path}
}

func (r *repo) push(sha, ns string, flags ...string) ended {
	r.t.Helper()
	r.AddCommit("main", sha, commit("a"))
	return r.do(step{event: "push", sha: sha, ns: ns, flags: flags})
}

// wantStatus and wantIn check a step; what it printed is shown with every fault.
func (e ended) want(t *testing.T, status int, parts ...string) {
	t.Helper()
	if e.status != status {
		t.Errorf("status %d, want %d\n%s%s", e.status, status, e.stdout, e.log)
	}
	said := strings.Join(strings.Fields(e.stdout+e.log), " ") // whatever the lines are broken
	for _, part := range parts {
		if !strings.Contains(said, part) {
			t.Errorf("it does not say %q:\n%s%s", part, e.stdout, e.log)
		}
	}
}

// TestStory is what a repository sees from its first push on.
func TestStory(t *testing.T) {
	r := newRepo(t)
	first := r.do(step{event: "push", sha: commit("a"), ns: "100"})
	first.want(t, 0, "No baseline", "kept as the first", "kept as the baseline of \"default\" in the artifact noslower-baseline-default")
	if names := r.ArtifactNames(r.lastRun); !slices.Equal(names, []string{"noslower-baseline-default"}) {
		t.Errorf("a push leaves %q", names)
	}

	// A slower push on main has happened already: it is told, and passes.
	r.push(commit("b"), "150").want(t, 0, "Regression", "kept as the baseline")
	r.push(commit("c"), "100").want(t, 0, "kept as the baseline")

	// A pull request of the same speed passes, and gets a comment.
	r.AddPull(githubtest.Pull{Number: 7, Branch: "feature", SHA: commit("1"), BaseSHA: commit("a")})
	r.AddCommit("", commit("1"), commit("c"))
	r.AddCommit("", commit("2"), commit("c"), commit("1"))
	pass := r.do(step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2"), ns: "100"})
	pass.want(t, 0, "No regression", "of the very commit to compare with", "head 111111111111, 5 runs")
	comments := r.Comments(7)
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "No regression") {
		t.Fatalf("comments: %+v", comments)
	}
	if names := r.ArtifactNames(r.lastRun); !slices.Equal(names, []string{"noslower-measurements-default"}) {
		t.Errorf("a pull request leaves %q", names)
	}

	// A slower one fails, in the same comment.
	r.AddCommit("", commit("3"), commit("1"))
	r.AddCommit("", commit("4"), commit("c"), commit("3"))
	r.Push(7, commit("3"), false)
	worse := step{event: "pull_request", pull: 7, head: commit("3"), sha: commit("4"), ns: "150"}
	fails := r.do(worse)
	fails.want(t, 1, "Regression", "::error title=noslower::")
	if !strings.Contains(fails.outputs, "regressed") || !strings.Contains(fails.summary, "Regression") {
		t.Errorf("outputs %q, summary %q", fails.outputs, fails.summary)
	}
	run := r.lastRun
	comments = r.Comments(7)
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "Regression") || !strings.Contains(comments[0].Body, "perf-regression-accepted") {
		t.Fatalf("comments: %+v", comments)
	}

	// The label accepts it, for these commits.
	r.Label(7, "perf-regression-accepted", "alice")
	again := worse
	again.rerun = run
	r.do(again).want(t, 0, "Regression", "Accepted by alice")
	if body := r.Comments(7)[0].Body; !strings.Contains(body, "Accepted by alice") {
		t.Errorf("the comment does not say who accepted it: %s", body)
	}

	// A further push is red again: the label was not set for it.
	r.AddCommit("", commit("5"), commit("3"))
	r.AddCommit("", commit("6"), commit("c"), commit("5"))
	r.Push(7, commit("5"), false)
	r.do(step{event: "pull_request", pull: 7, head: commit("5"), sha: commit("6"), ns: "150"}).
		want(t, 1, "Regression", `the label "perf-regression-accepted" does not count`)
	if comments := r.Comments(7); len(comments) != 1 {
		t.Errorf("have %d comments, want 1", len(comments))
	}
}

// TestFewRequests: a repository's jobs share a thousand requests an hour.
func TestFewRequests(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), ns: "100"})
	r.AddPull(githubtest.Pull{Number: 7, Branch: "feature", SHA: commit("1"), BaseSHA: commit("a")})
	r.AddCommit("", commit("1"), commit("a"))
	r.AddCommit("", commit("2"), commit("a"), commit("1"))
	before := len(r.Requests())
	r.do(step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2"), ns: "100"}).want(t, 0)
	if api := apiRequests(r, before); api > 12 {
		t.Errorf("a gate makes %d requests of the API, want about 10", api)
	}
}

// TestFork: with a token that may only read, the step decides all the same, and
// the report comments in its stead.
func TestFork(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), ns: "100"})
	r.AddPull(githubtest.Pull{Number: 8, Branch: "main", SHA: commit("1"), BaseSHA: commit("a"), HeadRepositoryID: forkID, HeadRepository: "stranger/sample"})
	r.AddCommit("", commit("1"), commit("a"))
	r.AddCommit("", commit("2"), commit("a"), commit("1"))
	r.do(step{event: "pull_request", pull: 8, head: commit("1"), sha: commit("2"), ns: "150", fork: true}).
		want(t, 1, "Regression", "no comment: the token of a pull request from a fork may only read")
	if comments := r.Comments(8); len(comments) > 0 {
		t.Fatalf("comments: %+v", comments)
	}
	measured := r.lastRun
	report := step{event: "workflow_run", sha: commit("a"), payload: map[string]any{
		"workflow_run": map[string]any{"id": measured, "event": "pull_request", "head_sha": commit("1"), "head_branch": "main"},
	}}
	r.do(report).want(t, 0, "Regression", "the comment is at")
	comments := r.Comments(8)
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "Regression") {
		t.Fatalf("comments: %+v", comments)
	}

	// A report of an older run does not overwrite what a newer one said, and one
	// of a head that has moved on says nothing.
	r.Push(8, commit("3"), false)
	r.do(report).want(t, 0, "is not the head now: #8 is at 333333333")
	if after := r.Comments(8); len(after) != 1 || after[0].Body != comments[0].Body {
		t.Errorf("comments: %+v", after)
	}
}

// TestForkIsNoBaseline: what a fork leaves is no baseline, whatever its branch
// is called and however much of it there is.
func TestForkIsNoBaseline(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), ns: "100"})
	kept := r.Fake
	for range 300 {
		run := kept.AddRun(githubtest.Run{Workflow: workflowFile, Event: "pull_request", Branch: "main", SHA: commit("a"), HeadRepositoryID: forkID, HeadRepository: "stranger/sample"})
		kept.AddArtifact(run.ID, "noslower-baseline-default", []byte("no zip, and nobody opens it"))
	}
	r.AddPull(githubtest.Pull{Number: 7, Branch: "feature", SHA: commit("1"), BaseSHA: commit("a")})
	r.AddCommit("", commit("1"), commit("a"))
	r.AddCommit("", commit("2"), commit("a"), commit("1"))
	r.do(step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2"), ns: "100"}).
		want(t, 0, "No regression", "of the very commit to compare with")
}

// TestBadBaselines: a record that cannot be believed is passed over, with the
// reason, for the next one.
func TestBadBaselines(t *testing.T) {
	bomb, err := github.WriteArchive(github.Entry{Name: "record.json", Data: bytes.Repeat([]byte("0"), 30<<20)})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := github.WriteArchive(github.Entry{Name: "record.json", Data: []byte(
		`{"schema":"noslower.record/v1","measurements":{"schema":"noslower.measurements/v1","suite":"default","commit":"` + commit("f") + `","host":{},"samples":[]}}`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		bad  func(r *repo, run githubtest.Run)
		says string
	}{
		{"none", func(*repo, githubtest.Run) {}, "it left no record of this suite"},
		{"no archive", func(r *repo, run githubtest.Run) {
			r.AddArtifact(run.ID, "noslower-baseline-default", []byte("PK?"))
		}, "not an archive"},
		{"a bomb", func(r *repo, run githubtest.Run) { r.AddArtifact(run.ID, "noslower-baseline-default", bomb) }, "not an archive to be read"},
		{"of another commit", func(r *repo, run githubtest.Run) { r.AddArtifact(run.ID, "noslower-baseline-default", foreign) }, "it says that it measured ffffffffffff"},
		{"expired", func(r *repo, run githubtest.Run) {
			r.Expire(r.AddArtifact(run.ID, "noslower-baseline-default", foreign))
		}, "its record has expired"},
		{"tampered with in the storage", func(r *repo, run githubtest.Run) {
			r.Corrupt(r.AddArtifact(run.ID, "noslower-baseline-default", foreign), bomb)
		}, "want sha256:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRepo(t)
			r.do(step{event: "push", sha: commit("a"), ns: "100"})
			r.AddCommit("main", commit("b"), commit("a"))
			tt.bad(r, r.AddRun(githubtest.Run{Workflow: workflowFile, Event: "push", Branch: "main", SHA: commit("b")}))
			r.AddPull(githubtest.Pull{Number: 7, Branch: "feature", SHA: commit("1"), BaseSHA: commit("b")})
			r.AddCommit("", commit("1"), commit("b"))
			r.AddCommit("", commit("2"), commit("b"), commit("1"))
			r.do(step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2"), ns: "100"}).
				want(t, 0, "No regression", "1 commit before the one to compare with", tt.says)
		})
	}
}

// TestRerun: a run that is run again keeps its baseline under a name of its own,
// which later runs find.
func TestRerun(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	run := r.lastRun
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(120), rerun: run}).want(t, 0, "in the artifact noslower-baseline-default-a2")
	if names := r.ArtifactNames(run); !slices.Equal(names, []string{"noslower-baseline-default", "noslower-baseline-default-a2"}) {
		t.Errorf("artifacts %q", names)
	}
	s := r.pullRequest("a")
	s.flags = r.measured(120)
	r.do(s).want(t, 0, "No regression")
}

// pullRequest opens one on a commit of main and returns the step that gates it.
func (r *repo) pullRequest(on string) step {
	r.AddPull(githubtest.Pull{Number: 7, Branch: "feature", SHA: commit("1"), BaseSHA: commit(on)})
	r.AddCommit("", commit("1"), commit(on))
	r.AddCommit("", commit("2"), commit(on), commit("1"))
	return step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2")}
}

// TestOneNameForTwoJobs: two legs of a matrix that measure one suite would keep
// each other's baseline.
func TestOneNameForTwoJobs(t *testing.T) {
	r := newRepo(t)
	run := r.AddRun(githubtest.Run{Number: 1, Workflow: workflowFile, Event: "push", Branch: "main", SHA: commit("a")})
	event := map[string]any{"repository": map[string]any{"id": r.RepositoryID, "default_branch": "main"}}
	leg := func(ns float64) ended {
		return r.gate(step{event: "push", sha: commit("a"), flags: r.measured(ns)}, run, event, "refs/heads/main", "main")
	}
	leg(100).want(t, 0, "kept as the baseline")
	leg(150).want(t, 3, "give each leg its own suite")
	if names := r.ArtifactNames(run.ID); len(names) != 1 {
		t.Errorf("artifacts %q", names)
	}
}

// TestShards: documents that legs of a matrix left in artifacts are one side.
func TestShards(t *testing.T) {
	r := newRepo(t)
	run := r.AddRun(githubtest.Run{Number: 1, Workflow: workflowFile, Event: "push", Branch: "main", SHA: commit("a")})
	for leg, ns := range map[string]float64{"x": 100, "y": 200} {
		data, err := os.ReadFile(r.measured(ns)[1])
		if err != nil {
			t.Fatal(err)
		}
		zip, err := github.WriteArchive(github.Entry{Name: "measurements.json", Data: bytes.ReplaceAll(data, []byte("Encode"), []byte("Encode"+leg))})
		if err != nil {
			t.Fatal(err)
		}
		r.AddArtifact(run.ID, "bench-"+leg, zip)
	}
	event := map[string]any{"repository": map[string]any{"id": r.RepositoryID, "default_branch": "main"}}
	s := step{event: "push", sha: commit("a"), flags: []string{"--measurements", "artifact:bench-*"}}
	r.gate(s, run, event, "refs/heads/main", "main").want(t, 0, "kept as the baseline")
	s.flags = []string{"--measurements", "artifact:nothing-*"}
	r.gate(s, run, event, "refs/heads/main", "main").want(t, 3, `no artifact of this run is named like "nothing-*"`)
	pr := r.pullRequest("a")
	pr.flags = append(r.measured(100), "--pair", "Encodex=Encode")
	r.do(pr).want(t, 0, "No regression", "Encodey: base has time_per_op of it")
}

// TestMergeGroup: the queue's commit is measured against the group's base, and a
// label of its pull request counts.
func TestMergeGroup(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	r.pullRequest("a")
	r.Push(7, commit("1"), false)
	queued := step{event: "merge_group", sha: commit("9"), flags: r.measured(150), payload: map[string]any{
		"merge_group": map[string]any{
			"head_sha": commit("9"), "base_sha": commit("a"), "base_ref": "refs/heads/main",
			"head_ref": "refs/heads/gh-readonly-queue/main/pr-7-" + commit("a"),
		},
	}}
	r.AddCommit("", commit("9"), commit("a"))
	r.do(queued).want(t, 1, "Regression", "of the very commit to compare with")
	r.Label(7, "perf-regression-accepted", "alice")
	r.do(queued).want(t, 0, "Accepted by alice")
}

// TestOtherEvents: what keeps no baseline says why, and what asks for one gets it.
func TestOtherEvents(t *testing.T) {
	r := newRepo(t)
	r.AddCommit("release", commit("d"), commit("a"))
	release := step{event: "push", sha: commit("d"), branch: "release", flags: r.measured(100)}
	r.do(release).want(t, 0, `no baseline is kept: refs/heads/release is not the default branch, "main"`)
	release.flags = append(release.flags, "--mode", "baseline")
	r.do(release).want(t, 0, "kept as the baseline")
	r.do(step{event: "issue_comment", sha: commit("a"), flags: r.measured(100)}).want(t, 0, "no baseline is kept: an event of the kind \"issue_comment\"")
	r.do(step{event: "schedule", sha: commit("a"), flags: r.measured(100)}).want(t, 0, "kept as the baseline")
	r.do(step{event: "workflow_dispatch", sha: commit("a"), flags: r.measured(100)}).want(t, 0, "kept as the baseline")
}

// TestAnotherBranch: a pull request into a branch that is not the default one is
// compared with that branch's baseline, never with another's.
func TestAnotherBranch(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	r.AddCommit("stable", commit("b"), commit("a"))
	r.AddPull(githubtest.Pull{Number: 7, Branch: "feature", SHA: commit("1"), Base: "stable", BaseSHA: commit("b")})
	r.AddCommit("", commit("1"), commit("b"))
	r.AddCommit("", commit("2"), commit("b"), commit("1"))
	repository := map[string]any{"id": r.RepositoryID, "full_name": "noslower/sample"}
	s := step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2"), flags: r.measured(300), payload: map[string]any{
		"pull_request": map[string]any{
			"number": 7, "head": map[string]any{"sha": commit("1"), "ref": "feature", "repo": repository},
			"base": map[string]any{"sha": commit("b"), "ref": "stable", "repo": repository},
		},
	}}
	r.do(s).want(t, 0, "No baseline", "stable")
	r.do(step{event: "push", sha: commit("b"), branch: "stable", flags: r.measured(200)}).want(t, 0, "with \"mode: baseline\" it keeps baselines of its own")
	r.do(s).want(t, 0, "No baseline", "stable")
	r.do(step{event: "push", sha: commit("b"), branch: "stable", flags: append(r.measured(200), "--mode", "baseline")}).want(t, 0, "kept as the baseline")
	r.do(s).want(t, 1, "time_per_op 50 % worse", "of the very commit to compare with")
}

// TestNewerBaseline: where no ancestor has a baseline, that of the newest commit on
// the branch does, whenever it was made, and one of a commit that is on it no
// longer does not.
func TestNewerBaseline(t *testing.T) {
	r := newRepo(t)
	push := func(sha, on string, ns float64) {
		r.AddCommit("main", commit(sha), commit(on))
		r.do(step{event: "push", sha: commit(sha), flags: r.measured(ns)}).want(t, 0, "kept as the baseline")
	}
	push("b", "a", 300)
	push("c", "b", 100)
	push("d", "c", 200)
	r.do(step{event: "push", sha: commit("b"), flags: r.measured(300)}).want(t, 0, "kept as the baseline") // once more
	r.AddCommit("main", commit("e"), commit("c"))                                                          // d is forced away
	s := r.pullRequest("a")
	s.flags = r.measured(100)
	r.do(s).want(t, 0, "No regression", `no ancestor, but 1 commit before the tip of "main"`, "its commit is no longer on the branch")
}

// TestHeadMovesOn: the comment of a head that is the head no more says so.
func TestHeadMovesOn(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	s := r.pullRequest("a")
	s.flags = r.measured(150)
	r.Push(7, commit("3"), false)
	r.do(s).want(t, 1, "the comment is at")
	if comments := r.Comments(7); len(comments) != 1 || !strings.Contains(comments[0].Body, "Measured at 111111111111; the head of this pull request has moved on to 333333333333") {
		t.Errorf("comments: %+v", comments)
	}
}

// TestLoosened: thresholds that a change makes less strict than those that are
// kept with the baseline stand in the first lines of its comment.
func TestLoosened(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	s := r.pullRequest("a")
	s.flags = append(r.measured(150), "--fail", "time_per_op=400%")
	r.do(s).want(t, 0, "This change loosens what it is judged by: Encode time_per_op fails at 400 %, not at 5 %")
	comments := r.Comments(7)
	if len(comments) != 1 {
		t.Fatalf("comments: %+v", comments)
	}
	first, _, _ := strings.Cut(comments[0].Body, "|")
	if !strings.Contains(first, "This change loosens what it is judged by") {
		t.Errorf("above the table there is only %s", first)
	}
}

// TestCutCommentLinks: what has no room in a comment is counted, and stands where
// a link leads.
func TestCutCommentLinks(t *testing.T) {
	r := newRepo(t)
	m := bench.Measurements{Suite: "default", Set: &bench.Set{}}
	for run := range 5 {
		for i := range 2000 {
			if err := m.Set.Add(run, bench.Result{Name: fmt.Sprintf("Encode/%d", i), Values: []bench.Value{bench.Measure("time_per_op", 100, "ns/op")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := filepath.Join(r.dir, "many.json")
	if err := writeMeasurements(path, m); err != nil {
		t.Fatal(err)
	}
	r.do(step{event: "push", sha: commit("a"), flags: []string{"--measurements", path}})
	s := r.pullRequest("a")
	for i := range m.Set.Samples() {
		for _, launch := range m.Set.Samples()[i].Launches {
			launch[0] *= 2
		}
	}
	if err := writeMeasurements(path, m); err != nil {
		t.Fatal(err)
	}
	s.flags = []string{"--measurements", path}
	e := r.do(s)
	e.want(t, 1, "the comment is at")
	link := fmt.Sprintf("[the whole of it](https://github.com/noslower/sample/actions/runs/%d)", r.lastRun)
	comments := r.Comments(7)
	if len(comments) != 1 || !strings.Contains(comments[0].Body, link) || !regexp.MustCompile(`and \d+ more comparisons: \d+ regressed`).MatchString(comments[0].Body) {
		t.Errorf("the comment does not say how much is cut, or link it: %.1000s … %+v", comments[0].Body, comments[0].Body[len(comments[0].Body)-500:])
	}
	if n := strings.Count(e.summary, "`Encode/"); n < 2000 {
		t.Errorf("the summary has %d benchmarks", n)
	}
}

// TestNoResultsService: where a step cannot upload, the file is there, and what
// uploads it is said.
func TestNoResultsService(t *testing.T) {
	t.Chdir(t.TempDir())
	r := newRepo(t)
	r.ResultsURL = ""
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)}).
		want(t, 0, "uses: actions/upload-artifact, name: noslower-baseline-default and path: .noslower/noslower-baseline-default/record.json")
	if _, err := os.Stat(".noslower/noslower-baseline-default/record.json"); err != nil {
		t.Error(err)
	}
}

// TestNamelessWorkflow: where the environment does not name the workflow it is
// asked for, and where nothing tells, the baseline is not silently missing.
func TestNamelessWorkflow(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100), nameless: true}).want(t, 0, "kept as the baseline")
	s := r.pullRequest("a")
	s.flags, s.nameless = r.measured(150), true
	r.do(s).want(t, 1, "Regression")
	r.Inject(githubtest.Fault{
		Match: func(q githubtest.Request) bool {
			return q.Method == "GET" && strings.Contains(q.Path, "/actions/runs/")
		},
		Status: 404, Body: `{"message":"Not Found"}`,
	})
	r.do(s).want(t, 0, "No baseline: which workflow keeps the baseline is not known: name its file by --baseline-workflow")
}

// TestNoPermission: a token that may not look for baselines is no silent green.
func TestNoPermission(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	s := r.pullRequest("a")
	s.flags = r.measured(150)
	r.Inject(githubtest.Fault{
		Match:  func(q githubtest.Request) bool { return strings.Contains(q.Path, "/actions/") && q.Host == "api" },
		Status: 403, Body: `{"message":"Resource not accessible by integration"}`,
	})
	r.do(s).want(t, 0, "No baseline", "permissions: {actions: read")
	s.flags = append(s.flags, "--require-baseline")
	r.do(s).want(t, 3, "No baseline", "permissions: {actions: read")
}

// TestComment: when there is a comment, and that a long report is cut to fit.
func TestComment(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	s := r.pullRequest("a")
	for _, tt := range []struct {
		when string
		ns   float64
		want int
		says string
	}{
		{"never", 150, 0, ""},
		{"on-regression", 100, 0, ""},
		{"on-regression", 150, 1, "Regression"},
		{"on-regression", 100, 1, "No regression"}, // what an earlier push was told does not stand
		{"always", 100, 1, "No regression"},
	} {
		s.flags = append(r.measured(tt.ns), "--comment", tt.when)
		r.do(s)
		comments := r.Comments(7)
		if len(comments) != tt.want || tt.want > 0 && !strings.Contains(comments[0].Body, tt.says) {
			t.Errorf("%s at %v ns: %+v", tt.when, tt.ns, comments)
		}
	}
	// GitHub takes fewer characters than we thought.
	r.Inject(githubtest.Fault{
		Match:  func(q githubtest.Request) bool { return q.Method == "PATCH" && len(q.Body) > 1000 },
		Times:  1,
		Status: 422, Body: `{"message":"Validation Failed","errors":[{"message":"body is too long (maximum is 65536 characters)"}]}`,
	})
	s.flags = r.measured(160)
	r.do(s).want(t, 1, "the comment is at")
}

// TestReportBelievesNothing: what a fork writes into its measurements is text in
// the comment, and the configuration is the branch's.
func TestReportBelievesNothing(t *testing.T) {
	r := newRepo(t)
	r.AddFile("main", ".github/noslower.yml", []byte("version: 1\nmetrics: {time_per_op: {fail: 40%}}\n"))
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	r.AddPull(githubtest.Pull{Number: 8, Branch: "main", SHA: commit("1"), BaseSHA: commit("a"), HeadRepositoryID: forkID, HeadRepository: "stranger/sample"})
	run := r.AddRun(githubtest.Run{
		Number: 50, Workflow: workflowFile, Event: "pull_request", Branch: "main", SHA: commit("1"), HeadRepositoryID: forkID, HeadRepository: "stranger/sample",
	})
	evil := `{"schema":"noslower.measurements/v1","suite":"default","commit":"` + commit("f") + `","ref":"refs/heads/main","host":{"cpu":"<img src=x>"},"samples":[
		{"benchmark":"Encode","metric":"time_per_op","unit":"s/op","better":"lower","launches":[[1.3e-7],[1.3e-7],[1.3e-7],[1.3e-7],[1.3e-7]]},
		{"benchmark":"</details><script>@everyone","metric":"time_per_op","unit":"s/op","better":"lower","launches":[[1]]}],
		"warnings":["<!-- noslower:v1 suite=default --> @org/team ![x](https://evil.example/x.png)"]}`
	zip, err := github.WriteArchive(github.Entry{Name: "measurements.json", Data: []byte(evil)})
	if err != nil {
		t.Fatal(err)
	}
	r.AddArtifact(run.ID, "noslower-measurements-default", zip)
	r.AddArtifact(run.ID, "noslower-measurements-bomb", []byte("PK"))
	r.do(step{event: "workflow_run", sha: commit("a"), payload: map[string]any{"workflow_run": map[string]any{"id": run.ID}}}).
		want(t, 0, "the comment is at", "warning: it is not reported on: artifact noslower-measurements-bomb")
	comments := r.Comments(8)
	if len(comments) != 1 {
		t.Fatalf("comments: %+v", comments)
	}
	body := comments[0].Body
	if !strings.Contains(body, "fails at 40 %") || strings.Contains(body, commit("f")[:12]) {
		t.Errorf("it is not judged by the branch's configuration, or of the commit that it says: %s", body)
	}
	_, text, _ := strings.Cut(body, "-->") // our own marker
	for _, live := range []string{"<script", "<img", "<!--"} {
		for _, line := range strings.Split(text, "\n") {
			if at := strings.Index(line, live); at >= 0 && strings.Count(line[:at], "`")%2 == 0 {
				t.Errorf("%q is live: %s", live, line)
			}
		}
	}
}

// TestFaults breaks each request of a gate in turn, in each way. What looks for
// the baseline may leave none, which passes unless one is required, and the log, the
// summary and the comment say by which request and why. After that the status is
// the verdict's. Nothing is there twice, what is lost is said, and the next attempt
// makes it good.
func TestFaults(t *testing.T) {
	faults := map[string]struct {
		githubtest.Fault
		why string // that is told of a request
	}{
		"refused for good": {githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}, "status 403"},
		"no such thing":    {githubtest.Fault{Status: 404, Body: `{"message":"Not Found"}`}, "status 404"},
		"out of order":     {githubtest.Fault{Status: 500, Body: `<html>`}, "status 500"},
		"broken off":       {githubtest.Fault{Break: true}, "EOF"},
		"too many requests": {
			githubtest.Fault{Status: 429, Body: `{"message":"slow down"}`}, "too many requests: slow down (status 429): gave up after 5 attempts",
		},
		"answer lost":                   {githubtest.Fault{Break: true, Processed: true, Times: 1}, ""},
		"out of order once, and obeyed": {githubtest.Fault{Status: 502, Body: `<html>`, Processed: true, Times: 1}, ""},
		"too many requests once":        {githubtest.Fault{Status: 429, Body: `{"message":"slow down"}`, Times: 1}, ""},
	}
	undisturbed := func(t *testing.T) (*repo, step) {
		r := newRepo(t)
		r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
		s := r.pullRequest("a")
		s.flags = r.measured(150)
		return r, s
	}
	// The requests that a gate makes when nothing goes wrong. The last one that
	// looks for the baseline downloads it.
	r, s := undisturbed(t)
	before := len(r.Requests())
	r.do(s).want(t, 1)
	requests := r.Requests()[before:]
	found := slices.IndexFunc(requests, func(q githubtest.Request) bool { return q.Host == "storage" && q.Method == "GET" })
	if found < 5 || len(requests) < found+8 {
		t.Fatalf("a gate makes %d requests, %d of them for the baseline: this test breaks nothing", len(requests), found+1)
	}
	for name, fault := range faults {
		for i, broken := range requests {
			t.Run(fmt.Sprintf("%s/%d %s", name, i+1, broken.Method), func(t *testing.T) {
				r, s := undisturbed(t)
				inject := func() {
					f, n, first := fault.Fault, 0, ""
					f.Match = func(q githubtest.Request) bool {
						if n++; n <= i {
							return false
						}
						// That request, and all that follow for the same, however often.
						first = cmp.Or(first, q.Method+q.Path)
						return q.Method+q.Path == first
					}
					r.Inject(f)
				}
				inject()
				e := r.do(s)
				r.Heal()
				noBaseline := strings.Contains(e.stdout, "No baseline")
				want := 1
				if noBaseline {
					want = 0
				}
				if noBaseline && (i > found || fault.Times == 1) {
					t.Errorf("there is no baseline, which this request is not for, or which comes of it the second time")
				}
				e.want(t, want)
				if noBaseline {
					r.wantNoBaseline(e, broken, fault.why)
				}
				comments := r.Comments(7)
				if len(comments) > 1 || len(comments) == 0 && !strings.Contains(e.log, "warning: no comment") {
					t.Errorf("%d comments, and it says\n%s", len(comments), e.log)
				}
				if left := r.ArtifactNames(r.lastRun); len(left) > 1 || len(left) == 0 && !strings.Contains(e.log, "warning: the measurements are not left as an artifact") {
					t.Errorf("artifacts %q, and it says\n%s", left, e.log)
				}

				required := s
				required.flags = append(slices.Clone(s.flags), "--require-baseline")
				if noBaseline {
					inject()
					e := r.do(required)
					r.Heal()
					e.want(t, 3)
					r.wantNoBaseline(e, broken, fault.why)
				}

				// The next attempt makes good what this one could not do.
				required.rerun = r.lastRun
				r.do(required).want(t, 1, "Regression", "the comment is at", "the measurements are in the artifact")
				if body := r.only(7); !strings.Contains(body, "Regression") {
					t.Errorf("after the next attempt the comment is %s", body)
				}
				// The same bytes under a name that is there are not left again. A name that
				// was reserved and never heard of is lost to both attempts: each leaves its own.
				want = 1
				if strings.HasSuffix(broken.Path, "/CreateArtifact") && fault.Processed {
					want = 2
				}
				if names := r.ArtifactNames(r.lastRun); len(names) != want || slices.ContainsFunc(names, func(name string) bool { return !strings.HasPrefix(name, "noslower-measurements-default") }) {
					t.Errorf("after the next attempt the artifacts are %q, want %d of the measurements", names, want)
				}
			})
		}
	}
}

// wantNoBaseline checks that log, summary and comment say which request for the
// baseline went wrong, and why.
func (r *repo) wantNoBaseline(e ended, broken githubtest.Request, why string) {
	r.t.Helper()
	what := broken.Path
	if broken.Host == "storage" {
		what = `artifact "noslower-baseline-default"`
	}
	e.want(r.t, e.status, "No baseline: ", what, why)
	_, comment, _ := strings.Cut(r.only(7), "\n") // without its marker
	plain := strings.NewReplacer("`", "", `"`, "")
	for name, text := range map[string]string{"summary": e.summary, "comment": comment} {
		first, _, _ := strings.Cut(plain.Replace(text), "\n")
		for _, say := range []string{"No baseline: ", what, why} {
			if !strings.Contains(first, plain.Replace(say)) {
				r.t.Errorf("the first line of the %s does not say %q: %s", name, say, first)
			}
		}
	}
}

// TestFaultsElsewhere breaks each request of a report, and of a merge group whose
// regression is accepted, in turn: a report comments once or says why not, and
// nothing but the label lets a regression pass.
func TestFaultsElsewhere(t *testing.T) {
	forked := func(t *testing.T) (*repo, step) {
		r := newRepo(t)
		r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
		r.AddPull(githubtest.Pull{Number: 7, Branch: "main", SHA: commit("1"), BaseSHA: commit("a"), HeadRepositoryID: forkID, HeadRepository: "stranger/sample"})
		r.AddCommit("", commit("1"), commit("a"))
		r.AddCommit("", commit("2"), commit("a"), commit("1"))
		r.do(step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2"), flags: r.measured(150), fork: true})
		return r, step{event: "workflow_run", sha: commit("a"), payload: map[string]any{
			"workflow_run": map[string]any{"id": r.lastRun, "event": "pull_request", "head_sha": commit("1"), "head_branch": "main"},
		}}
	}
	queued := func(t *testing.T) (*repo, step) {
		r := newRepo(t)
		r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
		r.pullRequest("a")
		r.Push(7, commit("1"), false)
		r.Label(7, "perf-regression-accepted", "alice")
		return r, step{event: "merge_group", sha: commit("9"), flags: r.measured(150), payload: map[string]any{
			"merge_group": map[string]any{
				"head_sha": commit("9"), "base_sha": commit("a"), "base_ref": "refs/heads/main",
				"head_ref": "refs/heads/gh-readonly-queue/main/pr-7-" + commit("a"),
			},
		}}
	}
	breakEach(t, forked, func(t *testing.T, r *repo, s step, e ended) {
		comments := r.Comments(7)
		told := len(comments) == 1 || strings.Contains(e.log, "warning: no comment") || e.status == 3 && strings.Contains(e.log, "noslower: ")
		if len(comments) > 1 || !told || e.status != 0 && e.status != 1 && e.status != 3 {
			t.Errorf("status %d, %d comments\n%s%s", e.status, len(comments), e.stdout, e.log)
		}
		r.do(s)
		if comments := r.Comments(7); len(comments) != 1 || !strings.Contains(comments[0].Body, "Regression") {
			t.Errorf("the next report leaves %+v", comments)
		}
	})
	breakEach(t, queued, func(t *testing.T, _ *repo, _ step, e ended) {
		passes := strings.Contains(e.stdout, "Accepted by alice") || strings.Contains(e.stdout, "No baseline")
		if e.status != 1 && !(e.status == 0 && passes) {
			t.Errorf("status %d\n%s%s", e.status, e.stdout, e.log)
		}
	})
}

// breakEach takes a step as often as it makes requests, each time with another
// one of them broken, and checks how it ended.
func breakEach(t *testing.T, prepare func(*testing.T) (*repo, step), check func(*testing.T, *repo, step, ended)) {
	for name, fault := range map[string]githubtest.Fault{
		"broken off":  {Break: true},
		"answer lost": {Times: 1, Break: true, Processed: true},
		"refused":     {Status: 403, Body: `{"message":"no"}`},
	} {
		for i, more := 0, true; more; i++ {
			t.Run(fmt.Sprintf("request %d %s", i+1, name), func(t *testing.T) {
				r, s := prepare(t)
				before := len(r.Requests())
				fault.Skip = i
				r.Inject(fault)
				e := r.do(s)
				r.Heal()
				if more = len(r.Requests())-before > i; more {
					check(t, r, s, e)
				}
			})
		}
	}
}

// TestPastIsKept: a push that cannot look for the baseline before it keeps none, or
// the jobs that it tells of would be gone with the next.
func TestPastIsKept(t *testing.T) {
	r := newRepo(t)
	push := func(sha, on string) ended {
		r.AddCommit("main", commit(sha), commit(on))
		return r.do(step{event: "push", sha: commit(sha), flags: r.measured(100)})
	}
	push("b", "a").want(t, 0, "kept as the baseline")
	push("c", "b").want(t, 0, "kept as the baseline")
	r.Inject(githubtest.Fault{Match: func(q githubtest.Request) bool { return strings.HasSuffix(q.Path, "/runs") }, Status: 500, Body: `<html>`})
	push("d", "c").want(t, 0, "No baseline: looking for the baseline: GET ", "warning: keeping the baseline: the past of the one before it would be lost: looking for the baseline: GET ")
	r.Heal()
	push("e", "d").want(t, 0, "kept as the baseline")
	e := r.do(step{event: "push", sha: commit("e"), command: "history", flags: []string{"--output", "csv", "--baseline", "artifact"}})
	if n := strings.Count(e.stdout, "time_per_op"); n != 3 {
		t.Errorf("%d jobs are known, want 3:\n%s%s", n, e.stdout, e.log)
	}
}

// TestFaultsWhileKeeping breaks each request of a push in turn: the status is
// that of the verdict, and a baseline is there whole or not at all.
func TestFaultsWhileKeeping(t *testing.T) {
	first := newRepo(t)
	before := len(first.Requests())
	first.do(step{event: "push", sha: commit("a"), flags: first.measured(100)}).want(t, 0)
	requests := len(first.Requests()) - before
	for i := range requests {
		for name, fault := range map[string]githubtest.Fault{
			"broken off":  {Skip: i, Break: true},
			"answer lost": {Skip: i, Times: 1, Break: true, Processed: true},
			"refused":     {Skip: i, Status: 403, Body: `{"msg":"no"}`},
		} {
			r := newRepo(t)
			r.Inject(fault)
			e := r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
			r.Heal()
			if e.status != 0 {
				t.Errorf("request %d %s: status %d\n%s%s", i+1, name, e.status, e.stdout, e.log)
			}
			names := r.ArtifactNames(r.lastRun)
			if kept := strings.Contains(e.log, "kept as the baseline"); kept && len(names) != 1 || len(names) > 1 || !kept && !strings.Contains(e.log, "warning: keeping the baseline") {
				t.Errorf("request %d %s: artifacts %q, and it says\n%s", i+1, name, names, e.log)
			}
			s := r.pullRequest("a")
			s.flags = r.measured(150)
			if e := r.do(s); len(names) == 1 && e.status != 1 || len(names) == 0 && (e.status != 0 || !strings.Contains(e.stdout, "No baseline")) {
				t.Errorf("request %d %s: with %d artifacts a pull request ends with %d\n%s%s", i+1, name, len(names), e.status, e.stdout, e.log)
			}
		}
	}
}

// TestAnchors: what head is held against is found where the checkout has neither
// tags nor history, as one of a workflow; and where it is not, that is said.
func TestAnchors(t *testing.T) {
	r := newRepo(t)
	before := ""
	for i, ns := range []float64{100, 120, 140} {
		sha := commit(string(rune('a' + i)))
		r.AddCommit("main", sha, before)
		r.do(step{event: "push", sha: sha, flags: r.measured(ns)}).want(t, 0)
		before = sha
	}
	r.AddTag("v0.9-test", commit("a"))
	r.AddTag("v0.10-test", commit("b"))
	r.AddTag("v9-of-no-job", commit("f"))
	r.AddPull(githubtest.Pull{Number: 7, Branch: "feature", SHA: commit("1"), BaseSHA: commit("c")})
	r.AddCommit("", commit("1"), commit("c"))
	r.AddCommit("", commit("2"), commit("c"), commit("1"))
	for _, tt := range []struct {
		against string
		refused *githubtest.Fault
		status  int
		says    string
	}{
		{"release", nil, 1, "since v0.10-test: +17.9 % over 2 jobs"},
		{"v0.9-test", nil, 1, "since v0.9-test: +41.5 % over 3 jobs"},
		{commit("a")[:8], nil, 1, "since aaaaaaaaaaaa: +41.5 % over 3 jobs"},
		{"v9-of-no-job", nil, 0, "creep against v9-of-no-job is not judged: neither git nor GitHub knows such a commit"},
		{"feature-test", nil, 0, "creep against feature-test is not judged: ffffffffffff is of none of the 3 jobs that the record tells of on head's kind of machine"},
		{"release", &githubtest.Fault{
			Match:  func(q githubtest.Request) bool { return strings.HasSuffix(q.Path, "/tags") },
			Status: 403, Body: `{"message":"Resource not accessible by integration"}`,
		}, 0, `creep against release is not judged: GitHub does not tell the tags: GET /repos/noslower/sample/tags: status 403: Resource not accessible by integration: the job needs the permission "contents: read"`},
	} {
		config := filepath.Join(t.TempDir(), "noslower.yml")
		if err := os.WriteFile(config, []byte("version: 1\ncreep: {against: "+tt.against+", fail: 10%}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if tt.against == "feature-test" {
			r.AddCommit("feature-test", commit("f"))
		}
		if tt.refused != nil {
			r.Inject(*tt.refused)
		}
		r.do(step{event: "pull_request", pull: 7, head: commit("1"), sha: commit("2"), flags: append(r.measured(141.5), "--config", config)}).
			want(t, tt.status, tt.says)
	}
}

// TestListBaselines: of the runs that a gate would look at, each suite once,
// whatever its name and however often a run was run again.
func TestListBaselines(t *testing.T) {
	r := newRepo(t)
	list := step{event: "schedule", sha: commit("a"), command: "baseline", flags: []string{"list"}}
	r.do(list).want(t, 0, "artifact has no baseline")
	r.do(step{event: "push", sha: commit("a"), ns: "100", flags: []string{"--suite", "read/small"}})
	r.do(step{event: "push", sha: commit("a"), ns: "100", rerun: r.lastRun, flags: []string{"--suite", "read/small"}})
	r.do(step{event: "push", sha: commit("a"), ns: "100", flags: []string{"--suite", "write-a2"}})
	e := r.do(list)
	e.want(t, 0, "SUITE COMMIT TIME", "read/small aaaaaaaaaaaa", "write-a2 aaaaaaaaaaaa")
	if lines := strings.Count(e.stdout, "\n"); lines != 3 {
		t.Errorf("have %d lines, want 3:\n%s", lines, e.stdout)
	}
}
