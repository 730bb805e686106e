//go:build e2e && linux

package e2e

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/github/githubtest"
)

// What an operation of the sample costs, in instructions.
const (
	usual  = "51658"
	slower = "53208"
)

// TestStory is what a repository with the README's workflows sees, from its
// first push on. The benchmark looks for the job's tokens each time: that it
// measures says that it found none.
func TestStory(t *testing.T) {
	build(t)
	s, first := newSample(t)
	feature := pull{number: 7, branch: "feature", base: first}
	stranger := pull{number: 8, branch: "main", base: first, fork: true}
	var forks ended

	for _, part := range []struct {
		name string
		play func(t *testing.T)
	}{
		{"main keeps a baseline", func(t *testing.T) {
			e := s.push(t, first)
			e.want(t, "success", "No baseline", `kept as the baseline of "default"`)
			s.left(t, e, "noslower-baseline-default")
		}},
		{"a pull request passes", func(t *testing.T) {
			feature.head = s.commit(t, first, usual)
			s.open(feature)
			e := s.measure(t, feature, "opened")
			e.want(t, "success", "No regression", "of the very commit to compare with")
			s.left(t, e, "noslower-measurements-default")
			s.comment(t, 7, "No regression")
		}},
		{"a slower one fails, in the same comment", func(t *testing.T) {
			feature.head = s.commit(t, feature.head, slower)
			s.Push(7, feature.head, false)
			e := s.measure(t, feature, "synchronize")
			e.want(t, "failure", "Regression", "::error title=noslower::", "3 % worse")
			s.comment(t, 7, "Regression", "perf-regression-accepted")
		}},
		{"the label accepts it", func(t *testing.T) {
			s.Label(7, "perf-regression-accepted", "alice")
			s.measure(t, feature, "labeled").want(t, "success", "Regression", "Accepted by alice")
			s.comment(t, 7, "Accepted by alice")
		}},
		{"and not what is pushed after it", func(t *testing.T) {
			feature.head = s.commit(t, feature.head, slower)
			s.Push(7, feature.head, false)
			s.measure(t, feature, "synchronize").want(t, "failure", "Regression", `the label "perf-regression-accepted" does not count`)
			s.comment(t, 7, "does not count")
		}},
		{"a fork cannot write", func(t *testing.T) {
			// It also changes the workflow to keep what it measured as a baseline, of
			// a branch that it calls main.
			s.commit(t, first, slower)
			path := filepath.Join(s.dir, ".github/workflows", benchWorkflow)
			const command = "command: ./build/bench"
			changed := strings.Replace(read(t, path), command, command+", save-baseline: true", 1)
			write(t, path, changed)
			stranger.head = s.record(t, s.git(t, "rev-parse", "HEAD"))
			s.open(stranger)
			forks = s.measure(t, stranger, "opened")
			forks.want(t, "failure", "Regression", "no comment: the token of a pull request from a fork may only read")
			s.left(t, forks, "noslower-baseline-default", "noslower-measurements-default")
			if comments := s.Comments(8); len(comments) > 0 {
				t.Fatalf("comments: %+v", comments)
			}
		}},
		{"its report comments", func(t *testing.T) {
			s.report(t, forks.run, first).want(t, "success", "Regression", "the comment is at")
			s.comment(t, 8, "Regression", "3 % worse")
		}},
		{"neither a fork's baselines nor a poisoned one are believed", func(t *testing.T) {
			// By the fork's baseline the next pull request would be no slower.
			kept := s.artifact(t, forks.run.ID, "noslower-baseline-default")
			next := s.commit(t, first, usual)
			s.AddCommit("main", next, first)
			bomb, err := github.WriteArchive(github.Entry{Name: "record.json", Data: bytes.Repeat([]byte("0"), 30<<20)})
			if err != nil {
				t.Fatal(err)
			}
			poisoned := s.AddRun(githubtest.Run{Branch: "main", SHA: next})
			s.AddArtifact(poisoned.ID, "noslower-baseline-default", bomb)
			for range 300 {
				run := s.AddRun(githubtest.Run{Event: "pull_request", Branch: "main", SHA: stranger.head, HeadRepositoryID: forkID, HeadRepository: fork})
				s.AddArtifact(run.ID, "noslower-baseline-default", kept)
			}
			p := s.open(pull{number: 9, branch: "other", base: next, head: s.commit(t, next, slower)})
			s.measure(t, p, "opened").want(t, "failure",
				"Regression", "1 commit before the one to compare with", "not an archive to be read", "unpacks to more than")
			s.comment(t, 9, "Regression")
		}},
		{"each permission was needed", func(t *testing.T) {
			for file, text := range readmeWorkflows(t) {
				granted := parseWorkflow(t, text).Permissions
				if used := s.grants.used[file]; file != toolchainWorkflow && !maps.Equal(used, granted) {
					t.Errorf("%s: the permissions %v were used of %v", file, used, granted)
				}
			}
		}},
	} {
		if !t.Run(part.name, part.play) {
			return // what follows builds on it
		}
	}
}

// left checks the names of what a run left in act's artifact service.
func (s *sample) left(t *testing.T, e ended, names ...string) {
	t.Helper()
	if !slices.Equal(e.artifacts, names) {
		t.Fatalf("the run left %q, want %q", e.artifacts, names)
	}
}

// comment checks the one comment of a pull request, which is always the same.
func (s *sample) comment(t *testing.T, pull int, says ...string) {
	t.Helper()
	comments := s.Comments(pull)
	if len(comments) != 1 {
		t.Fatalf("#%d has %d comments, want 1: %+v", pull, len(comments), comments)
	}
	c := comments[0]
	if first := s.stickies[pull]; first != 0 && c.ID != first {
		t.Errorf("the comment of #%d is another one than before", pull)
	}
	s.stickies[pull] = c.ID
	for _, say := range says {
		if !strings.Contains(c.Body, say) {
			t.Errorf("the comment of #%d does not say %q:\n%s", pull, say, c.Body)
		}
	}
	if looseToken.MatchString(c.Body) {
		t.Errorf("a token is in the comment of #%d", pull)
	}
}
