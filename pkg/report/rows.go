package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

// ranked returns the comparisons in the order of a reader's worries: gating
// ones and informational ones apart, each with regressions first, then those
// beyond their warning, inconclusive, improved, same. Within an outcome the
// largest comes first; those that stayed the same keep their order.
func ranked(all []gate.Comparison) (gating, informational []*gate.Comparison) {
	for i := range all {
		c := &all[i]
		if c.Gating {
			gating = append(gating, c)
		} else {
			informational = append(informational, c)
		}
	}
	for _, list := range [][]*gate.Comparison{gating, informational} {
		slices.SortStableFunc(list, func(a, b *gate.Comparison) int {
			return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(weight(b), weight(a)))
		})
	}
	return gating, informational
}

func rank(c *gate.Comparison) int {
	switch {
	case c.Outcome == gate.Regressed:
		return 0
	case c.Warned:
		return 1
	case c.Outcome == gate.Inconclusive:
		return 2
	case c.Outcome == gate.Improved:
		return 3
	}
	return 4
}

// weight orders comparisons of one rank, the heaviest first. Where there is no
// ratio, a rise from nothing or a fall to it, no ratio is larger.
func weight(c *gate.Comparison) float64 {
	switch {
	case c.Outcome == gate.Same && !c.Warned:
		return 0
	case c.Slowdown == nil:
		return math.Inf(1)
	case c.Outcome == gate.Improved:
		return -c.Slowdown.Estimate
	}
	return c.Slowdown.Estimate
}

// nameOf returns what a benchmark is called: the suite's name stands in where
// its tool named none.
func nameOf(v gate.Verdict, benchmark string) string { return cmp.Or(benchmark, v.Suite, "(unnamed)") }

// outcomeOf words the outcome of one comparison.
func outcomeOf(c *gate.Comparison) string {
	if c.Warned {
		return c.Outcome.String() + ", warned"
	}
	return c.Outcome.String()
}

// tally counts comparisons by their outcomes: "2 regressed, 31 same".
func tally(list []*gate.Comparison) string {
	n := map[gate.Outcome]int{}
	for _, c := range list {
		n[c.Outcome]++
	}
	var parts []string
	for _, o := range []gate.Outcome{gate.Regressed, gate.Inconclusive, gate.Improved, gate.Same} {
		if n[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n[o], o))
		}
	}
	return strings.Join(parts, ", ")
}

// mostQuantity is the widest that a number with its unit becomes in a table.
const mostQuantity = 16

// quantity words a number of a metric for a table whose row names the metric:
// what the metric's name says already, "/op" and the thing that is counted, is
// left out of the unit. Units come from outside, and one too long is cut; a
// number never is.
func quantity(v float64, m bench.Metric) string {
	number, unit, _ := strings.Cut(gate.Quantity(v, m.Unit), " ")
	if len(number) > 14 {
		number = fmt.Sprintf("%.9g", v)
	}
	unit = Printable(unit)
	if strings.HasSuffix(m.Name, "_per_op") {
		unit = strings.TrimSuffix(unit, "/op")
	}
	if room := mostQuantity - len(number) - 1; unit != "" && !saysUnit(m.Name, unit) && room > 1 {
		return number + " " + cut(unit, room)
	}
	return number
}

// saysUnit reports whether a metric is named for what it counts, as are
// allocs_per_op and instructions. One letter, as in "B", says nothing.
func saysUnit(metric, unit string) bool { return len(unit) > 2 && strings.Contains(metric, unit) }

// none stands where there is nothing to show.
const none = "–"

// baseOf and headOf are the medians in a table; base has none where only a
// limit judges.
func baseOf(c *gate.Comparison) string {
	if c.Base == nil {
		return none
	}
	return quantity(c.Base.Median, c.Metric)
}

func headOf(c *gate.Comparison) string { return quantity(c.Head.Median, c.Metric) }

// changeOf words the estimate as a change of the metric, with its sign.
func changeOf(c *gate.Comparison) string {
	if math.IsNaN(c.Change) || math.IsInf(c.Change, 0) {
		return none
	}
	return gate.SignedPercent(c.Change)
}

