package format

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The table of Google Benchmark, as printed by
// https://github.com/google/benchmark/blob/main/src/console_reporter.cc:
//
//	Benchmark              Time             CPU   Iterations UserCounters...
//	BM_Push/8           68.8 ns         68.3 ns       100498 allocs=7 items_per_second=117.211M/s
//	BM_Push/8_mean      77.3 ns         68.5 ns            3 allocs=7 items_per_second=116.765M/s
//	BM_Bad       ERROR OCCURRED: 'no such table'
//
// with --benchmark_counters_tabular=true also with a column a counter. The rows
// of one name are repetitions. Where only their aggregates are printed, the
// median is taken (else the mean) with its deviation. Its JSON has all digits.
var _ = register(Format{
	Name:  "google-benchmark-console",
	Tool:  "Google Benchmark, as it prints for people",
	Print: "./bench --benchmark_repetitions=10",
	How:   "a header Benchmark, Time, CPU, Iterations",
	Seen:  []string{"Google Benchmark 1.7.1"},
	Sniff: sniffLine(`^[>\s]*Benchmark\s+Time\s+CPU\s+Iterations(?:\s|$)`),
	Read:  readGBenchConsole,
})

var (
	gbenchHeader = compile(`^Benchmark\s+Time\s+CPU\s+Iterations(?:\s+(.*))?$`)
	// gbenchCounter is a number with a factor, k for 1000 or Ki for 1024, and the
	// unit of a rate or of an inverted one.
	gbenchNone    = compile(`^-?(?:nan|inf)(?:/s|s)?$`)
	gbenchCounter = compile(`^(-?[\d.]+(?:e[-+]?\d+)?)([kKMGTPEZYmunpf]?i?)(/s|s)?$`)
)

// gbenchFactors are the powers of a thousand, or of 1024, of the letters after a
// number.
var gbenchFactors = map[string]int{
	"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6, "Z": 7, "Y": 8, "m": -1, "u": -2, "n": -3, "p": -4, "f": -5,
}

func readGBenchConsole(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		t := gbenchTable{yield: yield}
		_ = eachUnquoted(r, name, yield, t.line) && t.endAggregates()
	}
}

// A gbenchTable is the rows that are printed below one header.
type gbenchTable struct {
	yield    func(bench.Result, error) bool
	filter   filter
	counters []string // of a table with a column a counter
	// aggregates are the rows of one benchmark's, which follow each other.
	at          line
	benchmark   string
	aggregates  map[string]bench.Result
	aggregated  bool // one was that had several
	repetitions int
}

func (t *gbenchTable) line(l line) bool {
	if m := gbenchHeader.FindStringSubmatch(l.text); m != nil {
		t.counters = nil
		if columns := strings.Fields(m[1]); len(columns) > 0 && !strings.HasSuffix(columns[0], "...") {
			t.counters = columns
		}
		return t.endAggregates()
	}
	if failed, _, ok := strings.Cut(l.text, " ERROR OCCURRED: "); ok {
		return t.yield(bench.Result{}, l.errorf("want a result of %s, have an error: it is missing", strings.TrimSpace(failed)))
	}
	name, cells := splitGBenchRow(l.text)
	if name == "" {
		return true
	}
	benchmark, aggregate := cutAggregate(name)
	if (aggregate == "" || benchmark != t.benchmark) && !t.endAggregates() {
		return false
	}
	if aggregate == "cv" {
		return true // the deviation over the mean
	}
	g := gatherer{at: l, result: bench.Result{Name: name}}
	for i, metric := range []string{"time_per_op", "cpu_per_op"} {
		g.parse(metric, cells[2*i], cells[2*i+1]+"/op")
	}
	counters, none := t.userCounters(cells[5:])
	g.result.Values = append(g.result.Values, counters...)
	if none != nil {
		g.problem("want finite numbers as counters, have %s", strings.Join(none, ", "))
	}
	res, problem := g.parsed()
	if problem != nil && !t.yield(bench.Result{}, problem) {
		return false
	}
	if aggregate == "" {
		return t.filter.yield(l, res, t.yield)
	}
	t.at = l
	if t.aggregates == nil {
		t.benchmark, t.aggregates = benchmark, map[string]bench.Result{}
	}
	t.aggregates[aggregate] = res
	t.repetitions, _ = strconv.Atoi(cells[4]) // not known where there are too many digits
	return true
}

