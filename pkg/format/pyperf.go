package format

import (
	"cmp"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of pyperf (https://pyperf.readthedocs.io/en/latest/api.html#metadata),
// of pyperformance too:
//
//	{"benchmarks": [
//	   {"metadata": {"name": "telco", "unit": "second"},
//	    "runs": [{"warmups": [[1, 0.0283]]},
//	             {"metadata": {"mem_max_rss": 21393408}, "values": [0.0221, 0.0222]}]}],
//	 "metadata": {"python_version": "3.12.0", …}, "version": "1.0"}
//
// Each run is a process and so a launch; one without values has only calibrated
// the number of loops. Values are seconds an operation. With --track-memory they
// are bytes at the peak.
var _ = register(Format{
	Name:  "pyperf",
	Tool:  "pyperf and pyperformance, their JSON",
	Print: "python3 -m pyperf timeit -o bench.json 'sorted(range(1000))'",
	How:   `a JSON object with "benchmarks" that have "runs" with "values" or "warmups"`,
	Sniff: sniffDocument(pyperfShape),
	Read:  pyperfShape.read(readPyperf),
})

var pyperfShape = withKeys("benchmarks[].runs[].values").orElse(withKeys("benchmarks[].runs[].warmups"))

type pyperfMetadata struct {
	Name    string     `json:"name"`
	Unit    string     `json:"unit"` // second, byte or integer; second if absent
	RSS     jsonNumber `json:"mem_max_rss"`
	Command jsonNumber `json:"command_max_rss"` // of the command that was measured
}

type pyperfBenchmark struct {
	Metadata pyperfMetadata `json:"metadata"`
	Runs     []struct {
		Metadata pyperfMetadata `json:"metadata"`
		Values   []jsonNumber   `json:"values"`
	} `json:"runs"`
}

func readPyperf(d *jsonDocument) error {
	d.halves = 1 // a benchmark tells of each run
	var benchmarks []pyperfBenchmark
	var common pyperfMetadata // of all benchmarks, behind them
	err := d.members(func(key string) error {
		switch key {
		case "benchmarks":
			return d.elements(func() error {
				var b pyperfBenchmark
				if err := d.decode(&b); err != nil {
					return err
				}
				benchmarks = append(benchmarks, b)
				return nil
			})
		case "metadata":
			return d.decode(&common)
		}
		return d.skip()
	})
	if err != nil {
		return err
	}
	for _, b := range benchmarks {
		if name := cmp.Or(b.Metadata.Name, common.Name); d.isHalf() && (name == "" || common.Unit == "" && !b.isTimes()) {
			d.warnf(name, "want the name and unit of a benchmark, have not both")
			continue
		}
		b.report(d, common)
	}
	return nil
}

// isTimes reports whether a benchmark's values are seconds, by its unit or, where
// that may be missing, by their fractions: bytes and integers have none.
func (b *pyperfBenchmark) isTimes() bool {
	if b.Metadata.Unit != "" {
		return true // or something else that is known
	}
	for _, run := range b.Runs {
		for _, v := range run.Values {
			if !strings.ContainsAny(v.text, ".e") {
				return false
			}
		}
	}
	return true
}

func (b *pyperfBenchmark) report(d *jsonDocument, common pyperfMetadata) {
	name := cmp.Or(b.Metadata.Name, common.Name)
	metric, unit := "time_per_op", "s"
	switch cmp.Or(b.Metadata.Unit, common.Unit) {
	case "byte":
		metric, unit = "max_rss", "B"
	case "integer":
		metric, unit = "value", ""
	}
	launch := 0
	for _, run := range b.Runs {
		if len(run.Values) == 0 {
			continue
		}
		g := gatherer{result: bench.Result{Name: name, Launch: launch}}
		for _, v := range run.Values {
			g.rate(metric, v, unit)
		}
		rss := run.Metadata.Command
		if !rss.present() {
			rss = run.Metadata.RSS
		}
		if metric != "max_rss" {
			g.rate("max_rss", rss, "B")
		}
		g.report(d)
		launch++
	}
}
