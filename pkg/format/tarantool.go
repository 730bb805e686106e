package format

import (
	"cmp"
	"io"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The benchmarks in perf/lua of Tarantool, which print by
// https://github.com/tarantool/tarantool/blob/master/perf/lua/benchmark.lua
//
//	uri.escape 152 rps
//	uri.escape 152.37  runs/sec
//
// or, with --output_format json, Google Benchmark's document with other units:
// real_time and cpu_time are seconds, and of all iterations together.
//
//	{"benchmarks":[{"name":"uri.escape","real_time":6.57,"cpu_time":6.56,"iterations":1000,"items_per_second":152}]}
//
// And the tables of its commit messages, of which each row is a benchmark, or
// each row on each side:
//
//	Run                 | Perf, krps |
//	---------------------------------|
//	master, current     |    1060    |
//
//	Version        | time(seconds)  | Change relative to 1.10
//	2.x (patched)  |      2:10      |          - 10%
//
//	| request | stat | old       | new       | diff   | stdev |
//	| insert  | RPS  | 953798.71 | 964738.50 | +1.15% | 0.63% |
//
// Lines of a name and a number alone, as older scripts print, are not read: some
// of them are rates and some are nanoseconds.
var _ = register(Format{
	Name:  "tarantool",
	Tool:  "perf/lua of Tarantool",
	Print: "tarantool perf/lua/uri_escape_unescape.lua",
	How:   "lines NAME N rps, its JSON, or a table Run | Perf, krps or Version | time(seconds)",
	Sniff: either(sniffTarantoolText, sniffDocument(func(head jsonHead) bool { return tarantoolWhole(head) && isTarantool(head) })),
	Read:  readEither(isTarantool, readTarantoolJSON, readTarantoolText),
})

// sniffTarantoolText asks for a name of one word where reading does not: a
// sentence may end in "100 rps" too.
var sniffTarantoolText = sniffLine(
	`^[>\s]*[^\s#>][^\s]*[^\s:=]\s+[\d.,]+\s+(?:rps|runs/sec)\s*$`,
	tarantoolRuns.expression,
	tarantoolRequests.expression,
)

// Those of Google Benchmark itself name a program, or another unit.
var (
	tarantoolForeign = withKeys("context.executable")
	tarantoolUnit    = compile(`"time_unit"\s*:\s*"(?:[^s"]|s[^"])`)
	tarantoolAny     = withKeys("benchmarks")
	tarantoolWhole   = withKeys("benchmarks[].name", "benchmarks[].real_time", "benchmarks[].iterations", "benchmarks[].items_per_second")
)

// isTarantool is the shape of a script's document. Below others it may be cut off
// before its first benchmark is whole.
func isTarantool(head jsonHead) bool {
	return head.whole && tarantoolAny(head) && !tarantoolForeign(head) && !tarantoolUnit.re().Match(head.start())
}

var (
	tarantoolRate     = compile(`^[>\s]*([^\s#>].*?)\s+(-?(?:\d\S*|nan|inf))\s+(rps|runs/sec)\s*$`)
	tarantoolRuns     = compile(`^[>\s|]*(?:Run|Version)\s*(?:\|[^|,(]+[,(]\s*(?:[kKM]?(?:rps|tps|ops)|[mun]?s|seconds|[kMG]i?B)\)?\s*)+(?:\|\s*(?:Change|Diff)[^|]*)?\|?\s*$`)
	tarantoolColumn   = compile(`^([^,(]+)[,(]\s*(\w+)\)?$`)
	tarantoolRequests = compile(`^[>\s]*\|\s*request\s*\|\s*stat\s*\|\s*old\s*\|\s*new\s*\|`)
)

func readTarantoolText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	var header []string // of the table that the line stands in
	for l, err := range lines(r, name) {
		if err != nil {
			if !passOn(err, yield) {
				return
			}
			continue
		}
		if strings.Contains(l.text, "|") {
			cells := tableCells(l.text)
			switch {
			case tarantoolRuns.MatchString(l.text) || tarantoolRequests.MatchString(l.text):
				header = cells
			case len(cells) != len(header) || isRule(l.text):
			case !tarantoolRow(l, header, cells, yield):
				return
			}
			continue
		}
		if !isRule(l.text) {
			header = nil
		}
		m := tarantoolRate.FindStringSubmatch(l.text)
		if m == nil || strings.Contains(m[1], " "+m[3]) { // one rate a line: a second is of another side
			continue
		}
		if !yield(tarantoolResult(l, m[1], "", m[2], m[3])) {
			return
		}
	}
}

