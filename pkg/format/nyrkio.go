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
	Name:  "nyrkio",
	Tool:  "what Nyrkiö takes",
	How:   `a JSON array of objects with "timestamp" and "metrics", maybe in "results" of objects with "path"`,
	Print: "what you give it as output-file-path with the tool NyrkioJson",
	Sniff: sniffGeneralDocument(nyrkioShape),
	Read:  nyrkioShape.read(readNyrkio),
})

var nyrkioShape = withKeys("[].timestamp", "[].metrics[].name", "[].metrics[].value").
	orElse(withKeys("[].path", "[].results[].timestamp", "[].results[].metrics[].value"))

func readNyrkio(d *jsonDocument) error {
	d.halves = 1               // a point in time tells of each metric
	launch := map[string]int{} // that comes next, by path
	return d.objects(func(element jsonObject) error {
		path, err := element.string("path", "path")
		if err != nil {
			return err
		}
		results := element.get("results")
		if results == "" {
			return nyrkioPoint(d, element, path, launch)
		}
		if d.isHalf() && path == "" {
			d.warnf("", "want the path of results, have none")
			return nil
		}
		var point jsonObject
		return eachElement(results, "results", func(text string) error {
			if err := point.take(text); err != nil {
				return err
			}
			return nyrkioPoint(d, point, path, launch)
		})
	})
}

// nyrkioPoint yields the metrics of one point in time.
func nyrkioPoint(d *jsonDocument, point jsonObject, name string, launch map[string]int) error {
	g := gatherer{result: bench.Result{Name: name, Launch: launch[name]}}
	var metric jsonObject
	err := eachElement(point.get("metrics"), "metrics", func(text string) error {
		if err := metric.take(text); err != nil {
			return err
		}
		return g.nyrkioMetric(metric)
	})
	if err != nil {
		return err
	}
	g.report(d)
	launch[name]++
	return nil
}

func (g *gatherer) nyrkioMetric(metric jsonObject) error {
	name, nameErr := metric.string("name", "name")
	unit, unitErr := metric.string("unit", "unit")
	direction, directionErr := metric.string("direction", "direction")
	if err := cmp.Or(nameErr, unitErr, directionErr); err != nil {
		return err
	}
	before := len(g.result.Values)
	g.number(name, metric.number("value"), unit)
	for i := before; i < len(g.result.Values); i++ {
		switch better := &g.result.Values[i].Metric.Better; direction {
		case "higher_is_better":
			*better = bench.Higher
		case "lower_is_better":
			*better = bench.Lower
		}
	}
	return nil
}
