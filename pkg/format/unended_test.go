package format_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// TestUnended cuts every input at places of its last lines: what is read then is
// what is read of the whole, or the last thing said is a warning or an error.
func TestUnended(t *testing.T) {
	const lines, places = 3, 60
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			text := string(read(t, path))
			whole := results(f, text)
			end := len(strings.TrimRight(text, "\r\n"))
			start := end
			for range lines {
				start = max(0, strings.LastIndexByte(text[:start], '\n'))
			}
			for at := start + 1; at < end; at += 1 + (end-start)/places {
				last := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
				if isClosed := strings.TrimRight(last, "}]>") != last; isClosed || strings.TrimSpace(last) == "" {
					continue
				}
				wrong := slices.DeleteFunc(results(f, text[:at]), func(r string) bool { return slices.Contains(whole, r) })
				if len(wrong) > 0 && lastError(f, text[:at]) == nil {
					t.Errorf("%s, cut off after %q: %q, and no warning", path, last, wrong)
				}
			}
		}
	}
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
		{"go", "BenchmarkA 100 258.4 ns/op\nPASS", false},
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
