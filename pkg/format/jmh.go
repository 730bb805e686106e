package format

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of the Java Microbenchmark Harness, as printed by
// https://github.com/openjdk/jmh/blob/master/jmh-core/src/main/java/org/openjdk/jmh/results/format/JSONResultFormat.java:
//
//	[{"jmhVersion": "1.37", "benchmark": "org.example.Sort.sort", "mode": "thrpt", "threads": 1, "forks": 2, "params": {"size": "10"},
//	  "primaryMetric": {"score": 3467631.2, "scoreError": "NaN", "scorePercentiles": {"50.0": 3474993.5, …}, "scoreUnit": "ops/s",
//	    "rawData": [[3524193.1, …], [3440045.3, …]]},
//	  "secondaryMetrics": {"gc.alloc.rate.norm": {"score": 24.0, "scoreUnit": "B/op", "rawData": […], …}}}]
//
// Each list in rawData is of one fork, and so a launch. Throughput (thrpt) is
// better higher; average time (avgt) and the time of a single shot (ss), whose
// name says so, are times of one operation; sampled times (sample) are
// latencies, in a histogram of pairs of time and count for each iteration.
var _ = register(Format{
	Name:  "jmh",
	Tool:  "JMH",
	How:   `a JSON array of objects with "benchmark", "mode" and "primaryMetric"`,
	Print: "java -jar target/benchmarks.jar -rf json -rff /dev/stdout -o /dev/stderr",
	Sniff: jmhShape.sniff,
	Read:  jmhShape.read(readJMH),
})

var jmhShape = withKeys("[].benchmark", "[].mode", "[].primaryMetric")

type jmhBenchmark struct {
	Benchmark        string
	Mode             string
	Params           map[string]string
	PrimaryMetric    jmhMetric
	SecondaryMetrics map[string]jmhMetric
}

type jmhMetric struct {
	Score            jmhNumber
	ScoreUnit        string
	ScorePercentiles map[string]jmhNumber
	RawData          [][]jmhNumber
	RawDataHistogram [][][][2]float64 // by fork and iteration
}

// A jmhNumber is nil where JMH writes text for one that is none: "NaN".
type jmhNumber struct{ v *float64 }

// UnmarshalJSON implements json.Unmarshaler.
func (n *jmhNumber) UnmarshalJSON(data []byte) error {
	if data[0] == '"' || data[0] == 'n' {
		return nil
	}
	v, err := parseFloat(string(data))
	if err != nil {
		return &json.UnmarshalTypeError{Value: bench.KindOfJSON(string(data)), Type: reflect.TypeFor[float64]()}
	}
	n.v = &v
	return nil
}

func readJMH(d *jsonDocument) error {
	return d.elements(func() error {
		var b jmhBenchmark
		if err := d.decode(&b); err != nil {
			return err
		}
		b.results(d)
		return nil
	})
}

func (b *jmhBenchmark) results(d *jsonDocument) {
	name := b.Benchmark
	var params []string
	for _, key := range slices.Sorted(maps.Keys(b.Params)) {
		params = append(params, key+"="+b.Params[key])
	}
	if params != nil {
		name += "(" + strings.Join(params, ", ") + ")"
	}
	metric := "time_per_op"
	switch b.Mode {
	case "thrpt":
		metric = "throughput"
	case "sample":
		metric = "latency_mean"
		b.PrimaryMetric.ScoreUnit = strings.TrimSuffix(b.PrimaryMetric.ScoreUnit, "/op")
		b.PrimaryMetric.percentiles(d, name)
	case "ss":
		name += " ss"
	}
	b.PrimaryMetric.results(d, name, "", func(vs []float64, unit string) []bench.Value {
		return bench.MeasureAll(metric, vs, unit)
	})
	for _, label := range slices.Sorted(maps.Keys(b.SecondaryMetrics)) {
		if m := b.SecondaryMetrics[label]; !jmhPercentile.MatchString(label) {
			m.results(d, name, label+" ", func(vs []float64, unit string) []bench.Value { return measureJMH(label, vs, unit) })
		}
	}
}

// jmhPercentile matches the percentiles of sampled times, which are read from
// the primary metric.
var jmhPercentile = compile(`(?:^|·)p[01]\.\d+$`)

// results yields the values by fork, or the score where there are none. What is
// wrong is said of the label.
func (m *jmhMetric) results(d *jsonDocument, name, label string, measure func(vs []float64, unit string) []bench.Value) {
	var launches [][]*float64
	for _, iterations := range m.RawData {
		var raw []*float64
		for _, n := range iterations {
			raw = append(raw, n.v)
		}
		launches = append(launches, raw)
	}
	for _, iterations := range m.RawDataHistogram {
		launches = append(launches, histogramMeans(iterations))
	}
	some := false
	for launch, raw := range launches {
		values := measure(d.numbers(name, label+"rawData", raw), m.ScoreUnit)
		some = some || len(values) > 0
		d.result(bench.Result{Name: name, Launch: launch, Values: values})
	}
	if some {
		return
	}
	if v, ok := d.number(name, label+"score", m.Score.v); ok {
		values := measure([]float64{v}, m.ScoreUnit)
		values[0].Statistic = &bench.Spread{}
		d.result(bench.Result{Name: name, Values: values})
	}
}

// histogramMeans returns the mean of each iteration's times.
func histogramMeans(iterations [][][2]float64) []*float64 {
	var means []*float64
	for _, pairs := range iterations {
		sum, count := 0.0, 0.0
		for _, p := range pairs {
			sum, count = sum+p[0]*p[1], count+p[1]
		}
		if mean := sum / count; count > 0 {
			means = append(means, &mean)
		}
	}
	return means
}

// percentiles yields those of sampled times.
func (m *jmhMetric) percentiles(d *jsonDocument, name string) {
	res := bench.Result{Name: name}
	for _, p := range slices.Sorted(maps.Keys(m.ScorePercentiles)) {
		metric := latencyMetric(p)
		if metric == "" {
			continue
		}
		if v, ok := d.number(name, metric, m.ScorePercentiles[p].v); ok {
			res.Values = append(res.Values, statistic(metric, v, m.ScoreUnit, bench.NoSpread, nil, 0))
		}
	}
	d.result(res)
}

// latencyMetric names the metric of a percentile such as "99.9"; "" for the
// least, which no one waits for.
func latencyMetric(percentile string) string {
	whole, fraction, _ := strings.Cut(percentile, ".")
	switch whole {
	case "0":
		return ""
	case "100":
		return "latency_max"
	}
	return "latency_p" + whole + strings.TrimRight(fraction, "0")
}

// measureJMH makes values of a secondary metric: of a profiler, or of a counter or
// method that the benchmark's author named.
func measureJMH(label string, vs []float64, unit string) []bench.Value {
	label = strings.TrimPrefix(label, "·")
	switch {
	case label == "gc.alloc.rate.norm":
		return bench.MeasureAll("bytes_per_op", vs, unit)
	case unit == "#/op" && (label == "cycles" || label == "instructions"):
		return bench.MeasureAll(metricOfUnit(label+"/op"), vs, label+"/op")
	case unit == "#/op":
		return bench.MeasureAll(label+" per op", vs, label+"/op")
	}
	values := bench.MeasureAll(label, vs, unit)
	for i := range values {
		if better := &values[i].Metric.Better; strings.HasPrefix(label, "gc.") && *better == bench.Higher {
			*better = bench.Unknown // to allocate faster is no gain
		}
	}
	return values
}
