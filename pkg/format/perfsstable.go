package format

import (
	"math"

	"github.com/noslower/noslower/pkg/bench"
)

// The line of ScyllaDB's perf_sstable, as printed by time_runs of
// https://github.com/scylladb/scylladb/blob/master/test/perf/perf_sstable.hh:
//
//	707311.86 +- 1865.47 partitions / sec (30 runs, 1 concurrent ops)
//
// It is the mean of all runs and their concurrent operations, and the error of
// that mean. People put the name of what they varied before it, with a colon.
var _ = register(Format{
	Name:  "perf-sstable",
	Tool:  "ScyllaDB perf_sstable",
	Print: "perf_sstable --mode index_read --iterations 30",
	How:   `lines of "F +- F partitions / sec (N runs, N concurrent ops)"`,
	Sniff: sniffLine(`\d \+- [\d.]+ partitions / sec \(`),
	Read:  byLine(parsePerfSSTable),
})

var perfSSTable = compile(`^(?:(\S.*?):\s+)?(\S+) \+- (\S+) partitions / sec \((\d+) runs, (\d+) concurrent ops\)`)

func parsePerfSSTable(l line) (bench.Result, error) {
	m := perfSSTable.FindStringSubmatch(l.text)
	if m == nil {
		return bench.Result{}, nil
	}
	var n [4]float64
	for i := range n {
		var err error
		if n[i], err = parseNumber(m[2+i]); err != nil || n[i] < 0 {
			return bench.Result{}, l.errorf("want a number of partitions / sec, its error and counts, have %q", m[2+i])
		}
	}
	v := bench.Measure("throughput", n[0], "ops/s")
	v.Statistic = &bench.Spread{}
	if count := n[2] * n[3]; count > 1 && count < 1e9 {
		deviation := n[1] * math.Sqrt(count) // of the values, from the error of their mean
		v.Statistic = &bench.Spread{Kind: bench.StdDev, Value: deviation, Count: int(count)}
	}
	return bench.Result{Name: m[1], Values: []bench.Value{v}}, nil
}
