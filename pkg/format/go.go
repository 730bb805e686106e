package format

import (
	"encoding/json"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The output of "go test -bench", as fixed by
// https://go.dev/design/14313-benchmark-format:
//
//	pkg: import/path
//	Unit unit better=higher|lower
//	BenchmarkName-8 iterations value unit value unit …
//
// alone, among other output, or in the events of "go test -json"
// (https://pkg.go.dev/cmd/test2json), where one line comes in two of them.
//
// The reader of golang.org/x/perf/benchfmt is not used because it ends at a line
// of 64 KiB, and such lines are common in what a program under test prints; a
// test compares the two.
var _ = register(Format{
	Name:  "go",
	Tool:  "go test -bench, also with -json",
	Print: "go test -run='^$' -bench=. -count=10 ./...",
	How:   `lines of "BenchmarkName-8 iterations value unit", or events with such output`,
	Seen:  []string{"Go 1.26.8"},
	Sniff: sniffLine(
		`^Benchmark[^a-z\s]\S*\s+\d+\s+\S+\s+\S*[a-zA-Z%]`,
		`^\s*\d+\s+[\d.]+ ns/op\b`,
		`^\{.*"Action":"output".*"Output":"Benchmark[^a-z]`,
	),
	Read: readGo,
})

func readGo(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		g := goReader{streams: map[string]*goStream{}, gauges: map[string]bench.Gauge{}, better: map[string]bench.Better{}, yield: yield}
		var last line
		whole := eachLine(r, name, yield, func(l line) bool {
			last = l
			return g.input(l)
		})
		if whole {
			g.end(last)
		}
	}
}

type goReader struct {
	streams map[string]*goStream // by the package of an event, "" without events
	order   []*goStream
	gauges  map[string]bench.Gauge  // by unit as printed
	better  map[string]bench.Better // by unit as printed
	units   []goUnit                // of the latest line
	fields  []string                // of the latest line
	values  []bench.Value           // of the latest result
	filter  filter
	yield   func(bench.Result, error) bool
}

// A goUnit is a unit as printed.
type goUnit struct {
	printed string
	gauge   bench.Gauge
}

// A goStream is the output of one package.
type goStream struct {
	pkg     string // of the "pkg:" line
	partial []byte // output of events that does not end a line yet
	name    string // a benchmark whose numbers are still to come
	printed string // the name of the latest result, and what it is called here
	called  string
}

func (g *goReader) stream(pkg string) *goStream {
	s, ok := g.streams[pkg]
	if !ok {
		s = &goStream{}
		g.streams[pkg] = s
		g.order = append(g.order, s)
	}
	return s
}

// input takes a line of the document: output, or an event that holds some.
func (g *goReader) input(l line) bool {
	event, ok := goEventOf(l.text)
	if !ok {
		return g.line(g.stream(""), l)
	}
	s := g.stream(event.Package)
	for part := range strings.Lines(event.Output) {
		if len(s.partial) <= maxLine {
			s.partial = append(s.partial, part...)
		}
		if strings.HasSuffix(part, "\n") && !g.printed(s, l) {
			return false
		}
	}
	return true
}

// A goEvent is one of those of "go test -json".
type goEvent struct{ Action, Package, Output string }

func goEventOf(text string) (*goEvent, bool) {
	if !strings.HasPrefix(text, "{") {
		return nil, false
	}
	event := new(goEvent)
	return event, json.Unmarshal([]byte(text), event) == nil && event.Action != ""
}

// printed takes the line that a package's events make, of which l is the last.
func (g *goReader) printed(s *goStream, l line) bool {
	l.text = clean(strings.TrimSuffix(string(s.partial), "\n"))
	isLong := len(s.partial) > maxLine
	s.partial = s.partial[:0]
	if isLong {
		return g.yield(bench.Result{}, l.tooLong())
	}
	return g.line(s, l)
}

// end takes what is left of output that ended within a line.
func (g *goReader) end(last line) {
	for _, s := range g.order {
		if len(s.partial) > 0 && !g.printed(s, last) {
			return
		}
	}
}

// goFailure is what the testing package and the go command say about a run that
// is not whole.
var goFailure = compile(`^(?:Benchmark\S+\s+)?\s*(?:--- FAIL: |FAIL\t|panic: )`)

// isGoFailure does not match every line: most have none of the words.
func isGoFailure(text string) bool {
	return (strings.Contains(text, "FAIL") || strings.Contains(text, "panic: ")) && goFailure.MatchString(text)
}

// isGoName reports whether a word is the name of a benchmark function:
// "Benchmarking" is none.
func isGoName(word string) bool {
	rest, ok := strings.CutPrefix(word, "Benchmark")
	return ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z')
}

