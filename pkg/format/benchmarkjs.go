package format

import (
	"strconv"

	"github.com/noslower/noslower/pkg/bench"
)

// The cycles of Benchmark.js, as printed by toStringBench of
// https://github.com/bestiejs/benchmark.js/blob/main/benchmark.js: a rate with
// the margin of error of its mean, at 95 % confidence.
//
//	String#indexOf x 1,068,363,378 ops/sec ±10.16% (8 runs sampled)
var _ = register(Format{
	Name:  "benchmarkjs",
	Tool:  "Benchmark.js",
	How:   "lines NAME x F ops/sec ±F% (N runs sampled)",
	Seen:  []string{"Benchmark.js 2.1.4"},
	Print: "node bench.js, with suite.on('cycle', event => console.log(String(event.target)))",
	Sniff: sniffLine(benchmarkjsLine.expression),
	Read:  byLine(parseBenchmarkjs),
})

var benchmarkjsLine = compile(`^\s*(.+?) x ([-\w,.]+) ops/sec\s+(?:±|\+/-)\s*([-\w.,]+)%\s+\((\d+) runs? sampled\)`)

func parseBenchmarkjs(l line) (bench.Result, error) {
	m := benchmarkjsLine.FindStringSubmatch(l.text)
	if m == nil {
		return bench.Result{}, nil
	}
	rate, err := parseNumber(m[2])
	if err != nil || rate < 0 {
		return bench.Result{}, l.errorf("want a rate of 0 or more before ops/sec, have %q", m[2])
	}
	var margin *float64
	if percent, err := parseNumber(m[3]); err == nil {
		percent *= rate / 100
		margin = &percent
	}
	runs, _ := strconv.Atoi(m[4])
	return bench.Result{Name: m[1], Values: []bench.Value{statistic("throughput", rate, "ops/s", bench.CI95, margin, runs)}}, nil
}
