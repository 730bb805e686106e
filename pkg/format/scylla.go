package format

import (
	"io"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// ScyllaDB's perf-simple-query, and the tools that print by the same code
// (perf-cql-raw, perf-alternator, perf-commitlog, perf_mutation, perf_hash, …),
// in every form since 2015:
//
//	Running test with config: {partitions=10000, concurrency=100, mode=read, …}
//	Timing <benchmark>...
//	F tps [(F unit, F unit, …)]                              a sample: one second of the run
//
//	median F [tps (F unit, …)]                               until June 2024
//	median absolute deviation: F
//
//	throughput: mean=F standard-deviation=F median=F         since
//	    median-absolute-deviation=F maximum=F minimum=F      on one line or on four
//
// See perf_result and aggregated_perf_results in
// https://github.com/scylladb/scylladb/blob/master/test/perf/perf.cc. What is
// in the parentheses has changed with every era, so it is read by unit and
// never by position. People copy this output into mails and messages, so
// quoting, wrapped parentheses and a summary run together on one line are read
// too; the latter often with zsh's "⏱  real=5:10.98 user=2:40.01 sys=1:45.84".
var _ = register(Format{
	Name:  "scylla",
	Tool:  "ScyllaDB perf-simple-query, perf-cql-raw, perf-alternator and others of test/perf",
	Print: "scylla perf-simple-query --duration 10",
	How:   `lines of "F tps (…)", statistics with "median-absolute-deviation=", or JSON with "median tps"`,
	Sniff: either(sniffDocument(scyllaDocument), sniffLine(
		`^[> \t]*(?:median\s+)?`+scyllaNumber+`\s+tps\s*(?:\(|$)`,
		`median-absolute-deviation=`,
		`^[> \t]*median absolute deviation:`,
		`"median tps"\s*:`,
	)),
	Read: readEither(scyllaDocument, readScyllaJSON, readScyllaText),
})

const scyllaNumber = `[-+]?(?:\d[\d.,']*(?:[eE][-+]?\d+)?|nan|inf)`

// The parts that a line is made of, from left to right. A part stands at the
// line's start or where the part before it ends.
var (
	scyllaSample    = compile(`^(median\s+)?(` + scyllaNumber + `)\s+tps(?:\s*\(([^()]*)(?:\)|$))?\s*`)
	scyllaMedian    = compile(`^median\s+(` + scyllaNumber + `)\s*$`)
	scyllaOldStat   = compile(`^(median absolute deviation|maximum|minimum):\s*(` + scyllaNumber + `)\s*`)
	scyllaHeader    = compile(`^([a-z][a-z0-9_]*):\s*([a-z-]+=|$)`)
	scyllaStat      = compile(`^(mean|standard-deviation|median|median-absolute-deviation|maximum|minimum)=\s*(` + scyllaNumber + `)\s*`)
	scyllaStopwatch = compile(`^(?:⏱\s*)?(real|user|sys|cpu)=([\d.:]+)%?\s*`)
	scyllaConfig    = compile(`^Running test with config: \{.*\b(?:mode|workload)=([^,}]+)`)
	scyllaSection   = compile(`^Timing (.+?)(?:\.\.\.)?\s*$`)
)

func readScyllaText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	p := scyllaParser{yield: yield}
	_ = eachLine(r, name, yield, p.line) && p.endSample() && p.warnCutOff() && p.endSummary()
}

// A scyllaParser holds what is not complete yet: a sample whose parentheses may
// go on in the next line, and a metric's summary, whose statistics may.
type scyllaParser struct {
	yield     func(bench.Result, error) bool
	benchmark string
	filter    filter
	sample    *line
	summary   *scyllaSummary
}

// A scyllaSummary is what is printed at the end about one metric.
type scyllaSummary struct {
	at        line
	metric    string
	statistic map[string]float64
}

func (p *scyllaParser) line(l line) bool {
	l = unquoted(l)
	if p.sample != nil && continuesScyllaSample(p.sample.text, l.text) {
		p.sample.text += " " + l.text
		return true
	}
	if !p.endSample() {
		return false
	}
	if m := scyllaConfig.FindStringSubmatch(l.text); m != nil {
		p.benchmark = m[1]
		return true
	}
	if m := scyllaSection.FindStringSubmatch(l.text); m != nil {
		p.benchmark = m[1]
		return true
	}
	if scyllaSample.MatchString(l.text) {
		sample := l
		p.sample = &sample
		return true
	}
	return p.parts(l, l.text)
}

