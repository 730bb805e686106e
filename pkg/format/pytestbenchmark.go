package format

import (
	"cmp"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of pytest-benchmark
// (https://github.com/ionelmc/pytest-benchmark/blob/master/src/pytest_benchmark/session.py),
// all times in seconds:
//
//	{"machine_info": {…}, "commit_info": {…}, "benchmarks": [
//	  {"fullname": "test_b.py::test_fib[5]", "extra_info": {…}, "stats":
//	    {"mean": 1.6e-05, "stddev": 2e-07, "median": 1.6e-05, "rounds": 2085, "iterations": 1, "data": [1.7e-05, …]}}], …}
//
// The rounds in data are the values. Where they are left out, as in files that
// --benchmark-autosave writes, the median stands for them.
var _ = register(Format{
	Name:  "pytest-benchmark",
	Tool:  "pytest-benchmark",
	How:   `a JSON object with "benchmarks" that have "fullname" and "stats"`,
	Seen:  []string{"pytest-benchmark 3.2.2"},
	Print: "pytest --benchmark-json=/dev/stdout",
	Sniff: sniffDocument(pytestShape),
	Read:  pytestShape.read(readPytest),
})

var pytestShape = withKeys("benchmarks[].fullname", "benchmarks[].stats")

type pytestBenchmark struct {
	Name, Fullname string
	Stats          struct {
		StdDev, Median *float64
		Rounds         int
		Data           []*float64
	}
}

func readPytest(d *jsonDocument) error {
	return d.member("benchmarks", func() error {
		return d.elements(func() error {
			var b pytestBenchmark
			if err := d.decode(&b); err != nil {
				return err
			}
			name := cmp.Or(b.Fullname, b.Name)
			if len(b.Stats.Data) > 0 {
				times := d.numbers(name, "data", b.Stats.Data)
				d.result(bench.Result{Name: name, Values: bench.MeasureAll("time_per_op", times, "s")})
			} else if v, ok := d.number(name, "median", b.Stats.Median); ok {
				value := statistic("time_per_op", v, "s", bench.StdDev, b.Stats.StdDev, b.Stats.Rounds)
				d.result(bench.Result{Name: name, Values: []bench.Value{value}})
			}
			return nil
		})
	})
}
