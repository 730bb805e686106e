package report

import (
	"encoding/csv"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

var _ = register(Form{
	Name:  "csv",
	About: "a row a comparison, in base units, for spreadsheets and data frames",
	Write: writeCSV,
})

// csvHeader names the columns: a contract, to which columns are only ever added
// at the end.
var csvHeader = []string{
	"suite", "benchmark", "metric", "unit", "better", "gating", "outcome", "warned",
	"base_median", "base_min", "base_max", "base_launches", "base_values",
	"head_median", "head_min", "head_max", "head_launches", "head_values",
	"change", "slowdown", "slowdown_low", "slowdown_high", "low_confidence", "high_confidence",
	"threshold", "warn", "limit", "detectable", "base_commit", "head_commit", "why", "warnings",
	"creep_since", "creep_commit", "creep_jobs", "creep_change", "creep_threshold",
}

// writeCSV writes the table by RFC 4180, with a line feed after a carriage
// return. Shares are shares: 0.05 is 5 %. What there is none of is empty.
func writeCSV(w io.Writer, v gate.Verdict, _ Options) error {
	table := csv.NewWriter(w)
	table.UseCRLF = true
	rows := [][]string{csvHeader}
	for i := range v.Comparisons {
		rows = append(rows, csvRow(v, &v.Comparisons[i]))
	}
	return table.WriteAll(rows)
}

func csvRow(v gate.Verdict, c *gate.Comparison) []string {
	row := []string{
		CellText(v.Suite), CellText(nameOf(v, c.Benchmark)), CellText(c.Metric.Name), CellText(c.Metric.Unit),
		c.Metric.Better.String(), strconv.FormatBool(c.Gating), c.Outcome.String(), strconv.FormatBool(c.Warned),
	}
	row = append(row, cellsOf(c.Base)...)
	row = append(row, cellsOf(&c.Head)...)
	slowdown := gate.Slowdown{Estimate: math.NaN(), High: math.Inf(1), LowConfidence: math.NaN(), HighConfidence: math.NaN()}
	if c.Slowdown != nil {
		slowdown = *c.Slowdown
	}
	if slowdown.Low == 0 { // which is no bound
		slowdown.Low = math.NaN()
	}
	warn, limit := math.NaN(), math.NaN()
	if c.Warn != 0 {
		warn = c.Warn
	}
	if c.Limit != nil {
		limit = *c.Limit
	}
	for _, n := range []float64{
		c.Change, slowdown.Estimate, slowdown.Low, slowdown.High, slowdown.LowConfidence, slowdown.HighConfidence,
		c.Threshold, warn, limit, c.Detectable,
	} {
		row = append(row, cellNumber(n))
	}
	base := ""
	if v.Base != nil {
		base = v.Base.Commit
	}
	row = append(row, CellText(base), CellText(v.Head.Commit), CellText(c.Why), CellText(strings.Join(c.Warnings, "; ")))
	if k := c.Crept; k != nil {
		return append(row, CellText(k.Since), CellText(k.Commit), strconv.Itoa(k.Jobs), cellNumber(k.Change), cellNumber(k.Threshold))
	}
	return append(row, make([]string, 5)...)
}

// cellsOf are the columns of a side; empty where there is none.
func cellsOf(s *gate.Summary) []string {
	if s == nil {
		return make([]string, 5)
	}
	return []string{cellNumber(s.Median), cellNumber(s.Min), cellNumber(s.Max), strconv.Itoa(s.Launches), strconv.Itoa(s.Values)}
}

// cellNumber writes a number so that it is read as the same again; what is none
// is empty.
func cellNumber(v float64) string {
	switch {
	case !finite(v):
		return ""
	case v == 0: // and not -0
		return "0"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// formula is where a spreadsheet would begin to compute: at the start of a cell,
// or of what it takes for one where it parts columns at semicolons. The wide
// signs are taken for formulas too.
// https://owasp.org/www-community/attacks/CSV_Injection
var formula = regexp.MustCompile(`(^|;)(\s*)([=+\-@＝＋－＠])`)

// CellText makes text for a cell of a spreadsheet: nothing in it is invisible, and nothing is
// computed, since an apostrophe makes it text.
func CellText(s string) string { return formula.ReplaceAllString(Printable(s), "${1}'${2}${3}") }
