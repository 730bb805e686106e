package format

import (
	"encoding/json"
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
// latencies, in a histogram of pairs of time and count for each iteration. The
// name says the threads and the calls of one operation where they are more than
// one, whatever else is in the document: they make another benchmark.
var _ = register(Format{
	Name:  "jmh",
	Tool:  "JMH",
	How:   `a JSON array of objects with "benchmark", "mode" and "primaryMetric"`,
	Print: "java -jar target/benchmarks.jar -rf json -rff /dev/stdout -o /dev/stderr",
	Sniff: sniffDocument(jmhShape),
	Read:  jmhShape.read(readJMH),
})

var jmhShape = withKeys("[].benchmark", "[].mode", "[].primaryMetric")

type jmhBenchmark struct {
	name, mode string
	primary    jmhMetric
	secondary  jsonObject // by label
}

// A jmhMetric has no unit where it is missing.
type jmhMetric struct {
	unit        string
	score       *float64
	percentiles jsonObject   // of the score
	launches    [][]*float64 // of a fork each
}

func readJMH(d *jsonDocument) error {
	return d.objects(func(result jsonObject) error {
		b, err := jmhBenchmarkOf(result)
		if err != nil {
			return err
		}
		return b.results(d)
	})
}

func jmhBenchmarkOf(result jsonObject) (b jmhBenchmark, err error) {
	if b.name, err = result.string("benchmark", "benchmark"); err != nil {
		return b, err
	}
	if b.mode, err = result.string("mode", "mode"); err != nil {
		return b, err
	}
	params, err := result.object("params")
	if err != nil {
		return b, err
	}
	var named []string
	for _, p := range params.byKey() {
		value, err := params.string(p.key, "params."+p.key)
		if err != nil {
			return b, err
		}
		named = append(named, p.key+"="+value)
	}
	if named != nil {
		b.name += "(" + strings.Join(named, ", ") + ")"
	}
	if n := result.number("threads"); n.v > 1 {
		b.name += " threads=" + n.text
	}
	if n := result.number("measurementBatchSize"); n.v > 1 {
		b.name += " batch=" + n.text
	}
	if b.mode == "ss" {
		b.name += " ss"
	}
	primary, err := result.object("primaryMetric")
	if err != nil {
		return b, err
	}
	if b.primary, err = jmhMetricOf(primary); err != nil {
		return b, err
	}
	b.secondary, err = result.object("secondaryMetrics")
	return b, err
}

func jmhMetricOf(metric jsonObject) (m jmhMetric, err error) {
	if m.unit, err = metric.string("scoreUnit", "scoreUnit"); err != nil {
		return m, err
	}
	if m.score, err = jmhNumber(metric.get("score"), "score"); err != nil {
		return m, err
	}
	if m.percentiles, err = metric.object("scorePercentiles"); err != nil {
		return m, err
	}
	err = eachElement(metric.get("rawData"), "rawData", func(iterations string) error {
		var raw []*float64
		err := eachElement(iterations, "rawData", func(value string) error {
			v, err := jmhNumber(value, "rawData")
			raw = append(raw, v)
			return err
		})
		m.launches = append(m.launches, raw)
		return err
	})
	if err != nil {
		return m, err
	}
	err = eachElement(metric.get("rawDataHistogram"), "rawDataHistogram", func(iterations string) error {
		var pairs [][][2]float64 // by iteration
		err := json.Unmarshal([]byte(iterations), &pairs)
		m.launches = append(m.launches, histogramMeans(pairs))
		return err
	})
	return m, err
}

// jmhNumber reads a number. It is nil where it is missing, and where JMH writes
// text for one that is none: "NaN".
func jmhNumber(value, called string) (*float64, error) {
	if value == "" || value[0] == '"' || value[0] == 'n' {
		return nil, nil
	}
	v, err := jsonMember{value: value}.float(called)
	return &v, err
}

// results yields what the benchmark has. A secondary metric that cannot be read is
// reported, and the others are read.
func (b *jmhBenchmark) results(d *jsonDocument) error {
	metric := "time_per_op"
	switch b.mode {
	case "thrpt":
		metric = "throughput"
	case "sample":
		metric = "latency_mean"
		b.primary.unit = strings.TrimSuffix(b.primary.unit, "/op")
		if err := b.primary.latencies(d, b.name); err != nil {
			return err
		}
	}
	b.primary.results(d, b.name, "", func(vs []float64, unit string) []bench.Value {
		return bench.MeasureAll(metric, vs, unit)
	})
	var secondary jsonObject
	for _, s := range b.secondary.byKey() {
		if jmhPercentile.MatchString(s.key) {
			continue
		}
		err := secondary.take(s.value)
		var m jmhMetric
		if err == nil {
			m, err = jmhMetricOf(secondary)
		}
		if err != nil {
			d.wrong(b.name+" "+s.key, err)
			continue
		}
		m.results(d, b.name, s.key+" ", func(vs []float64, unit string) []bench.Value { return measureJMH(s.key, vs, unit) })
	}
	return nil
}

// jmhPercentile matches the percentiles of sampled times, which are read from
// the primary metric.
var jmhPercentile = compile(`(?:^|·)p[01]\.\d+$`)

// results yields the values by fork, or the score where there are none. What is
// wrong is said of the label.
func (m *jmhMetric) results(d *jsonDocument, name, label string, measure func(vs []float64, unit string) []bench.Value) {
	some := false
	for launch, raw := range m.launches {
		values := measure(d.numbers(name, label+"rawData", raw), m.unit)
		some = some || len(values) > 0
		d.result(bench.Result{Name: name, Launch: launch, Values: values})
	}
	if some {
		return
	}
	if v, ok := d.number(name, label+"score", m.score); ok {
		values := measure([]float64{v}, m.unit)
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

// latencies yields the percentiles of sampled times.
func (m *jmhMetric) latencies(d *jsonDocument, name string) error {
	res := bench.Result{Name: name}
	for _, p := range m.percentiles.byKey() {
		metric := latencyMetric(p.key)
		if metric == "" {
			continue
		}
		number, err := jmhNumber(p.value, "scorePercentiles."+p.key)
		if err != nil {
			return err
		}
		if v, ok := d.number(name, metric, number); ok {
			res.Values = append(res.Values, statistic(metric, v, m.unit, bench.NoSpread, nil, 0))
		}
	}
	d.result(res)
	return nil
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
