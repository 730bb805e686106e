package format

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"unicode"

	"github.com/noslower/noslower/pkg/bench"
)

// A gatherer gathers the values of one result, and what was meant to be one and
// is none: an infinity, a null, less than nothing.
type gatherer struct {
	at       line
	result   bench.Result
	problems []string
}

// measure adds a number in this unit.
func (g *gatherer) measure(metric string, v float64, unit string) {
	g.add(bench.Measure(metric, v, unit))
}

func (g *gatherer) add(v bench.Value) {
	if g.result.Values == nil {
		g.result.Values = make([]bench.Value, 0, 8) // most have several
	}
	g.result.Values = append(g.result.Values, v)
}

// lower adds a number of which less is better, where its name does not say so.
func (g *gatherer) lower(metric string, v float64, unit string) {
	value := bench.Measure(metric, v, unit)
	value.Metric.Better = bench.Lower
	g.add(value)
}

// number adds a member of a JSON document, if it is there.
func (g *gatherer) number(metric string, n jsonNumber, unit string) {
	switch {
	case !n.present():
	case n.v < 0:
		g.problem("want a number as %s, have %s", metric, n.text)
	default:
		g.measure(metric, n.v, unit)
	}
}

// rate is number for a rate of work: where nothing was done there is none.
func (g *gatherer) rate(metric string, n jsonNumber, unit string) {
	if n.present() && n.v == 0 {
		g.problem("want a %s above 0, have 0", metric)
		return
	}
	g.number(metric, n, unit)
}

// parse adds a number as printed.
func (g *gatherer) parse(metric, printed, unit string) {
	if v, err := parseNumber(printed); err == nil {
		g.measure(metric, v, unit)
	} else {
		g.problem("want a number as %s, have %q", metric, printed)
	}
}

// parseRate is parse for a rate of work.
func (g *gatherer) parseRate(metric, printed, unit string) {
	if v, err := parseNumber(printed); err == nil && v == 0 {
		g.problem("want a %s above 0, have 0", metric)
		return
	}
	g.parse(metric, printed, unit)
}

// duration adds a time as printed with its unit.
func (g *gatherer) duration(metric, printed string) {
	if v, err := parseDuration(printed); err == nil {
		g.measure(metric, v, "s")
	} else {
		g.problem("%s as %s", err, metric)
	}
}

func (g *gatherer) problem(format string, args ...any) {
	g.problems = append(g.problems, fmt.Sprintf(format, args...))
}

// spread makes the last value a printed statistic.
func (g *gatherer) spread(kind bench.SpreadKind, v float64, count int) {
	if n := len(g.result.Values); n > 0 && v >= 0 {
		g.result.Values[n-1].Statistic = &bench.Spread{Kind: kind, Value: v, Count: count}
	}
}

// statistics makes all values so far printed statistics, whose scatter is not
// known.
func (g *gatherer) statistics() {
	for i := range g.result.Values {
		if v := &g.result.Values[i]; v.Statistic == nil {
			v.Statistic = &bench.Spread{}
		}
	}
}

// yield yields the result after what is wrong with it, and reports whether to go
// on. It leaves the gatherer empty.
func (g *gatherer) yield(yield func(bench.Result, error) bool) bool {
	at := g.at
	result, problem := g.parsed()
	*g = gatherer{}
	return (problem == nil || yield(bench.Result{}, problem)) && (&filter{}).yield(at, result, yield)
}

// parsed returns the result, and what is wrong with it as an error.
func (g *gatherer) parsed() (bench.Result, error) {
	if len(g.problems) == 0 {
		return g.result, nil
	}
	return g.result, g.at.errorf("%s", strings.Join(g.problems, "; "))
}

// percentiles adds latencies by percentile, but not those below the middle.
func (g *gatherer) percentiles(by jsonObject, unit string) {
	for _, p := range by.byKey() {
		if metric := percentile(p.key); metric != "" {
			g.number(metric, p.number(), unit)
		}
	}
}

// A reporter gathers the reports of a tool that is started once for each.
type reporter struct {
	gatherer
	launch int // of the report
	to     func(bench.Result, error) bool
}

// flush yields what was gathered, and reports whether to go on.
func (r *reporter) flush() bool {
	r.result.Launch = r.launch
	return r.gatherer.yield(r.to)
}

// next is flush at the end of a report.
func (r *reporter) next() bool {
	if len(r.result.Values) > 0 {
		defer func() { r.launch++ }()
	}
	return r.flush()
}

// report is yield within a JSON document.
func (g *gatherer) report(d *jsonDocument) {
	d.result(g.result)
	if len(g.problems) > 0 {
		d.warnf(g.result.Name, "%s", strings.Join(g.problems, "; "))
	}
}

