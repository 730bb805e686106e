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
	d.halves = true            // a point in time tells of each metric
	launch := map[string]int{} // that comes next, by path
	return d.elements(func() error {
		path, isOne := "", false // of several
		var points []gatherer
		metrics := func() error {
			g, err := nyrkioMetrics(d)
			points = append(points, g)
			return err
		}
		err := d.members(func(key string) error {
			switch key {
			case "path":
				return d.decode(&path)
			case "metrics":
				return metrics()
			case "results":
				isOne = true
				return d.elements(func() error { return d.member("metrics", metrics) })
			}
			return d.skip()
		})
		if err != nil {
			return err
		}
		if d.isHalf() && isOne && path == "" {
			d.warnf("", "want the path of results, have none")
			return nil
		}
		for _, g := range points {
			g.result.Name, g.result.Launch = path, launch[path]
			g.report(d)
			launch[path]++
		}
		return nil
	})
}

// nyrkioMetrics reads the metrics of one point in time. One of which a part was cut
// off may have lost its unit.
func nyrkioMetrics(d *jsonDocument) (gatherer, error) {
	var g gatherer
	err := d.elements(func() error {
		start := d.offset()
		metric, err := d.object()
		if err != nil || d.isHalf() {
			return err
		}
		return d.mistyped(start, g.nyrkioMetric(metric))
	})
	return g, err
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
