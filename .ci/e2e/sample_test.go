//go:build e2e && linux

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

const (
	writeToken = "ghs_story_of_the_repository" // what the jobs of the repository's own runs get
	readToken  = "ghs_story_of_a_fork"
	forkID     = 2002
	fork       = "stranger/sample"
	golang     = "golang:1.26" // as the Dockerfile has it
	python     = "noslower-e2e-python"
)

// A sample is a repository with the README's workflows. Its commits are in a
// work tree, and what GitHub tells of it is in a fake GitHub. Its runs are act's,
// and what they leave is in act's artifact service.
type sample struct {
	*githubtest.Fake
	dir       string // the work tree
	action    string // a folder with the action as a release has it
	artifacts string // where act's artifact service keeps what it is given
	grants    grants
	stickies  map[int]int64 // the comment that each pull request got first
}

// newSample makes the sample with its first commit on main, which it returns.
func newSample(t *testing.T) (s *sample, first string) {
	s = &sample{Fake: githubtest.Start(t), dir: t.TempDir(), action: t.TempDir(), artifacts: t.TempDir(), stickies: map[int]int64{}}
	s.Owner = "example" // as the work tree's remote has it
	server := httptest.NewServer(http.StripPrefix("/api/v3", s.grants.guard(s.API())))
	t.Cleanup(server.Close)
	s.APIURL = server.URL + "/api/v3"
	s.AddToken(writeToken, githubtest.Identity{Login: "github-actions[bot]", Installation: true})
	s.AddToken(readToken, githubtest.Identity{Login: "github-actions[bot]", Installation: true, ReadOnly: true})

	// A release names the image in the actions, so that users do not build it.
	for file, at := range map[string][2]string{
		"action.yml":       {"\n  image: Dockerfile\n", "\n  image: docker://" + image + "\n"},
		"setup/action.yml": {`default: ""`, "default: " + image},
	} {
		text := read(t, filepath.Join("../..", file))
		if strings.Count(text, at[0]) != 1 {
			t.Fatalf("%s does not have its image as %q once, which a release replaces", file, at[0])
		}
		place(t, filepath.Join(s.action, file), strings.Replace(text, at[0], at[1], 1))
	}

	for file, text := range readmeWorkflows(t) {
		if file == benchWorkflow {
			// The one change: the sample is no program, and the job's image has no make.
			const build = "run: make build/bench"
			if strings.Count(text, build) != 1 {
				t.Fatalf("the README's workflow does not build by %q:\n%s", build, text)
			}
			text = strings.Replace(text, build, "run: install -D -t build bench bench.sh cost", 1)
		}
		place(t, filepath.Join(s.dir, ".github/workflows", file), text)
	}
	for file, from := range map[string]string{"bench": "story/bench", "bench.sh": "bench.sh", "cost": "cost"} {
		place(t, filepath.Join(s.dir, file), read(t, filepath.Join("../../testdata/e2e", from)))
	}
	first = commit(t, s.dir)
	s.git(t, "config", "user.name", "sample")
	s.git(t, "config", "user.email", "sample@example.com")
	s.AddCommit("main", first)
	return s, first
}

func (s *sample) git(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(output(t, "git", append([]string{"-C", s.dir}, args...)...))
}

// commit makes a commit on another one, whose program costs so many
// instructions, and returns its name.
func (s *sample) commit(t *testing.T, on, cost string) string {
	t.Helper()
	s.git(t, "checkout", "--quiet", "--detach", on)
	write(t, filepath.Join(s.dir, "cost"), cost+"\n")
	return s.record(t, on)
}

// record makes a commit of the work tree.
func (s *sample) record(t *testing.T, on string) string {
	t.Helper()
	s.git(t, "commit", "--quiet", "--allow-empty", "--all", "--message", "Change")
	sha := s.git(t, "rev-parse", "HEAD")
	s.AddCommit("", sha, on)
	return sha
}

// A pull is a pull request into main.
type pull struct {
	number     int
	branch     string
	base, head string // commits
	fork       bool
}

func (s *sample) open(p pull) pull {
	added := githubtest.Pull{Number: p.number, Branch: p.branch, SHA: p.head, BaseSHA: p.base}
	if p.fork {
		added.HeadRepositoryID, added.HeadRepository = forkID, fork
	}
	s.AddPull(added)
	return p
}

// push runs the workflow of a push to main.
func (s *sample) push(t *testing.T, sha string) ended {
	t.Helper()
	return s.act(t, trigger{
		workflow: benchWorkflow, event: "push", sha: sha, ref: "refs/heads/main", token: writeToken,
		payload: map[string]any{"ref": "refs/heads/main", "after": sha, "deleted": false},
		run:     githubtest.Run{Branch: "main", SHA: sha},
	})
}

// measure runs the workflow of a pull request, on its test merge.
func (s *sample) measure(t *testing.T, p pull, action string) ended {
	t.Helper()
	s.git(t, "checkout", "--quiet", "--detach", p.base)
	s.git(t, "merge", "--quiet", "--no-ff", "--message", "Test merge", p.head)
	merge := s.git(t, "rev-parse", "HEAD")
	s.AddCommit("", merge, p.base, p.head)

	end := func(ref, sha string, id int64, name string) map[string]any {
		return map[string]any{"ref": ref, "sha": sha, "repo": map[string]any{"id": id, "full_name": name}}
	}
	run := githubtest.Run{Branch: p.branch, SHA: p.head}
	here, token := s.Owner+"/"+s.Name, writeToken
	head := end(p.branch, p.head, s.RepositoryID, here)
	if p.fork {
		run.HeadRepositoryID, run.HeadRepository = forkID, fork
		head, token = end(p.branch, p.head, forkID, fork), readToken
	}
	return s.act(t, trigger{
		workflow: benchWorkflow, event: "pull_request", sha: merge, ref: fmt.Sprintf("refs/pull/%d/merge", p.number), token: token,
		payload: map[string]any{"action": action, "number": p.number, "pull_request": map[string]any{
			"number": p.number, "head": head, "base": end("main", p.base, s.RepositoryID, here),
		}},
		run: run,
	})
}

// report runs the workflow that follows a run, on main.
func (s *sample) report(t *testing.T, of githubtest.Run, main string) ended {
	t.Helper()
	return s.act(t, trigger{
		workflow: reportWorkflow, event: "workflow_run", sha: main, ref: "refs/heads/main", token: writeToken,
		payload: map[string]any{"action": "completed", "workflow_run": map[string]any{
			"id": of.ID, "event": of.Event, "head_sha": of.SHA, "head_branch": of.Branch,
		}},
		run: githubtest.Run{Branch: "main", SHA: main},
	})
}
