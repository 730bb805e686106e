package format_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// ownKeys has the formats of which an object of another key is none.
var ownKeys = []string{"bmf", "perf-stat", "tarantool"}

// TestLateKeys reads every document with so much before its keys as the checks of
// a k6 test, the extra_info of pytest-benchmark or the samples of vitest can be.
func TestLateKeys(t *testing.T) {
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			text := string(read(t, path))
			at := strings.IndexByte(text, '{') + 1
			if slices.Contains(ownKeys, f.Name) || at == 0 || strings.TrimLeft(text[:at], "[ \n\ufeff") != "{" {
				continue
			}
			want := results(f, text)
			for _, size := range []int{100 << 10, 1200 << 10} {
				late := text[:at] + `"late": [` + strings.Repeat(`{"n": "0123456789"}, `, size/21) + `0], ` + text[at:]
				if got := results(f, late); !slices.Equal(got, want) {
					t.Errorf("%s after %d KiB: want %d results, have %d", path, size>>10, len(want), len(got))
				}
				if as, err := format.Detect(strings.NewReader(late)); err != nil || as.Name != f.Name {
					t.Errorf("Detect(%s after %d KiB) = %q, %v", path, size>>10, as.Name, err)
				}
			}
		}
	}
}

// TestLate reads every input after a log that is longer than a line may be, and
// finds another tool's after it.
func TestLate(t *testing.T) {
	log := strings.Repeat("INFO  2026-01-01 00:00:00,123 [shard 0:main] started\n", 1200<<10/50)
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			text := strings.TrimPrefix(string(read(t, path)), "\ufeff")
			if slices.Contains(claimsWhole, f.Name) {
				continue
			}
			if got, want := results(f, log+text), results(f, text); !slices.Equal(got, want) {
				t.Errorf("%s after a log: want %d results, have %d", path, len(want), len(got))
			}
			if as, err := format.Detect(strings.NewReader(log + text)); err != nil || as.Name != f.Name {
				t.Errorf("Detect(%s after a log) = %q, %v", path, as.Name, err)
			}
		}
	}
	hyperfine, vegeta := string(read(t, testdata+"/hyperfine/hyperfine-1.15.0.txt")), string(read(t, testdata+"/vegeta/vegeta-12.13.0.txt"))
	got, err := format.Detect(strings.NewReader(hyperfine + log + vegeta))
	if err == nil || !strings.HasPrefix(err.Error(), "it may be output of hyperfine or of vegeta: ") {
		t.Errorf("Detect of hyperfine's, a log and vegeta's = %q, %v, want an error with both names", got.Name, err)
	}
}
