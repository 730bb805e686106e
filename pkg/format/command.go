package format

import (
	"iter"
	"slices"

	"github.com/noslower/noslower/pkg/bench"
)

// A commandReport is what a profiler says of one execution of a command.
type commandReport struct {
	command string // as the profiler prints it, "" where it does not
	values  []bench.Value
}

// commandResults makes results of reports, each of a launch of its own. The
// command is the benchmark's name only where there are several: it has the
// program's path in it, which base and head seldom share.
func commandResults(reports []commandReport) iter.Seq[bench.Result] {
	reports = slices.DeleteFunc(reports, func(r commandReport) bool { return len(r.values) == 0 })
	several := slices.ContainsFunc(reports, func(r commandReport) bool { return r.command != reports[0].command })
	launches := map[string]int{}
	return func(yield func(bench.Result) bool) {
		for _, r := range reports {
			res := bench.Result{Launch: launches[r.command], Values: r.values}
			if several {
				res.Name = oneBlank(r.command)
			}
			launches[r.command]++
			if !yield(res) {
				return
			}
		}
	}
}

// addValue appends a value, under another name where the first is taken:
// instructions beside instructions:u, say.
func addValue(values []bench.Value, v bench.Value, otherwise string) []bench.Value {
	for _, o := range values {
		if o.Metric.Name == v.Metric.Name {
			v.Metric.Name = bench.SnakeCase(otherwise)
			break
		}
	}
	return append(values, v)
}
