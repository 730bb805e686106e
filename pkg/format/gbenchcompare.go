package format

import (
	"io"
	"iter"

	"github.com/noslower/noslower/pkg/bench"
)

// The table of two runs by Google Benchmark's compare.py, from
// https://github.com/google/benchmark/blob/main/tools/gbench/report.py:
//
//	Benchmark            Time             CPU      Time Old      Time New       CPU Old       CPU New
//	BM_Push_median    +0.0158         +0.0158            27            27            27            27
//
// Each side is a benchmark, with /old or /new after its name; rows of one name
// are repetitions. The times are rounded to whole numbers of a unit that is not
// printed: where both programs are at hand, their JSON says more. How the
// repetitions scatter (_stddev, _cv) are metrics of their own, beside the times and
// never in their place; p-values and the mean of all benchmarks are no results.
var _ = register(Format{
	Name:  "google-benchmark-compare",
	Tool:  "compare.py of Google Benchmark",
	Print: "compare.py benchmarks OLD.json NEW.json",
	How:   `a header with "Time Old", "Time New", "CPU Old" and "CPU New"`,
	Seen:  []string{"Google Benchmark 1.7.1"},
	Sniff: sniffLine(`\sTime Old\s+Time New\s+CPU Old\s+CPU New\s*$`),
	Read:  readGBenchCompare,
})

var gbenchCompare = compile(`^(\S.*?)(?:\s+[-+](?:\d+\.\d+|nan|inf)){2}\s+(-?(?:\d+|nan|inf))\s+(-?(?:\d+|nan|inf))\s+(-?(?:\d+|nan|inf))\s+(-?(?:\d+|nan|inf))$`)

func readGBenchCompare(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		eachUnquoted(r, name, yield, func(l line) bool {
			m := gbenchCompare.FindStringSubmatch(l.text)
			if m == nil || m[1] == "OVERALL_GEOMEAN" {
				return true
			}
			g := gbenchSide(l, m[1], "old", m[2], m[4])
			if !g.yield(yield) {
				return false
			}
			g = gbenchSide(l, m[1], "new", m[3], m[5])
			return g.yield(yield)
		})
	}
}

// gbenchSide gathers the columns of a side. They have no unit: it is whichever the
// programs use. How repetitions scatter may be 0, rounded to a whole number.
func gbenchSide(l line, name, side, time, cpu string) gatherer {
	benchmark, aggregate := cutAggregate(name)
	prefix, scatters := "", aggregate == "stddev" || aggregate == "cv"
	if scatters {
		name, prefix = benchmark, aggregate+"_of_"
	}
	g := gatherer{at: l, result: bench.Result{Name: name + "/" + side}}
	for _, column := range [][2]string{{"time", time}, {"cpu", cpu}} {
		metric := bench.Metric{Name: prefix + column[0], Better: bench.Lower}
		switch v, err := parseNumber(column[1]); {
		case err != nil:
			g.problem("want a number as %s on the %s side, have %s", metric.Name, side, column[1])
		case v == 0 && !scatters:
			g.problem("want a %s above 0 on the %s side, have 0: compare.py rounds to whole units", metric.Name, side)
		default:
			g.add(bench.Value{Metric: metric, V: v})
		}
	}
	if aggregate != "" {
		g.statistics()
	}
	return g
}
