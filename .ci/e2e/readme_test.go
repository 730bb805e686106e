//go:build e2e && linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A workflow is what the tests read of a workflow's file.
type workflow struct {
	Name        string
	On          map[string]struct{ Workflows []string }
	Permissions map[string]string
}

func parseWorkflow(t *testing.T, text string) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return w
}

// The files that the workflows of the README are tried in.
const (
	benchWorkflow     = "bench.yml"      // measures and gates
	reportWorkflow    = "report.yml"     // comments for forks
	toolchainWorkflow = "toolchains.yml" // measures on the host
)

// readmeWorkflows returns the workflows of the README by their files.
func readmeWorkflows(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(read(t, "../../README.md"), -1) {
		text, file := m[1], benchWorkflow
		switch {
		case !strings.Contains(text, "jobs:"):
			continue
		case strings.Contains(text, "workflow_run:"):
			file = reportWorkflow
		case strings.Contains(text, "noslower measure"):
			file = toolchainWorkflow
		}
		if all[file] != "" {
			t.Fatalf("the README has two workflows like %s", file)
		}
		all[file] = text
	}
	for _, file := range []string{benchWorkflow, reportWorkflow, toolchainWorkflow} {
		if all[file] == "" {
			t.Fatalf("the README has no workflow like %s", file)
		}
	}
	return all
}

// TestReadme looks at the workflows of the README with actionlint, and at what
// it does not see.
func TestReadme(t *testing.T) {
	all := readmeWorkflows(t)
	dir := t.TempDir()
	output(t, "git", "init", "--quiet", dir) // by which actionlint knows a repository
	var files []string
	for name, text := range all {
		// In the action's own repository, so that its inputs are looked at, too.
		text = strings.NewReplacer("noslower/noslower/setup@v0", "./setup", "noslower/noslower@v0", "./").Replace(text)
		files = append(files, place(t, filepath.Join(dir, ".github/workflows", name), text))
	}
	for _, file := range []string{"action.yml", "Dockerfile", "setup/action.yml"} {
		place(t, filepath.Join(dir, file), read(t, filepath.Join("../..", file)))
	}
	lint := exec.Command("go", append([]string{"tool", "actionlint", "-no-color"}, files...)...)
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}

	// A workflow that follows others names them; one without a name goes by its
	// path, and would follow nothing in a repository with other files.
	bench, report := parseWorkflow(t, all[benchWorkflow]), parseWorkflow(t, all[reportWorkflow])
	if followed := report.On["workflow_run"].Workflows; !slices.Equal(followed, []string{bench.Name}) {
		t.Errorf("the report follows the workflows %q, and the one that gates is named %q", followed, bench.Name)
	}
	for name, text := range all {
		if len(parseWorkflow(t, text).Permissions) == 0 {
			t.Errorf("%s has no permissions: it would have the repository's default ones", name)
		}
	}
}

// place writes a file with the folders that it needs, and returns its path.
func place(t *testing.T, path, data string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, path, data)
	return path
}
