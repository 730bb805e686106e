package format

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The output of Criterion.rs, as printed by
// https://github.com/bheisler/criterion.rs/blob/master/src/report.rs: an
// estimate within its confidence interval. A name longer than 23 characters has
// a line of its own.
//
//	Benchmarking fib 20: Analyzing
//	fib 20                  time:   [26.328 µs 26.450 µs 26.583 µs]
//	                        thrpt:  [358.97 MiB/s 360.56 MiB/s 362.23 MiB/s]
//	                        change: [-0.9740% +0.1124% +1.2192%] (p = 0.85 > 0.05)
//
// The files that it writes to target/criterion/GROUP/…/BENCHMARK/new, which
// name the benchmark by their path alone: sample.json has the values, of which
// estimates.json has the statistics.
//
//	{"sampling_mode":"Linear","iters":[33123.0,…],"times":[9079940.0,…]}
//	{"mean":{"point_estimate":274.5,…},"median":{…},"median_abs_dev":{…},"slope":{…},"std_dev":{…}}
//
// And the lines of "cargo criterion --message-format=json":
//
//	{"reason":"benchmark-complete","id":"fib 20","iteration_count":[…],"measured_values":[…],"unit":"ns","throughput":[],"typical":{…}}
var _ = register(Format{
	Name:  "criterion",
	Tool:  "Criterion.rs: what cargo bench prints, sample.json and estimates.json, and cargo criterion's messages",
	How:   "lines NAME time: [F us F us F us], or its JSON",
	Seen:  []string{"criterion 0.3.6"},
	Print: "cargo bench, or with the files target/criterion/**/new/sample.json, or for compare and parse the folder target/criterion",
	Sniff: either(sniffCriterionText, sniffDocument(criterionJSON)),
	Read:  readEither(criterionJSON, readCriterionJSON, readCriterionText),
})

var (
	criterionSample    = withKeys("sampling_mode", "iters", "times")
	criterionEstimates = withKeys("mean.confidence_interval", "mean.point_estimate", "median.point_estimate")
	criterionMessage   = withKeys("reason", "iteration_count", "measured_values")
	criterionJSON      = criterionSample.orElse(criterionEstimates).orElse(criterionMessage)

	criterionLine      = compile(`^(.*?)\s*\b(time|thrpt):\s+\[(\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\]`)
	sniffCriterionText = sniffLine(`(?:^|\s)time:\s+\[[\d.]+ \S+ [\d.]+ \S+ [\d.]+ \S+\]`)
	criterionProgress  = compile(`^Benchmarking (.+?)(?:: (?:Warming up|Collecting|Analyzing)\b.*)?$`)
	// criterionNoise are lines that stand between a benchmark's name and times.
	criterionNoise = compile(`^(?:Found \d+ outliers|\s|WARNING: |Gnuplot |change:|$)`)
)

func readCriterionText(r io.Reader, document string, yield func(bench.Result, error) bool) {
	name := ""         // of the benchmark whose numbers are printed
	next := ""         // of one whose numbers have no name beside them
	announced := false // it was, so that no other line is taken for it
	for l, err := range lines(r, document) {
		if err != nil {
			if !passOn(err, yield) {
				return
			}
			continue
		}
		if m := criterionProgress.FindStringSubmatch(l.text); m != nil {
			next, announced = m[1], true
			continue
		}
		m := criterionLine.FindStringSubmatch(l.text)
		if m == nil {
			if !announced && !criterionNoise.MatchString(l.text) {
				next = strings.TrimSpace(l.text)
			}
			continue
		}
		if strings.HasSuffix(m[3], "%") || strings.HasSuffix(m[4], "%") {
			continue // of a change since the run before
		}
		if m[1] != "" || m[2] == "time" {
			name, announced = cmp.Or(m[1], next), false
		}
		if !yield(parseCriterion(l, name, m[2], m[3:])) {
			return
		}
	}
}

// parseCriterion reads the numbers and units of an interval's lower end,
// estimate and upper end.
func parseCriterion(l line, name, what string, f []string) (bench.Result, error) {
	var ends [3]bench.Value
	for i := range ends {
		v, err := parseNumber(f[2*i])
		if err != nil || v < 0 {
			return bench.Result{}, l.errorf("want a number of 0 or more before %q, have %q", f[2*i+1], f[2*i])
		}
		ends[i] = measureCriterion(what, v, f[2*i+1])
	}
	value := ends[1]
	value.Statistic = &bench.Spread{}
	if width := ends[2].V - ends[0].V; width >= 0 && ends[0].Metric == ends[2].Metric {
		value.Statistic = &bench.Spread{Kind: bench.CI95, Value: width / 2}
	}
	return bench.Result{Name: name, Values: []bench.Value{value}}, nil
}

