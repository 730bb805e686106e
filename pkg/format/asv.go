package format

import (
	"encoding/json"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The results of airspeed velocity (asv) for one commit and environment, version
// 2 of https://github.com/airspeed-velocity/asv/blob/main/asv/results.py:
//
//	{"commit_hash": …, "env_name": …, "result_columns": ["result", "params", "version", …, "samples", "profile"],
//	 "results": {"sort.Suite.time_sort": [[1.1e-05, null], [["10", "20"]], "9f…", …, [[1.2e-05, …], null]]}, "version": 2}
//
// A benchmark has a result for each combination of its parameters, the last of
// which changes first. What it measures is told by its name: time_ and timeraw_
// seconds, mem_ and peakmem_ bytes, track_ what its author says elsewhere. A
// result that is null failed; one that is NaN was skipped.
var _ = register(Format{
	Name:  "asv",
	Tool:  "asv run, its result files",
	How:   `a JSON object with "commit_hash", "result_columns" and "results"`,
	Print: "asv run --record-samples, with the files .asv/results/*/*.json",
	Sniff: sniffDocument(asvShape),
	Read:  asvShape.read(readASV),
})

var (
	asvShape = withKeys("commit_hash", "result_columns", "results")
	asvKind  = compile(`(?:^|\.)(?:(time|timeraw|mem|peakmem|track)_|(Time|Mem|PeakMem|Track)[A-Z_])[^.]*$`)
)

func readASV(d *jsonDocument) error {
	row := asvRow{columns: map[string]int{}} // each in turn
	return d.members(func(key string) error {
		switch key {
		case "result_columns":
			var names []string
			if err := d.decode(&names); err != nil {
				return err
			}
			for i, name := range names {
				row.columns[name] = i
			}
			return nil
		case "results":
			return d.members(func(name string) error {
				start := d.offset()
				text, err := d.value()
				if err != nil {
					return err
				}
				row.cells = row.cells[:0]
				err = eachElement(text, name, func(cell string) error {
					row.cells = append(row.cells, cell)
					return nil
				})
				if err == nil && !d.isHalf() { // the samples may be missing, of which the result is the median
					asvResults(d, name, row)
				}
				return d.mistyped(start, err)
			})
		}
		return d.skip()
	})
}

// An asvRow is what is said of one benchmark. What is missing in it or of another
// type is empty.
type asvRow struct {
	columns map[string]int
	cells   []string
}

func (r asvRow) cell(column string) string {
	if i, ok := r.columns[column]; ok && i < len(r.cells) {
		return r.cells[i]
	}
	return ""
}

// samples are those of each result.
func (r asvRow) samples() (samples [][]*float64) {
	err := eachElement(r.cell("samples"), "samples", func(list string) error {
		numbers, err := numbersOf(list, "samples")
		samples = append(samples, numbers)
		return err
	})
	if err != nil {
		return nil
	}
	return samples
}

// params are the values of each parameter.
func (r asvRow) params() (params [][]string) {
	if cell := r.cell("params"); cell == "" || cell == "[]" || json.Unmarshal([]byte(cell), &params) != nil {
		return nil
	}
	return params
}

func asvResults(d *jsonDocument, benchmark string, row asvRow) {
	results, err := numbersOf(row.cell("result"), "result")
	params, samples := row.params(), row.samples()
	metric, unit := asvMetric(benchmark)
	if err != nil || len(results) == 0 {
		results = nil
		d.warnf(benchmark, "want a result, have none: the benchmark failed")
	}
	for i, v := range results {
		name := benchmark + asvParams(params, i)
		switch {
		case i < len(samples) && len(samples[i]) > 0:
			d.result(bench.Result{Name: name, Values: bench.MeasureAll(metric, d.numbers(name, "samples", samples[i]), unit)})
		case metric == "time_per_op":
			if v, ok := d.number(name, "result", v); ok {
				d.result(bench.Result{Name: name, Values: []bench.Value{statistic(metric, v, unit, bench.NoSpread, nil, 0)}})
			}
		default:
			if v, ok := d.number(name, "result", v); ok {
				d.result(bench.Result{Name: name, Values: []bench.Value{bench.Measure(metric, v, unit)}})
			}
		}
	}
}

// asvMetric returns what a benchmark measures, by its name.
func asvMetric(benchmark string) (metric, unit string) {
	m := asvKind.FindStringSubmatch(benchmark)
	if m == nil {
		return "value", ""
	}
	switch strings.ToLower(m[1] + m[2]) {
	case "time", "timeraw":
		return "time_per_op", "s"
	case "mem":
		return "memory", "B"
	case "peakmem":
		return "max_rss", "B"
	}
	return "value", ""
}

// asvParams returns the parameters of a result as they are called: "(10, 'a')".
func asvParams(params [][]string, i int) string {
	if len(params) == 0 {
		return ""
	}
	combination := make([]string, len(params))
	for p := len(params) - 1; p >= 0; p-- {
		n := len(params[p])
		if n == 0 {
			return ""
		}
		combination[p] = params[p][i%n]
		i /= n
	}
	return "(" + strings.Join(combination, ", ") + ")"
}
