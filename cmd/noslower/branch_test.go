package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/github/githubtest"
)

// A shared is a bare repository, and clones of it.
type shared struct {
	t             *testing.T
	bare, scratch string
}

func (s shared) command(dir, program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_CONFIG_GLOBAL=/dev/null", "GITHUB_ACTIONS=", "GITHUB_SHA=", "TMPDIR="+s.scratch)
	return cmd
}

func (s shared) run(dir, program string, args ...string) (string, error) {
	out, err := s.command(dir, program, args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (s shared) must(dir, program string, args ...string) string {
	s.t.Helper()
	out, err := s.run(dir, program, args...)
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return out
}

func (s shared) clone() string {
	s.t.Helper()
	dir := s.t.TempDir()
	s.must(dir, "git", "clone", "--quiet", s.bare, ".")
	return dir
}

func newShared(t *testing.T) shared {
	t.Helper()
	s := shared{t, t.TempDir(), t.TempDir()}
	s.must(s.bare, "git", "init", "--quiet", "--bare", "--initial-branch=main")
	first := s.clone()
	s.must(first, "git", "commit", "--quiet", "--allow-empty", "-m", "first")
	s.must(first, "git", "push", "--quiet", "origin", "HEAD:main")
	return s
}

// document writes the measurements of a job into a clone.
func (s shared) document(dir, commit string, minute int, ns float64) string {
	s.t.Helper()
	m := bench.Measurements{Suite: "read", Commit: commit, Time: time.Date(2026, 11, 1, 0, minute, 0, 0, time.UTC), Set: &bench.Set{}}
	for run := range 5 {
		if err := m.Set.Add(run, bench.Result{Name: "Encode", Values: []bench.Value{bench.Measure("time_per_op", ns, "ns/op")}}); err != nil {
			s.t.Fatal(err)
		}
	}
	path := filepath.Join(dir, fmt.Sprintf("job-%d.json", minute))
	if err := writeMeasurements(path, m); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// TestBranchUnderPushers: of several that push at once none loses what another
// kept, and the branch has one commit.
func TestBranchUnderPushers(t *testing.T) {
	s := newShared(t)
	const pushers, each = 3, 3
	var all sync.WaitGroup
	for p := range pushers {
		dir := s.clone()
		all.Go(func() {
			for i := range each {
				n := p*each + i
				out, err := s.run(dir, "noslower", "baseline", "push", s.document(dir, fmt.Sprintf("%040d", n), n, 100), "--suite", "read", "--baseline", "branch:perf/data")
				if err != nil {
					t.Errorf("pusher %d: %v\n%s", p, err, out)
				}
			}
		})
	}
	all.Wait()
	dir := s.clone()
	history := s.must(dir, "noslower", "history", "--baseline", "branch:perf/data", "--output", "csv")
	if rows := strings.Count(history, "\n"); rows != pushers*each {
		t.Errorf("have %d jobs, want %d:\n%s", rows, pushers*each, history)
	}
	if commits := s.must(s.bare, "git", "rev-list", "--count", "perf/data"); commits != "1" {
		t.Errorf("the branch has %s commits, want 1", commits)
	}
	if status := s.must(dir, "git", "status", "--porcelain"); status != "" {
		t.Errorf("the clone's own files changed: %s", status)
	}
}

// TestBranchPicks: a job is compared with the record of its own commit or of its
// nearest ancestor, with the jobs before it as the past.
func TestBranchPicks(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	var heads []string
	for i := range 3 {
		s.must(dir, "git", "commit", "--quiet", "--allow-empty", "-m", fmt.Sprint(i))
		heads = append(heads, s.must(dir, "git", "rev-parse", "HEAD"))
	}
	const where = "branch:perf"
	if out, err := s.run(dir, "noslower", "baseline", "show", "--suite", "read", "--baseline", where); err == nil || !strings.Contains(out, "branch:perf has no record") {
		t.Errorf("without a branch: %v\n%s", err, out)
	}
	for i, commit := range []string{heads[0], heads[1], strings.Repeat("f", 40)} {
		s.must(dir, "noslower", "baseline", "push", s.document(dir, commit, i, 100+10*float64(i)), "--suite", "read", "--baseline", where)
	}
	out := s.must(dir, "noslower", "gate", "--measurements", s.document(dir, heads[2], 9, 111), "--baseline", where, "--save-baseline")
	for _, want := range []string{"branch:perf, 1 commit before the one to compare with", "kept as the baseline of \"read\" in branch:perf"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	s.must(dir, "git", "checkout", "--quiet", "--orphan", "other")
	s.must(dir, "git", "commit", "--quiet", "--allow-empty", "-m", "other")
	record := s.must(dir, "noslower", "baseline", "pull", "--suite", "read", "--baseline", where)
	r, err := baseline.Decode([]byte(record))
	if err != nil || r.Measurements.Commit != heads[2] || len(r.Jobs) != 3 {
		t.Errorf("without an ancestor there: %v, the record of %s with %d jobs, want the newest with the 3 before it", err, r.Measurements.Commit, len(r.Jobs))
	}
}

// TestBranchSuites: a suite may be called anything, and each has its own records.
func TestBranchSuites(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	names := []string{"--output=x", "..", ":(top)read", "read/small *", "read"}
	for i, name := range names {
		for minute := range i%2 + 1 {
			doc := s.document(dir, strings.Repeat("a", 40), minute, 100)
			s.must(dir, "noslower", "baseline", "push", doc, "--suite="+name, "--baseline", "branch:perf")
		}
	}
	list := s.must(dir, "noslower", "baseline", "list", "--baseline", "branch:perf")
	for i, name := range names {
		rows := regexp.MustCompile("(?m)^"+regexp.QuoteMeta(name)+` +a{12}.* (\d+)$`).FindAllStringSubmatch(list, -1)
		if len(rows) != 1 || rows[0][1] != fmt.Sprint(i%2) {
			t.Errorf("%q has the rows %q, want one with %d jobs before:\n%s", name, rows, i%2, list)
		}
	}
}

// TestBranchRefused: a push that the server refuses changes nothing, and what it
// takes is said.
func TestBranchRefused(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	push := func(n int) (string, error) {
		return s.run(dir, "noslower", "baseline", "push", s.document(dir, fmt.Sprintf("%040d", n), n, 100), "--suite", "read", "--baseline", "branch:perf")
	}
	if out, err := push(1); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := s.must(s.bare, "git", "rev-parse", "perf")
	hook := filepath.Join(s.bare, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := push(2); err == nil || !strings.Contains(out, "permissions: {contents: write}") {
		t.Errorf("a refused push: %v\n%s", err, out)
	}
	if after := s.must(s.bare, "git", "rev-parse", "perf"); after != before {
		t.Errorf("a refused push left %s, want %s", after, before)
	}
}

// TestBranchOfWork: a branch that has anything but records is somebody's work, and
// is never replaced, by whatever command; nor is a name taken that is none.
func TestBranchOfWork(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	for name, content := range map[string]string{"go.mod": "module m", "a.suite.txt": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		s.must(dir, "git", "add", name)
		s.must(dir, "git", "commit", "--quiet", "-m", name)
		s.must(dir, "git", "push", "--quiet", "origin", "HEAD:work")
		before := s.must(s.bare, "git", "rev-parse", "work")
		measured := s.document(dir, strings.Repeat("1", 40), 1, 100)
		for _, args := range [][]string{
			{"baseline", "push", measured, "--suite", "read", "--baseline", "branch:work"},
			{"gate", "--measurements", measured, "--suite", "read", "--baseline", "branch:work", "--save-baseline"},
		} {
			out, err := s.run(dir, "noslower", args...)
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(out, "has files of its own") {
				t.Errorf("%q: %v\n%s", args, err, out)
			}
			if after := s.must(s.bare, "git", "rev-parse", "work"); after != before {
				t.Fatalf("%q left %s, want %s", args, after, before)
			}
		}
	}
	for _, name := range []string{"a..b", "a~b", "x.lock", "*", "x:y", "a b", "-x", "refs/heads/x", "a//b", "a/.b", "@", "a\nb", "/a"} {
		out, err := s.run(dir, "noslower", "baseline", "list", "--baseline", "branch:"+name)
		if err == nil || !strings.Contains(out, "want the name of a branch") {
			t.Errorf("%q: %v\n%s", name, err, out)
		}
	}
}

// TestBranchInterrupted: a job that is killed while it pushes leaves what was
// there, or what it added, and nothing in between; and the next one goes on.
func TestBranchInterrupted(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	push := func(n int) []string {
		return []string{"baseline", "push", s.document(dir, fmt.Sprintf("%040d", n), n, 100), "--suite", "read", "--baseline", "branch:perf"}
	}
	s.must(dir, "noslower", push(1)...)
	hook, begun := filepath.Join(s.bare, "hooks", "pre-receive"), filepath.Join(s.bare, "begun")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\n: >"+begun+"\nsleep 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	job := s.command(dir, "noslower", push(2)...)
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := job.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = job.Wait() // it was killed
	jobs := func() int {
		return strings.Count(s.must(dir, "noslower", "history", "--baseline", "branch:perf", "--output", "csv"), "\n")
	}
	left := jobs()
	s.must(dir, "noslower", push(3)...)
	if now := jobs(); left < 1 || now <= left || now > 3 {
		t.Errorf("the killed job left %d jobs, and the next one %d", left, now)
	}
}

// TestBranchImports: a past of years comes along whole, once however often it is
// imported, and only as far as nothing was measured here.
func TestBranchImports(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	var entries []string
	for i := range 130 {
		at := time.Date(2026, 6, 1+i, 0, 0, 0, 0, time.UTC)
		entries = append(entries, fmt.Sprintf(`{"commit": {"id": "%040d", "timestamp": %q}, "date": %d, "benches": [{"name": "Encode", "value": 100, "unit": "ns/iter"}]}`,
			i, at.Format(time.RFC3339), at.UnixMilli()))
	}
	data := filepath.Join(dir, "data.js")
	if err := os.WriteFile(data, []byte(`window.BENCHMARK_DATA = {"entries": {"Go": [`+strings.Join(entries, ",")+`]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	importing := []string{"import", data, "--suite", "read", "--baseline", "branch:perf"}
	for range 2 {
		if out := s.must(dir, "noslower", importing...); !strings.Contains(out, `the record of "read" in branch:perf has 130`) {
			t.Errorf("it does not say how many jobs there are:\n%s", out)
		}
	}
	// Measured here, in the middle of it.
	m := bench.Measurements{Suite: "read", Commit: commit("a"), Time: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC), Host: oneMachine, Set: &bench.Set{}}
	if err := m.Set.Add(0, bench.Result{Name: "Encode", Values: []bench.Value{bench.Measure("time_per_op", 100, "ns/op")}}); err != nil {
		t.Fatal(err)
	}
	if err := writeMeasurements(filepath.Join(dir, "head.json"), m); err != nil {
		t.Fatal(err)
	}
	s.must(dir, "noslower", "baseline", "push", "head.json", "--baseline", "branch:other")
	if out := s.must(dir, "noslower", append(importing[:4], "--baseline", "branch:other")...); !strings.Contains(out, "has 94") {
		t.Errorf("it does not say that 93 jobs came before the one that was measured:\n%s", out)
	}
	rows := strings.Count(s.must(dir, "noslower", "history", "--baseline", "branch:perf", "--output", "csv"), "\n")
	if rows != 130 {
		t.Errorf("the history has %d jobs, want 130", rows)
	}
}

// TestBranchInWorkflow: in a workflow the job's token alone reads and writes the
// branch, whatever the checkout has; without the permission nothing changes, and
// what it takes is said.
func TestBranchInWorkflow(t *testing.T) {
	r := newRepo(t)
	_, server := r.ServeGit(t)
	const where = "branch:perf/data"
	push := func(sha string, ns float64) ended {
		r.AddCommit("main", sha, commit("a"))
		return r.do(step{event: "push", sha: sha, server: server, flags: append(r.measured(ns), "--baseline", where)})
	}
	push(commit("a"), 100).want(t, 0, "branch:perf/data has no record", "kept as the baseline of \"default\" in branch:perf/data")
	push(commit("b"), 100).want(t, 0, "from branch:perf/data, of the very commit to compare with", "kept as the baseline")

	r.AddPull(githubtest.Pull{Number: 8, Branch: "main", SHA: commit("1"), BaseSHA: commit("b"), HeadRepositoryID: forkID, HeadRepository: "stranger/sample"})
	r.AddCommit("", commit("1"), commit("a"))
	r.AddCommit("", commit("2"), commit("a"), commit("1"))
	fork := step{event: "pull_request", pull: 8, head: commit("1"), sha: commit("2"), fork: true, server: server, flags: append(r.measured(150), "--baseline", where)}
	r.do(fork).want(t, 1, "Regression", "base aaaaaaaaaaaa, from branch:perf/data, of the very commit to compare with")
	fork.flags = append(fork.flags, "--save-baseline")
	r.do(fork).want(t, 1, "warning: keeping the baseline: branch:perf/data: it cannot be pushed to", "permissions: {contents: write}", "403")

	list := r.do(step{event: "schedule", sha: commit("b"), server: server, command: "baseline", flags: []string{"list", "--baseline", where}})
	list.want(t, 0, "default bbbbbbbbbbbb")

	r.do(step{event: "push", sha: commit("b"), ns: "100", server: server, flags: []string{"--baseline", where, "--program", "bench"}}).
		want(t, 2, "--program: a branch of data keeps no programs")
}

// TestCompact: however long it goes on, there are no more files than the bounds
// allow, and of no job less is known than folding leaves.
func TestCompact(t *testing.T) {
	var files []branchFile
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const jobs = 700
	for i := range jobs {
		r := baseline.Record{Measurements: bench.Measurements{Suite: "read", Commit: fmt.Sprintf("%040d", i), Time: start.Add(time.Duration(i) * time.Hour), Set: &bench.Set{}}}
		add, gone := compact(append(files, branchFile{path: pathOf("read", r), record: r}))
		left := map[string]bool{}
		for _, path := range gone {
			left[path] = true
		}
		var next []branchFile
		for _, f := range files {
			if !left[f.path] {
				next = append(next, f)
			}
		}
		// As they are read: by time. What was folded is older than what is whole.
		if len(add) > 1 {
			folded := 0
			for folded < len(next) && len(next[folded].record.Jobs) > 0 {
				folded++
			}
			next = append(next[:folded:folded], append([]branchFile{add[1]}, next[folded:]...)...)
		}
		files = append(next, add[0])
		if most := branchWhole + 1 + jobs/branchFold; len(files) > most {
			t.Fatalf("%d files after %d jobs, want at most %d", len(files), i+1, most)
		}
	}
	var trails [][]baseline.Job
	for _, f := range files {
		trails = append(trails, trailOf(&f.record))
		if len(f.record.Jobs) > baseline.MaxJobs {
			t.Errorf("%s tells of %d jobs before it, more than a record is read with", f.path, len(f.record.Jobs))
		}
	}
	if all := baseline.Merge(trails...); len(all) != jobs {
		t.Errorf("%d jobs are known, want %d", len(all), jobs)
	}
}

// TestCompactLarge: the files of old jobs are bounded in bytes too, and the newest
// of them stay.
func TestCompactLarge(t *testing.T) {
	var files []branchFile
	for i := range 5 {
		files = append(files, branchFile{path: fmt.Sprint(i), record: baseline.Record{Jobs: make([]baseline.Job, 1)}, size: branchBytes / 3})
	}
	_, gone := compact(append(files, branchFile{path: "new"}))
	slices.Sort(gone)
	if want := []string{"0", "1"}; !slices.Equal(gone, want) {
		t.Errorf("%q are let go, want %q", gone, want)
	}
	// Few whole jobs that are large are folded before there are many.
	for i := range files {
		files[i].record.Jobs = nil
		files[i].record.Measurements.Set = &bench.Set{}
	}
	add, gone := compact(append(files, branchFile{path: "new"}))
	slices.Sort(gone)
	if want := []string{"0", "1"}; !slices.Equal(gone, want) || len(add) != 2 || add[1].path != foldedPath("1") {
		t.Errorf("%q are folded, want %q", gone, want)
	}
}

// seed makes the branch one that has so many jobs, of which each measured some
// nanoseconds.
func (s shared) seed(dir string, jobs int, ns func(job int) float64) {
	s.t.Helper()
	var stream strings.Builder
	fmt.Fprint(&stream, "commit refs/heads/perf/data\ncommitter a <a@example.org> 0 +0000\ndata 4\npast\n")
	for i := range jobs {
		data, err := os.ReadFile(s.document(dir, fmt.Sprintf("%040d", i), i, ns(i)))
		if err != nil {
			s.t.Fatal(err)
		}
		var r baseline.Record
		if r.Measurements, err = bench.DecodeMeasurements(data); err != nil {
			s.t.Fatal(err)
		}
		if data, err = r.Encode(); err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&stream, "M 100644 inline %s\ndata %d\n%s\n", pathOf("read", r), len(data), data)
	}
	git := s.command(s.bare, "git", "fast-import", "--quiet")
	git.Stdin = strings.NewReader(stream.String())
	if out, err := git.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

// TestBranchFolds: when a branch has as many whole jobs as are kept, the oldest are
// folded, and it goes on.
func TestBranchFolds(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	s.seed(dir, branchWhole, func(int) float64 { return 100 })
	for i := range 2 {
		n := branchWhole + i
		s.must(dir, "noslower", "baseline", "push", s.document(dir, fmt.Sprintf("%040d", n), n, 100), "--suite", "read", "--baseline", "branch:perf/data")
	}
	files := strings.Fields(s.must(s.bare, "git", "ls-tree", "-r", "--name-only", "perf/data"))
	// The oldest of them are in one file.
	if want := branchWhole + 2 - branchFold + 1; len(files) != want {
		t.Errorf("%d files, want %d", len(files), want)
	}
	history := s.must(dir, "noslower", "history", "--baseline", "branch:perf/data", "--output", "csv")
	if rows := strings.Count(history, "\n"); rows != branchWhole+2 {
		t.Errorf("%d jobs, want %d", rows, branchWhole+2)
	}
}

// TestBranchRemembers: creep is held against a job that is older than what a record
// tells of.
func TestBranchRemembers(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	s.seed(dir, branchWhole, func(i int) float64 { return 100 + float64(i)/20 })
	config := filepath.Join(dir, "creep.yml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "version: 1\ncreep: {against: %q, fail: 3%%}\n", fmt.Sprintf("%040d", 11)), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := s.run(dir, "noslower", "gate", "--config", config, "--suite", "read", "--baseline", "branch:perf/data",
		"--measurements", s.document(dir, fmt.Sprintf("%040d", branchWhole), branchWhole, 105))
	if err == nil || !strings.Contains(out, "since 000000000000: +4.4") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestBranchOfText: a tool's own output says neither when nor of what commit it is,
// and no job takes the place of another all the same.
func TestBranchOfText(t *testing.T) {
	s := newShared(t)
	dir := s.clone()
	for i := range 2 {
		path := filepath.Join(dir, "out.txt")
		if err := os.WriteFile(path, fmt.Appendf(nil, "BenchmarkEncode 1 %d ns/op\n", 100+i), 0o644); err != nil {
			t.Fatal(err)
		}
		s.must(dir, "noslower", "baseline", "push", path, "--suite", "read", "--baseline", "branch:perf/data")
	}
	history := s.must(dir, "noslower", "history", "--baseline", "branch:perf/data", "--output", "csv")
	if rows := strings.Count(history, "\n"); rows != 2 {
		t.Errorf("%d jobs, want 2:\n%s", rows, history)
	}
}
