package format_test

import (
	"bytes"
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// FuzzRead gives any bytes to every format: none may panic or run on without
// end, no value may be other than finite, or below 0 of what cannot be, and what ends
// the reading is the last thing it says.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(testdata, "*", "*.txt"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		f.Add(read(f, path))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		_, _ = format.Detect(bytes.NewReader(input))
		for _, fm := range format.All() {
			ended := false
			for res, err := range fm.Read(bytes.NewReader(input), "input") {
				if ended {
					t.Fatalf("%s: reads on after an error that ends the reading", fm.Name)
				}
				if err != nil {
					_, isLine := errors.AsType[*format.LineError](err)
					ended = !isLine
					continue
				}
				if res.Launch < 0 {
					t.Errorf("%s: launch %d of %q", fm.Name, res.Launch, res.Name)
				}
				for _, v := range res.Values {
					spread := 0.0
					if v.Statistic != nil {
						spread = v.Statistic.Value
					}
					if !finite(v.V) || v.V < 0 && !v.Metric.MayBeNegative() || !finite(spread) || spread < 0 {
						t.Errorf("%s: %q has %s %v ± %v", fm.Name, res.Name, v.Metric.Name, v.V, spread)
					}
					if v.Metric.Name == "" {
						t.Errorf("%s: %q has a metric without a name", fm.Name, res.Name)
					}
				}
			}
		}
	})
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
