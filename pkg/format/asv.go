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
	columns := map[string]int{}
	return d.members(func(key string) error {
		switch key {
		case "result_columns":
			var names []string
			if err := d.decode(&names); err != nil {
				return err
			}
			for i, name := range names {
				columns[name] = i
			}
			return nil
		case "results":
			return d.members(func(name string) error {
				var row []json.RawMessage
				if err := d.decode(&row); err != nil {
					return err
				}
				if !d.isHalf() { // the samples may be missing, of which the result is the median
					asvResults(d, name, asvRow{columns, row})
				}
				return nil
			})
		}
		return d.skip()
	})
}

// An asvRow is what is said of one benchmark.
type asvRow struct {
	columns map[string]int
	cells   []json.RawMessage
}

// asvCell decodes a column. What is missing or of another type is empty.
func asvCell[T any](r asvRow, column string) []T {
	var cell []T
	i, ok := r.columns[column]
	if !ok || i >= len(r.cells) || json.Unmarshal(r.cells[i], &cell) != nil {
		return nil
	}
	return cell
}

func asvResults(d *jsonDocument, benchmark string, row asvRow) {
	results := asvCell[*float64](row, "result")
	params := asvCell[[]string](row, "params")
	samples := asvCell[[]*float64](row, "samples")
	metric, unit := asvMetric(benchmark)
	if len(results) == 0 {
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
