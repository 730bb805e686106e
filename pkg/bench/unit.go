package bench

import (
	"maps"
	"strings"
	"unicode/utf8"
)

// A scale is what a number in a unit is multiplied by for one in its base unit.
type scale struct {
	factor float64
	base   string
}

// scales are the units that are a multiple of a base unit. A prefix alone (k,
// M) scales a number without unit.
var scales = map[string]scale{
	"":  {1, ""},
	"s": {1, "s"}, "sec": {1, "s"}, "secs": {1, "s"}, "second": {1, "s"}, "seconds": {1, "s"},
	"ms": {1e-3, "s"}, "msec": {1e-3, "s"}, "msecs": {1e-3, "s"}, "millisecond": {1e-3, "s"}, "milliseconds": {1e-3, "s"},
	"us": {1e-6, "s"}, "usec": {1e-6, "s"}, "usecs": {1e-6, "s"}, "micros": {1e-6, "s"}, "microsecond": {1e-6, "s"}, "microseconds": {1e-6, "s"},
	"ns": {1e-9, "s"}, "nsec": {1e-9, "s"}, "nsecs": {1e-9, "s"}, "nanosecond": {1e-9, "s"}, "nanoseconds": {1e-9, "s"},
	"ps":  {1e-12, "s"},
	"min": {60, "s"}, "h": {3600, "s"}, "hr": {3600, "s"}, "day": {24 * 3600, "s"},

	"B": {1, "B"}, "byte": {1, "B"}, "bytes": {1, "B"},
	"kB": {1e3, "B"}, "KB": {1e3, "B"}, "MB": {1e6, "B"}, "GB": {1e9, "B"}, "TB": {1e12, "B"},
	"KiB": {1 << 10, "B"}, "kiB": {1 << 10, "B"}, "MiB": {1 << 20, "B"}, "GiB": {1 << 30, "B"}, "TiB": {1 << 40, "B"},
	"bit": {1. / 8, "B"}, "kbit": {1e3 / 8, "B"}, "Kbit": {1e3 / 8, "B"}, "Mbit": {1e6 / 8, "B"}, "Gbit": {1e9 / 8, "B"}, "Tbit": {1e12 / 8, "B"},
	"Kibit": {1 << 10 / 8, "B"}, "Mibit": {1 << 20 / 8, "B"}, "Gibit": {1 << 30 / 8, "B"}, "Tibit": {1 << 40 / 8, "B"},

	"ops": {1, "ops"}, "op": {1, "ops"}, "requests": {1, "ops"}, "req": {1, "ops"}, "reqs": {1, "ops"}, "runs": {1, "ops"}, "calls": {1, "ops"},
	"insn": {1, "instructions"}, "insns": {1, "instructions"}, "inst": {1, "instructions"}, "instr": {1, "instructions"},
	"instructions": {1, "instructions"}, "instruction": {1, "instructions"},
	"cycle": {1, "cycles"}, "cycles": {1, "cycles"},
	"alloc": {1, "allocs"}, "allocs": {1, "allocs"}, "logallocs": {1, "allocs"},
	"task": {1, "tasks"}, "tasks": {1, "tasks"},
	"error": {1, "errors"}, "errors": {1, "errors"},
	"k": {1e3, ""}, "K": {1e3, ""}, "M": {1e6, ""}, "G": {1e9, ""},
}

// rates are units of operations a second that have a name of their own.
var rates = map[string]float64{
	"rps": 1, "tps": 1, "ops": 1, "qps": 1, "iops": 1, "IOPS": 1, "mrps": 1e6, "Mrps": 1e6, "mops": 1e6, "Mops": 1e6, "krps": 1e3, "kops": 1e3, "kIOPS": 1e3, "kiops": 1e3, "ktps": 1e3, "kqps": 1e3,
}

// micro writes both signs of it as a letter. A replacer takes long to make.
var micro = strings.NewReplacer("µ", "u", "μ", "u")

// isASCII reports whether a text has none of the signs that are replaced.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// BaseUnit returns the base unit of a unit as printed, and the factor that a
// number in it is multiplied by: ("ms" → 0.001, "s"), ("krps" → 1000, "ops/s"),
// ("ns/op" → 1e-9, "s/op"). A unit that it does not know is its own base.
func BaseUnit(printed string) (factor float64, base string) {
	unit := strings.TrimSpace(printed)
	if unit == "" {
		return 1, ""
	}
	if !isASCII(unit) {
		unit = micro.Replace(unit)
	}
	s, ok := known[unit]
	if !ok {
		s = scaleOf(unit)
	}
	return s.factor, s.base
}

// known are the scales of units that are printed often: alone, for an operation
// and for a second.
var known = func() map[string]scale {
	m := maps.Clone(scales)
	for over := range scales {
		for _, under := range []string{"/op", "/s"} {
			m[over+under] = scaleOf(over + under)
		}
	}
	for unit, factor := range rates {
		m[unit] = scale{factor, "ops/s"}
	}
	return m
}()

// scaleOf returns the scale of a quotient of units.
func scaleOf(unit string) scale {
	over, under, ok := strings.Cut(unit, "/")
	if !ok {
		return scale{1, unit}
	}
	over, under = strings.TrimSpace(over), strings.TrimSpace(under)
	s, ok := scales[over]
	if !ok {
		s = scale{1, over}
	}
	switch under {
	case "op", "ops", "iter", "iteration", "operation", "request", "req":
		return scale{s.factor, s.base + "/op"}
	}
	if per, ok := scales[under]; ok && per.base == "s" {
		return scale{s.factor / per.factor, s.base + "/s"}
	}
	return scale{s.factor, s.base + "/" + under}
}
