//go:build e2e && linux

package e2e

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

// TestBranch keeps baselines on a branch of data as the action's container does
// on a runner: the workspace is another user's, HOME cannot be written to, and
// the checkout has kept a token, a hook and a setting of its own, none of which
// is used.
func TestBranch(t *testing.T) {
	build(t)
	f := githubtest.Start(t)
	f.AddToken(writeToken, githubtest.Identity{Login: "github-actions[bot]", Installation: true})
	f.AddToken(readToken, githubtest.Identity{Login: "github-actions[bot]", Installation: true, ReadOnly: true})
	remote, server := f.ServeGit(t)
	r := newRunner(t)
	f.AddCommit("main", r.sha)

	const hook = "#!/bin/sh\ntouch /github/workspace/hooked\n"
	for _, name := range []string{"fsmonitor", "pre-push", "reference-transaction", "post-index-change"} {
		place(t, filepath.Join(r.workspace, ".git/hooks", name), hook)
	}
	output(t, "git", "-C", r.workspace, "-c", "safe.directory=*", "config", "core.fsmonitor", "/github/workspace/.git/hooks/fsmonitor")
	output(t, "git", "-C", r.workspace, "-c", "safe.directory=*", "config", "http."+server+"/.extraheader", "AUTHORIZATION: basic a2VwdA==")
	own(t, r.workspace, runnerUser)
	event, err := json.Marshal(map[string]any{"repository": map[string]any{"id": f.RepositoryID, "default_branch": "main"}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.folder, "workflow/event.json"), string(event))

	for _, tt := range []struct {
		name, token string
		inputs      map[string]string
		status      int
		says        string
		files       int // on the branch, after it
	}{
		{"kept", writeToken, nil, 0, `kept as the baseline of "default" in branch:perf-data`, 1},
		{"found", readToken, map[string]string{"mode": "gate"}, 0, "from branch:perf-data", 1},
		{"kept again", writeToken, nil, 0, `kept as the baseline of "default" in branch:perf-data`, 2},
		{"refused", readToken, nil, 0, "warning: keeping the baseline: branch:perf-data: it cannot be pushed to", 2},
		{"with a program", writeToken, map[string]string{"program": "bench.sh"}, 2, "--program: a branch of data keeps no programs", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inputs := map[string]string{"command": "./bench.sh", "runs": "5", "baseline": "branch:perf-data", "github-token": tt.token}
			maps.Copy(inputs, tt.inputs)
			here := f.Owner + "/" + f.Name
			log, status := r.step(t, inputs, map[string]string{
				"GITHUB_EVENT_PATH": "/github/workflow/event.json", "GITHUB_REPOSITORY": here, "GITHUB_REPOSITORY_ID": fmt.Sprint(f.RepositoryID),
				"GITHUB_RUN_ID": fmt.Sprint(f.AddRun(githubtest.Run{SHA: r.sha}).ID), "GITHUB_WORKFLOW_REF": here + "/.github/workflows/bench.yml@refs/heads/main",
				"GITHUB_API_URL": f.APIURL, "GITHUB_SERVER_URL": server,
			}, "--network", "host", "-v", filepath.Join(r.folder, "home")+":/github/home:ro")
			log = strings.Join(strings.Fields(log), " ") // whatever the lines are broken
			if status != tt.status || !strings.Contains(log, tt.says) {
				t.Errorf("exit status %d, want %d, and that it says %q", status, tt.status, tt.says)
			}
			files := strings.Fields(output(t, "git", "--git-dir", remote, "ls-tree", "-r", "--name-only", "perf-data"))
			if len(files) != tt.files {
				t.Errorf("the branch has %q, want %d files", files, tt.files)
			}
		})
	}
	if who := output(t, "git", "--git-dir", remote, "log", "--format=%an <%ae> %cn", "perf-data"); who != "noslower <noslower@localhost> noslower\n" {
		t.Errorf("the commits of the branch are %q", who)
	}
	err = filepath.WalkDir(r.workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if uid := owner(t, path); uid != runnerUser {
			t.Errorf("%s belongs to user %d, want %d", path, uid, runnerUser)
		}
		if d.Type().IsRegular() && looseToken.MatchString(read(t, path)) {
			t.Errorf("a token is left in %s", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(r.workspace, "hooked")); err == nil {
		t.Error("a hook of the checkout was run")
	}
}
