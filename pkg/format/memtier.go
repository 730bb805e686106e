package format

import (
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of memtier_benchmark, by
// https://github.com/RedisLabs/memtier_benchmark/blob/master/run_stats.cpp:
//
//	{"configuration": {…}, "run information": {…},
//	 "ALL STATS": {
//	   "Runtime": {…},
//	   "Sets": {"Count": 1000, "Ops/sec": 1234.5, "Average Latency": 0.52, "Max Latency": 3.1,
//	            "KB/sec": 99.1, "Percentile Latencies": {"p50.00": 0.5, "p99.90": 2.9}},
//	   "Gets": {…}, "Waits": {…}, "Totals": {…, "Connection Errors": 0}}}
//
// Each kind of command is a benchmark, and all together are ("Totals").
// Latencies are in milliseconds; a KB has 1024 bytes. With --run-count each run
// is a repeat, "RUN #1 RESULTS"; the best, the worst and their average are not
// read.
var _ = register(Format{
	Name:  "memtier",
	Tool:  "memtier_benchmark --json-out-file",
	Print: "memtier_benchmark --hide-histogram --json-out-file=memtier.json",
	How:   `a JSON object with "configuration" and "ALL STATS" or "RUN #1 RESULTS"`,
	Sniff: sniffDocument(memtierShape),
	Read:  memtierShape.read(readMemtier),
})

var memtierShape = withKeys("configuration", "ALL STATS").orElse(withKeys("configuration", "RUN #1 RESULTS"))

func readMemtier(d *jsonDocument) error {
	return d.members(func(key string) error {
		if key != "ALL STATS" && !strings.HasPrefix(key, "RUN #") {
			return d.skip()
		}
		kinds, err := d.object()
		if err != nil {
			return err
		}
		for _, kind := range kinds.byKey() {
			var stats jsonObject
			// Beside the kinds of commands stand histograms, which are arrays.
			if stats.take(kind.value) == nil {
				readMemtierKind(d, kind.key, stats)
			}
		}
		return nil
	})
}

func readMemtierKind(d *jsonDocument, kind string, stats jsonObject) {
	rate := stats.number("Ops/sec")
	percentiles, err := stats.object("Percentile Latencies")
	if err != nil || !rate.present() || rate.v == 0 && kind != "Totals" {
		return
	}
	mean := stats.number("Average Latency")
	if !mean.present() {
		mean = stats.number("Latency")
	}
	g := gatherer{result: bench.Result{Name: kind}}
	g.rate("throughput", rate, "ops/s")
	g.number("latency_mean", mean, "ms")
	g.number("latency_max", stats.number("Max Latency"), "ms")
	g.percentiles(percentiles, "ms")
	g.number("bandwidth", stats.number("KB/sec"), "KiB/s")
	failed, broken := stats.number("Errors"), stats.number("Connection Errors")
	areWhole := !d.isHalf() || percentiles != nil // which come after them
	if areWhole && (kind == "Totals" || failed.present() || broken.present()) {
		g.measure("errors", failed.count()+broken.count(), "errors")
	}
	g.report(d)
}
