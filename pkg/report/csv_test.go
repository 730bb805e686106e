package report_test

import (
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

func readCSV(t testing.TB, table string) []map[string]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatalf("%v:\n%s", err, table)
	}
	var rows []map[string]string
	for _, r := range records[1:] {
		row := map[string]string{}
		for i, cell := range r {
			row[records[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

// computed is what a spreadsheet takes for a formula, in a cell or in what it
// takes for one where semicolons or tabs part them; a number is none.
var computed = regexp.MustCompile(`(^|[;\t\r\n])\s*[=+\-@＝＋－＠]`)

// checkCSV reads the table again: a row a comparison, numbers that are numbers,
// text that nothing computes.
func checkCSV(t testing.TB, table string, v gate.Verdict) {
	t.Helper()
	if strings.Count(table, "\n") != strings.Count(table, "\r\n") || strings.Count(table, "\r\n") != len(v.Comparisons)+1 {
		t.Errorf("%d lines for %d comparisons", strings.Count(table, "\n"), len(v.Comparisons))
	}
	rows := readCSV(t, table)
	if len(rows) != len(v.Comparisons) {
		t.Fatalf("%d rows, want %d", len(rows), len(v.Comparisons))
	}
	for i, row := range rows {
		if want := v.Comparisons[i].Outcome.String(); row["outcome"] != want {
			t.Errorf("row %d is %s, want %s", i, row["outcome"], want)
		}
		for column, cell := range row {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && computed.MatchString(cell) {
				t.Errorf("%s would be computed: %q", column, cell)
			}
			if strings.ContainsFunc(cell, unseen) {
				t.Errorf("%s has characters that are not seen: %q", column, cell)
			}
		}
	}
}

// TestCSV reads back the numbers of a comparison, in base units.
func TestCSV(t *testing.T) {
	v := awkward(t)
	rows := readCSV(t, written(t, "csv", v, report.Options{}))
	for column, want := range map[string]string{
		"suite": "storage", "benchmark": "write", "metric": "instructions_per_op", "unit": "instructions/op", "better": "lower",
		"gating": "true", "outcome": "regressed", "warned": "false", "base_median": "50005", "base_launches": "5", "base_values": "5",
		"head_median": "50731", "low_confidence": "0.99", "high_confidence": "0.9", "threshold": "0.01", "warn": "0.002", "limit": "",
		"base_commit": v.Base.Commit, "head_commit": v.Head.Commit, "why": v.Comparisons[0].Why, "warnings": "",
	} {
		if got := rows[0][column]; got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
	for i, c := range v.Comparisons {
		for column, want := range map[string]float64{"head_median": c.Head.Median, "head_max": c.Head.Max, "threshold": c.Threshold} {
			if got, err := strconv.ParseFloat(rows[i][column], 64); err != nil || got != want {
				t.Errorf("%s of row %d is %q, want %v", column, i, rows[i][column], want)
			}
		}
		if c.Benchmark == "few" && (rows[i]["slowdown_low"] != "" || rows[i]["slowdown_high"] != "" || rows[i]["detectable"] != "") {
			t.Errorf("an unbounded slowdown has bounds: %v", rows[i])
		}
		if c.Base == nil && rows[i]["base_median"]+rows[i]["base_launches"] != "" {
			t.Errorf("a base that there is none of has numbers: %v", rows[i])
		}
	}
}

// TestCSVFormulas makes text of what a spreadsheet would compute.
func TestCSVFormulas(t *testing.T) {
	for name, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "＝1": "'＝1", " =1": "' =1", "\t=1": `\t=1`, "\r=1": `\r=1`,
		"a;=1": "a;'=1", "a;;-1": "a;;'-1", "a,=1": "a,=1", "=HYPERLINK(\"https://evil.example\")": "'=HYPERLINK(\"https://evil.example\")",
		"a-b": "a-b", "Encode/size=1024-8": "Encode/size=1024-8", "": "s",
	} {
		v := gate.Verdict{Suite: "s", Comparisons: []gate.Comparison{{Benchmark: name}}}
		table := written(t, "csv", v, report.Options{})
		checkCSV(t, table, v)
		if got := readCSV(t, table)[0]["benchmark"]; got != want {
			t.Errorf("%q is written as %q, want %q", name, got, want)
		}
	}
}
