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
// name and no unit. A name that ends in _per_op brings its own.
func measureNamed(name string, v float64) bench.Value {
	value := bench.Measure(name, v, "")
	if what, ok := strings.CutSuffix(name, "_per_op"); ok && value.Metric.Unit == "" {
		return bench.Measure(name, v, what+"/op")
	}
	return value
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

// A filter drops what is no value: a processor counter that is not there, and a
// number that its unit's factor made infinite. It remembers for which metrics it
// has said so: once in a document is enough.
type filter struct{ said map[string]bool }

// keep returns the values that are some, in place of all, and the error to report, if
// any.
func (f *filter) keep(l line, values []bench.Value) ([]bench.Value, error) {
	var problems []string
	kept := slices.DeleteFunc(values, func(v bench.Value) bool {
		problem := problemOf(v)
		if problem != "" && !f.said[v.Metric.Name] {
			if f.said == nil {
				f.said = map[string]bool{}
			}
			f.said[v.Metric.Name] = true
			problems = append(problems, problem)
		}
		return problem != ""
	})
	if problems == nil {
		return kept, nil
	}
	return kept, l.errorf("%s", strings.Join(problems, "; "))
}

// problemOf says why a value is none; "" where it is one.
func problemOf(v bench.Value) string {
	switch {
	case v.V == 0 && isCounter(v.Metric):
		return fmt.Sprintf("want a count for %s, have 0: the processor's counter is not available, and no value is taken", v.Metric.Name)
	case v.Metric.Name == "":
		return "want a unit or a name with a letter or digit in it"
	case math.IsNaN(v.V) || math.IsInf(v.V, 0):
		return fmt.Sprintf("want a finite %s", v.Metric.Name)
	}
	return ""
}
