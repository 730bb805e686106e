package format_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// TestUnended cuts every input within its lines: what is read then is what is read of
// the whole, or of the lines before, or something is said that is not of the whole.
func TestUnended(t *testing.T) {
	const places = 100
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			text := string(read(t, path))
			whole, said := results(f, text), problems(f, text)
			for at := 1; at < len(text); at += 1 + len(text)/places {
				start := strings.LastIndexByte(text[:at], '\n') + 1
				last := text[start:at]
				if isClosed := strings.TrimRight(last, "}]>") != last; isClosed || strings.TrimSpace(last) == "" {
					continue
				}
				isRight := func(r string) bool { return slices.Contains(whole, r) }
				wrong := slices.DeleteFunc(results(f, text[:at]), isRight)
				isNew := func(problem string) bool { return !slices.Contains(said, problem) }
				if len(wrong) == 0 || slices.ContainsFunc(problems(f, text[:at]), isNew) {
					continue
				}
				before := results(f, text[:start]) // a name may be that of the only command
				if i := slices.IndexFunc(wrong, func(r string) bool { return !slices.Contains(before, r) }); i >= 0 {
					t.Errorf("%s, cut off after %q: %q, and no warning", path, last, wrong[i])
				}
			}
		}
	}
}

// problems are what a format's reading of a text warns of.
func problems(f format.Format, text string) []string {
	var list []string
	for _, err := range f.Read(strings.NewReader(text), "input") {
		if err != nil {
			list = append(list, err.Error())
		}
	}
	return list
}

// lastError is the error that a format's reading ends with, if it does.
func lastError(f format.Format, text string) (last error) {
	for _, last = range f.Read(strings.NewReader(text), "input") {
	}
	return last
}

// TestEnded checks that no warning is given of what is whole.
func TestEnded(t *testing.T) {
	for _, tt := range []struct {
		format, text string
		warns        bool
	}{
		{"labelled", "encode 12.5 ms\n", false},
		{"labelled", "encode 12.5 ms", true},
		{"labelled", "encode 12.5 ms\r\n", false},
		{"labelled", "encode 12.5 ms\n  ", false},
		{"labelled", "encode 12.5 ms\n\x1b[0m", false},
		{"numbers", "54k, 5", true},
		{"go", "BenchmarkA 100 258.4 ns/op\nPASS\n", false},
		{"go", "BenchmarkA 100 258.4 ns/op\nPASS", true},
		{"go", "BenchmarkA 100 258.4 ns/op\nBenchma", true},
		{"go", "PASS\nBenchmarkA 100 258.4 ns", true},
		{"bmf", `{"a": {"latency": {"value": 5}}}`, false},
		{"time", "real\t0m0.105s\nuser\t0m0.1", true},
	} {
		f, err := format.ByName(tt.format)
		if err != nil {
			t.Fatal(err)
		}
		if got := lastError(f, tt.text); (got != nil) != tt.warns {
			t.Errorf("%s of %q ends with %v, want a warning: %v", tt.format, tt.text, got, tt.warns)
		}
	}
}
