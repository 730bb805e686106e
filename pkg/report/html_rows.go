package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

// mostValues is how many values of a side the page has as numbers.
const mostValues = 100

// A pageRow is a comparison on the page.
type pageRow struct {
	ID, Kind                 string
	Gating                   bool
	Slowdown                 string // what it is sorted by
	Outcome                  string
	Benchmark, Metric        string
	Base, Head, Change, Fail string
	Plot                     plot
	Trend                    template.HTML
	Why                      string
	Notes                    []string
	Numbers                  string // a line each
}

// kinds are what comparisons are filtered by, in the order of ranked.
var kinds = []string{"regressed", "warned", "inconclusive", "improved", "same"}

func pageRowOf(v gate.Verdict, c *gate.Comparison, common map[string]int) pageRow {
	base, head := sampleOf(v.Base, c), sampleOf(&v.Head, c)
	r := pageRow{
		Kind: kinds[rank(c)], Gating: c.Gating, Slowdown: sortKey(c), Outcome: outcomeOf(c),
		Benchmark: shownName(nameOf(v, c.Benchmark)), Metric: shownName(c.Metric.Name),
		Base: baseOf(c), Head: headOf(c), Change: changeOf(c), Fail: failsAt(c),
		Plot: plotOf(c, base, head), Trend: trendPlot(c), Why: shown(c.Why), Numbers: numbersOf(c, base, head),
	}
	for _, n := range notes(c, common) {
		r.Notes = append(r.Notes, shown(n))
	}
	return r
}

// sampleOf returns what a side measured of a comparison; nil where that is not
// known, as of a benchmark that base has under another name.
func sampleOf(s *gate.Side, c *gate.Comparison) *bench.Sample {
	if s == nil {
		return nil
	}
	sample, ok := s.Set.Lookup(c.Key())
	if !ok {
		return nil
	}
	return &sample
}

// sortKey is the slowdown to sort by. A rise from nothing and a fall to it have
// no ratio, and are beyond all that have.
func sortKey(c *gate.Comparison) string {
	switch {
	case c.Slowdown != nil && !math.IsNaN(c.Slowdown.Estimate):
		return strconv.FormatFloat(c.Slowdown.Estimate, 'g', 6, 64)
	case c.Outcome == gate.Regressed:
		return "Infinity"
	case c.Outcome == gate.Improved:
		return "0"
	}
	return "1"
}

// numbersOf has in words and numbers what the plot draws.
func numbersOf(c *gate.Comparison, base, head *bench.Sample) string {
	var lines []string
	if c.Base != nil {
		lines = append(lines, "base: "+summaryWords(*c.Base, base, c.Metric))
	}
	lines = append(lines, "head: "+summaryWords(c.Head, head, c.Metric))
	if s := c.Slowdown; s != nil {
		line := "slowdown: " + ratio(s.Estimate)
		if s.Low > 0 {
			line += fmt.Sprintf(", at least %s (%.3g %% sure)", ratio(s.Low), 100*s.LowConfidence)
		}
		if s.High < math.Inf(1) {
			line += fmt.Sprintf(", at most %s (%.3g %% sure)", ratio(s.High), 100*s.HighConfidence)
		}
		lines = append(lines, line)
	}
	if finite(c.Detectable) {
		lines = append(lines, "could have been shown: "+gate.Percent(c.Detectable)+" or more")
	}
	if words := trendWords(c); words != "" {
		lines = append(lines, "trend: "+words)
	}
	if level, ok := anchorOf(c); ok {
		lines = append(lines, fmt.Sprintf("anchor: %s at %s", shownName(c.Crept.Since), quantity(level, c.Metric)))
	}
	return strings.Join(lines, "\n")
}

// summaryWords describes a side, with its values as far as they are known and
// not too many.
func summaryWords(s gate.Summary, sample *bench.Sample, m bench.Metric) string {
	words := fmt.Sprintf("median %s, from %s to %s", quantity(s.Median, m), quantity(s.Min, m), quantity(s.Max, m))
	if sample == nil {
		return words
	}
	words += fmt.Sprintf("; %s of %s", gate.Count(s.Values, "value"), gate.Count(s.Launches, "launch"))
	left := mostValues
	for i, values := range sample.Launches {
		separator := ", "
		// Values of one launch stand together, where launches have several.
		if i == 0 {
			separator = ": "
		} else if s.Values > s.Launches {
			separator = "; "
		}
		for _, v := range values {
			if left == 0 {
				return fmt.Sprintf("%s and %d more", words, s.Values-mostValues)
			}
			words += separator + quantity(v, m)
			separator = ", "
			left--
		}
	}
	return words
}
