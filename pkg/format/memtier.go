package format

import (
	"encoding/json"
	"maps"
	"slices"
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
	Sniff: memtierShape.sniff,
	Read:  memtierShape.read(readMemtier),
})

var memtierShape = withKeys("configuration", "ALL STATS").orElse(withKeys("configuration", "RUN #1 RESULTS"))

type memtierStats struct {
	Count            jsonNumber            `json:"Count"`
	Rate             jsonNumber            `json:"Ops/sec"`
	Mean             jsonNumber            `json:"Average Latency"`
	OldMean          jsonNumber            `json:"Latency"`
	Max              jsonNumber            `json:"Max Latency"`
	KiB              jsonNumber            `json:"KB/sec"`
	Errors           jsonNumber            `json:"Errors"`
	ConnectionErrors jsonNumber            `json:"Connection Errors"`
	Percentiles      map[string]jsonNumber `json:"Percentile Latencies"`
}

func readMemtier(d *jsonDocument) error {
	return d.members(func(key string) error {
		if key != "ALL STATS" && !strings.HasPrefix(key, "RUN #") {
			return d.skip()
		}
		var kinds map[string]json.RawMessage
		if err := d.decode(&kinds); err != nil {
			return err
		}
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			var stats memtierStats
			// Beside the kinds of commands stand histograms, which are arrays.
			if json.Unmarshal(kinds[kind], &stats) == nil && stats.Rate.present() && (stats.Rate.v != 0 || kind == "Totals") {
				stats.report(d, kind)
			}
		}
		return nil
	})
}

func (s *memtierStats) report(d *jsonDocument, kind string) {
	g := gatherer{result: bench.Result{Name: kind}}
	g.rate("throughput", s.Rate, "ops/s")
	if s.Mean.present() {
		g.number("latency_mean", s.Mean, "ms")
	} else {
		g.number("latency_mean", s.OldMean, "ms")
	}
	g.number("latency_max", s.Max, "ms")
	g.percentiles(s.Percentiles, "ms")
	g.number("bandwidth", s.KiB, "KiB/s")
	if kind == "Totals" || s.Errors.present() || s.ConnectionErrors.present() {
		g.measure("errors", s.Errors.count()+s.ConnectionErrors.count(), "errors")
	}
	g.report(d)
}