// continuesScyllaSample reports whether a mailer wrapped a sample and next is
// the rest of it.
func continuesScyllaSample(sample, next string) bool {
	const longest = 1024
	if len(sample) > longest {
		return false
	}
	if strings.HasSuffix(sample, "tps") {
		return strings.HasPrefix(next, "(")
	}
	open := strings.LastIndexByte(sample, '(') > strings.LastIndexByte(sample, ')')
	return open && !scyllaSample.MatchString(next) &&
		(strings.Contains(next, "/op") || strings.Contains(next, "errors"))
}

func (p *scyllaParser) endSample() bool {
	if p.sample == nil {
		return true
	}
	l := *p.sample
	p.sample = nil
	return p.parts(l, l.text)
}

// parts reads a line's parts up to its end or to what is none of them.
func (p *scyllaParser) parts(l line, rest string) bool {
	for rest != "" {
		if m := scyllaPart(scyllaSample, rest); m != nil {
			next := rest[len(m[0]):]
			if m[3] == "" && next != "" && scyllaPart(scyllaSample, next) == nil && scyllaPart(scyllaHeader, next) == nil {
				return true // a sentence such as "2000 tps is what we had"
			}
			if !p.readSample(l, m[1] != "", m[2], m[3]) {
				return false
			}
			rest = next
		} else if m := scyllaPart(scyllaMedian, rest); m != nil {
			return p.readSample(l, true, m[1], "")
		} else if m := scyllaPart(scyllaOldStat, rest); m != nil {
			if !p.readStatistic(l, strings.ReplaceAll(m[1], " ", "-"), m[2]) {
				return false
			}
			rest = rest[len(m[0]):]
		} else if m := scyllaPart(scyllaHeader, rest); m != nil {
			if !p.endSummary() {
				return false
			}
			p.summary = &scyllaSummary{l, m[1], map[string]float64{}}
			rest = rest[len(m[0])-len(m[2]):]
		} else if m := scyllaPart(scyllaStat, rest); m != nil {
			if !p.readStatistic(l, m[1], m[2]) {
				return false
			}
			rest = rest[len(m[0]):]
		} else if m := scyllaPart(scyllaStopwatch, rest); m != nil {
			if !p.readStopwatch(l, m[1], m[2]) {
				return false
			}
			rest = rest[len(m[0]):]
		} else {
			return true
		}
	}
	return true
}

// scyllaPart matches the part that a text begins with. It looks no further than a
// part can be long: a line of a megabyte would be gone through for each of its parts.
func scyllaPart(part pattern, text string) []string {
	const longest = 4 << 10
	m := part.FindStringSubmatch(text[:min(len(text), longest)])
	if m != nil && len(m[0]) == longest {
		return nil // it may be one by that end alone
	}
	return m
}

// readSample reads one second's numbers, or the run of the median throughput
// that an old summary repeats. The other numbers of that run are its own and not
// medians of theirs.
func (p *scyllaParser) readSample(l line, isMedian bool, tps, parentheses string) bool {
	if !p.endSummary() {
		return false
	}
	v, err := parseNumber(tps)
	if err != nil && !p.yield(bench.Result{}, l.errorf("want a finite number before %q, have %q", "tps", tps)) {
		return false
	}
	values := make([]bench.Value, 0, 2+strings.Count(parentheses, ","))
	if !isMedian && err == nil {
		values = append(values, bench.Measure("throughput", v, "tps"))
	}
	values, problem := appendScyllaFields(values, parentheses)
	if problem != "" && !p.yield(bench.Result{}, l.errorf("%s", problem)) {
		return false
	}
	if isMedian {
		for i := range values {
			values[i].Statistic = &bench.Spread{}
		}
		p.summary = &scyllaSummary{l, "throughput", map[string]float64{}}
		if err == nil {
			p.summary.statistic["median"] = v
		}
	}
	return p.result(l, values)
}

// appendScyllaFields appends the values of "F unit, F unit, …". A field that was cut off, as by
// "0 err...", is left out.
func appendScyllaFields(values []bench.Value, s string) (_ []bench.Value, problem string) {
	for field := range strings.SplitSeq(s, ",") {
		var both [2]string
		f := whites.appendFields(both[:0], field)
		if len(f) != 2 || strings.HasSuffix(f[1], "...") || strings.HasSuffix(f[1], "…") {
			continue
		}
		v, err := parseNumber(f[0])
		if err != nil {
			problem = "want a finite number before \"" + f[1] + "\", have \"" + f[0] + "\""
			continue
		}
		values = append(values, bench.Measure(metricOfUnit(f[1]), v, f[1]))
	}
	return values, problem
}

