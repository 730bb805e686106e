package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// explain says in one sentence why a comparison came out as it did.
func explain(c Comparison, f finding, base, head int) string {
	amount := func(loss float64) string { return amountOf(loss, c.Metric.Better) }
	at := fmt.Sprintf("; fails at %s", Percent(c.Threshold))
	if !c.Gating {
		at = "; not gating"
	}
	if c.Warned {
		at = fmt.Sprintf("; beyond the warning at %s%s", Percent(c.Warn), at)
	}
	switch f.basis {
	case byNothing:
		return "a side has no value, or one that is negative or no number"
	case byZero:
		return zeroSentence(f)
	case byEquality:
		if math.Abs(f.estimate) < equal {
			return "exactly the same on both sides" + at
		}
		return fmt.Sprintf("exactly %s, every value of it%s", amount(f.estimate), at)
	case byHistory:
		return fmt.Sprintf("%s than the latest jobs; noise between jobs reaches %s%s", amount(f.estimate), Percent(thresholdOf(f.floor, c.Metric.Better)), at)
	case byFewNumbers:
		return fewSentence(base, head)
	}
	sure := func(level float64) string { return fmt.Sprintf("%.3g %% sure", 100*level) }
	switch c.Outcome {
	case Regressed:
		return fmt.Sprintf("%s, at least %s (%s)%s", amount(f.estimate), amount(f.fail.Low), sure(f.fail.OneSided()), at)
	case Improved:
		m := f.mirror()
		return fmt.Sprintf("%s, at least %s (%s)%s", amount(f.estimate), amount(-m.fail.Low), sure(f.fail.OneSided()), at)
	case Same:
		if f.pass.High < 0 {
			return fmt.Sprintf("%s, at least %s (%s)%s", amount(f.estimate), amount(f.pass.High), sure(f.pass.OneSided()), at)
		}
		return fmt.Sprintf("at most %s (%s)%s", amount(f.pass.High), sure(f.pass.OneSided()), at)
	}
	seen := "no slowdown could have been shown"
	if !math.IsInf(c.Detectable, 1) {
		seen = fmt.Sprintf("%s or more could have been shown", Percent(c.Detectable))
	}
	return fmt.Sprintf("anything from %s to %s; %s%s%s", amount(f.fail.Low), amount(f.pass.High), seen, neededSentence(c.Needed), at)
}

// neededSentence words how many runs would decide what stayed open.
func neededSentence(runs float64) string {
	const most = 1000 // more is nothing that anybody configures
	switch {
	case runs == 0:
		return ""
	case math.IsInf(runs, 1):
		return "; no number of runs would decide it, as base is of another job"
	case runs > most:
		return fmt.Sprintf("; more than %d runs a side would decide it", most)
	}
	return fmt.Sprintf("; about %.0f runs a side would decide it", runs)
}

// zeroSentence words a comparison with a value of zero, which has no ratio.
func zeroSentence(f finding) string {
	switch {
	case f.gone:
		return "worse in every value; from or to zero there is no ratio"
	case f.worse:
		return "worse in the middle, but not in every value; with a value of zero there is no ratio"
	case f.come:
		return "better in every value; from or to zero there is no ratio"
	case f.better:
		return "better in the middle; with a value of zero there is no ratio"
	}
	return "the same in the middle; with a value of zero there is no ratio"
}

// amountOf words a loss as a change of the metric itself.
func amountOf(loss float64, better bench.Better) string {
	switch {
	case math.IsInf(loss, -1):
		return "any amount better"
	case math.IsInf(loss, 1):
		return "any amount worse"
	}
	share := Percent(math.Abs(thresholdOf(loss, better)))
	switch {
	case loss > 0:
		return share + " worse"
	case loss < 0:
		return share + " better"
	}
	return "no change"
}

// Percent words a share: 0.0144 is "1.44 %". Two digits behind the first that
// counts are kept, and no zeros at the end.
func Percent(share float64) string {
	v := 100 * share
	switch a := math.Abs(v); {
	case math.IsInf(v, 0), math.IsNaN(v):
		return "unbounded"
	case a >= 1e6:
		return fmt.Sprintf("%.3g %%", v)
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64) + " %"
	case a >= 10:
		return trimZeros(strconv.FormatFloat(v, 'f', 1, 64)) + " %"
	case a >= 1:
		return trimZeros(strconv.FormatFloat(v, 'f', 2, 64)) + " %"
	case a > 0 && a < 0.001:
		return fmt.Sprintf("%.1g %%", v)
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 3, 64)) + " %"
}

// SignedPercent words a change, with its sign.
func SignedPercent(share float64) string {
	if share > 0 {
		return "+" + Percent(share)
	}
	return Percent(share)
}

// prefixes scale numbers for reading, largest first.
type prefix struct {
	factor float64
	name   string
}

var (
	timePrefixes   = []prefix{{1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}
	binaryPrefixes = []prefix{{1 << 40, "Ti"}, {1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}, {1, ""}}
	decimalRates   = []prefix{{1e9, "G"}, {1e6, "M"}, {1, ""}}
	bytesPerSecond = []prefix{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}
)

// Quantity words a number in a base unit for reading: 1.5e-6 s is "1.5 µs".
// Counts are never scaled: their last digits are what is looked for.
func Quantity(v float64, unit string) string {
	per, scaled := "", []prefix(nil)
	base := unit
	if i := strings.IndexByte(unit, '/'); i >= 0 {
		base, per = unit[:i], unit[i:]
	}
	switch {
	case base == "s":
		scaled = timePrefixes
	case base == "B" && per == "/s":
		scaled = bytesPerSecond
	case base == "B":
		scaled = binaryPrefixes
	case unit == "ops/s":
		scaled = decimalRates
	}
	if v != 0 {
		for i, p := range scaled {
			if math.Abs(v) >= p.factor || i == len(scaled)-1 {
				return strings.TrimSpace(number(v/p.factor) + " " + p.name + unit)
			}
		}
	}
	return strings.TrimSpace(number(v) + " " + unit)
}

// number writes a number with at least four digits that count, and all digits
// before the point.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a != 0 && (a >= 1e15 || a < 1e-4):
		return fmt.Sprintf("%.4g", v)
	case a >= 1e4:
		return trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	case a >= 100:
		return trimZeros(strconv.FormatFloat(v, 'f', 2, 64))
	case a >= 1:
		return trimZeros(strconv.FormatFloat(v, 'f', 3, 64))
	}
	return trimZeros(strconv.FormatFloat(v, 'f', 6, 64))
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// errorsOf words a mean number of errors.
func errorsOf(mean float64) string {
	if mean == 1 {
		return "1 error"
	}
	return number(mean) + " errors"
}

// Count words a number of things.
func Count(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "ch"):
		thing += "e"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
