package main

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

// A settable is a value that a flag, an input of the action and the
// configuration file write alike.
type settable interface {
	pflag.Value
	wanted() string // what Set takes, for "want …"
}

// parseNumber reads a decimal number. What else Go takes for one (hexadecimal,
// infinities, NaN) is none that a person means in a configuration.
func parseNumber(s string) (float64, bool) {
	if strings.Trim(s, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// A percentage is a share above 0, given with its sign: "5%" is 0.05.
type percentage float64

// Set reads s, which must end in "%": whether a bare 0.05 means 5 % or 0.05 %
// is not a thing to guess at in a gate.
func (p *percentage) Set(s string) error {
	text, signed := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, ok := parseNumber(strings.TrimSpace(text))
	switch {
	case ok && !signed && v > 0:
		return fmt.Errorf("want %s, have %q: write %s or %s, whichever is meant",
			p.wanted(), s, percentage(v/100), percentage(v))
	case !ok || !signed || !(v/100 > 0 && v < 1e6):
		return fmt.Errorf("want %s, have %q", p.wanted(), s)
	}
	*p = percentage(v / 100)
	return nil
}

// String writes the percentage as Set reads it; the zero value is "".
func (p percentage) String() string {
	if p == 0 {
		return ""
	}
	// 100 times a share is rarely the number that was written: 7.000000000000001.
	return strconv.FormatFloat(100*float64(p), 'g', 12, 64) + "%"
}

// Type names the value in a flag's help.
func (percentage) Type() string { return "PERCENT" }

func (percentage) wanted() string { return "a percentage above 0 such as 5%" }

// maxRuns bounds how often a command is run: beyond it, no comparison gets any
// better.
const maxRuns = 1000

// A runCount says how many runs count: Min, and while the comparison is still
// open as many more as it takes, up to Max. The zero value is not set.
type runCount struct{ Min, Max int }

// Set reads a number, "10", or a range, "5..20".
func (c *runCount) Set(s string) error {
	low, high, ranged := strings.Cut(strings.TrimSpace(s), "..")
	if !ranged {
		high = low
	}
	least, err1 := strconv.ParseUint(low, 10, 16)
	most, err2 := strconv.ParseUint(high, 10, 16)
	if err1 != nil || err2 != nil || least < 1 || most < least || most > maxRuns {
		return fmt.Errorf("want %s, have %q", c.wanted(), s)
	}
	*c = runCount{int(least), int(most)}
	return nil
}

// String writes the count as Set reads it; the zero value is "".
func (c runCount) String() string {
	switch {
	case c == runCount{}:
		return ""
	case c.Min == c.Max:
		return strconv.Itoa(c.Min)
	}
	return fmt.Sprintf("%d..%d", c.Min, c.Max)
}

// Type names the value in a flag's help.
func (runCount) Type() string { return "N|MIN..MAX" }

func (runCount) wanted() string {
	return fmt.Sprintf("a number of runs from 1 to %d such as 10, or a range such as 5..20", maxRuns)
}

// A runTimeout is how long one run may take.
type runTimeout time.Duration

// Set reads a duration as Go writes it.
func (t *runTimeout) Set(s string) error {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil || d <= 0 {
		return fmt.Errorf("want %s, have %q", t.wanted(), s)
	}
	*t = runTimeout(d)
	return nil
}

// String writes the duration as Set reads it; the zero value is "".
func (t runTimeout) String() string {
	if t == 0 {
		return ""
	}
	return time.Duration(t).String()
}

// Type names the value in a flag's help.
func (runTimeout) Type() string { return "DURATION" }

func (runTimeout) wanted() string { return "a duration above 0 such as 90s or 10m" }

// A quantity is a number of 0 or more with a unit, in its base unit: "20ms" is
// 0.02 in "s". Without a unit, or with a bare prefix, it is in the base unit of
// whatever metric it is held against.
type quantity struct {
	V    float64
	Unit string
	text string // as it was written
}

var quantityPattern = regexp.MustCompile(`^([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([\pL%/].*)?$`)

// Set reads a number and its unit, with or without a blank between them.
func (q *quantity) Set(s string) error {
	if m := quantityPattern.FindStringSubmatch(strings.TrimSpace(s)); m != nil {
		factor, unit := bench.BaseUnit(m[2])
		// A number that is too large has become infinite.
		if v, ok := parseNumber(m[1]); ok && v*factor <= 1e300 {
			*q = quantity{v * factor, unit, strings.TrimSpace(s)}
			return nil
		}
	}
	return fmt.Errorf("want %s, have %q", q.wanted(), s)
}

// String is the quantity as it was written.
func (q quantity) String() string { return q.text }

// Type names the value in a flag's help.
func (quantity) Type() string { return "VALUE" }

func (quantity) wanted() string {
	return "a number of 0 or more with its unit such as 20ms, 1.5GiB or 50000"
}

// in returns the quantity as a value of the metric. A time of a metric per
// operation is one per operation.
func (q quantity) in(m bench.Metric) (float64, error) {
	switch q.Unit {
	case "", m.Unit, strings.TrimSuffix(m.Unit, "/op"):
		return q.V, nil
	}
	return 0, fmt.Errorf("want a value in %s for %s, have %q in %s", m.Unit, m.Name, q.text, q.Unit)
}

// A metricLimit is the absolute bound of the metrics that a glob matches, with the
// unit that it was written in: a rule has only its number.
type metricLimit struct {
	Metric string
	quantity
}

// checkLimits reports the limits that are in another unit than what was
// measured: a limit of 20 MB on a time could never fail.
func checkLimits(limits []metricLimit, measured *bench.Set) error {
	var faults []error
	seen := map[bench.Metric]bool{}
	for _, s := range measured.Samples() {
		if seen[s.Metric] {
			continue
		}
		seen[s.Metric] = true
		for _, l := range limits {
			// A metric's name has no slash, at which path.Match would stop.
			if ok, err := path.Match(l.Metric, s.Metric.Name); !ok || err != nil {
				continue
			}
			if _, err := l.in(s.Metric); err != nil {
				faults = append(faults, fmt.Errorf("limit of %s: %w", l.Metric, err))
			}
		}
	}
	return errors.Join(faults...)
}

// knownMetric returns the metric of a name that noslower knows. A glob or a
// tool's own name comes back without unit and direction.
func knownMetric(name string) (bench.Metric, error) {
	if name == "" {
		return bench.Metric{}, errors.New(`want the name of a metric such as "throughput", have ""`)
	}
	if strings.ContainsAny(name, "*?") {
		return bench.Metric{Name: name}, nil
	}
	// Of a name alone, only a known metric gets a direction. The percentile 99.9
	// is latency_p999.
	m := bench.Measure(strings.ReplaceAll(name, ".", ""), 0, "").Metric
	if m.Better == bench.Unknown {
		return bench.Metric{Name: name}, nil
	}
	if m.Name != name {
		return bench.Metric{}, fmt.Errorf("want the metric as %q, have %q", m.Name, name)
	}
	return m, nil
}

// checkDrop refuses a threshold that a metric could never reach. verb is what
// it was to do.
func checkDrop(m bench.Metric, verb string, p percentage) error {
	if m.Better == bench.Higher && p >= 1 {
		return fmt.Errorf("want less than 100%% for %s, where higher is better, have %s: no drop is that large, so this gate could never %s",
			m.Name, p, verb)
	}
	return nil
}

// checkLimit refuses a limit in another unit than the metric's, and one that a
// metric could never go beyond.
func checkLimit(m bench.Metric, q quantity) error {
	if m.Better == bench.Higher && q.V == 0 {
		return fmt.Errorf("want a limit above 0 for %s, where higher is better, have %q: nothing is lower, so this gate could never fail", m.Name, q.text)
	}
	if m.Unit == "" {
		return nil
	}
	_, err := q.in(m)
	return err
}

// metricSettings is a flag, by its name "fail", "warn" or "limit", that sets one
// thing of metrics: METRIC=VALUE, given several times or one a line. METRIC may
// be a glob.
type metricSettings struct {
	Flag   string
	Rules  []gate.Rule   // in the order given
	Limits []metricLimit // those of Rules with a unit, for checkLimits

	texts []string
}

// Set adds the settings of s to those of before. If one has a fault, none is
// added, and every fault is reported.
func (s *metricSettings) Set(lines string) error {
	added := metricSettings{Flag: s.Flag}
	var faults []error
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := added.add(line); err != nil {
			faults = append(faults, err)
		}
	}
	if len(added.Rules) == 0 && faults == nil {
		faults = append(faults, fmt.Errorf("want %s such as %s, have %q", s.Type(), s.example(), lines))
	}
	if faults != nil {
		return errors.Join(faults...)
	}
	s.Rules = append(s.Rules, added.Rules...)
	s.Limits = append(s.Limits, added.Limits...)
	s.texts = append(s.texts, added.texts...)
	return nil
}

func (s *metricSettings) add(line string) error {
	name, text, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return fmt.Errorf("want %s such as %s, have %q", s.Type(), s.example(), line)
	}
	metric, err := knownMetric(name)
	if err != nil {
		return err
	}
	rule := gate.Rule{Metric: name, Meant: true, Flag: "--" + s.Flag}
	if s.Flag == "limit" {
		var q quantity
		if err := q.Set(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := checkLimit(metric, q); err != nil {
			return err
		}
		rule.Limit = &q.V
		if q.Unit != "" {
			s.Limits = append(s.Limits, metricLimit{name, q})
		}
	} else {
		var p percentage
		if err := p.Set(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := checkDrop(metric, s.Flag, p); err != nil {
			return err
		}
		share := float64(p)
		if s.Flag == "warn" {
			rule.Warn = &share
		} else {
			rule.Fail = &share
		}
	}
	s.Rules = append(s.Rules, rule)
	s.texts = append(s.texts, line)
	return nil
}

// String is what was given, one setting a line.
func (s *metricSettings) String() string { return strings.Join(s.texts, "\n") }

// Type names the value in a flag's help.
func (s *metricSettings) Type() string {
	if s.Flag == "limit" {
		return "METRIC=VALUE"
	}
	return "METRIC=PERCENT"
}

func (s *metricSettings) example() string {
	if s.Flag == "limit" {
		return "latency_p99=20ms"
	}
	return "instructions_per_op=0.5%"
}
