package format

import (
	"maps"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of BenchmarkDotNet, full or brief, as written by
// https://github.com/dotnet/BenchmarkDotNet/blob/master/src/BenchmarkDotNet/Exporters/Json/JsonExporterBase.cs,
// with times in nanoseconds:
//
//	{"Title": …, "HostEnvironmentInfo": {…}, "Benchmarks": [
//	  {"DisplayInfo": "Sort.Quick: DefaultJob [N=10]", "FullName": "Example.Sort.Quick(N: 10)",
//	   "Statistics": {"OriginalValues": [108.1, …], "N": 30, "Median": 105.6, "StandardDeviation": 3.2, …},
//	   "Memory": {"BytesAllocatedPerOperation": 672, …},
//	   "Measurements": [{"IterationMode": "Workload", "IterationStage": "Result", "LaunchIndex": 1, "Operations": 4194304, "Nanoseconds": 465515400}, …],
//	   "Metrics": [{"Value": 40.05, "Descriptor": {"Id": "Gen0Collects", "Unit": "Count", "TheGreaterTheBetter": false}}]}]}
//
// The measurements of the stage Result, from which the overhead and outliers
// have been taken, are the values, by launch; else the statistics' original
// values; else their median.
var _ = register(Format{
	Name:  "benchmarkdotnet",
	Tool:  "BenchmarkDotNet",
	How:   `a JSON object with "HostEnvironmentInfo" and "Benchmarks"`,
	Print: "dotnet run -c Release -- --exporters json, with the files BenchmarkDotNet.Artifacts/results/*.json",
	Sniff: sniffDocument(dotnetShape),
	Read:  dotnetShape.read(readDotnet),
})

var dotnetShape = withKeys("HostEnvironmentInfo", "Benchmarks[].FullName")

type dotnetBenchmark struct {
	DisplayInfo, FullName string
	Statistics            *struct {
		OriginalValues            []*float64
		N                         int
		Median, StandardDeviation *float64
	}
	Memory       struct{ BytesAllocatedPerOperation *float64 }
	Measurements []struct {
		IterationMode, IterationStage string
		LaunchIndex                   int
		Operations, Nanoseconds       *float64
	}
	Metrics []struct {
		Value      *float64
		Descriptor struct {
			ID, Unit            string
			TheGreaterTheBetter bool
		}
	}
}

func readDotnet(d *jsonDocument) error {
	seen := map[string]bool{}
	return d.member("Benchmarks", func() error {
		return d.elements(func() error {
			var b dotnetBenchmark
			if err := d.decode(&b); err != nil {
				return err
			}
			// The jobs of one benchmark, runtimes say, differ in their display alone.
			name := b.FullName
			if _, job, ok := strings.Cut(b.DisplayInfo, ": "); ok && seen[name] {
				name += " " + job
			}
			seen[name] = true
			b.results(d, name)
			return nil
		})
	})
}

func (b *dotnetBenchmark) results(d *jsonDocument, name string) {
	launches := map[int][]bench.Value{}
	for _, m := range b.Measurements {
		if m.IterationMode != "Workload" || m.IterationStage != "Result" {
			continue
		}
		if m.Operations == nil || m.Nanoseconds == nil || *m.Operations < 1 || *m.Nanoseconds < 0 {
			d.warnf(name, "want operations above 0 and nanoseconds of 0 or more in each measurement")
			continue
		}
		launch := max(0, m.LaunchIndex-1)
		launches[launch] = append(launches[launch], bench.Measure("time_per_op", *m.Nanoseconds / *m.Operations, "ns"))
	}
	for _, launch := range slices.Sorted(maps.Keys(launches)) {
		d.result(bench.Result{Name: name, Launch: launch, Values: launches[launch]})
	}
	res := bench.Result{Name: name}
	switch s := b.Statistics; {
	case len(launches) > 0:
	case s == nil:
		d.warnf(name, "want statistics, have none: the benchmark failed")
	case len(s.OriginalValues) > 0:
		res.Values = bench.MeasureAll("time_per_op", d.numbers(name, "OriginalValues", s.OriginalValues), "ns")
	default:
		if v, ok := d.number(name, "Median", s.Median); ok {
			res.Values = append(res.Values, statistic("time_per_op", v, "ns", bench.StdDev, s.StandardDeviation, s.N))
		}
	}
	if v := b.Memory.BytesAllocatedPerOperation; v != nil && *v >= 0 {
		res.Values = append(res.Values, bench.Measure("bytes_per_op", *v, "B/op"))
	}
	for _, m := range b.Metrics {
		id := m.Descriptor.ID
		if id == "Allocated Memory" || bench.SnakeCase(id) == "" {
			continue
		}
		n, ok := d.number(name, id, m.Value)
		if !ok {
			continue
		}
		v := bench.Measure(id, n, m.Descriptor.Unit)
		if metric, ok := dotnetCounters[id]; ok {
			v = bench.Measure(metric, n, "")
		}
		if v.Metric.Better = bench.Lower; m.Descriptor.TheGreaterTheBetter {
			v.Metric.Better = bench.Higher
		}
		res.Values = append(res.Values, v)
	}
	d.result(res)
}

// dotnetCounters are the metrics of the processor's counters, which are by
// operation.
var dotnetCounters = map[string]string{"InstructionRetired": "instructions_per_op", "TotalCycles": "cpu_cycles_per_op"}