// isRule reports whether a line is empty or drawn of what tables are drawn of.
func isRule(text string) bool { return ruleBytes.onlyOf(text) }

var ruleBytes = bytesOf(">-+=:| \t")

// tableCells returns what stands between the bars of a table's line.
func tableCells(text string) []string {
	text = blanks.trim(text[quotation.prefix(text):])
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "|"), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// tarantoolRow yields the results of a table's row and reports whether to go on.
func tarantoolRow(l line, header, cells []string, yield func(bench.Result, error) bool) bool {
	if header[0] == "request" {
		unit := strings.ToLower(cells[1])
		return yield(tarantoolResult(l, cells[0]+"/"+header[2], cells[1], cells[2], unit)) &&
			yield(tarantoolResult(l, cells[0]+"/"+header[3], cells[1], cells[3], unit))
	}
	for i := 1; i < len(cells); i++ {
		m := tarantoolColumn.FindStringSubmatch(header[i])
		if m != nil && !yield(tarantoolResult(l, cells[0], m[1], cells[i], m[2])) {
			return false
		}
	}
	return true
}

// tarantoolResult returns the result of one number. Whatever a table calls a
// rate of operations, it is the throughput.
func tarantoolResult(l line, name, metric, number, unit string) (bench.Result, error) {
	read := parseNumber
	if _, base := bench.BaseUnit(unit); base == "s" {
		read = parseClock
	}
	n, err := read(number)
	if err != nil || n <= 0 {
		return bench.Result{}, l.errorf("want a number above 0 of %s for %q, have %q", strings.TrimSpace(unit), name, number)
	}
	if _, base := bench.BaseUnit(unit); base == "ops/s" {
		metric = "throughput"
	} else if bench.SnakeCase(metric) == "" {
		return bench.Result{}, l.errorf("want the name of what is measured in %q above %q, have none", strings.TrimSpace(unit), number)
	}
	return bench.Result{Name: oneBlank(name), Values: []bench.Value{bench.Measure(metric, n, unit)}}, nil
}

// readTarantoolJSON reads the document of one script, which is a process;
// repetitions are of one.
func readTarantoolJSON(d *jsonDocument) error {
	return d.member("benchmarks", func() error {
		return d.objects(func(row jsonObject) error {
			name, err := row.string("name", "name")
			if err == nil {
				readTarantoolBenchmark(d, name, row)
			}
			return err
		})
	})
}

// readTarantoolBenchmark reads a benchmark, whose times are of all iterations.
func readTarantoolBenchmark(d *jsonDocument, name string, row jsonObject) {
	wall, iterations, rate := row.number("real_time"), row.number("iterations"), row.number("items_per_second")
	if wall.v <= 0 || iterations.v <= 0 {
		d.warnf(name, "want real_time and iterations above 0, have %s and %s", cmp.Or(wall.text, "none"), cmp.Or(iterations.text, "none"))
		return
	}
	g := gatherer{result: bench.Result{Name: name}}
	if 0 <= rate.v && rate.v < 1 { // it is rounded down
		g.measure("throughput", iterations.v/wall.v, "rps")
	} else {
		g.number("throughput", rate, "rps")
	}
	g.number("wall_time", wall, "s")
	g.number("cpu_time", row.number("cpu_time"), "s")
	g.report(d)
}
