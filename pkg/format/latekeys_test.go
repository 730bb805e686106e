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
				if size > 1<<20 {
					continue // more than is looked at without a name
				}
				if as, err := format.Detect(strings.NewReader(late)); err != nil || as.Name != f.Name {
					t.Errorf("Detect(%s after %d KiB) = %q, %v", path, size>>10, as.Name, err)
				}
			}
		}
	}
}
