package format

import (
	"io"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The summary of k6 at the end of a test, on the console of all versions
// (https://grafana.com/docs/k6/latest/results-output/end-of-test/),
//
//	http_req_duration..............: avg=288.63µs min=54.04µs med=152.21µs max=4.69ms p(90)=380.51µs p(95)=449.96µs
//	  { expected_response:true }...: avg=257.18µs …
//	http_req_failed................: 33.00% 33 out of 100
//	http_reqs......................: 100    5225.679596/s
//
// by --summary-export, where times are in milliseconds,
//
//	{"metrics": {"http_req_duration": {"avg": 0.2886, "p(95)": 0.4499},
//	             "http_req_failed": {"passes": 33, "fails": 67, "value": 0.33},
//	             "http_reqs": {"count": 100, "rate": 5225.68}}}
//
// as handleSummary gets it, where each metric has its numbers in "values", and with
// --new-machine-readable-summary:
//
//	{"config": {"duration": 0.0067},
//	 "results": {"metrics": [{"name": "http_reqs", "contains": "default", "values": {"count": 40}}]}}
//
// Requests are the benchmark "": their duration, rate and failures ("passes" of
// http_req_failed are failures). A metric with tags is of the benchmark that they
// name, and one below a scenario or a group (--summary-mode full) is as if it were
// tagged with them: {scenario:a}{group:outer}{group:inner}. Each other trend is a
// benchmark of its own; a script that makes no request has its iterations.
var _ = register(Format{
	Name:  "k6",
	Tool:  "k6 run: its summary on the console, by --summary-export or by handleSummary",
	Print: "k6 run --summary-export=summary.json script.js",
	How:   `a line "http_req_duration...: avg=" or of iteration_duration, or a JSON object with "metrics" that have "iterations", or "k6_version"`,
	Seen:  []string{"k6 1.8.1"},
	Sniff: either(sniffK6, sniffDocument(k6Shape)),
	Read:  readEither(k6Shape, readK6, readK6Console),
})

var (
	k6Shape = withKeys("metrics.iterations.rate").orElse(withKeys("metrics.iterations.values.rate")).orElse(withKeys("metrics.http_reqs.rate")).
		orElse(withKeys("metadata.k6_version", "results.metrics[].values"))
	sniffK6 = sniffLine(`^[>\s]*[✓✗]?\s*http_req_duration\.+: avg=`, `^[>\s]*[✓✗]?\s*iteration_duration\.+: avg=`)

	k6Heading = compile(`^[█↳] (?:(SCENARIO|GROUP): )?(.*)$`)
	k6Line    = compile(`^(?:[✓✗]\s*)?(\w+|\{[^}]*\})\s*\.*:\s+(.*)$`)
	k6Share   = compile(`^[\d.]+%\s+(?:✓ )?(\d+)\s+(out of|✗)\s+(\d+)`)
	k6Rate    = compile(`^\d+\s+([\d.]+)/s\b`)
)

// k6Times are the trends that are times, which --summary-export does not say.
var k6Times = compile(`^(?:http_req_|iteration_duration|group_duration|ws_|grpc_req_|browser_)`)

// A k6Number is a statistic: avg, med, max, p(95), …
type k6Number struct {
	key    string
	number jsonNumber
}

// A k6Metric is one metric of a summary.
type k6Metric struct {
	name, tags string     // of "http_req_duration{scenario:a}"
	statistics []k6Number // of a trend, by key
	unit       string     // theirs
	rate       jsonNumber // of a counter
	failures   jsonNumber // of a rate
	wrong      string     // of what cannot be read
}

func readK6(d *jsonDocument) error {
	var seconds float64 // that the run took, of a document that has no rates
	return d.members(func(key string) error {
		switch key {
		case "metrics":
			return readK6Metrics(d)
		case "config":
			var config struct{ Duration jsonNumber }
			err := d.decode(&config)
			seconds = config.Duration.v
			return err
		case "results":
			return readK6Results(d, seconds)
		}
		return d.skip()
	})
}

// readK6Metrics reads metrics by name.
func readK6Metrics(d *jsonDocument) error {
	start := d.offset()
	members, err := d.object()
	if err != nil {
		return err
	}
	members = members.byKey()
	metrics := make([]k6Metric, len(members))
	var metric jsonObject
	for i, m := range members {
		if err := metric.take(m.value); err != nil {
			return d.mistyped(start, err)
		}
		if isTold := metric.get("contains") != "" || k6Times.MatchString(m.key); d.isHalf() && metric.get("values") != "" && !isTold {
			metric = metric[:0] // of which the unit is missing
		}
		metrics[i] = k6Member(m.key, metric, 0)
	}
	reportK6(d, metrics)
	return nil
}

// readK6Results reads the metrics of the machine-readable summary.
func readK6Results(d *jsonDocument, seconds float64) error {
	var results struct {
		Metrics []jsonObject
		Checks  struct{ Metrics []jsonObject }
	}
	start := d.offset()
	if err := d.decode(&results); err != nil {
		return err
	}
	var metrics []k6Metric
	for _, m := range slices.Concat(results.Metrics, results.Checks.Metrics) {
		name, err := m.string("name", "name")
		if err != nil {
			return d.mistyped(start, err)
		}
		metrics = append(metrics, k6Member(name, m, seconds))
	}
	reportK6(d, metrics)
	return nil
}

func reportK6(d *jsonDocument, metrics []k6Metric) {
	for _, g := range k6Results(metrics, d.isHalf()) {
		g.report(d)
	}
}

// k6Member reads a metric of a document, of a run that took so many seconds where
// the document has no rates.
func k6Member(name string, metric jsonObject, seconds float64) k6Metric {
	m := k6Metric{name: name}
	if i := strings.IndexByte(name, '{'); i >= 0 {
		m.name, m.tags = name[:i], name[i:]
	}
	if k6Times.MatchString(m.name) || metric.get("contains") == `"time"` {
		m.unit = "ms"
	}
	if values := metric.get("values"); values != "" {
		if metric.take(values) != nil {
			m.wrong = "want an object as values"
		}
	}
	switch {
	case metric.get("avg") != "":
		m.statistics = make([]k6Number, 0, len(metric))
		for _, s := range metric.byKey() {
			unasked := s.isNull() && seconds > 0 // a script may ask for some of the statistics
			if s.key != "thresholds" && !unasked {
				m.statistics = append(m.statistics, k6Number{s.key, s.number()})
			}
		}
	case metric.get("passes") != "":
		m.failures = metric.number("passes")
		if m.name == "checks" {
			m.failures = metric.number("fails")
		}
	case metric.get("matches") != "":
		m.failures = metric.number("matches")
	case metric.get("count") != "":
		m.rate = metric.number("rate")
		if count := metric.number("count"); !m.rate.present() && seconds > 0 {
			m.rate = jsonNumber{count.v / seconds, count.text}
		}
	}
	return m
}

func readK6Console(r io.Reader, name string, yield func(bench.Result, error) bool) {
	var metrics []k6Metric // of one summary
	seen := map[string]bool{}
	launch := 0
	var at line // where it begins
	flush := func() bool {
		for _, g := range k6Results(metrics, false) {
			g.at, g.result.Launch = at, launch
			if !g.yield(yield) {
				return false
			}
		}
		launch++
		metrics = metrics[:0]
		clear(seen)
		return true
	}
	var sections k6Sections
	last := ""
	done := eachLine(r, name, yield, func(raw line) bool {
		l := unquoted(raw)
		if m := k6Heading.FindStringSubmatch(l.text); m != nil {
			sections.begin(strings.Index(raw.text, l.text), m[1], m[2])
			return true
		}
		m := k6Line.FindStringSubmatch(l.text)
		if m == nil {
			return true
		}
		metric := k6Metric{name: m[1], tags: sections.tags()}
		if strings.HasPrefix(m[1], "{") {
			metric.name, metric.tags = last, metric.tags+strings.ReplaceAll(m[1], " ", "")
		}
		if !metric.console(m[2]) {
			return true
		}
		last = metric.name
		if seen[metric.name+metric.tags] && !flush() {
			return false
		}
		if len(metrics) == 0 {
			at = l
		}
		seen[metric.name+metric.tags] = true
		metrics = append(metrics, metric)
		return true
	})
	if done && len(metrics) > 0 {
		flush()
	}
}

// A k6Section is a scenario or a group, with what was measured in it below its
// heading.
type k6Section struct {
	indent int
	tag    string
}

// k6Sections are those that a line is in, one in another.
type k6Sections []k6Section

// begin takes a heading. Those with no kind are of what is no section: all
// results, the checks of a group in older versions.
func (s *k6Sections) begin(indent int, kind, name string) {
	*s = slices.DeleteFunc(*s, func(other k6Section) bool { return other.indent >= indent })
	if kind != "" {
		*s = append(*s, k6Section{indent, "{" + strings.ToLower(kind) + ":" + name + "}"})
	}
}

func (s k6Sections) tags() string {
	all := ""
	for _, section := range s {
		all += section.tag
	}
	return all
}

// console reads what stands behind a metric's name, and reports whether it is
// something of one.
func (m *k6Metric) console(text string) bool {
	if f := k6Share.FindStringSubmatch(text); f != nil {
		m.failures = numberOf(f[1])
		if m.name == "checks" { // of which those that passed are counted
			m.failures = numberOf(f[3])
			if f[2] == "out of" {
				m.failures.v -= numberOf(f[1]).v
			}
		}
		return true
	}
	if f := k6Rate.FindStringSubmatch(text); f != nil {
		m.rate = numberOf(f[1])
		return true
	}
	for word := range strings.SplitSeq(text, " ") {
		key, value, _ := strings.Cut(word, "=")
		if value == "" || !isK6Statistic(key) {
			continue
		}
		if v, err := parseDuration(value); err == nil {
			m.unit = "s"
			m.statistic(key, jsonNumber{v, value})
		} else {
			m.statistic(key, numberOf(value))
		}
	}
	return len(m.statistics) > 0
}

// isK6Statistic reports whether a key is that of a statistic: avg, p(95).
func isK6Statistic(key string) bool {
	switch key {
	case "avg", "med", "max":
		return true
	}
	return strings.HasPrefix(key, "p(") && strings.HasSuffix(key, ")")
}

// statistic sets one of a trend.
func (m *k6Metric) statistic(key string, number jsonNumber) {
	i, is := slices.BinarySearchFunc(m.statistics, key, func(s k6Number, key string) int { return strings.Compare(s.key, key) })
	if is {
		m.statistics[i].number = number
		return
	}
	if m.statistics == nil {
		m.statistics = make([]k6Number, 0, 6) // as many as k6 prints
	}
	m.statistics = slices.Insert(m.statistics, i, k6Number{key, number})
}

// numberOf is a printed number as one of a document.
func numberOf(text string) jsonNumber {
	v, err := parseNumber(text)
	if err != nil {
		v = -1
	}
	return jsonNumber{v, text}
}

// k6Results makes results of the metrics of a summary: one for all requests, or
// iterations if there are none, one for each of their tags, one for each other
// trend. Where some of the metrics may be missing (isHalf), it is not known whether
// there are requests unless there are some.
func k6Results(metrics []k6Metric, isHalf bool) []*gatherer {
	var results []*gatherer
	of := make(map[string]*gatherer, len(metrics))
	result := func(name string) *gatherer {
		if of[name] == nil {
			of[name] = &gatherer{result: bench.Result{Name: name}}
			results = append(results, of[name])
		}
		return of[name]
	}
	subject, duration := "http_reqs", "http_req_duration"
	if !slices.ContainsFunc(metrics, func(m k6Metric) bool {
		return m.name == subject || m.name == duration || isHalf && strings.HasPrefix(m.name, "http_req_")
	}) {
		subject, duration = "iterations", "iteration_duration"
	}
	for _, m := range metrics {
		switch {
		case isHalf && subject == "iterations" && (m.name == subject || m.name == duration):
		case m.wrong != "":
			result(m.tags).problem("%s of %s", m.wrong, m.name)
		case m.name == subject && m.rate.present():
			result(m.tags).rate("throughput", m.rate, "ops/s")
		case m.name == "http_req_failed" && m.failures.present():
			result(m.tags).number("errors", m.failures, "errors")
		case m.name == "checks" && m.failures.present(), m.name == "checks_failed" && m.failures.present():
			result(m.tags).lower("failed_checks", m.failures.count(), "")
		case m.name == duration:
			m.add(result(m.tags))
		case len(m.statistics) > 0:
			m.add(result(m.name + m.tags))
		}
	}
	return results
}

// add adds the statistics of a trend: latencies if they are times.
func (m *k6Metric) add(g *gatherer) {
	called := func(latency string) string {
		if m.unit == "" {
			return strings.TrimPrefix(latency, "latency_")
		}
		return latency
	}
	g.result.Values = slices.Grow(g.result.Values, len(m.statistics))
	for _, s := range m.statistics {
		n := s.number
		switch s.key {
		case "avg":
			g.number(called("latency_mean"), n, m.unit)
		case "med":
			g.number(called("latency_p50"), n, m.unit)
		case "max":
			g.number(called("latency_max"), n, m.unit)
		default:
			p := strings.TrimSuffix(strings.TrimPrefix(s.key, "p("), ")")
			if metric := percentile(p); metric != "" {
				g.number(called(metric), n, m.unit)
			}
		}
	}
}
