package format

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// Tables of what was measured before and after a change, as scripts that compare
// two runs print them and people write them into the message of a commit:
//
//	                base    patched                | Metric                  | Before | After  | Change |
//	get_0            159        153 (-  3%)        |-------------------------|-------:|-------:|--------|
//	average speed  11060 rps  54344 rps            | Throughput (median tps) | 55,777 | 56,051 | +0.5%  |
//
// Each column that is no change is a side: a benchmark with /base or /patched
// after its name, by the column's header. Under "Metric" stand metrics of one
// benchmark, whose unit is that of the cell or in brackets. A number without a
// unit is a "value" without a direction. Cells stand between bars or are two
// blanks apart.
var _ = register(Format{
	Name:    "sides",
	Tool:    "scripts and people that compare before and after",
	Print:   "tarantool perf/lua/compare.lua base.txt patched.txt",
	How:     "the header of a table with a column base, before, old or the like, and one patched, after, new or the like",
	General: true,
	Sniff:   sniffSides,
	Read:    readSides,
})

var (
	sidesBase   = compile(`(?i)^(?:\./)?(?:base|baseline|before|old|unpatched|reference)(?:[\W_]|$)`)
	sidesHead   = compile(`(?i)^(?:\./)?(?:head|patched|after|new)(?:[\W_]|$)`)
	sidesChange = compile(`(?i)^(?:change|diff|difference|delta|ratio|speedup|stdev|[%+±Δ].*)(?:\W|$)`)
	sidesGap    = compile(`\s{2,}|\t`)
	sidesNote   = compile(`\([^()]*\)`)
	sidesCell   = compile(`^([-+]?[\d.][\d.,']*[kKMG]?)\s*([a-zA-Zµμ]+(?:/[a-zA-Z]+)?)?$`)
	sidesUnit   = compile(`^\((?:(median|mean|avg|average)\b\s*)?([^()]*)\)$`)
)

func sniffSides(in *Input) bool {
	for l, err := range lines(in.reader(), "") {
		if err == nil && sidesHeader(unquoted(l).text) != nil {
			return true
		}
	}
	return false
}

// sidesHeader returns the columns of a table's header, or nil where the line is
// none.
func sidesHeader(text string) []string {
	if !sidesWords(text) {
		return nil
	}
	return sidesColumns(text, sidesCells(text))
}

// sidesColumns returns the columns that the cells of a line head, of which the first
// is that of the labels, or nil where they head none.
func sidesColumns(text string, cells []string) []string {
	const longest = 1024
	if len(text) > longest {
		return nil
	}
	columns := cells
	if len(columns) > 0 && sidesBase.MatchString(columns[0]) {
		columns = slices.Insert(columns, 0, "")
	}
	if len(columns) < 3 {
		return nil
	}
	var hasBase, hasHead bool
	for _, c := range columns[1:] {
		isBase, isHead := sidesBase.MatchString(c), sidesHead.MatchString(c)
		if !isBase && !isHead && !sidesChange.MatchString(c) {
			return nil
		}
		hasBase, hasHead = hasBase || isBase, hasHead || isHead
	}
	if !hasBase || !hasHead {
		return nil
	}
	return columns
}

// sidesWords reports whether a text can be a header: most lines cannot, and
// this is quick to see.
func sidesWords(text string) bool {
	text = strings.ToLower(text)
	has := func(word string) bool { return strings.Contains(text, word) }
	return slices.ContainsFunc([]string{"base", "before", "old", "unpatched", "reference"}, has) &&
		slices.ContainsFunc([]string{"head", "patched", "after", "new"}, has)
}

// sidesCells cuts a line at its bars, or where two blanks are.
func sidesCells(text string) []string {
	if strings.Contains(text, "|") {
		return tableCells(text)
	}
	return sidesGap.re().Split(text, -1)
}

