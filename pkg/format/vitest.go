package format

import (
	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of "vitest bench", as written by
// https://github.com/vitest-dev/vitest/blob/main/packages/vitest/src/node/reporters/benchmark/json-formatter.ts,
// with times in milliseconds:
//
//	{"files": [{"filepath": …, "groups": [{"fullName": "t/sort.bench.js > sort", "benchmarks": [
//	  {"name": "normal", "hz": 3227902.5, "mean": 0.00031, "median": 0.00019, "sd": 0.005, "sampleCount": 161396, "samples": []}]}]}]}
//
// The samples, which benchmark.includeSamples keeps, are the values, else the
// median stands for them, or in older versions the mean. The rate is their
// inverse, and not read.
var _ = register(Format{
	Name:  "vitest",
	Tool:  "vitest bench",
	How:   `a JSON object with "files" that have "groups" with "benchmarks"`,
	Seen:  []string{"vitest 3.2.7"},
	Print: "npx vitest bench --run --outputJson results.json, with the file results.json",
	Sniff: sniffDocument(vitestShape),
	Read:  vitestShape.read(readVitest),
})

var vitestShape = withKeys("files[].groups[].fullName", "files[].groups[].benchmarks[].name")

type vitestBenchmark struct {
	Name             string
	Mean, Median, SD *float64
	SampleCount      int
	Samples          []*float64
}

func readVitest(d *jsonDocument) error {
	return d.member("files", func() error {
		return d.elements(func() error {
			return d.member("groups", func() error {
				return d.elements(func() error { return readVitestGroup(d) })
			})
		})
	})
}

func readVitestGroup(d *jsonDocument) error {
	group := ""
	var early []vitestBenchmark // that stand before the group's name
	err := d.members(func(key string) error {
		switch key {
		case "fullName":
			return d.decode(&group)
		case "benchmarks":
			return d.elements(func() error {
				var b vitestBenchmark
				if err := d.decode(&b); err != nil {
					return err
				}
				if group == "" {
					early = append(early, b)
				} else {
					b.result(d, group)
				}
				return nil
			})
		}
		return d.skip()
	})
	if err != nil || group == "" && d.isHalf() {
		return err
	}
	for _, b := range early {
		b.result(d, group)
	}
	return nil
}

func (b *vitestBenchmark) result(d *jsonDocument, group string) {
	name := group + " > " + b.Name
	if len(b.Samples) > 0 {
		d.result(bench.Result{Name: name, Values: bench.MeasureAll("time_per_op", d.numbers(name, "samples", b.Samples), "ms")})
		return
	}
	center, what := b.Median, "median"
	if center == nil {
		center, what = b.Mean, "mean"
	}
	if v, ok := d.number(name, what, center); ok {
		d.result(bench.Result{Name: name, Values: []bench.Value{statistic("time_per_op", v, "ms", bench.StdDev, b.SD, b.SampleCount)}})
	}
}
