package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
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
	Sniff: sniffTarantool,
	Read:  readTarantool,
})

// sniffTarantoolText asks for a name of one word where reading does not: a
// sentence may end in "100 rps" too.
var sniffTarantoolText = sniffLine(
	`^[>\s]*[^\s#>][^\s]*[^\s:=]\s+[\d.,]+\s+(?:rps|runs/sec)\s*$`,
	tarantoolRuns.expression,
	tarantoolRequests.expression,
)

func sniffTarantool(in *Input) bool {
	if sniffTarantoolText(in) {
		return true
	}
	if !bytes.Contains(in.beginning(), []byte(tarantoolKey)) {
		return false
	}
	input, err := readDocument(in.reader(), "")
	reports, _ := tarantoolReports(input)
	return err == nil && len(reports) > 0
}

var (
	tarantoolRate     = compile(`^[>\s]*([^\s#>].*?)\s+(-?(?:\d\S*|nan|inf))\s+(rps|runs/sec)\s*$`)
	tarantoolRuns     = compile(`^[>\s|]*(?:Run|Version)\s*(?:\|[^|,(]+[,(]\s*(?:[kKM]?(?:rps|tps|ops)|[mun]?s|seconds|[kMG]i?B)\)?\s*)+(?:\|\s*(?:Change|Diff)[^|]*)?\|?\s*$`)
	tarantoolColumn   = compile(`^([^,(]+)[,(]\s*(\w+)\)?$`)
	tarantoolRequests = compile(`^[>\s]*\|\s*request\s*\|\s*stat\s*\|\s*old\s*\|\s*new\s*\|`)
)

func readTarantool(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		const beginning = 1 << 20
		in := bufio.NewReaderSize(r, beginning)
		head, _ := in.Peek(beginning) // an error is for the reading to find
		if !bytes.Contains(head, []byte(tarantoolKey)) {
			readTarantoolText(in, name, yield)
			return
		}
		input, err := readDocument(in, name)
		if err != nil {
			yield(bench.Result{}, err)
			return
		}
		reports, cut := tarantoolReports(input)
		for launch, report := range reports {
			if !report.results(name, launch, yield) {
				return
			}
		}
		if cut > 0 {
			l := line{document: name, number: cut}
			yield(bench.Result{}, l.errorf("want a whole JSON document from here on, have one that is cut off: it is not read"))
		}
	}
}

func readTarantoolText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	var header []string // of the table that the line stands in
	for l, err := range lines(r, name) {
		if err != nil {
			yield(bench.Result{}, err)
			return
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

// A tarantoolReport is the JSON document of one script.
type tarantoolReport struct {
	line       int // where it begins
	Benchmarks []tarantoolBenchmark
	Context    struct {
		Executable string // Google Benchmark's own documents have it
	}
}

type tarantoolBenchmark struct {
	Name           string
	RealTime       float64 `json:"real_time"` // seconds of all iterations
	CPUTime        float64 `json:"cpu_time"`
	Iterations     float64
	ItemsPerSecond float64 `json:"items_per_second"` // rounded down
	TimeUnit       string  `json:"time_unit"`
}

// objectStart matches the first key of a document.
var objectStart = compile(`(?m)^\x{feff}?\s*(\{)\s*"(?:benchmarks|context)"`)

// tarantoolKey is in every document.
const tarantoolKey = `"items_per_second"`

// tarantoolReports returns the documents of an input, and the line of the last
// one where it is cut off. Each begins a line or follows another one without a
// line end; scripts print comments between them.
func tarantoolReports(input []byte) (reports []tarantoolReport, cut int) {
	for at := 0; ; {
		start := objectStart.re().FindSubmatchIndex(input[at:])
		if start == nil {
			return reports, 0
		}
		at += start[2]
		report := tarantoolReport{line: 1 + bytes.Count(input[:at], []byte("\n"))}
		document := json.NewDecoder(bytes.NewReader(input[at:]))
		err := document.Decode(&report)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return reports, report.line
		}
		if fault, ok := errors.AsType[*json.SyntaxError](err); ok {
			at += max(1, int(fault.Offset)-1) // what is no JSON may be the next document
			continue
		}
		at += max(1, int(document.InputOffset()))
		if err == nil && report.isTarantool() {
			reports = append(reports, report)
		}
	}
}

func (r *tarantoolReport) isTarantool() bool {
	for _, b := range r.Benchmarks {
		if b.Name == "" || b.Iterations <= 0 || b.TimeUnit != "" && b.TimeUnit != "s" {
			return false
		}
	}
	return len(r.Benchmarks) > 0 && r.Context.Executable == ""
}

// results yields the benchmarks of a report and reports whether to go on. Each
// script is a process; repetitions are of one.
func (r *tarantoolReport) results(document string, launch int, yield func(bench.Result, error) bool) bool {
	l := line{document: document, number: r.line}
	for _, b := range r.Benchmarks {
		l.text = b.Name
		if b.RealTime <= 0 || b.CPUTime < 0 || b.ItemsPerSecond < 0 {
			if !yield(bench.Result{}, l.errorf("want a real_time above 0, and no cpu_time or items_per_second below, have %v, %v and %v", b.RealTime, b.CPUTime, b.ItemsPerSecond)) {
				return false
			}
			continue
		}
		rate := b.ItemsPerSecond
		if rate < 1 {
			rate = b.Iterations / b.RealTime
		}
		res := bench.Result{Name: b.Name, Launch: launch, Values: []bench.Value{
			bench.Measure("throughput", rate, "rps"),
			bench.Measure("wall_time", b.RealTime, "s"),
			bench.Measure("cpu_time", b.CPUTime, "s"),
		}}
		if !yield(res, nil) {
			return false
		}
	}
	return true
}
