package report_test

import (
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

// FuzzForms writes verdicts of any texts and numbers: no form breaks, the text
// stays narrow, the JSON valid, the Markdown without anything but its tables.
func FuzzForms(f *testing.F) {
	for i := 0; i < len(hostileNames); i += 5 {
		f.Add(hostileNames[i], hostileNames[(i+7)%len(hostileNames)], hostileNames[(i+13)%len(hostileNames)], float64(i), 1.5, 0.05, int64(i)<<40, uint16(i))
	}
	f.Fuzz(func(t *testing.T, name, metric, unit string, a, b, c float64, seconds int64, flags uint16) {
		v := hostileVerdict(name)
		v.Status = gate.Status(flags % 4)
		v.Suite = metric
		v.Base.Time, v.Head.Time = time.Unix(seconds, 0), time.Unix(1e9, 0)
		for i := range v.Comparisons {
			x := &v.Comparisons[i]
			x.Metric = bench.Metric{Name: metric, Unit: unit, Better: bench.Better(int(flags>>2%3) - 1)}
			x.Outcome = gate.Outcome((int(flags>>4) + i) % 4)
			x.Warned = flags>>6%2 == 1
			x.Base.Median, x.Head.Median = a, b
			x.Change, x.Threshold, x.Warn, x.Detectable = c, b, a, b*c
			x.Slowdown = &gate.Slowdown{Estimate: b, Low: a, High: c}
			x.Limit = &a
			if flags>>7%2 == 1 {
				x.Slowdown = nil
			}
			if flags>>8%2 == 1 {
				x.Limit = nil
			}
			if flags>>9%2 == 1 && x.Limit != nil {
				x.Base = nil
			}
		}
		if flags>>10%2 == 1 {
			v.Base, v.NoBaseline = nil, unit
		}
		checkForms(t, v)
	})
}
