package format

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The reports of vegeta, by
// https://github.com/tsenart/vegeta/blob/master/lib/reporters.go. Its JSON,
//
//	{"latencies": {"mean": 500340, "50th": 488738, "99th": 1081834, "max": 1210845, …},
//	 "requests": 200, "rate": 201.1, "throughput": 201.0, "success": 1,
//	 "status_codes": {"200": 200}, "errors": []}
//
// has latencies in nanoseconds; in its text each number has its unit, and the
// names of a line's numbers stand before them:
//
//	Requests      [total, rate, throughput]         100, 101.02, 34.31
//	Latencies     [min, mean, 50, 90, 95, 99, max]  129.231µs, 819.936µs, 956.045µs, …
//	Status Codes  [code:count]                      0:33  200:34  404:33
//
// The throughput is of successful requests; the errors are the others. A report
// names no target.
var _ = register(Format{
	Name:  "vegeta",
	Tool:  "vegeta report, also with -type=json",
	Print: "vegeta attack -rate 1000 -duration 30s -targets targets.txt | vegeta report",
	How:   `a line "Latencies [min, mean, 50, …]", or a JSON object with "latencies", "throughput" and "status_codes"`,
	Seen:  []string{"vegeta 12.13.0"},
	Sniff: either(sniffVegeta, sniffDocument(vegetaShape)),
	Read:  readEither(vegetaShape, readVegeta, readVegetaText),
})

var (
	vegetaShape = withKeys("latencies.50th", "bytes_in.total", "bytes_out.total").
			orElse(withKeys("latencies.50th", "requests", "throughput", "success", "status_codes"))
	sniffVegeta = sniffLine(`^[>\s]*Latencies\s+\[(?:min, )?mean, 50, [\d., ]*max\]`)

	vegetaLine = compile(`^(Requests|Latencies|Status Codes)\s+\[([^\]]+)\]\s+(.*)$`)
)

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
	g.percentiles(ranked, "ns")
	requests, success := report.number("requests"), report.number("success")
	switch {
	case !requests.present() || !success.present() || success.v < 0 || success.v > 1:
		g.problem("want requests and the share of them that succeeded, have %s and %s", cmp.Or(requests.text, "none"), cmp.Or(success.text, "none"))
	default:
		g.measure("errors", math.Round(requests.count()*(1-success.v)), "errors")
	}
	g.report(d)
	return nil
}

func readVegetaText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	report := vegetaReport{reporter{to: yield}}
	if eachUnquoted(r, name, yield, report.line) {
		report.next()
	}
}

// A vegetaReport gathers one report in text.
type vegetaReport struct{ reporter }

func (v *vegetaReport) line(l line) bool {
	m := vegetaLine.FindStringSubmatch(l.text)
	if m == nil {
		return true
	}
	numbers := strings.Split(m[3], ", ")
	column := func(name string) string { // "" where there is none
		if i := slices.Index(strings.Split(m[2], ", "), name); i >= 0 && i < len(numbers) {
			return numbers[i]
		}
		return ""
	}
	switch m[1] {
	case "Requests":
		if !v.next() {
			return false
		}
		v.at = l
		if printed := column("throughput"); printed != "" { // which old versions have not
			v.parseRate("throughput", printed, "rps")
		}
	case "Latencies":
		for name := range strings.SplitSeq(m[2], ", ") {
			metric := percentile(name)
			if name == "mean" || name == "max" {
				metric = "latency_" + name
			}
			if metric != "" {
				v.duration(metric, column(name))
			}
		}
	case "Status Codes":
		v.codes(m[3])
	}
	return true
}

// codes adds the errors: those without a status, or with another than of success.
func (v *vegetaReport) codes(printed string) {
	failed := 0.0
	for pair := range strings.FieldsSeq(printed) {
		code, count, _ := strings.Cut(pair, ":")
		n, err := parseNumber(count)
		if err != nil {
			v.problem("want a status and how often it came, have %q", pair)
			return
		}
		if code < "200" || code >= "400" {
			failed += n
		}
	}
	v.measure("errors", failed, "errors")
}
