package format

import (
	"math"
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
	Sniff: vegetaShape.sniff,
	Read:  vegetaShape.read(readVegeta),
})

var vegetaShape = withKeys("latencies.50th", "requests", "throughput", "success", "status_codes")

func readVegeta(d *jsonDocument) error {
	var report struct {
		Latencies  map[string]jsonNumber `json:"latencies"`
		Requests   jsonNumber            `json:"requests"`
		Throughput jsonNumber            `json:"throughput"`
		Success    jsonNumber            `json:"success"` // share of them
	}
	if err := d.decode(&report); err != nil {
		return err
	}
	var g gatherer
	g.rate("throughput", report.Throughput, "rps")
	g.number("latency_mean", report.Latencies["mean"], "ns")
	g.number("latency_max", report.Latencies["max"], "ns")
	ranked := map[string]jsonNumber{}
	for key, n := range report.Latencies {
		if p, ok := strings.CutSuffix(key, "th"); ok {
			ranked[p] = n
		}
	}
	g.percentiles(ranked, "ns")
	if success := report.Success; success.present() && success.v >= 0 && success.v <= 1 {
		g.measure("errors", math.Round(report.Requests.count()*(1-success.v)), "errors")
	} else {
		g.problem("want the share of requests that succeeded, have %s", success.text)
	}
	g.report(d)
	return nil
}
