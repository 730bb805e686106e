package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/github/githubtest"
)

// suites are what a benchmark of each suite takes, in nanoseconds.
type suites map[string]float64

// write writes measurements of suites, a document each, and returns the flags that
// take them.
func (s suites) write(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	for i, suite := range slices.Sorted(maps.Keys(s)) {
		m := bench.Measurements{Suite: suite, Set: &bench.Set{}}
		for run := range 5 {
			// Of one name in all of them: a suite's values are its own.
			if err := m.Set.Add(run, bench.Result{Name: "Encode", Values: []bench.Value{bench.Measure("time_per_op", s[suite], "ns/op")}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := writeMeasurements(filepath.Join(dir, fmt.Sprintf("%d.json", i)), m); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--measurements", dir}
}

// pushSuites keeps a baseline of each suite.
func pushSuites(t *testing.T, s suites) *repo {
	t.Helper()
	r := newRepo(t)
	e := r.do(step{event: "push", sha: commit("a"), flags: s.write(t)})
	e.want(t, 0)
	var want []string
	for _, suite := range slices.Sorted(maps.Keys(s)) {
		want = append(want, "noslower-baseline-"+slug(suite))
	}
	if names := r.ArtifactNames(r.lastRun); !slices.Equal(names, want) {
		t.Fatalf("a push leaves %q, want %q\n%s", names, want, e.log)
	}
	return r
}

// only returns the text of the one comment of a pull request by our account.
func (r *repo) only(pull int) string {
	r.t.Helper()
	var own []string
	for _, c := range r.Comments(pull) {
		if c.Author == "github-actions[bot]" {
			own = append(own, c.Body)
		}
	}
	if len(own) != 1 {
		r.t.Fatalf("%d comments, want 1: %q", len(own), own)
	}
	return own[0]
}

// TestSuitesOfAGate: a job that takes the measurements of several suites judges
// each against its own baseline, and speaks once.
func TestSuitesOfAGate(t *testing.T) {
	r := pushSuites(t, suites{"read": 100, "write": 200})
	s := r.pullRequest("a")
	// What jobs of one suite each had said before stands no longer; what others
	// wrote, in whatever words, does.
	for _, suite := range []string{"read", "write", "scan"} {
		s.flags = append(r.measured(100), "--suite", suite)
		r.do(s)
	}
	r.AddComment(7, "someone", "<!-- noslower:v1 suite=read run=1.1 sha=x -->\nplanted")
	s.flags = suites{"read": 150, "write": 200, "new": 300}.write(t)
	e := r.do(s)
	e.want(t, 1, "Regression in 1 of 3 suites: read. No baseline for new. No regression in write.", "suite write No regression", "::error title=noslower::read: Encode: time_per_op regressed")
	comments := r.Comments(7)
	if len(comments) != 3 || !strings.Contains(comments[1].Body, "suite=scan ") || !strings.Contains(comments[2].Body, "planted") {
		t.Fatalf("comments: %+v", comments)
	}
	body := comments[0].Body
	first, rest, _ := strings.Cut(body, "\n")
	if !regexp.MustCompile(`^<!-- noslower:v1 suites=new,read,write run=\d+\.1 sha=1{40} -->$`).MatchString(first) || !strings.HasPrefix(rest, "❌ **Regression in 1 of 3 suites: `read`.** No baseline for `new`.") {
		t.Errorf("the comment begins with %.300s", body)
	}
	order := regexp.MustCompile("(?m)^### `(.*)`$").FindAllStringSubmatch(body, -1)
	if len(order) != 3 || order[0][1] != "read" || order[1][1] != "new" || order[2][1] != "write" || strings.Count(body, "accepts it") != 1 {
		t.Errorf("sections %q:\n%s", order, body)
	}
	for _, want := range []string{"outcome<<", "regressed", "status<<", "comparisons<<", "\n2\n", "regressions<<"} {
		if !strings.Contains(e.outputs, want) {
			t.Errorf("outputs %q, want %q in them", e.outputs, want)
		}
	}
	if n := strings.Count(e.outputs, "<<"); n != 4 || !strings.Contains(e.summary, "Regression in 1 of 3 suites: `read`") {
		t.Errorf("%d outputs, summary %s", n, e.summary)
	}
	if names := r.ArtifactNames(r.lastRun); !slices.Equal(names, []string{"noslower-measurements-new", "noslower-measurements-read", "noslower-measurements-write"}) {
		t.Errorf("artifacts %q", names)
	}

	// A job of one of the suites leaves that to the one that merges.
	s.flags = append(r.measured(100), "--suite", "write")
	r.do(s).want(t, 0, "tells of several suites, and the job that merges them keeps it up to date")
	if after := r.Comments(7); len(after) != 3 || after[0].Body != body {
		t.Errorf("comments: %+v", after)
	}

	// The label accepts the regression of any suite, and is looked up once.
	r.Push(7, commit("1"), false)
	r.Label(7, "perf-regression-accepted", "alice")
	before := len(r.Requests())
	s.flags = suites{"read": 150, "write": 300, "new": 300}.write(t)
	r.do(s).want(t, 0, "A regression that fails nothing in 2 of 3 suites: read, write.", "Accepted by alice")
	if api := apiRequests(r, before); api > 22 {
		t.Errorf("a gate of three suites makes %d requests of the API", api)
	}
	if body := r.Comments(7)[0].Body; !strings.Contains(body, "Accepted by alice") {
		t.Errorf("the comment does not say who accepted it: %s", body)
	}
}

func apiRequests(r *repo, before int) (n int) {
	for _, q := range r.Requests()[before:] {
		if q.Host == "api" {
			n++
		}
	}
	return n
}

// forkSuites measures suites in a pull request from a fork, and returns the step
// that reports on it.
func forkSuites(t *testing.T, r *repo, s suites) step {
	t.Helper()
	r.AddPull(githubtest.Pull{Number: 8, Branch: "main", SHA: commit("1"), BaseSHA: commit("a"), HeadRepositoryID: forkID, HeadRepository: "stranger/sample"})
	r.AddCommit("", commit("1"), commit("a"))
	r.AddCommit("", commit("2"), commit("a"), commit("1"))
	r.do(step{event: "pull_request", pull: 8, head: commit("1"), sha: commit("2"), flags: s.write(t), fork: true}).
		want(t, 1, "no comment: the token of a pull request from a fork may only read")
	return step{event: "workflow_run", sha: commit("a"), payload: map[string]any{"workflow_run": map[string]any{"id": r.lastRun}}}
}

// TestSuitesOfAFork: the report of a run has one comment of all its suites, with
// what of them has no baseline and what cannot be read.
func TestSuitesOfAFork(t *testing.T) {
	r := pushSuites(t, suites{"read": 100, "write": 200})
	report := forkSuites(t, r, suites{"read": 150, "write": 200, "new": 300})
	measured := r.lastRun
	r.AddArtifact(measured, "noslower-measurements-bomb", []byte("PK"))
	data, err := os.ReadFile(r.measured(100)[1])
	if err != nil {
		t.Fatal(err)
	}
	zip, err := github.WriteArchive(github.Entry{Name: "measurements.json", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	r.AddArtifact(measured, "noslower-measurements-@org", zip)
	// A comment of one suite, by a report of an earlier push.
	r.AddComment(8, "github-actions[bot]", "<!-- noslower:v1 suite=write run=1.1 sha=x -->\nstale")
	before := len(r.Requests())
	r.do(report).want(t, 0, "Regression in 1 of 3 suites: read. No baseline for new. No regression in write.",
		"it is not reported on: artifact noslower-measurements-bomb", "it is not reported on: artifact noslower-measurements-@org: what it measured is of the suite \"default\"", "the comment is at")
	if api := apiRequests(r, before); api > 30 {
		t.Errorf("a report on three suites makes %d requests of the API", api)
	}
	body := r.only(8)
	for _, want := range []string{
		"suites=new,read,write run=", "❌ **Regression in 1 of 3 suites: `read`.**", "### `read`", "### `new`", "### `write`",
		"- artifact noslower-measurements-bomb: ", "what it measured is of the suite `default`", "No baseline: none of 1 runs",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the comment does not say %q:\n%s", want, body)
		}
	}
	// Again, and for on-regression, it is the same one.
	again := report
	again.flags = []string{"--comment", "on-regression"}
	r.do(again).want(t, 0, "the comment is at")
	if r.only(8) != body {
		t.Error("the next report leaves another comment")
	}
	r.Label(8, "perf-regression-accepted", "alice")
	r.do(report).want(t, 0, "A regression that fails nothing in 1 of 3 suites: read.")
	if body := r.only(8); !strings.Contains(body, "Accepted by alice") || !strings.Contains(body, "⚠️ **A regression that fails nothing in 1 of 3 suites: `read`.**") {
		t.Errorf("the comment does not say who accepted it: %s", body)
	}
}

// TestSuitesFlood: of more suites than a comment has room for, that they are left
// out is said, and they are not even asked for.
func TestSuitesFlood(t *testing.T) {
	r := pushSuites(t, suites{"read": 100})
	report := forkSuites(t, r, suites{"read": 150})
	for i := range 200 {
		r.AddArtifact(r.lastRun, fmt.Sprintf("noslower-measurements-%d", i), []byte("PK"))
	}
	data, err := os.ReadFile(suites{"last": 150}.write(t)[1] + "/0.json")
	if err != nil {
		t.Fatal(err)
	}
	zip, err := github.WriteArchive(github.Entry{Name: "measurements.json", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	r.AddArtifact(r.lastRun, "noslower-measurements-last", zip)
	before := len(r.Requests())
	r.do(report).want(t, 0, "No baseline for the suite last. Missing here: ")
	if body := r.only(8); !strings.Contains(body, "one job reports on 20 suites at most") && !strings.Contains(body, "- and 1 more") {
		t.Errorf("the comment does not say what is left out:\n%s", body)
	}
	if api := apiRequests(r, before); api > 60 {
		t.Errorf("%d requests of the API", api)
	}
}

// TestSuitesComment: whether there is a comment depends on all suites.
func TestSuitesComment(t *testing.T) {
	r := pushSuites(t, suites{"read": 100, "write": 200})
	s := r.pullRequest("a")
	same, worse := suites{"read": 100, "write": 200}, suites{"read": 100, "write": 300}
	for _, tt := range []struct {
		when string
		took suites
		want int
		says string
	}{
		{"never", worse, 0, ""},
		{"on-regression", same, 0, ""},
		{"on-regression", worse, 1, "Regression in 1 of 2 suites: `write`"},
		{"on-regression", same, 1, "No regression in any of 2 suites"},
		{"always", worse, 1, "Regression in 1 of 2 suites: `write`"},
	} {
		s.flags = append(tt.took.write(t), "--comment", tt.when)
		r.do(s)
		comments := r.Comments(7)
		if len(comments) != tt.want || tt.want > 0 && !strings.Contains(comments[0].Body, tt.says) {
			t.Errorf("%s at %v: %+v", tt.when, tt.took, comments)
		}
	}
}

// TestSuitesOfJobs: measurements that jobs of the same run left, gates or not, are
// merged by one.
func TestSuitesOfJobs(t *testing.T) {
	r := pushSuites(t, suites{"read": 100, "write": 200})
	s := r.pullRequest("a")
	s.flags = append(suites{"read": 150}.write(t), "--comment", "never")
	r.do(s).want(t, 1)
	s.flags = append(suites{"write": 200}.write(t), "--comment", "never")
	s.beside = true
	r.do(s).want(t, 0)
	s.flags = []string{"--measurements", "artifact:noslower-measurements-*"}
	r.do(s).want(t, 1, "Regression in 1 of 2 suites: read")
	if names := r.ArtifactNames(r.lastRun); len(names) != 2 {
		t.Errorf("artifacts %q", names)
	}
	if body := r.only(7); !strings.Contains(body, "suites=read,write ") {
		t.Errorf("the comment is %s", body)
	}
}

// TestSuitesFiles: forms without a document of several suites are a file a suite.
func TestSuitesFiles(t *testing.T) {
	r := pushSuites(t, suites{"read/x": 100, "write": 200})
	s := r.pullRequest("a")
	dir := t.TempDir()
	s.flags = append(suites{"read/x": 150, "write": 200}.write(t),
		"--report", "json="+filepath.Join(dir, "v.json"), "--report", "markdown="+filepath.Join(dir, "v.md"), "--output", "json")
	e := r.do(s)
	e.want(t, 1)
	var names []string
	files, err := os.ReadDir(dir)
	for _, f := range files {
		names = append(names, f.Name())
	}
	if want := []string{"v-read%2Fx.json", "v-write.json", "v.md"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("files %q, want %q (%v)", names, want, err)
	}
	decoder := json.NewDecoder(strings.NewReader(e.stdout))
	for _, want := range []string{"regressed", "same"} {
		var v struct{ Outcome string }
		if err := decoder.Decode(&v); err != nil || v.Outcome != want {
			t.Errorf("a verdict of standard output is %+v, want %s (%v)", v, want, err)
		}
	}
}

// TestSuiteUnread: a suite that cannot be judged is told of everywhere, and is no
// pass.
func TestSuiteUnread(t *testing.T) {
	r := newRepo(t)
	s := r.pullRequest("a")
	kept := t.TempDir()
	if err := os.WriteFile(filepath.Join(kept, "read"+recordSuffix), []byte(`{"schema":"noslower.record/v9"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s.flags = append(suites{"read": 150, "write": 200}.write(t), "--baseline", "dir:"+kept)
	e := r.do(s)
	e.want(t, 3, "No baseline for the suite write. Missing here: suite \"read\": ", "warning: suite \"read\": ", "::error title=noslower::suite \"read\": ")
	for name, text := range map[string]string{"summary": e.summary, "comment": r.only(7)} {
		if !strings.Contains(text, "⚠️ **No baseline for the suite `write`.** Missing here: suite `read`: ") {
			t.Errorf("the %s does not say what is missing: %s", name, text)
		}
	}
	if !regexp.MustCompile(`outcome<<\S+\ninconclusive\n`).MatchString(e.outputs) || !regexp.MustCompile(`status<<\S+\n3\n`).MatchString(e.outputs) {
		t.Errorf("outputs %s", e.outputs)
	}
}

// TestSuitesHostile: names of suites are text, in the marker too, and long ones
// leave the report its room.
func TestSuitesHostile(t *testing.T) {
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	s := r.pullRequest("a")
	texts := hostileTexts(t)
	for len(texts) > 0 {
		some := suites{}
		for _, text := range texts[:min(maxSuites, len(texts))] {
			some[strings.ToValidUTF8(text, "?")+" "] = 150
		}
		texts = texts[min(maxSuites, len(texts)):]
		s.flags = some.write(t)
		e := r.do(s)
		e.want(t, 0, fmt.Sprintf("No baseline for any of %d suites", len(some)))
		checkLog(t, e.log)
		checkLog(t, e.stdout)
		found := 0
		for _, c := range r.Comments(7) {
			marker, text, _ := strings.Cut(c.Body, "\n")
			if strings.Contains(c.Body, fmt.Sprintf("run=%d.", r.number)) {
				found++
				checkLog(t, text)
			}
			if len(marker) > 65_000-maxComment || len(c.Body) > 65_000 || strings.Contains(text, "<!--") && !strings.Contains(text, "`<!--") {
				t.Errorf("a marker of %d bytes and a comment of %d", len(marker), len(c.Body))
			}
		}
		if found != 1 {
			t.Errorf("%d comments of one run", found)
		}
	}
}

// TestSuitesFaults breaks each request of a gate of two suites, and of the report
// on two, in turn: there is one comment at most, and the next run puts all right.
func TestSuitesFaults(t *testing.T) {
	took := suites{"read": 150, "write": 200}
	merging := func(t *testing.T) (*repo, step) {
		r := pushSuites(t, suites{"read": 100, "write": 200})
		s := r.pullRequest("a")
		s.flags = took.write(t)
		r.AddComment(7, "github-actions[bot]", "<!-- noslower:v1 suite=read run=1.1 sha=x -->\nstale")
		return r, s
	}
	breakEach(t, merging, func(t *testing.T, r *repo, s step, e ended) {
		if e.status != 1 && !(e.status == 0 && strings.Contains(e.stdout, "No baseline: looking for the baseline: ")) && !strings.Contains(e.stdout, "No baseline: the baseline cannot be looked for") {
			t.Errorf("status %d\n%s%s", e.status, e.stdout, e.log)
		}
		if comments := r.Comments(7); len(comments) != 1 || strings.Contains(comments[0].Body, "stale") && !strings.Contains(e.log, "warning: no comment") {
			t.Errorf("comments %+v\n%s", comments, e.log)
		}
		s.rerun = r.lastRun
		r.do(s).want(t, 1)
		if body := r.only(7); !strings.Contains(body, "Regression in 1 of 2 suites: `read`") {
			t.Errorf("the next attempt leaves %s", body)
		}
	})
	reporting := func(t *testing.T) (*repo, step) {
		r := pushSuites(t, suites{"read": 100, "write": 200})
		return r, forkSuites(t, r, took)
	}
	breakEach(t, reporting, func(t *testing.T, r *repo, s step, e ended) {
		comments := r.Comments(8)
		told := len(comments) == 1 || strings.Contains(e.log, "warning: no comment") || e.status == 3 && strings.Contains(e.log, "noslower: ")
		if len(comments) > 1 || !told {
			t.Errorf("status %d, %d comments\n%s%s", e.status, len(comments), e.stdout, e.log)
		}
		r.do(s)
		if body := r.only(8); !strings.Contains(body, "Regression in 1 of 2 suites: `read`") {
			t.Errorf("the next report leaves %s", body)
		}
	})
}
