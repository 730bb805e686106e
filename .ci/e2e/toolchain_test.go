//go:build e2e && linux

package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

// TestToolchain runs the README's workflow for benchmarks that need their
// toolchain: what setup puts on the host's PATH measures there, and the action
// judges and keeps that.
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
	place(t, filepath.Join(s.dir, "test_sample.py"), `def test_sum(benchmark):
    assert benchmark(sum, range(1000)) == 499500
`)
	// Fewer runs than usual, to be done sooner.
	place(t, filepath.Join(s.dir, ".github/noslower.yml"), "version: 1\nsuites: {go: {runs: 5}, python: {runs: 5}}\n")
	s.git(t, "add", "--all")
	sha := s.record(t, first)
	s.AddCommit("main", sha, first)

	// Setup needs Docker's client in the job.
	docker, err := exec.LookPath("docker")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ job, image, installs, shows string }{
		{"go", golang, "actions/setup-go@v6", "go version"},
		{"python", python, "actions/setup-python@v6", "pytest --version"},
	} {
		t.Run(tt.job, func(t *testing.T) {
			// The job's image has the toolchain already.
			there := t.TempDir()
			place(t, filepath.Join(there, "action.yml"), "runs: {using: composite, steps: [{shell: sh, run: "+tt.shows+"}]}\n")
			e := s.act(t, trigger{
				workflow: toolchainWorkflow, event: "push", sha: sha, ref: "refs/heads/main", token: writeToken,
				payload: map[string]any{"ref": "refs/heads/main", "after": sha, "deleted": false},
				run:     githubtest.Run{Branch: "main", SHA: sha},
				image:   tt.image,
				args: []string{
					"--job", tt.job, "--container-options", "--volume=" + docker + ":/usr/bin/docker:ro",
					"--local-repository", tt.installs + "=" + there,
				},
			})
			e.want(t, "success", "No baseline", `kept as the baseline of "`+tt.job+`"`)
			s.left(t, e, "noslower-baseline-"+tt.job)
		})
	}
}
