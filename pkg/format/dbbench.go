package format

import (
	"slices"

	"github.com/noslower/noslower/pkg/bench"
)

// The lines of db_bench of RocksDB, and of LevelDB, from which it comes:
//
//	fillrandom   :       5.237 micros/op 190954 ops/sec 52.369 seconds 10000000 operations;   14.6 MB/s
//	fillseq      :       1.765 micros/op;   62.7 MB/s
//
// as printed by Stats::Report of
// https://github.com/facebook/rocksdb/blob/main/tools/db_bench_tool.cc. MB are
// MiB. A benchmark that is repeated ([X3]) prints such a line each time; its
// averages and medians are not read, and neither are histograms.
var _ = register(Format{
	Name:  "db-bench",
	Tool:  "db_bench of RocksDB and LevelDB",
	Print: "db_bench --benchmarks=fillrandom[X5],readrandom[X5]",
	How:   `lines of "NAME : F micros/op"`,
	Seen:  []string{"RocksDB 7.8.3"},
	Sniff: sniffLine(`^[>\s]*\w[^:]*?\s+:\s+[\d.]+ micros/op(?:;|\s|$)`),
	Read:  byLine(parseDBBench),
})

var (
	dbBenchLine = compile(`^(\w[^:]*?)\s+:\s+(\S+) micros/op(.*)$`)
	dbBenchRate = compile(`(\S+) (ops/sec|MB/s)`)
)

// parseDBBench reads a line's numbers. Its ops/sec are of all threads, its
// micros/op of one.
func parseDBBench(l line) (bench.Result, error) {
	m := dbBenchLine.FindStringSubmatch(l.text)
	if m == nil {
		return bench.Result{}, nil
	}
	res := bench.Result{Name: m[1]}
	numbers := [][]string{{"", m[2], "micros/op"}}
	for _, n := range slices.AppendSeq(numbers, dbBenchRate.eachSubmatch(m[3])) {
		v, err := parseNumber(n[1])
		if err != nil || v < 0 {
			return bench.Result{}, l.errorf("want a number before %q, have %q", n[2], n[1])
		}
		switch n[2] {
		case "micros/op":
			res.Values = append(res.Values, bench.Measure("time_per_op", v, "us"))
		case "MB/s":
			res.Values = append(res.Values, bench.Measure("bandwidth", v, "MiB/s"))
		default:
			res.Values = append(res.Values, bench.Measure("throughput", v, n[2]))
		}
	}
	return res, nil
}