func readSides(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		var columns []string             // of the table that the line stands in
		var isChange []bool              // of each column
		values := make([]bench.Value, 1) // of each result in turn
		var filter filter
		eachUnquoted(r, name, yield, func(l line) bool {
			if isRule(l.text) {
				return true
			}
			var header, cells []string
			if strings.Contains(l.text, "|") {
				cells = tableCells(l.text)
				header = sidesColumns(l.text, cells)
			} else {
				cells = sidesCells(strings.TrimSpace(sidesNote.ReplaceAllString(l.text, "")))
				header = sidesHeader(l.text)
			}
			if header != nil {
				columns, isChange = header, isChange[:0]
				for _, c := range columns {
					isChange = append(isChange, sidesChange.MatchString(c))
				}
				return true
			}
			if len(cells) < 3 || len(cells) > len(columns) {
				columns = nil // what follows the table
				return true
			}
			row := newSidesRow(columns, cells[0])
			row.values = values[:0]
			for i := 1; i < len(cells); i++ {
				if isChange[i] {
					continue
				}
				res, err := row.result(l, columns[i], cells[i])
				if err != nil && !yield(bench.Result{}, err) || !filter.yield(l, res, yield) {
					return false
				}
			}
			return true
		})
	}
}

// A sidesRow is what the label of a row says about its cells.
type sidesRow struct {
	label       string
	benchmark   string // or else they are of a metric
	printed     string // the name of the metric
	metric      string
	unit        string // of cells without one
	isStatistic bool
	values      []bench.Value // room for those of a result
}

func newSidesRow(columns []string, label string) sidesRow {
	if !strings.EqualFold(columns[0], "metric") {
		return sidesRow{label: label, benchmark: oneBlank(label) + "/"}
	}
	row := sidesRow{label: label, printed: label}
	bracket := max(0, strings.LastIndexByte(label, '('))
	if m := sidesUnit.FindStringSubmatch(label[bracket:]); m != nil {
		row.printed = strings.TrimRight(label[:bracket], " \t\f\r\n")
		row.unit, row.isStatistic = m[2], m[1] != ""
	}
	// "Instructions/op" is instructions_per_op.
	row.metric = bench.SnakeCase(strings.ReplaceAll(row.printed, "/", "_per_"))
	return row
}

var (
	sidesMarks  = bytesOf(" *")            // of a cell in bold
	sidesDigits = bytesOf("0123456789.,'") // of a number without sign and suffix
)

// cutSidesCell cuts a cell into its number and unit.
func cutSidesCell(cell string) (number, unit string, ok bool) {
	if cell != "" && separators.prefix(cell) == 0 && sidesDigits.onlyOf(cell) {
		return cell, "", true // as most are
	}
	m := sidesCell.FindStringSubmatch(cell)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}

// result returns the result of a cell.
func (r sidesRow) result(l line, column, cell string) (bench.Result, error) {
	cell = sidesMarks.trim(cell)
	number, unit, ok := cutSidesCell(strings.TrimSpace(sidesNote.ReplaceAllString(cell, "")))
	if !ok {
		return bench.Result{}, l.errorf("want a number for %s under %q, have %q", r.label, column, cell)
	}
	n, err := parseNumber(number)
	if err != nil {
		return bench.Result{}, l.errorf("%s under %q: %v", r.label, column, err)
	}
	if r.benchmark != "" {
		metric := "value"
		if unit != "" {
			metric = metricOfUnit(unit)
		}
		return bench.Result{Name: r.benchmark + column, Values: append(r.values, bench.Measure(metric, n, unit))}, nil
	}
	if r.metric == "" {
		return bench.Result{}, l.errorf("want the name of a metric before %q, have %q", cell, r.printed)
	}
	var v bench.Value
	if unit = cmp.Or(unit, r.unit); unit == "" {
		v = measureNamed(r.metric, n)
	} else {
		v = bench.Measure(r.metric, n, unit)
	}
	if r.isStatistic {
		v.Statistic = &bench.Spread{}
	}
	return bench.Result{Name: column, Values: append(r.values, v)}, nil
}
