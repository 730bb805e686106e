package format

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The custom JSON of github-action-benchmark
// (https://github.com/benchmark-action/github-action-benchmark#examples), in which a
// value may be of anything:
//
//	[{"name": "Sort", "unit": "ms", "value": 120.5, "range": "3", "extra": "…"}]
//
// and its history, of which the newest entry of each suite is read:
//
//	window.BENCHMARK_DATA = {"entries": {"Suite": [{"commit": {…}, "tool": "customBiggerIsBetter", "benches": [{"name": …}]}]}}
//
// The direction of a value is told by its unit, or in the history by the tool.
// Where the history has several suites, a benchmark's name has its suite's before
// it. The range is text for people and not read.
var _ = register(Format{
	Name:  "github-action-benchmark",
	Tool:  "github-action-benchmark: its custom JSON, its data.js",
	How:   `a JSON array of objects with "name", "unit" and "value", or window.BENCHMARK_DATA`,
	Print: "what you give it as output-file-path, or with the file dev/bench/data.js of its branch",
	Sniff: either(sniffLine(`^\s*window\.BENCHMARK_DATA\s*=`), sniffGeneralDocument(gabShape)),
	Read:  readGAB,
})

var (
	gabShape        = withKeys("[].name", "[].unit", "[].value")
	gabHistoryShape = withKeys("entries")
	gabHistory      = compile(`(?m)^[\s\x{feff}]*window\.BENCHMARK_DATA\s*=\s*\{`)
)

type gabBench struct {
	Name, Unit string
	Value      *float64
}

func gabBenchOf(o jsonObject) (gabBench, error) {
	name, nameErr := o.string("name", "Name")
	unit, unitErr := o.string("unit", "Unit")
	value, valueErr := o.float("value", "Value")
	return gabBench{name, unit, value}, cmp.Or(nameErr, unitErr, valueErr)
}

// gabTools are the tools of which the direction is known where the unit tells
// none.
var gabTools = map[string]bench.Better{"customBiggerIsBetter": bench.Higher, "customSmallerIsBetter": bench.Lower}

func readGAB(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		input, err := readDocument(r, name)
		if err != nil {
			yield(bench.Result{}, err)
			return
		}
		if m := findGABHistory(input); m != nil {
			// The line ends before the object stay, so that lines keep their numbers.
			assignment := bytes.ReplaceAll(input[:m[1]-1], []byte("\n"), nil)
			input = append(bytes.Repeat([]byte("\n"), m[1]-1-len(assignment)), input[m[1]-1:]...)
			gabHistoryShape.readAll(input, name, readGABHistory, yield)
			return
		}
		gabShape.readAll(input, name, func(d *jsonDocument) error {
			return d.objects(func(o jsonObject) error {
				b, err := gabBenchOf(o)
				if err == nil {
					b.result(d, "", bench.Unknown)
				}
				return err
			})
		}, yield)
	}
}

// findGABHistory returns where the assignment of a history is in input, up to the
// bracket, or nil. It does not match all of an input that has none.
func findGABHistory(input []byte) []int {
	if !bytes.Contains(input, []byte("window.BENCHMARK_DATA")) {
		return nil
	}
	return gabHistory.re().FindIndex(input)
}

// A gabEntry is what a job of a suite measured, by a tool.
type gabEntry struct {
	Tool    string
	Benches []gabBench
}

// benches are those of the entry as their tool itself names them, so that a past
// goes on with what is read of the tool now. Of Go the history has the rest of a
// line as the unit of its first value, and then, in later releases, each value by
// itself under a name that ends in its unit; of pytest it has rates.
// https://github.com/benchmark-action/github-action-benchmark/blob/master/src/extract.ts
func (e gabEntry) benches() []gabBench {
	var told []gabBench
	seen := map[[2]string]bool{}
	for _, b := range e.Benches {
		switch e.Tool {
		case "go":
			unit, _, _ := strings.Cut(b.Unit, "\t")
			b.Unit = strings.TrimSpace(unit)
			b.Name = strings.TrimSuffix(strings.TrimPrefix(b.Name, "Benchmark"), " - "+b.Unit)
		case "pytest":
			if b.Unit == "iter/sec" && b.Value != nil && *b.Value > 0 {
				seconds := 1 / *b.Value
				b.Unit, b.Value = "s/op", &seconds
			}
		}
		key := [2]string{b.Name, b.Unit}
		if e.Tool != "go" || !seen[key] {
			told = append(told, b)
		}
		seen[key] = true
	}
	return told
}

func readGABHistory(d *jsonDocument) error {
	var suites []string
	newest := map[string]gabEntry{}
	err := d.member("entries", func() error {
		return d.members(func(suite string) error {
			suites = append(suites, suite)
			return d.elements(func() error {
				var e gabEntry
				if err := d.decode(&e); err != nil {
					return err
				}
				newest[suite] = e
				return nil
			})
		})
	})
	if err != nil || d.isHalf() {
		return err // of a history that is cut off the newest entry is not known
	}
	for _, suite := range suites {
		prefix := ""
		if len(suites) > 1 {
			prefix = suite + ": "
		}
		for _, b := range newest[suite].benches() {
			b.result(d, prefix, gabTools[newest[suite].Tool])
		}
	}
	return nil
}

func (b gabBench) result(d *jsonDocument, prefix string, better bench.Better) {
	if b.Name == "" {
		d.warnf(prefix, "want a name of the benchmark, have none")
		return
	}
	name := prefix + b.Name
	v, ok := d.number(name, "value", b.Value)
	if !ok {
		return
	}
	value := measureAny("", v, b.Unit)
	if better != bench.Unknown {
		value.Metric.Better = better
	}
	d.result(bench.Result{Name: name, Values: []bench.Value{value}})
}

// measureAny makes a value of a number of which its tool says no more than a
// unit, and perhaps a name. A time without a name is that of an operation.
func measureAny(metric string, v float64, unit string) bench.Value {
	if metric != "" {
		return bench.Measure(metric, v, unit)
	}
	switch _, base := bench.BaseUnit(unit); base {
	case "s":
		return bench.Measure("time_per_op", v, unit)
	case "B":
		return bench.Measure("size", v, unit)
	case "ops":
		return bench.Measure("count", v, unit)
	}
	return bench.Measure(cmp.Or(bench.SnakeCase(metricOfUnit(unit)), "value"), v, unit)
}
