package format

import (
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What compare.py of the Ceph Benchmarking Tool prints about two runs of rados
// bench: with -v a line a metric, the result first and its baseline second, and
// in its Markdown (--output) a row, in the order that the header says:
//
//	12:00:00 - WARNING  - cbt      - prefill/client01/0: bandwidth: (or (greater) (near 0.05)):: 11.7944/18.9486  => rejected
//
//	run | metric | baseline | result | accepted
//	prefill/client01/0 | bandwidth | 18.9486 | 11.7944 | :x:
//
// See https://github.com/ceph/cbt/blob/master/compare.py and the aliases in its
// benchmark/benchmark.py, which are of lines of rados bench: MB are MiB. Each
// side is a benchmark, with /result or /baseline after its name. Which changes
// were accepted is not read, and the deviation is no metric of its own.
var _ = register(Format{
	Name:  "cbt",
	Tool:  "compare.py of the Ceph Benchmarking Tool",
	Print: "compare.py -v -a ARCHIVE -b BASELINE",
	How:   `lines that end in "RESULT/BASELINE => accepted" or "rejected", or a table run | metric | baseline | result`,
	Sniff: sniffLine(cbtLine.expression, `^[>\s|]*run\s*\|\s*metric\s*\|\s*(?:baseline\s*\|\s*result|result\s*\|\s*baseline)\b`),
	Read:  readCBT,
})

// cbtMetrics are the metrics of the aliases, with their units.
var cbtMetrics = map[string]bench.Metric{
	"bandwidth":         {Name: "bandwidth", Unit: "MiB/s"},
	"iops_avg":          {Name: "iops", Unit: "iops"},
	"latency_avg":       {Name: "latency_mean", Unit: "s"},
	"cpu_cycles_per_op": {Name: "cpu_cycles_per_op", Unit: "cycles/op"},
}

var cbtLine = compile(`(\S+): (\w+): \(.*\):: (\S+)/(\S+)\s+=> (?:accepted|rejected)\s*$`)

func readCBT(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		var header []string // of the table that the line stands in
		var filter filter
		side := func(l line, run, alias, side, number string) bool {
			metric, ok := cbtMetrics[alias]
			if !ok {
				return true
			}
			v, err := parseNumber(number)
			if err != nil {
				return yield(bench.Result{}, l.errorf("want a number as %s of %s, have %q", alias, side, number))
			}
			res := bench.Result{Name: run + "/" + side, Values: []bench.Value{bench.Measure(metric.Name, v, metric.Unit)}}
			return filter.yield(l, res, yield)
		}
		eachUnquoted(r, name, yield, func(l line) bool {
			if !strings.Contains(l.text, "|") {
				header = nil
				if !strings.Contains(l.text, "=> ") {
					return true // quickly: most lines of a log
				}
				m := cbtLine.FindStringSubmatch(l.text)
				return m == nil || side(l, m[1], m[2], "result", m[3]) && side(l, m[1], m[2], "baseline", m[4])
			}
			cells := tableCells(l.text)
			switch {
			case len(cells) >= 4 && cells[0] == "run" && cells[1] == "metric":
				header = cells
			case header != nil && len(cells) >= 4 && !isRule(l.text):
				return side(l, cells[0], cells[1], header[2], cells[2]) && side(l, cells[0], cells[1], header[3], cells[3])
			}
			return true
		})
	}
}
