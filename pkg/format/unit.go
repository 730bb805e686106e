package format

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// metricOfUnit names the metric of a number that its tool printed with a unit
// and no name: "insns/op" is instructions_per_op, "writes/op" writes_per_op.
func metricOfUnit(unit string) string {
	switch _, base := bench.BaseUnit(unit); base {
	case "instructions/op":
		return "instructions_per_op"
	case "cycles/op":
		return "cpu_cycles_per_op"
	case "s/op":
		return "time_per_op"
	case "B/op":
		return "bytes_per_op"
	case "ops/s":
		return "throughput"
	case "B/s":
		return "bandwidth"
	}
	return strings.ReplaceAll(unit, "/", "_per_")
}

// measureNamed makes a value of a number that its tool printed with a metric's
// name and no unit.
func measureNamed(name string, v float64) bench.Value { return gaugeNamed(name).Value(v) }

// gaugeNamed returns what makes values of a metric whose numbers its tool prints
// without a unit. A name that ends in _per_op brings its own.
func gaugeNamed(name string) bench.Gauge {
	gauge := bench.NewGauge(name, "")
	if what, ok := strings.CutSuffix(name, "_per_op"); ok && gauge.Value(0).Metric.Unit == "" {
		return bench.NewGauge(name, what+"/op")
	}
	return gauge
}

// isCounter reports whether a metric is read from the processor's counters,
// which read 0 where there are none, as in most virtual machines.
func isCounter(m bench.Metric) bool {
	switch m.Name {
	case "instructions_per_op", "cpu_cycles_per_op", "instructions", "cpu_cycles":
		return true
	}
	return false
}

// A filter drops what is no value: a processor counter that is not there, a number
// below 0 of what cannot be, and one that its unit's factor made infinite. It
// remembers of which counters it has said so: once in a document is enough.
type filter struct{ said map[string]bool }

// keep returns the values that are some, in place of all, and the error to report, if
// any: one problem of each metric is in it.
func (f *filter) keep(l line, values []bench.Value) ([]bench.Value, error) {
	first := 0
	for first < len(values) && problemOf(&values[first]) == "" {
		first++
	}
	if first == len(values) { // of most results
		return values, nil
	}
	kept := values[:first]
	var problems []string
	var of []string // whose they are
	for i := first; i < len(values); i++ {
		v := &values[i]
		problem := problemOf(v)
		if problem == "" {
			kept = append(kept, *v)
			continue
		}
		if name := v.Metric.Name; !f.said[name] && !slices.Contains(of, name) {
			problems, of = append(problems, problem), append(of, name)
			if isCounter(v.Metric) {
				f.say(name)
			}
		}
	}
	if problems == nil {
		return kept, nil
	}
	return kept, l.errorf("%s", strings.Join(problems, "; "))
}

func (f *filter) say(metric string) {
	if f.said == nil {
		f.said = map[string]bool{}
	}
	f.said[metric] = true
}

// yield yields a result with the values that are some, after the error of the
// others, and reports whether to go on.
func (f *filter) yield(l line, res bench.Result, yield func(bench.Result, error) bool) bool {
	var err error
	if res.Values, err = f.keep(l, res.Values); err != nil && !yield(bench.Result{}, err) {
		return false
	}
	return len(res.Values) == 0 || yield(res, nil)
}

// yieldMeasured yields what a format does, but for values below 0 of what cannot be,
// whichever way the format makes them. One that filters its lines says the line.
func yieldMeasured(document string, res bench.Result, err error, yield func(bench.Result, error) bool) bool {
	for i := range res.Values {
		if err == nil && isNegative(&res.Values[i]) {
			return (&filter{}).yield(line{document: document, text: res.Name}, res, yield)
		}
	}
	return yield(res, err)
}

// isNegative reports whether a value is below 0 that cannot be.
func isNegative(v *bench.Value) bool { return v.V < 0 && !v.Metric.MayBeNegative() }

// problemOf says why a value is none; "" where it is one.
func problemOf(v *bench.Value) string {
	switch {
	case v.V == 0 && isCounter(v.Metric):
		return fmt.Sprintf("want a count for %s, have 0: the processor's counter is not available, and no value is taken", v.Metric.Name)
	case v.Metric.Name == "":
		return "want a unit or a name with a letter or digit in it"
	case math.IsNaN(v.V) || math.IsInf(v.V, 0):
		return fmt.Sprintf("want a finite %s", v.Metric.Name)
	case isNegative(v):
		return fmt.Sprintf("want %s of 0 or more, have %v", v.Metric.Name, v.V)
	}
	return ""
}