func (p *scyllaParser) readStatistic(l line, name, number string) bool {
	if p.summary == nil {
		return true // its metric was cut off
	}
	v, err := parseNumber(number)
	if err != nil {
		return p.yield(bench.Result{}, l.errorf("want a finite %s of %s, have %q", name, p.summary.metric, number))
	}
	p.summary.statistic[name] = v
	return true
}

// endSummary yields the summary that is complete now that something else
// begins. Both of Scylla's centres are printed with a deviation; the median is
// the upper one of an even number of values, and since June 2024 its
// "median-absolute-deviation" is around the mean.
func (p *scyllaParser) endSummary() bool {
	s := p.summary
	p.summary = nil
	if s == nil {
		return true
	}
	center, spread, kind := "median", "median-absolute-deviation", bench.MAD
	if _, ok := s.statistic[center]; !ok {
		center, spread, kind = "mean", "standard-deviation", bench.StdDev
	}
	v, ok := s.statistic[center]
	if !ok {
		return true
	}
	value := measureNamed(s.metric, v)
	value.Statistic = &bench.Spread{}
	if d, ok := s.statistic[spread]; ok && d >= 0 {
		value.Statistic = &bench.Spread{Kind: kind, Value: d}
	}
	return p.result(s.at, []bench.Value{value})
}

// warnCutOff warns of a summary that the output ends within: the mean is printed
// before the median, and would be taken for it.
func (p *scyllaParser) warnCutOff() bool {
	if p.summary == nil {
		return true
	}
	_, hasMean := p.summary.statistic["mean"]
	_, hasMedian := p.summary.statistic["median"]
	return !hasMean || hasMedian || p.yield(bench.Result{}, p.summary.at.errorf("want the median of %s after its mean, have the end", p.summary.metric))
}

// scyllaTimes are the metrics of what the shell's stopwatch prints.
var scyllaTimes = map[string]string{"real": "wall_time", "user": "user_time", "sys": "system_time"}

func (p *scyllaParser) readStopwatch(l line, name, clock string) bool {
	metric, ok := scyllaTimes[name]
	if !ok {
		return true
	}
	seconds, err := parseClock(clock)
	if err != nil {
		return p.yield(bench.Result{}, l.errorf("%s: %v", name, err))
	}
	return p.endSummary() && p.result(l, []bench.Value{bench.Measure(metric, seconds, "s")})
}

func (p *scyllaParser) result(l line, values []bench.Value) bool {
	return p.filter.yield(l, bench.Result{Name: p.benchmark, Values: values}, p.yield)
}

var scyllaDocument = withKeys("stats.median tps")

// readScyllaJSON reads the document of perf-simple-query's --json-result. Its
// throughput is a median with its deviation. Every other number is that of the
// one run with the median throughput, so a value that was measured and not the
// median of its own metric.
func readScyllaJSON(d *jsonDocument) error {
	start := d.offset()
	doc, err := d.object()
	if err != nil {
		return err
	}
	stats, err := doc.object("stats")
	if err != nil {
		return d.mistyped(start, err)
	}
	properties, err := doc.object("test_properties")
	if err != nil {
		return d.mistyped(start, err)
	}
	name, err := properties.string("type", "test_properties.type")
	if err != nil {
		return d.mistyped(start, err)
	}
	if d.isHalf() && properties.get("type") == "" {
		return nil // without its name
	}
	spread := &bench.Spread{}
	g := gatherer{result: bench.Result{Name: name}}
	for _, m := range stats.byKey() { // so that the deviation is before its median
		v, err := m.float("stats")
		switch {
		case err != nil && m.isNumber():
			return d.mistyped(start, err)
		case err != nil || m.key == "max tps" || m.key == "min tps":
		case m.key == "mad tps":
			if v >= 0 && !m.isNull() {
				*spread = bench.Spread{Kind: bench.MAD, Value: v}
			}
		case m.isNull():
			g.problem("want a number as %s, have null", m.key)
		case m.key == "median tps":
			value := bench.Measure("throughput", v, "tps")
			value.Statistic = spread
			g.add(value)
		default:
			g.add(measureNamed(m.key, v))
		}
	}
	g.report(d)
	return nil
}
