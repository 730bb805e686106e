package format

import (
	"io"
	"iter"
	"strings"
	"time"

	"github.com/noslower/noslower/pkg/bench"
)

// The results of scylla-bench, as printed by PrintTotalResults of
// https://github.com/scylladb/scylla-bench/blob/master/pkg/results/thread_results.go:
//
//	Mode:			 write
//	Workload:		 sequential
//
//	Results
//	Time (avg):	 5m21.033180213s
//	Total ops:	 10000000
//	Total errors:	 3
//	Operations/s:	 31150.4
//	Rows/s:		 31150.4
//	raw latency :
//	  max:		 74.055679ms
//	  99.9th:	 5.537791ms
//	  median:	 1.081343ms
//	c-o fixed latency :
//	  …
//
// The latencies that are raw, or the only ones, are latency_…; others have their
// name before it. What it prints while it runs is not read.
var _ = register(Format{
	Name:  "scylla-bench",
	Tool:  "scylla-bench",
	Print: "scylla-bench -mode write -workload sequential -duration 60s",
	How:   `a line "Operations/s: F"`,
	Sniff: sniffLine(`^[>\s]*Operations/s:\s+[\d.]`),
	Read:  readScyllaBench,
})

var (
	scyllaBenchLine    = compile(`^([A-Za-z][\w /().-]*?|[\d.]+th)\s*:\s*(\S*)$`)
	scyllaBenchLatency = compile(`^(?:(\S.*?)\s+)?[Ll]atency$`)
	scyllaBenchRank    = compile(`^(\d+)\.?(\d*)th$`)
)

func readScyllaBench(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		var p scyllaBenchParser
		var filter filter
		eachUnquoted(r, name, yield, func(l line) bool {
			m := scyllaBenchLine.FindStringSubmatch(l.text)
			if m == nil {
				return true
			}
			value, ok, problem := p.line(m[1], m[2])
			if problem != nil {
				return yield(bench.Result{}, l.errorf("%s: %v", m[1], problem))
			}
			return !ok || filter.yield(l, bench.Result{Name: p.benchmark(), Values: []bench.Value{value}}, yield)
		})
	}
}

type scyllaBenchParser struct {
	mode, workload string
	latency        string // before the name of a latency's metric: "", or "c_o_fixed_"
	inLatency      bool
}

func (p *scyllaBenchParser) benchmark() string {
	return strings.Trim(p.mode+"/"+p.workload, "/")
}

// line reads a label and what stands after it. ok is false where that is no
// metric.
func (p *scyllaBenchParser) line(label, text string) (v bench.Value, ok bool, problem error) {
	if m := scyllaBenchLatency.FindStringSubmatch(label); m != nil && text == "" {
		p.inLatency = true
		p.latency = ""
		if name := bench.SnakeCase(m[1]); name != "" && name != "raw" {
			p.latency = strings.TrimPrefix(name, "raw_") + "_"
		}
		return bench.Value{}, false, nil
	}
	number := func(metric, unit string) (bench.Value, bool, error) {
		n, err := parseNumber(text)
		return bench.Measure(metric, n, unit), err == nil, err
	}
	duration := func(metric string) (bench.Value, bool, error) {
		d, err := time.ParseDuration(text)
		return bench.Measure(metric, d.Seconds(), "s"), err == nil, err
	}
	switch label {
	case "Mode":
		p.mode = text
	case "Workload":
		p.workload = text
	case "Time (avg)":
		return duration("wall_time")
	case "Operations/s":
		return number("throughput", "ops/s")
	case "Rows/s":
		return number("row_rate", "rows/s")
	case "Total errors":
		return number(bench.Errors, "errors")
	}
	if !p.inLatency {
		return bench.Value{}, false, nil
	}
	switch label {
	case "max", "mean":
		return duration(p.latency + "latency_" + label)
	case "median":
		return duration(p.latency + "latency_p50")
	}
	if m := scyllaBenchRank.FindStringSubmatch(label); m != nil {
		return duration(p.latency + "latency_p" + m[1] + m[2])
	}
	return bench.Value{}, false, nil
}
