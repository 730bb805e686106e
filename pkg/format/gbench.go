package format

import (
	"cmp"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of Google Benchmark, as printed by
// https://github.com/google/benchmark/blob/main/src/json_reporter.cc:
//
//	{"context": {"executable": "./bench", "num_cpus": 2, …}, "benchmarks": [
//	  {"name": "BM_Push/8", "run_name": "BM_Push/8", "run_type": "iteration", "iterations": 100498,
//	   "real_time": 68.8, "cpu_time": 68.3, "time_unit": "ns", "items_per_second": 1.17e+08, "allocs": 7.0},
//	  {"name": "BM_Push/8_median", "run_name": "BM_Push/8", "run_type": "aggregate", "aggregate_name": "median", …},
//	  {"name": "BM_Bad", "run_type": "iteration", "error_occurred": true, "error_message": "no such table", …}]}
//
// The rows of one name are repetitions. Of aggregates the median is taken, else
// the mean, with its deviation. Whether a counter is a rate is told by its name
// alone.
var _ = register(Format{
	Name:  "google-benchmark",
	Tool:  "Google Benchmark, its JSON",
	How:   `a JSON object with "context" and "benchmarks" that have "cpu_time" and "time_unit"`,
	Seen:  []string{"Google Benchmark 1.7.1"},
	Print: "./bench --benchmark_format=json",
	Sniff: sniffDocument(gbenchShape),
	Read:  gbenchShape.read(readGBench),
})

var gbenchShape = withKeys("context.num_cpus", "benchmarks[].name")

// gbenchFields are the numbers of a row that are no counters.
var gbenchFields = map[string]bool{
	"family_index": true, "per_family_instance_index": true, "repetitions": true, "repetition_index": true,
	"threads": true, "iterations": true, "real_time": true, "cpu_time": true,
	"cpu_coefficient": true, "real_coefficient": true, "rms": true,
}

// gbenchEvents are the counters of the processor, by the names of libpfm.
var gbenchEvents = map[string]string{"INSTRUCTIONS": "instructions_per_op", "CYCLES": "cpu_cycles_per_op"}

// A gbenchBenchmark is the aggregates of one benchmark, which follow each other.
type gbenchBenchmark struct {
	name string
	rows map[string][]bench.Value // by the aggregate's name
}

func readGBench(d *jsonDocument) error {
	var aggregates gbenchBenchmark
	return d.member("benchmarks", func() error {
		err := d.elements(func() error {
			var value any // an any is decoded faster than a map
			if err := d.decode(&value); err != nil {
				return err
			}
			row, _ := value.(map[string]any)
			gbenchRead(d, row, &aggregates)
			return nil
		})
		if err == nil && !d.isHalf() { // the median may be missing, of which the mean is there
			aggregates.end(d)
		}
		return err
	})
}

// gbenchRead reads a row of a benchmark.
func gbenchRead(d *jsonDocument, row map[string]any, aggregates *gbenchBenchmark) {
	text := func(key string) string { s, _ := row[key].(string); return s }
	name, aggregate := cmp.Or(text("run_name"), text("name")), text("aggregate_name")
	if row["run_type"] == nil {
		name, aggregate = cutAggregate(name) // before version 1.5
	}
	if name != aggregates.name {
		aggregates.end(d)
		*aggregates = gbenchBenchmark{name, map[string][]bench.Value{}}
	}
	switch {
	case row["error_occurred"] == true:
		d.warnf(name, "want a result, have the error %q: it is missing", text("error_message"))
	case row["skipped"] == true:
	case aggregate == "":
		d.result(bench.Result{Name: name, Values: gbenchValues(d, name, row)})
	case aggregate == "mean" || aggregate == "median" || aggregate == "stddev":
		aggregates.rows[aggregate] = gbenchValues(d, name, row)
	}
}

// gbenchValues returns the values of a row.
func gbenchValues(d *jsonDocument, name string, row map[string]any) []bench.Value {
	unit, _ := row["time_unit"].(string)
	unit = cmp.Or(unit, "ns")
	var values []bench.Value
	for _, column := range [][2]string{{"real_time", "time_per_op"}, {"cpu_time", "cpu_per_op"}} {
		var time *float64
		if v, ok := row[column[0]].(float64); ok {
			time = &v
		}
		if v, ok := d.number(name, column[0], time); ok {
			values = append(values, bench.Measure(column[1], v, unit+"/op"))
		}
	}
	var counters []string
	for key, v := range row {
		if _, ok := v.(float64); (ok || v == nil) && !gbenchFields[key] && bench.SnakeCase(key) != "" {
			counters = append(counters, key)
		}
	}
	slices.Sort(counters)
	for _, key := range counters {
		v, ok := row[key].(float64)
		switch {
		case !ok:
			d.warnf(name, "want a finite number as %s, have none", key)
		case gbenchEvents[key] != "":
			values = append(values, bench.Measure(gbenchEvents[key], v, ""))
		case strings.HasSuffix(key, "_per_second"):
			values = append(values, measureGBenchCounter(key, v, "/s"))
		default:
			values = append(values, measureGBenchCounter(key, v, ""))
		}
	}
	return values
}

// end yields what is taken of the aggregates.
func (b *gbenchBenchmark) end(d *jsonDocument) {
	center := b.rows["median"]
	if center == nil {
		center = b.rows["mean"]
	}
	deviations := map[bench.Metric]float64{}
	for _, v := range b.rows["stddev"] {
		deviations[v.Metric] = v.V
	}
	for i, v := range center {
		center[i].Statistic = &bench.Spread{}
		if deviation, ok := deviations[v.Metric]; ok && deviation >= 0 {
			center[i].Statistic = &bench.Spread{Kind: bench.StdDev, Value: deviation}
		}
	}
	d.result(bench.Result{Name: b.name, Values: center})
	b.rows = nil
}
