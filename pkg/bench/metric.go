package bench

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// canonical has the metrics that noslower knows by name. Every other metric
// keeps its own name, and its direction follows from its unit.
var canonical = byName(
	Metric{"instructions_per_op", "instructions/op", Lower},
	Metric{"throughput", "ops/s", Higher},
	Metric{"time_per_op", "s/op", Lower},
	Metric{"cpu_cycles_per_op", "cycles/op", Lower},
	Metric{"allocs_per_op", "allocs/op", Lower},
	Metric{"logallocs_per_op", "allocs/op", Lower},
	Metric{"tasks_per_op", "tasks/op", Lower},
	Metric{"bytes_per_op", "B/op", Lower},
	Metric{"iops", "ops/s", Higher},
	Metric{"bandwidth", "B/s", Higher},
	Metric{"latency_mean", "s", Lower},
	Metric{"latency_max", "s", Lower},
	Metric{"cpu_time_per_op", "s/op", Lower},
	Metric{"wall_time", "s", Lower},
	Metric{"user_time", "s", Lower},
	Metric{"system_time", "s", Lower},
	Metric{"cpu_time", "s", Lower},
	Metric{"max_rss", "B", Lower},
	Metric{"instructions", "instructions", Lower},
	Metric{"cpu_cycles", "cycles", Lower},
	Metric{"errors", "errors", Lower},
)

func byName(metrics ...Metric) map[string]Metric {
	m := make(map[string]Metric, len(metrics))
	for _, metric := range metrics {
		m[metric.Name] = metric
	}
	return m
}

// Errors is the name of the metric that counts failed operations: more of them
// on head than on base make a benchmark's other numbers incomparable.
const Errors = "errors"

// lookupMetric returns the metric of a canonical name. The percentiles
// latency_p50, latency_p99, latency_p999, … are a family.
func lookupMetric(name string) (Metric, bool) {
	if m, ok := canonical[name]; ok {
		return m, true
	}
	if p, ok := strings.CutPrefix(name, "latency_p"); ok && isDigits(p) {
		return Metric{name, "s", Lower}, true
	}
	return Metric{}, false
}

// isDigits reports whether a text is of digits, of which there is one at least.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// IsCount reports whether the metric counts what a program does (instructions,
// allocations, tasks, bytes of memory) and so hardly moves with the machine's
// load. Times and rates are no counts, and cycles are not either: they are the
// time of a clock that also stalls.
func (m Metric) IsCount() bool {
	switch strings.TrimSuffix(m.Unit, "/op") {
	case "instructions", "allocs", "tasks", "errors":
		return true
	case "B":
		return m.Name != "max_rss"
	}
	return false
}

// MayBeNegative reports whether a number below 0 can be a measurement. No time,
// rate, size, count or cost of an operation is one, nor anything of which it is
// known what is better: there is no ratio of it. What else there is may be a score
// or a difference.
func (m Metric) MayBeNegative() bool {
	return m.Better == Unknown && BetterByUnit(m.Unit) == Unknown && !m.IsCount() && m.Unit != "cycles"
}

// A Gauge makes values of the numbers that a tool prints under one name and
// unit.
type Gauge struct {
	metric          Metric
	factor, divisor float64 // one of them is 1
}

// NewGauge returns the gauge of a name and unit as a tool prints them: the unit
// becomes the base unit, and a canonical name brings its direction. A name that
// is not canonical becomes snake_case, and its direction follows from its unit.
func NewGauge(name, unit string) Gauge {
	factor, base := BaseUnit(unit)
	name = SnakeCase(name)
	metric, ok := lookupMetric(name)
	if !ok || metric.Unit != base && !sameKind(metric.Unit, base) {
		metric = Metric{name, base, BetterByUnit(base)}
	}
	if factor < 1 {
		// Only the inverse is a number without rounding: 100 ns are 1e-7 s.
		if inverse := math.Round(1 / factor); math.Abs(inverse*factor-1) < 1e-9 {
			return Gauge{metric, 1, inverse}
		}
	}
	return Gauge{metric, factor, 1}
}

// Value makes a value of a number.
func (g Gauge) Value(v float64) Value { return Value{Metric: g.metric, V: v * g.factor / g.divisor} }

// Measure makes a value of a single number: see NewGauge.
func Measure(name string, v float64, unit string) Value { return NewGauge(name, unit).Value(v) }

// MeasureAll is Measure for many numbers of one name and unit.
func MeasureAll(name string, vs []float64, unit string) []Value {
	g := NewGauge(name, unit)
	values := make([]Value, len(vs))
	for i, v := range vs {
		values[i] = g.Value(v)
	}
	return values
}

// sameKind reports whether a tool's unit is only another word for the canonical
// one: "s" for "s/op" in a metric that is per operation by its name, or no unit
// at all.
func sameKind(canonical, printed string) bool {
	return printed == "" || strings.TrimSuffix(canonical, "/op") == printed
}

// BetterByUnit returns the direction that a base unit implies: rates are better
// higher; times, costs per operation and sizes are better lower; of anything
// else nothing is known.
func BetterByUnit(unit string) Better {
	switch {
	case strings.HasSuffix(unit, "/s"), unit == "ops", unit == "iops":
		return Higher
	case unit == "s", unit == "B", strings.HasSuffix(unit, "/op"):
		return Lower
	}
	return Unknown
}

// asWords writes signs that have a meaning as words.
var asWords = strings.NewReplacer("%", " pct ", "µ", "u", "μ", "u")

// SnakeCase turns a tool's own name of a metric into one that can be written in
// a configuration: letters and digits in lower case, everything else a single
// underscore. "%" and "µ" keep their meaning as words.
func SnakeCase(name string) string {
	if isSnakeCase(name) {
		return name
	}
	if strings.Contains(name, "%") || !isASCII(name) {
		name = asWords.Replace(name)
	}
	snake := make([]byte, 0, 64) // more than most have
	var last rune
	isBetween := false // what follows is another word
	for i, r := range name {
		isUpper := unicode.IsUpper(r)
		if !isUpper && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			isBetween, last = true, r
			continue
		}
		if isUpper {
			// "readOps" is two words, "IOPS" is one, "HTTPCode" is two.
			next, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(r):])
			isBetween = isBetween || unicode.IsLower(last) || unicode.IsDigit(last) || unicode.IsUpper(last) && unicode.IsLower(next)
		}
		if isBetween && len(snake) > 0 {
			snake = append(snake, '_')
		}
		isBetween, last = false, r
		if isUpper {
			r = unicode.ToLower(r)
		}
		snake = utf8.AppendRune(snake, r)
	}
	return string(snake)
}

// isSnakeCase reports whether a name of ASCII is as SnakeCase would make it:
// nearly all are, and there may be one for each of millions of values.
func isSnakeCase(name string) bool {
	before := byte('_')
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_' && before != '_':
			before = c
		default:
			return false
		}
	}
	return before != '_'
}