// cutAggregate cuts the name of an aggregate off that of a row, if it has one.
func cutAggregate(name string) (benchmark, aggregate string) {
	i := strings.LastIndexByte(name, '_')
	switch name[i+1:] {
	case "mean", "median", "stddev", "cv":
		if i >= 0 {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}

// gbenchUnits are those of the columns of time; % is that of the aggregate cv.
var gbenchUnits = []string{"ns", "us", "ms", "s", "%"}

// splitGBenchRow returns the name, in which there may be blanks, and the words
// after it: a time, its unit, again both, the iterations, and counters. A line
// that is no row has no name.
func splitGBenchRow(text string) (name string, cells []string) {
	words := strings.Fields(text)
	for i := 1; i+4 < len(words); i++ {
		if slices.Contains(gbenchUnits, words[i+1]) && slices.Contains(gbenchUnits, words[i+3]) && isInteger(words[i+4]) {
			return strings.Join(words[:i], " "), words[i:]
		}
	}
	return "", nil
}

// userCounters reads words of "name=value", or the values of the columns. What
// follows them is a label. Those that are no finite number are returned as text.
func (t *gbenchTable) userCounters(words []string) (values []bench.Value, none []string) {
	for i, word := range words {
		name, number, ok := strings.Cut(word, "=")
		if !ok && i < len(t.counters) {
			name, number, ok = t.counters[i], word, true
		}
		if ok && gbenchNone.MatchString(number) {
			none = append(none, name+"="+number)
			continue
		}
		m := gbenchCounter.FindStringSubmatch(number)
		if !ok || m == nil || bench.SnakeCase(name) == "" {
			continue
		}
		v, err := parseNumber(m[1])
		if err != nil {
			continue
		}
		letter, kibi := strings.CutSuffix(m[2], "i")
		base := 1000.0
		// Before version 1.8 the i is left out.
		if kibi || name == "bytes_per_second" {
			base = 1024
		}
		power := gbenchFactors[letter]
		for ; power > 0; power-- {
			v *= base
		}
		for ; power < 0; power++ {
			v /= base
		}
		values = append(values, measureGBenchCounter(name, v, m[3]))
	}
	return values, none
}

// measureGBenchCounter makes a value of a counter. The direction of one that is
// no rate is for its author to know.
func measureGBenchCounter(name string, v float64, unit string) bench.Value {
	switch {
	case name == "items_per_second":
		return bench.Measure("throughput", v, "ops/s")
	case name == "bytes_per_second":
		return bench.Measure("bandwidth", v, "B/s")
	case unit == "/s":
		return bench.Measure(name, v, cmp.Or(bench.SnakeCase(name), "items")+"/s")
	}
	return bench.Measure(name, v, unit)
}

// endAggregates yields what is taken of a benchmark's aggregates now that
// something else begins. A single row of such a name is a benchmark that is
// called so.
func (t *gbenchTable) endAggregates() bool {
	benchmark, rows := t.benchmark, t.aggregates
	t.benchmark, t.aggregates = "", nil
	if len(rows) > 1 {
		t.aggregated = true
	}
	_, isMean := rows["mean"]
	if len(rows) == 1 && isMean && t.aggregated && !t.yield(bench.Result{}, t.at.errorf("want the other aggregates of %s, as of those before, have its mean alone", benchmark)) {
		return false
	}
	if len(rows) == 1 {
		for _, row := range rows {
			return t.filter.yield(t.at, row, t.yield)
		}
	}
	center, ok := rows["median"]
	if !ok {
		center, ok = rows["mean"]
	}
	if !ok {
		return true
	}
	center.Name = benchmark
	for i, v := range center.Values {
		center.Values[i].Statistic = &bench.Spread{Count: t.repetitions}
		deviations := rows["stddev"].Values
		at := slices.IndexFunc(deviations, func(d bench.Value) bool { return d.Metric == v.Metric })
		if at >= 0 && deviations[at].V >= 0 {
			center.Values[i].Statistic = &bench.Spread{Kind: bench.StdDev, Value: deviations[at].V, Count: t.repetitions}
		}
	}
	return t.filter.yield(t.at, center, t.yield)
}
