package format

import (
	"bytes"
	"cmp"

	"github.com/noslower/noslower/pkg/bench"
)

// Bencher Metric Format (https://bencher.dev/docs/reference/bencher-metric-format/):
//
//	{"benchmark": {"latency": {"value": 3247.0, "lower_value": 3103.5, "upper_value": 3390.5}, "my-measure": {"value": 5}}}
//
// A measure that Bencher brings has a unit; one of a project's own has none
// here, and no direction.
var _ = register(Format{
	Name:  "bmf",
	Tool:  "Bencher Metric Format",
	How:   `a JSON object of objects of objects with "value"`,
	Print: "what you give bencher run --adapter json",
	Sniff: sniffGeneralDocument(bmfShape),
	Read:  bmfShape.read(readBMF),
})

var bmfHead = compile(`^\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"(?:lower_|upper_)?value"\s*:\s*[-\d"n]`)

// bmfShape does not match every document: most do not begin with an object.
var bmfShape = startShape(func(start []byte) bool { return beginsWithObject(start) && bmfHead.re().Match(start) })

func beginsWithObject(start []byte) bool {
	const between = ": \t\r\n"
	key := bytes.TrimLeft(start[1:], between)
	if len(key) == 0 || key[0] != '"' {
		return false
	}
	end, _ := endOfString(key, 0)
	return bytes.HasPrefix(bytes.TrimLeft(key[end:], between), []byte("{"))
}

// bmfMeasures are the metrics and units of the measures that Bencher brings.
var bmfMeasures = map[string]bench.Gauge{
	"latency":          bench.NewGauge("time_per_op", "ns"),
	"throughput":       bench.NewGauge("throughput", "ops/s"),
	"build-time":       bench.NewGauge("build_time", "s"),
	"file-size":        bench.NewGauge("file_size", "B"),
	"instructions":     bench.NewGauge("instructions_per_op", "instructions/op"),
	"estimated-cycles": bench.NewGauge("estimated_cycles_per_op", "cycles/op"),
	"total-bytes":      bench.NewGauge("bytes_per_op", "B/op"),
	"total-blocks":     bench.NewGauge("allocs_per_op", "allocs/op"),
}

func readBMF(d *jsonDocument) error {
	var room []bench.Value // for those of each benchmark in turn
	return d.members(func(name string) error {
		res := bench.Result{Name: name, Values: room[:0]}
		err := d.members(func(measure string) error {
			start := d.offset()
			m, err := d.object()
			if err != nil {
				return err
			}
			number, numberErr := m.float("value", "Value")
			lower, lowerErr := m.float("lower_value", "lower_value")
			upper, upperErr := m.float("upper_value", "upper_value")
			if err := cmp.Or(numberErr, lowerErr, upperErr); err != nil {
				return d.mistyped(start, err)
			}
			if d.isHalf() {
				return nil // it is not known whether it is a statistic
			}
			v, ok := d.number(name, measure, number)
			if !ok {
				return nil
			}
			gauge, ok := bmfMeasures[measure]
			if !ok {
				gauge = bench.NewGauge(measure, "")
			}
			value := gauge.Value(v)
			if value.Metric.Name == "" {
				return nil
			}
			if lower != nil || upper != nil {
				value.Statistic = &bench.Spread{} // between bounds of any kind
			}
			res.Values = append(res.Values, value)
			return nil
		})
		room = res.Values
		d.result(res)
		return err
	})
}
