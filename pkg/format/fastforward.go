package format

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The tables of ScyllaDB's perf_fast_forward, as printed by the text_output_writer of
// https://github.com/scylladb/scylladb/blob/master/test/perf/perf_fast_forward.cc:
//
//	running: <test> on dataset <dataset>
//	<description>:
//	read    skip      time (s)  [iterations]  frags  frag/s  [mad f/s  max f/s  min f/s  avg aio]  aio  (KiB) …
//	-> 1    0         0.899447             4   1000    1111       12     1113     1096    975.5    972 124356 …
//
// The columns before "time (s)" are the parameters and part of the benchmark's
// name. Those after it have changed with every era and are read by the header.
var _ = register(Format{
	Name:  "perf-fast-forward",
	Tool:  "ScyllaDB perf_fast_forward",
	Print: "perf_fast_forward --run-tests=large-partition-skips",
	How:   `a header with the columns "time (s)", "frags" and "frag/s"`,
	Sniff: sniffLine(`time \(s\)\s+(?:iterations\s+)?frags\s+frag/s\b`),
	Read:  readFastForward,
})

var (
	// fastForwardNames makes one word of every name of a column.
	fastForwardNames = strings.NewReplacer("time (s)", "time", "mad f/s", "mad", "max f/s", "max", "min f/s", "min",
		"avg aio", "avg_aio", "(KiB)", "aio_bytes", "idx hit", "idx_hit", "idx miss", "idx_miss", "idx blk", "idx_blk",
		"c hit", "c_hit", "c miss", "c_miss", "c blk", "c_blk")
	fastForwardTest  = compile(`^running: (\S+)(?: on dataset (\S+))?`)
	fastForwardRange = compile(`([\[(][^\s,]*),\s+([^\s,]*[\])])`)
)

func readFastForward(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		var t fastForwardTable
		eachResult(r, name, yield, func(l line) (bench.Result, error) { return t.line(unquoted(l)) })
	}
}

type fastForwardTable struct {
	test       string
	parameters []string
	columns    []string
}

func (t *fastForwardTable) line(l line) (bench.Result, error) {
	if m := fastForwardTest.FindStringSubmatch(l.text); m != nil {
		t.test = strings.TrimSuffix(m[1]+"/"+m[2], "/")
		t.columns = nil
		return bench.Result{}, nil
	}
	if strings.Contains(l.text, "frag/s") {
		names := strings.Fields(fastForwardNames.Replace(l.text))
		if i := slices.Index(names, "time"); i >= 0 {
			t.parameters, t.columns = names[:i], names[i:]
			return bench.Result{}, nil
		}
	}
	cells := strings.Fields(fastForwardRange.ReplaceAllString(strings.TrimPrefix(l.text, "-> "), "$1,$2"))
	if t.columns == nil || len(cells) != len(t.parameters)+len(t.columns) {
		return bench.Result{}, nil
	}
	name := t.test
	for i, p := range t.parameters {
		name += " " + p + "=" + cells[i]
	}
	g := gatherer{at: l, result: bench.Result{Name: strings.TrimSpace(name)}}
	t.values(&g, cells[len(t.parameters):])
	return g.parsed()
}

// values gathers the cells after the parameters. An operation is a fragment that
// was read: frag/s is the throughput, and insns/f are instructions per operation.
func (t *fastForwardTable) values(g *gatherer, cells []string) {
	isValue := false // the cell before is
	for i, column := range t.columns {
		wasValue := isValue
		v, err := parseNumber(strings.TrimSuffix(cells[i], "%"))
		if isValue = err == nil; !isValue {
			g.problem("column %s: %v", column, err)
			continue
		}
		switch column {
		case "iterations", "max", "min":
		case "time":
			g.measure("time_per_op", v, "s")
		case "frag/s":
			g.measure("throughput", v, "ops/s")
		case "mad": // it follows the median it belongs to
			if wasValue {
				g.spread(bench.MAD, v, 0)
			}
		case "insns/f":
			g.measure("instructions_per_op", v, "")
		case "aio_bytes":
			g.measure(column, v, "KiB")
		case "cpu":
			g.measure("cpu_load", v, "%")
		default:
			g.measure(column, v, "")
		}
	}
}
