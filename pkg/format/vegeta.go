package format

import (
	"math"
	"slices"
	"strings"
)

// The JSON report of vegeta, by
// https://github.com/tsenart/vegeta/blob/master/lib/metrics.go:
//
//	{"latencies": {"mean": 500340, "50th": 488738, "99th": 1081834, "max": 1210845, …},
//	 "requests": 200, "rate": 201.1, "throughput": 201.0, "success": 1,
//	 "status_codes": {"200": 200}, "errors": []}
//
// Latencies are in nanoseconds. The throughput is of successful requests; the
// errors are the others. A report names no target.
var _ = register(Format{
	Name:  "vegeta",
	Tool:  "vegeta report -type=json",
	Print: "vegeta attack -rate 1000 -duration 30s -targets targets.txt | vegeta report -type=json",
	How:   `a JSON object with "latencies", "throughput" and "status_codes"`,
	Seen:  []string{"vegeta 12.13.0"},
	Sniff: vegetaShape.sniff,
	Read:  vegetaShape.read(readVegeta),
})

var vegetaShape = withKeys("latencies.50th", "requests", "throughput", "success", "status_codes")

func readVegeta(d *jsonDocument) error {
	start := d.offset()
	report, err := d.object()
	if err != nil {
		return err
	}
	latencies, err := report.object("latencies")
	if err != nil {
		return d.mistyped(start, err)
	}
	var g gatherer
	g.rate("throughput", report.number("throughput"), "rps")
	g.number("latency_mean", latencies.number("mean"), "ns")
	g.number("latency_max", latencies.number("max"), "ns")
	var ranked jsonObject
	for _, m := range latencies {
		if p, ok := strings.CutSuffix(m.key, "th"); ok {
			ranked = append(ranked, jsonMember{p, m.value})
		}
	}
	slices.SortFunc(ranked, jsonMember.compare)
	g.percentiles(ranked, "ns")
	if success := report.number("success"); success.present() && success.v >= 0 && success.v <= 1 {
		g.measure("errors", math.Round(report.number("requests").count()*(1-success.v)), "errors")
	} else {
		g.problem("want the share of requests that succeeded, have %s", success.text)
	}
	g.report(d)
	return nil
}
