package format

import (
	"io"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What go-tpc prints at the end of a run, by
// https://github.com/pingcap/go-tpc/blob/master/tpcc/workload.go and its
// neighbours for TPC-H, CH-benCHmark and SQL of one's own: as text, as a table
// with the same columns, and as JSON with a list of them for each table.
//
//	[Summary] NEW_ORDER - Takes(s): 9.0, Count: 1137, TPM: 7614.4, Sum(ms): 6520.8, Avg(ms): 5.7, 50th(ms): 4.2, …
//	[Summary] NEW_ORDER_ERR - Takes(s): 9.0, Count: 767, TPM: 5136.4, …
//	tpmC: 7614.1, tpmTotal: 22755.7, efficiency: 59207.4%
//	[Summary] Q1: 5.51s
//
// Each operation is a benchmark, with its rate (TPM is of a minute), latencies and
// errors; a query has the mean time of one execution. tpmC and tpmTotal are the
// rate of NEW_ORDER and the sum of all. [Current] lines are of a part of the run.
var _ = register(Format{
	Name:  "go-tpc",
	Tool:  "go-tpc",
	Print: "go-tpc tpcc run --warehouses 10 --threads 8 --time 1m",
	How:   `a line "[Summary] OPERATION - Takes(s): N" or "[Summary] QUERY: Ns", a table of them, or a JSON array of objects with "Operation" and "Prefix"`,
	Seen:  []string{"go-tpc 1.0.12"},
	Sniff: either(sniffGoTPC, sniffDocument(goTPCShape)),
	Read:  readEither(goTPCShape, readGoTPC, readGoTPCText),
})

var (
	goTPCShape = withKeys("[].Operation", "[].Prefix")
	sniffGoTPC = sniffLine(`^[>\s]*\[Summary\] +\w+ +- (?:Takes\(s\)|Count): \d`, `^[>\s]*\[Summary\] \w+: [\d.]+s$`,
		`^[>\s]*\|\s*PREFIX\s*\|\s*OPERATION\s*\|`)

	goTPCLine  = compile(`^\[Summary\] +(\w+) +- (.*)$`)
	goTPCQuery = compile(`^\[Summary\] (\w+): (\S+)s$`)
	goTPCEnd   = compile(`^tpmC: `)
)

func readGoTPC(d *jsonDocument) error {
	t := goTPCTable{emit: func(g gatherer) bool {
		g.report(d)
		return !d.stopped
	}}
	err := d.objects(func(row jsonObject) (mistyped error) {
		t.row(line{}, func(column string) string {
			text, err := row.string(column, column)
			if err != nil {
				mistyped = err
			}
			return text
		})
		return mistyped
	})
	t.flush(err == nil && !d.isHalf())
	return err
}

func readGoTPCText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	launch := 0
	seen := map[string]bool{} // in this launch
	t := goTPCTable{emit: func(g gatherer) bool {
		if seen[g.result.Name] {
			launch++
			clear(seen)
		}
		seen[g.result.Name] = true
		g.result.Launch = launch
		return g.yield(yield)
	}}
	var header []string // of the table that the line is in
	done := eachUnquoted(r, name, yield, func(l line) bool {
		if m := goTPCLine.FindStringSubmatch(l.text); m != nil {
			columns := strings.Split("Prefix: [Summary], Operation: "+m[1]+", "+m[2], ", ")
			return t.row(l, func(column string) string {
				for _, c := range columns {
					if name, value, _ := strings.Cut(c, ": "); name == column {
						return value
					}
				}
				return ""
			})
		}
		if m := goTPCQuery.FindStringSubmatch(l.text); m != nil {
			return t.row(l, func(column string) string {
				return map[string]string{"Prefix": "[Summary]", "Operation": m[1], "Avg(s)": m[2]}[column]
			})
		}
		if !strings.HasPrefix(l.text, "|") {
			return !goTPCEnd.MatchString(l.text) || t.flush(true)
		}
		cells := tableCells(l.text)
		if slices.Contains(cells, "OPERATION") || slices.Contains(cells, "TPMC") {
			header = cells
			return true
		}
		return t.row(l, func(column string) string {
			if i := slices.Index(header, strings.ToUpper(column)); i >= 0 && i < len(cells) {
				return cells[i]
			}
			return ""
		})
	})
	if done {
		t.flush(false)
	}
}

// A goTPCTable gathers the rows of an operation: that of those that came to an end,
// and that of those that failed, if any did.
type goTPCTable struct {
	latest gatherer
	failed string // how many of it did
	isOpen bool   // there is a latest
	emit   func(gatherer) bool
}

// row takes a row, whose columns have the names of the JSON, and reports whether
// to go on. Those of a part of a run, and of other tables, are passed over.
func (t *goTPCTable) row(at line, column func(string) string) bool {
	if strings.TrimSpace(column("Prefix")) != "[Summary]" {
		return column("tpmC") == "" || t.flush(true)
	}
	operation := column("Operation")
	name, isFailed := strings.CutSuffix(operation, "_ERR")
	if !t.isOpen || t.latest.result.Name != name || !isFailed {
		if !t.flush(true) {
			return false
		}
		t.latest, t.isOpen = gatherer{at: at, result: bench.Result{Name: name}}, true
	}
	if isFailed {
		t.failed = column("Count")
		if t.failed == "" {
			t.latest.problem("want how often %s failed, have how long that took", name)
		}
		return true
	}
	if column("TPM") == "" {
		t.query(column)
		return true
	}
	t.latest.parseRate("throughput", column("TPM"), "ops/min")
	for _, l := range [...]struct{ column, metric string }{
		{"Avg(ms)", "latency_mean"}, {"50th(ms)", "latency_p50"}, {"90th(ms)", "latency_p90"}, {"95th(ms)", "latency_p95"},
		{"99th(ms)", "latency_p99"}, {"99.9th(ms)", "latency_p999"}, {"Max(ms)", "latency_max"},
	} {
		if printed := column(l.column); printed != "" {
			t.latest.parse(l.metric, printed, "ms")
		}
	}
	t.failed = "0"
	return true
}

// query takes the mean time of one execution.
func (t *goTPCTable) query(column func(string) string) {
	if printed := column("Avg(ms)"); printed != "" {
		t.latest.parse("time_per_op", printed, "ms")
	} else {
		t.latest.parse("time_per_op", column("Avg(s)"), "s")
	}
	t.latest.statistics()
}

// flush hands on what was gathered, if there is something. Whether it failed is
// known where the rows after it are there.
func (t *goTPCTable) flush(rowsAfter bool) bool {
	if !t.isOpen {
		return true
	}
	if t.failed != "" && (rowsAfter || t.failed != "0") {
		t.latest.parse("errors", t.failed, "errors")
	}
	g := t.latest
	t.latest, t.failed, t.isOpen = gatherer{}, "", false
	return t.emit(g)
}
