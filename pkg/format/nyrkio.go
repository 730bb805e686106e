package format

import (
	"cmp"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON that Nyrkiö takes (https://nyrkio.com/openapi), of one test in a file:
//
//	[{"timestamp": 1796083200, "attributes": {"git_repo": "…", "branch": "main", "git_commit": "…"},
//	  "metrics": [{"name": "p99", "unit": "ms", "value": 12.5, "direction": "lower_is_better"}]}]
//
// and of several:
//
//	[{"path": "read", "results": [{"timestamp": …, "metrics": […]}]}]
//
// Each element, which is of one point in time, is a launch. The path names the
// benchmark. A metric without a direction has that of its unit.
var _ = register(Format{
	Name:    "nyrkio",
	Tool:    "what Nyrkiö takes",
	How:     `a JSON array of objects with "timestamp" and "metrics", maybe in "results" of objects with "path"`,
	Print:   "what you give it as output-file-path with the tool NyrkioJson",
	General: true,
	Sniff:   nyrkioShape.sniff,
	Read:    nyrkioShape.read(readNyrkio),
})

var nyrkioShape = withKeys("[].timestamp", "[].metrics[].name", "[].metrics[].value").
	orElse(withKeys("[].path", "[].results[].timestamp", "[].results[].metrics[].value"))

type nyrkioResult struct {
	Metrics []jsonObject
	Path    string
	Results []nyrkioResult
}

func readNyrkio(d *jsonDocument) error {
	launch := map[string]int{} // that comes next, by path
	return d.elements(func() error {
		start := d.offset()
		var r nyrkioResult
		if err := d.decode(&r); err != nil {
			return err
		}
		if r.Results == nil {
			r.Results = []nyrkioResult{{Metrics: r.Metrics}}
		}
		for _, point := range r.Results {
			if err := point.report(d, r.Path, launch[r.Path]); err != nil {
				return d.mistyped(start, err)
			}
			launch[r.Path]++
		}
		return nil
	})
}

// report yields the metrics of one point in time.
func (r nyrkioResult) report(d *jsonDocument, name string, launch int) error {
	g := gatherer{result: bench.Result{Name: name, Launch: launch}}
	for _, m := range r.Metrics {
		metric, nameErr := m.string("name", "metrics.name")
		unit, unitErr := m.string("unit", "metrics.unit")
		direction, directionErr := m.string("direction", "metrics.direction")
		if err := cmp.Or(nameErr, unitErr, directionErr); err != nil {
			return err
		}
		before := len(g.result.Values)
		g.number(metric, m.number("value"), unit)
		if len(g.result.Values) == before {
			continue
		}
		switch value := &g.result.Values[before]; direction {
		case "higher_is_better":
			value.Metric.Better = bench.Higher
		case "lower_is_better":
			value.Metric.Better = bench.Lower
		}
	}
	g.report(d)
	return nil
}