// A jsonNumber is a number of a document, or what stands in its place.
type jsonNumber struct {
	v    float64 // below 0 where it is none
	text string  // as written, "" where there is no such member
}

// UnmarshalJSON takes what is no number too, for an error to show.
func (n *jsonNumber) UnmarshalJSON(data []byte) error {
	n.take(string(data))
	return nil
}

func (n *jsonNumber) take(text string) {
	n.text = text
	v, err := parseFloat(n.text)
	if n.v = v; err != nil {
		n.v, n.text = -1, shorten(n.text, 40)
	}
}

// present reports whether there is such a member.
func (n jsonNumber) present() bool { return n.text != "" }

func (n jsonNumber) absent() bool { return !n.present() }

// count returns the number, or 0 where there is none.
func (n jsonNumber) count() float64 { return max(0, n.v) }

// perSecond are the units of printed times: those below a second divide, so that
// 45 us is the number nearest to it.
var perSecond = map[string]float64{"ps": 1e12, "ns": 1e9, "us": 1e6, "µs": 1e6, "μs": 1e6, "ms": 1e3, "s": 1}

// secondsIn are the units above.
var secondsIn = map[string]float64{"m": 60, "h": 3600}

// timeBytes are those of a time before its unit.
var timeBytes = bytesOf("0123456789.,")

// parseDuration reads a time as printed with its units (1.23ms, 45.6 µs, 1m2.5s),
// in seconds.
func parseDuration(s string) (float64, error) {
	var seconds float64
	for rest := s; ; {
		number := timeBytes.prefix(rest)
		after := strings.TrimLeft(rest[number:], " ")
		unit := len(after) - len(strings.TrimLeftFunc(after, unicode.IsLetter))
		v, err := parseNumber(rest[:number])
		below, isBelow := perSecond[after[:unit]]
		above, isAbove := secondsIn[after[:unit]]
		switch {
		case err == nil && isBelow:
			seconds += v / below
		case err == nil && isAbove:
			seconds += v * above
		default:
			return 0, fmt.Errorf("want a time such as 1.5ms, have %q", s)
		}
		if rest = after[unit:]; rest == "" {
			return seconds, nil
		}
	}
}

// percentile returns the name of the metric of a percentile as printed ("50",
// "99.900000", "p99.9"), or "" where it is below the middle and so no tail.
func percentile(printed string) string {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(printed, "p"), ".")
	fraction = strings.TrimRight(fraction, "0")
	if !isInteger(whole) || fraction != "" && !isInteger(fraction) {
		return ""
	}
	if len(whole) != 2 || whole < "50" {
		return ""
	}
	return "latency_p" + whole + fraction
}

// readEither returns a Format's Read of a tool that prints JSON documents of a
// shape or, if there is none in the input, text: where both are there, both are of
// one run.
func readEither(
	shape jsonShape, document func(*jsonDocument) error,
	text func(io.Reader, string, func(bench.Result, error) bool),
) func(io.Reader, string) iter.Seq2[bench.Result, error] {
	return func(r io.Reader, name string) iter.Seq2[bench.Result, error] {
		return func(yield func(bench.Result, error) bool) {
			head, isText, err := readHead(r, shape)
			if again, ok := r.(io.ReaderAt); ok && err == nil && isText && len(head) == maxStart {
				isText = !shape.isIn(io.NewSectionReader(again, 0, math.MaxInt64))
			}
			whole := io.MultiReader(bytes.NewReader(head), r)
			switch {
			case err != nil:
				yield(bench.Result{}, fmt.Errorf("%s: %w", name, err))
			case isText:
				some := false
				text(whole, name, func(res bench.Result, err error) bool {
					some = true
					return yield(res, err)
				})
				if some {
					return
				}
				// A document may end before the keys that tell its shape.
				if cut := cutOff(head, 0); cut >= 0 && cut < maxStart {
					shape.readAll(head, name, document, yield)
				}
			case len(head) < maxStart: // all of it
				shape.readAll(head, name, document, yield)
			default:
				shape.read(document)(whole, name)(yield)
			}
		}
	}
}

// maxStart is how many bytes an input's start has, in which a document begins at
// the latest if the input can be read but once.
const maxStart = 1<<20 + 64<<10

// readHead reads as much of r as tells whether it is text or has a document of a
// shape: its start, or to the end of what begins there.
func readHead(r io.Reader, shape jsonShape) (head []byte, isText bool, err error) {
	for limit := maxStart; ; limit *= 2 {
		more, err := io.ReadAll(io.LimitReader(r, int64(limit-len(head))))
		head = append(head, more...)
		isText = shape.find(head, 0) < 0
		if err != nil || !isText || len(head) < limit || limit >= maxDocument {
			return head, isText, err
		}
		if cut := cutOff(head, 0); cut < 0 || cut >= maxStart {
			return head, isText, err
		}
	}
}