// line takes a line that was printed.
func (g *goReader) line(s *goStream, l line) bool {
	if pkg, ok := strings.CutPrefix(l.text, "pkg: "); ok {
		s.pkg, s.printed = strings.TrimSpace(pkg), ""
		return true
	}
	isResult := strings.HasPrefix(l.text, "Benchmark")
	if !isResult && !strings.HasPrefix(l.text, "Unit ") && s.name == "" && !isGoFailure(l.text) {
		return true
	}
	g.fields = whites.appendFields(g.fields[:0], l.text)
	f := g.fields
	switch {
	case len(f) == 0:
		return true
	case isResult && len(f) > 1 && isInteger(f[1]) && isGoName(f[0]):
	case isGoFailure(l.text):
		s.name = ""
		return g.yield(bench.Result{}, l.errorf("want a run in which nothing fails, have a failure: results are missing"))
	case f[0] == "Unit":
		g.unit(f[1:])
		return true
	case isGoName(f[0]):
		if len(f) == 1 || !hasGoUnit(f) {
			s.name = f[0] // the numbers are still to come: the benchmark printed something itself
			return true
		}
	case s.name != "" && isInteger(f[0]) && hasGoUnit(f):
		f = slices.Insert(f, 0, s.name)
	default:
		return true
	}
	s.name = ""
	return g.result(s, l, f)
}

// hasGoUnit reports whether a line's fields have a unit such as ns/op in them,
// so that it was meant to be a result.
func hasGoUnit(f []string) bool {
	return slices.ContainsFunc(f, func(s string) bool { return strings.HasSuffix(s, "/op") })
}

// unit reads the key=value pairs of a line on a unit.
func (g *goReader) unit(f []string) {
	for i := 1; i < len(f); i++ {
		if word, ok := strings.CutPrefix(f[i], "better="); ok {
			if better, err := bench.ParseBetter(word); err == nil {
				g.better[f[0]] = better
			}
		}
	}
}

func (g *goReader) result(s *goStream, l line, f []string) bool {
	if !isInteger(f[1]) {
		return g.yield(bench.Result{}, l.errorf("want an iteration count after the name, have %q", f[1]))
	}
	if len(f) < 4 || len(f)%2 != 0 {
		return g.yield(bench.Result{}, l.errorf("want pairs of value and unit after the iteration count"))
	}
	res := bench.Result{Name: s.call(f[0]), Values: g.values[:0]}
	for i := 2; i < len(f); i += 2 {
		v, err := parseNumber(f[i])
		if err != nil {
			if !g.yield(bench.Result{}, l.errorf("want a finite number before %q, have %q", f[i+1], f[i])) {
				return false
			}
			continue
		}
		value := g.gauge(len(res.Values), f[i+1]).Value(v)
		if slices.ContainsFunc(res.Values, func(o bench.Value) bool { return o.Metric.Name == value.Metric.Name }) {
			// req/s beside ops/s, say: the first is the benchmark's own.
			value.Metric.Name = bench.SnakeCase(strings.ReplaceAll(f[i+1], "/", "_per_"))
		}
		if better, ok := g.better[f[i+1]]; ok {
			value.Metric.Better = better
		}
		res.Values = append(res.Values, value)
	}
	g.values = res.Values
	return g.filter.yield(l, res, g.yield)
}

// call returns what a benchmark is called: those of two packages may have one
// name. With -count its results follow each other.
func (s *goStream) call(printed string) string {
	if s.printed != printed {
		s.printed, s.called = printed, strings.TrimPrefix(printed, "Benchmark")
		if s.pkg != "" {
			s.called = s.pkg + "." + s.called
		}
	}
	return s.called
}

// gauge returns the gauge of a unit, the one at a place among the values of a line: mostly
// each line has those of the line before.
func (g *goReader) gauge(place int, printed string) *bench.Gauge {
	if place == len(g.units) {
		g.units = append(g.units, goUnit{})
	}
	unit := &g.units[place]
	if unit.printed != printed {
		gauge, ok := g.gauges[printed]
		if !ok {
			gauge = goGauge(printed)
			g.gauges[printed] = gauge
		}
		*unit = goUnit{printed, gauge}
	}
	return &unit.gauge
}

// goPercentile matches the names that people give to percentiles of latency.
var goPercentile = compile(`^(?:lat(?:ency)?[-_])?p(\d+)\.?(\d*)(?:[-_]lat(?:ency)?)?$`)

// goGauge returns the gauge of a unit that b.ReportMetric or the testing package
// printed. It may begin with the metric's name, as in p99-ns
// (https://pkg.go.dev/golang.org/x/perf/benchunit).
func goGauge(printed string) bench.Gauge {
	if i := strings.LastIndexByte(printed, '-'); i > 0 {
		name, unit := printed[:i], printed[i+1:]
		if m := goPercentile.FindStringSubmatch(name); m != nil {
			name, unit = "latency_p"+m[1]+m[2], strings.TrimSuffix(unit, "/op")
		}
		switch _, base := bench.BaseUnit(unit); base {
		case "s", "s/op", "B", "B/op", "B/s", "ops/s":
			return bench.NewGauge(name, unit)
		}
	}
	return bench.NewGauge(metricOfUnit(printed), printed)
}
