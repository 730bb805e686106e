package format

import "github.com/noslower/noslower/pkg/bench"

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
	g := gatherer{at: l, result: bench.Result{Name: m[1]}}
	g.parse("time_per_op", m[2], "us")
	for n := range dbBenchRate.eachSubmatch(m[3]) {
		switch {
		case n[2] != "MB/s":
			g.parseRate("throughput", n[1], n[2])
		case n[1] != "0.0": // which is too little to tell, or nothing
			g.parse("bandwidth", n[1], "MiB/s")
		}
	}
	return g.parsed()
}
