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

// gbenchTime and gbenchCPU have no unit: it is whichever the programs use.
var (
	gbenchTime = bench.Metric{Name: "time", Better: bench.Lower}
	gbenchCPU  = bench.Metric{Name: "cpu", Better: bench.Lower}
)

func readGBenchCompare(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		eachUnquoted(r, name, yield, func(l line) bool {
			m := gbenchCompare.FindStringSubmatch(l.text)
			if m == nil || m[1] == "OVERALL_GEOMEAN" {
				return true
			}
			side := gbenchSide
			if _, aggregate := cutAggregate(m[1]); aggregate == "stddev" || aggregate == "cv" {
				side = gbenchScatter
			}
			return yield(side(l, m[1], "old", m[2], m[4])) && yield(side(l, m[1], "new", m[3], m[5]))
		})
	}
}

// gbenchScatter returns how a benchmark's repetitions scatter on a side. Rounded to
// a whole number it may be 0.
func gbenchScatter(l line, name, side, time, cpu string) (bench.Result, error) {
	t, err := parseNumber(time)
	c, err2 := parseNumber(cpu)
	if err != nil || err2 != nil || t < 0 || c < 0 {
		return bench.Result{}, l.errorf("want how times scatter on the %s side, have %s and %s", side, time, cpu)
	}
	benchmark, aggregate := cutAggregate(name)
	return bench.Result{Name: benchmark + "/" + side, Values: []bench.Value{
		{Metric: bench.Metric{Name: aggregate + "_of_time", Better: bench.Lower}, V: t, Statistic: &bench.Spread{}},
		{Metric: bench.Metric{Name: aggregate + "_of_cpu", Better: bench.Lower}, V: c, Statistic: &bench.Spread{}},
	}}, nil
}

func gbenchSide(l line, name, side, time, cpu string) (bench.Result, error) {
	t, err := parseNumber(time)
	c, err2 := parseNumber(cpu)
	if err != nil || err2 != nil || t <= 0 || c <= 0 {
		return bench.Result{}, l.errorf("want times above 0 on the %s side, have %s and %s: compare.py rounds to whole units", side, time, cpu)
	}
	res := bench.Result{Name: name + "/" + side, Values: []bench.Value{{Metric: gbenchTime, V: t}, {Metric: gbenchCPU, V: c}}}
	if _, aggregate := cutAggregate(name); aggregate != "" {
		for i := range res.Values {
			res.Values[i].Statistic = &bench.Spread{}
		}
	}
	return res, nil
}
