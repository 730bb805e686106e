package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rhysd/actionlint"
	"github.com/spf13/pflag"

	"github.com/noslower/noslower/pkg/report"
)

func repository(parts ...string) string {
	return filepath.Join(append([]string{"..", ".."}, parts...)...)
}

func readFile(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(repository(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestEveryOptionHasACommand: a flag that no command takes is a promise that is
// not kept, and so is one that a command names and nothing declares.
func TestEveryOptionHasACommand(t *testing.T) {
	used := map[string]bool{}
	for command, names := range optionsOf {
		for _, name := range names {
			if used[name] = true; defaults().flags().Lookup(name) == nil {
				t.Errorf("%s takes --%s, which is not declared", command, name)
			}
		}
	}
	defaults().flags().VisitAll(func(f *pflag.Flag) {
		if !used[f.Name] {
			t.Errorf("no command takes --%s", f.Name)
		}
		if f.Usage == "" {
			t.Errorf("--%s has no description", f.Name)
		}
	})
}

// TestActionInputs: the inputs of action.yml are the flags of gate, by name.
func TestActionInputs(t *testing.T) {
	var action struct {
		Inputs  map[string]struct{ Description, Default string }
		Outputs map[string]struct{ Description string }
		Runs    struct {
			Using, Image string
			Args         []string
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, "action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	// A token has no place in the arguments of a process, which anybody can
	// list: it is an input alone.
	if token := action.Inputs["github-token"]; token.Description == "" || token.Default != "${{ github.token }}" {
		t.Errorf("input github-token: %+v, want the job's token by default", token)
	}
	delete(action.Inputs, "github-token")
	inputs := slices.Sorted(maps.Keys(action.Inputs))
	flags := slices.Sorted(slices.Values(optionsOf["gate"]))
	if !slices.Equal(inputs, flags) {
		t.Errorf("inputs of action.yml:\n%q\nflags of gate:\n%q", inputs, flags)
	}
	for name, input := range action.Inputs {
		if input.Description == "" || input.Default != "" {
			t.Errorf("input %s: want a description and, since the program has it, no default: %+v", name, input)
		}
	}
	if want := []string{"comparisons", "outcome", "regressions", "status"}; !slices.Equal(slices.Sorted(maps.Keys(action.Outputs)), want) {
		t.Errorf("outputs %v, want %v", action.Outputs, want)
	}
	if action.Runs.Using != "docker" || len(action.Runs.Args) > 0 {
		t.Errorf("runs: %+v, want a container without arguments: inputs are read from the environment", action.Runs)
	}
}

// TestConfigurationNamesOptions: what a suite sets in the configuration goes by
// the name of the flag that sets it.
func TestConfigurationNamesOptions(t *testing.T) {
	for _, name := range keyNames(suiteKeys) {
		// A description is too long for a flag.
		if name != "parse" && !slices.Contains(optionsOf["gate"], name) {
			t.Errorf("a suite has %q, and gate has no flag --%s", name, name)
		}
	}
}

// TestReadmeTables: the README has every input and report, and no other.
func TestReadmeTables(t *testing.T) {
	readme := readFile(t, "README.md")
	var reports []string
	for _, f := range report.All() {
		reports = append(reports, f.Name)
	}
	for section, want := range map[string][]string{"Inputs": optionsOf["gate"], "Reports": reports} {
		got := tableNames(t, readme, section)
		want := slices.Sorted(slices.Values(want))
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("the README's table of %s has\n%q, want\n%q", section, got, want)
		}
	}
}

var rowName = regexp.MustCompile("(?m)^\\| `([^`]+)`")

// tableNames returns the first cells of the table under a heading.
func tableNames(t *testing.T, markdown, heading string) []string {
	t.Helper()
	_, section, ok := strings.Cut(markdown, "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("the README has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for _, m := range rowName.FindAllStringSubmatch(section, -1) {
		names = append(names, m[1])
	}
	return names
}

var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// TestDocumentation runs what the documentation shows: consoles must print what
// stands there, workflows must pass actionlint, configurations must be read.
func TestDocumentation(t *testing.T) {
	pages, err := filepath.Glob(repository("docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, page := range append(pages, repository("README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range fence.FindAllStringSubmatch(string(data), -1) {
			kind, text := m[1], m[2]
			t.Run(fmt.Sprintf("%s/%d-%s", filepath.Base(page), i+1, kind), func(t *testing.T) {
				switch {
				case kind == "console":
					ran["console"]++
					checkConsole(t, text)
				case kind == "yaml" && strings.Contains(text, "jobs:"):
					ran["workflow"]++
					checkWorkflow(t, text)
				case kind == "yaml" && strings.HasPrefix(text, "version:"):
					ran["configuration"]++
					if _, err := readConfig([]byte(text), "noslower.yml"); err != nil {
						t.Error(err)
					}
				case kind == "yaml":
					t.Errorf("it is neither a workflow nor a configuration:\n%s", text)
				case kind == "json":
					if !json.Valid([]byte(text)) {
						t.Errorf("it is no JSON:\n%s", text)
					}
				}
			})
		}
	}
	for _, kind := range []string{"console", "workflow", "configuration"} {
		if ran[kind] == 0 {
			t.Errorf("no %s was found in the documentation", kind)
		}
	}
}

// ellipsis is the last line of an output of which only the beginning is shown.
const ellipsis = "…"

// checkConsole runs each "$ command" of a console from the top of the
// repository, and compares what it prints to standard output with what follows,
// up to an ellipsis.
func checkConsole(t *testing.T, text string) {
	t.Helper()
	for part := range strings.SplitSeq("\n"+text, "\n$ ") {
		command, want, ok := strings.Cut(part, "\n")
		if !ok || command == "" {
			continue
		}
		args := strings.Fields(command)
		if args[0] == "make" {
			target := readFile(t, "Makefile")
			if !strings.Contains(target, "\n"+args[1]+":") {
				t.Errorf("the Makefile has no target %q", args[1])
			}
			continue
		}
		if args[0] != "noslower" {
			t.Fatalf("want a call of noslower or make, have %q", command)
		}
		cmd := exec.Command("noslower", args[1:]...)
		cmd.Dir = repository()
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		got, want := strings.TrimSpace(stdout.String()), strings.TrimSpace(want)
		if beginning, ok := strings.CutSuffix(want, "\n"+ellipsis); ok && strings.HasPrefix(got, beginning+"\n") {
			got = want
		}
		if got != want {
			t.Errorf("%s prints\n%s\nand not\n%s", command, got, want)
		}
	}
}

// checkWorkflow lints a workflow as actionlint does on the command line.
func checkWorkflow(t *testing.T, text string) {
	t.Helper()
	linter, err := actionlint.NewLinter(os.Stderr, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	faults, err := linter.Lint("workflow.yml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Error(f)
	}
}