// boundsOf words the bounds of the slowdown, a ratio above 1 where head is
// worse. How sure each is differs by side, and why says it.
func boundsOf(s *gate.Slowdown) string {
	switch {
	case s == nil:
		return none
	case s.Low == s.High:
		return "exactly " + ratio(s.Low)
	case !(s.Low > 0) && !(s.High < math.Inf(1)):
		return "unbounded"
	case !(s.Low > 0):
		return "up to " + ratio(s.High)
	case !(s.High < math.Inf(1)):
		return "from " + ratio(s.Low)
	}
	return ratio(s.Low) + " to " + ratio(s.High)
}

// ratio writes a ratio with three digits of what it is away from 1.
func ratio(r float64) string {
	if !(r >= 0.01 && r < 100) {
		return fmt.Sprintf("%.3g", r)
	}
	digits := 6
	if d := math.Abs(r - 1); d > 1e-4 {
		digits = min(digits, 2-int(math.Floor(math.Log10(d))))
	}
	s := strconv.FormatFloat(r, 'f', digits, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// failsAt words what fails the comparison. Of an informational metric, in
// parentheses, it is what would be called a regression.
func failsAt(c *gate.Comparison) string {
	at := gate.Percent(c.Threshold)
	if c.Base == nil && c.Limit != nil {
		at = quantity(*c.Limit, c.Metric)
	}
	if !c.Gating {
		return "(" + at + ")"
	}
	return at
}

// commonFrom is how many comparisons must share a warning for it to be said once
// for all of them.
const commonFrom = 3

// commonWarnings returns the warnings that several comparisons share, in the
// order first seen, and on how many each is.
func commonWarnings(v gate.Verdict) (order []string, on map[string]int) {
	all := map[string]int{}
	for _, c := range v.Comparisons {
		for _, w := range c.Warnings {
			if all[w]++; all[w] == commonFrom {
				order = append(order, w)
			}
		}
	}
	on = map[string]int{}
	for _, w := range order {
		on[w] = all[w]
	}
	return order, on
}

// warningsOf are the verdict's warnings, with those that its comparisons share.
func warningsOf(v gate.Verdict) []string {
	list := slices.Clone(v.Warnings)
	order, on := commonWarnings(v)
	for _, w := range order {
		list = append(list, fmt.Sprintf("%s: %s", gate.Count(on[w], "comparison"), w))
	}
	return list
}

// notes are what a reader should know beside why: the limit where the
// threshold's place is taken, and the comparison's own warnings but for those
// that are said elsewhere.
func notes(c *gate.Comparison, elsewhere map[string]int) []string {
	var list []string
	if c.Limit != nil && c.Base != nil {
		if limit := gate.Quantity(*c.Limit, c.Metric.Unit); !strings.Contains(c.Why, limit) {
			list = append(list, "limit "+limit)
		}
	}
	for _, w := range c.Warnings {
		if elsewhere[w] == 0 {
			list = append(list, w)
		}
	}
	return list
}

// keysByBenchmark folds keys into one entry a benchmark, in the order first
// seen.
func keysByBenchmark(keys []bench.Key) (order []string, metrics map[string][]string) {
	metrics = map[string][]string{}
	for _, k := range keys {
		if metrics[k.Benchmark] == nil {
			order = append(order, k.Benchmark)
		}
		metrics[k.Benchmark] = append(metrics[k.Benchmark], k.Metric)
	}
	return order, metrics
}

// further returns the reasons of the status that no row tells: a regression's
// reason is its row, and a missing baseline has its own sentence.
func further(v gate.Verdict) []string {
	told := map[string]bool{}
	for _, c := range v.Comparisons {
		if c.Gating && c.Outcome == gate.Regressed {
			told[nameOf(v, c.Benchmark)+": "+c.Metric.Name+" regressed: "+c.Why] = true
		}
	}
	if v.Base == nil {
		told["there is no baseline: "+v.NoBaseline] = true
	}
	return slices.DeleteFunc(slices.Clone(v.Reasons), func(r string) bool { return told[r] })
}
