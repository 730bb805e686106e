package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputs parses every testdata/input/*.txt, which are outputs as other systems
// write them, and compares what is printed with the .golden file beside it.
func TestInputs(t *testing.T) {
	inputs, err := filepath.Glob(repository("testdata", "input", "*.txt"))
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(filepath.Base(input), func(t *testing.T) {
			cmd := exec.Command("noslower", "parse", filepath.Base(input))
			cmd.Dir = filepath.Dir(input)
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %s", err, &errs)
			}
			golden := filepath.Join("testdata", "input", strings.TrimSuffix(filepath.Base(input), ".txt")+".golden")
			printed := out.String() + errs.String()
			if *update {
				writePage(t, golden, printed)
			} else if want := readFile(t, golden); printed != want {
				t.Errorf("have\n%s\nwant\n%s\n(go test ./cmd/noslower -run TestInputs -update writes it)", printed, want)
			}
		})
	}
}
