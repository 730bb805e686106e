package format

import (
	"cmp"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of autocannon (https://github.com/mcollina/autocannon#autocannonopts-cb),
// one object for each run:
//
//	{"title": "…", "url": "http://127.0.0.1:8080/", "connections": 2, "pipelining": 1,
//	 "errors": 0, "timeouts": 0, "mismatches": 0, "non2xx": 8449,
//	 "latency": {"average": 0.04, "max": 38, "p50": 0, "p99_9": 11, …},
//	 "requests": {"average": 12676, "stddev": 2312, …}, "samples": 2,
//	 "throughput": {"average": 1385984, …}}
//
// Latencies are in milliseconds; rates are means of samples, one a second.
// Timeouts are among the errors already; responses that are not 2xx are added.
var _ = register(Format{
	Name:  "autocannon",
	Tool:  "autocannon --json",
	Print: "autocannon -c 100 -d 10 --json http://127.0.0.1:8080/",
	How:   `a JSON object with "latency", "requests", "throughput", "non2xx" and "mismatches"`,
	Seen:  []string{"autocannon 9.0.0"},
	Sniff: sniffDocument(autocannonShape),
	Read:  autocannonShape.read(readAutocannon),
})

var autocannonShape = withKeys("errors", "mismatches", "non2xx", "latency.average", "requests.average", "throughput.average")

func readAutocannon(d *jsonDocument) error {
	type rate struct {
		Mean   jsonNumber `json:"average"`
		StdDev jsonNumber `json:"stddev"`
	}
	var report struct {
		Title       string     `json:"title"`
		URL         string     `json:"url"`
		Connections jsonNumber `json:"connections"`
		Pipelining  jsonNumber `json:"pipelining"`
		Samples     jsonNumber `json:"samples"`
		Errors      jsonNumber `json:"errors"`
		Mismatches  jsonNumber `json:"mismatches"`
		Non2xx      jsonNumber `json:"non2xx"`
		Latency     jsonObject `json:"latency"`
		Requests    rate       `json:"requests"`
		Throughput  rate       `json:"throughput"`
	}
	if err := d.decode(&report); err != nil {
		return err
	}
	isNamed := report.URL != "" && report.Connections.present() && report.Pipelining.present()
	if d.isHalf() && report.Title == "" && !isNamed {
		return nil // without its name
	}
	g := gatherer{result: bench.Result{Name: cmp.Or(report.Title, report.URL)}}
	if report.Title == "" {
		g.result.Name += " connections=" + report.Connections.text
		if report.Pipelining.v > 1 {
			g.result.Name += " pipelining=" + report.Pipelining.text
		}
	}
	add := func(metric string, r rate, unit string) {
		before := len(g.result.Values)
		if g.rate(metric, r.Mean, unit); len(g.result.Values) > before {
			kind := bench.StdDev
			if !r.StdDev.present() {
				kind = bench.NoSpread
			}
			g.spread(kind, r.StdDev.count(), int(report.Samples.count()))
		}
	}
	add("throughput", report.Requests, "rps")
	add("bandwidth", report.Throughput, "B/s")
	switch total := report.Latency.get("totalCount"); {
	case total == "0":
		g.problem("want latencies, have none: no response came in time")
	case total == "" && d.isHalf() && report.Latency.number("average").v <= 0: // it may be 0
	default:
		g.autocannonLatencies(report.Latency)
	}
	if report.Errors.present() && report.Mismatches.present() && report.Non2xx.present() {
		g.measure("errors", report.Errors.count()+report.Mismatches.count()+report.Non2xx.count(), "errors")
	} else {
		g.problem("want errors, mismatches and non2xx, have not all of them")
	}
	g.report(d)
	return nil
}

func (g *gatherer) autocannonLatencies(latency jsonObject) {
	g.number("latency_mean", latency.number("average"), "ms")
	g.number("latency_max", latency.number("max"), "ms")
	ranked := slices.Clone(latency)
	for i := range ranked {
		ranked[i].key = strings.Replace(ranked[i].key, "_", ".", 1)
	}
	g.percentiles(ranked, "ms")
}
