//go:build e2e && linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

// TestToolchain runs the README's workflow for benchmarks that need their
// toolchain, in its job for Go: what setup puts on the host's PATH measures, and
// the action judges and keeps that.
func TestToolchain(t *testing.T) {
	build(t)
	s, first := newSample(t)
	place(t, filepath.Join(s.dir, "go.mod"), "module example.com/sample\n\ngo 1.24\n")
	place(t, filepath.Join(s.dir, "sample_test.go"), `package sample

import "testing"

func BenchmarkSum(b *testing.B) {
	sum := 0
	for i := range b.N {
		sum += i
	}
	_ = sum
}
`)
	// Fewer runs than usual, to be done sooner.
	place(t, filepath.Join(s.dir, ".github/noslower.yml"), "version: 1\nsuites: {go: {runs: 5}}\n")
	s.git(t, "add", "--all")
	sha := s.record(t, first)
	s.AddCommit("main", sha, first)

	// The job's image has Go, and setup needs Docker's client there.
	docker, err := exec.LookPath("docker")
	if err != nil {
		t.Fatal(err)
	}
	nothing := t.TempDir()
	place(t, filepath.Join(nothing, "action.yml"), "runs: {using: composite, steps: [{shell: sh, run: go version}]}\n")
	e := s.act(t, trigger{
		workflow: toolchainWorkflow, event: "push", sha: sha, ref: "refs/heads/main", token: writeToken,
		payload: map[string]any{"ref": "refs/heads/main", "after": sha, "deleted": false},
		run:     githubtest.Run{Branch: "main", SHA: sha},
		image:   golang,
		args: []string{
			"--job", "go", "--container-options", "--volume=" + docker + ":/usr/bin/docker:ro",
			"--local-repository", "actions/setup-go@v6=" + nothing,
		},
	})
	e.want(t, "success", "No baseline", `kept as the baseline of "go"`)
	s.left(t, e, "noslower-baseline-go")
}