// measureCriterion makes a value of a time, or of another cost of one iteration,
// or of a rate.
func measureCriterion(what string, v float64, unit string) bench.Value {
	if what == "time" {
		return bench.Measure(metricOfUnit(unit+"/op"), v, unit+"/op")
	}
	if prefix, ok := strings.CutSuffix(unit, "elem/s"); ok {
		value := bench.Measure("elements_per_second", v, "elem/s")
		if factor, ok := multipliers[(prefix + " ")[0]]; ok {
			value.V *= factor
		}
		return value
	}
	return bench.Measure(metricOfUnit(unit), v, unit)
}

// A criterionDocument is any of the three.
type criterionDocument struct {
	Iters []*float64
	Times []*float64

	Mean, Median *criterionEstimate
	MedianAbsDev *criterionEstimate `json:"median_abs_dev"`

	Reason         string
	ID             string
	Unit           string
	IterationCount []*float64 `json:"iteration_count"`
	MeasuredValues []*float64 `json:"measured_values"`
}

type criterionEstimate struct {
	PointEstimate *float64 `json:"point_estimate"`
}

func readCriterionJSON(d *jsonDocument) error {
	var doc criterionDocument
	if err := d.decode(&doc); err != nil {
		return err
	}
	if doc.Reason != "" {
		if d.isHalf() && doc.Unit == "" {
			return nil // which comes behind the values
		}
		d.result(bench.Result{Name: doc.ID, Values: criterionValues(d, doc.ID, doc.IterationCount, doc.MeasuredValues, doc.Unit)})
		return nil
	}
	name, err := criterionName(d.name)
	switch {
	case err != nil:
		return err
	case d.isHalf() && doc.Times == nil && doc.MedianAbsDev == nil: // nor is known whether they are of a change
		return nil
	case doc.Iters != nil:
		d.result(bench.Result{Name: name, Values: criterionValues(d, name, doc.Iters, doc.Times, "ns")})
	case doc.Median == nil || doc.MedianAbsDev == nil:
		return fmt.Errorf("estimates of times with median_abs_dev, have those of a change: read new/estimates.json")
	default:
		v, ok := d.number(name, "median", doc.Median.PointEstimate)
		if mad := doc.MedianAbsDev.PointEstimate; ok {
			if mad != nil {
				*mad /= 1.4826 // by which Criterion multiplies it
			}
			d.result(bench.Result{Name: name, Values: []bench.Value{statistic("time_per_op", v, "ns", bench.MAD, mad, 0)}})
		}
	}
	return nil
}

// criterionValues makes a value of each sample's total over its iterations.
func criterionValues(d *jsonDocument, name string, iterations, totals []*float64, unit string) []bench.Value {
	if len(iterations) != len(totals) {
		d.warnf(name, "want as many times as counts of iterations, have %d and %d", len(totals), len(iterations))
		return nil
	}
	var values []bench.Value
	for i, n := range iterations {
		if n == nil || totals[i] == nil || *n < 1 || *totals[i] < 0 {
			d.warnf(name, "want iterations above 0 and a time of 0 or more in sample %d", i+1)
			continue
		}
		values = append(values, measureCriterion("time", *totals[i] / *n, unit))
	}
	return values
}

// criterionName returns the name of the benchmark that a file belongs to:
// target/criterion/sum/iter/1000/new/sample.json is of sum/iter/1000. The
// folders beside new are of other runs. Where the path has a ".", which is no folder
// of its own, the name begins behind it: it may be another copy of target/criterion.
func criterionName(path string) (string, error) {
	f := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	if len(f) < 3 {
		return "", nil
	}
	f, folder := f[:len(f)-2], f[len(f)-2]
	if folder == "change" || folder == "base" {
		return "", fmt.Errorf("a file of this run, have one of %s/, which is of another: read target/criterion/**/new/sample.json", folder)
	}
	for i, part := range slices.Backward(f) {
		if part == "criterion" || part == "." {
			return strings.Join(f[i+1:], "/"), nil
		}
	}
	if folder != "new" {
		return "", nil
	}
	return strings.Join(f, "/"), nil
}
