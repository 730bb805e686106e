package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

var _ = register(Form{
	Name:     "text",
	About:    "a table of at most 100 columns, for a terminal or a log",
	Write:    writeText,
	Together: writeTexts,
})

const (
	textWidth = 100
	// Gating comparisons are all shown. Of everything else a terminal gets so
	// much, and the number of what is left out; informational metrics that stayed
	// the same are only counted.
	mostInformational = 20
	mostListed        = 10
)

// The escapes that a terminal colours by.
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

func writeText(w io.Writer, v gate.Verdict, o Options) error {
	out := bufio.NewWriter(w)
	newText(out, v, o).write()
	return out.Flush()
}

// A text is a report for a terminal in the making.
type text struct {
	*bufio.Writer
	verdict gate.Verdict
	color   bool
	common  map[string]int // warnings that are said once for all
}

func newText(out *bufio.Writer, v gate.Verdict, o Options) *text {
	_, common := commonWarnings(v)
	return &text{Writer: out, verdict: v, color: o.Color, common: common}
}

func (t *text) write() {
	v := t.verdict
	t.headline(headline(v, plain))
	t.tables()
	t.moved()
	t.keys("added, with nothing to compare with", v.Added)
	t.keys("removed: base has it, head has not", v.Removed)
	// One reason is whole in the headline.
	if reasons := further(v); len(reasons) > 1 {
		t.list(fmt.Sprintf("why the status is %d", v.Status), reasons)
	}
	t.list("warnings", warningsOf(v))
	t.list("looked like a baseline, and is none", v.Refused)
	t.sides()
}

func (t *text) headline(sentences []string) {
	for _, l := range wrap("", strings.Join(sentences, " "), 0, textWidth) {
		t.line(t.paint(bold, l))
	}
}

func (t *text) line(s string) {
	t.WriteString(strings.TrimRight(s, " "))
	t.WriteByte('\n')
}

func (t *text) paint(code, s string) string {
	if !t.color || code == "" {
		return s
	}
	return code + s + reset
}

// colorOf is the colour of an outcome; that of an informational metric is not
// painted as if it failed something.
func colorOf(c *gate.Comparison) string {
	switch {
	case c.Outcome == gate.Regressed && c.Gating:
		return red
	case c.Outcome == gate.Regressed, c.Outcome == gate.Inconclusive && c.Gating, c.Warned:
		return yellow
	case c.Outcome == gate.Improved:
		return green
	}
	return ""
}

// A row is the cells of one comparison: benchmark, metric, then numbers.
type row [7]string

var heading = row{"benchmark", "metric", "base", "head", "change", "slowdown", "fails at"}

const gap = 2 // columns between two cells

// tables writes the gating comparisons, then the informational ones, in common
// columns.
func (t *text) tables() {
	gating, informational := ranked(t.verdict.Comparisons)
	moved := filter(informational, func(c *gate.Comparison) bool { return c.Outcome != gate.Same || c.Warned })
	shown := moved[:min(len(moved), mostInformational)]
	if len(gating)+len(informational) == 0 {
		return
	}
	gatingRows, shownRows := t.rowsOf(gating), t.rowsOf(shown)
	l := layoutOf(gatingRows, shownRows)
	const informationalTitle = "informational: shown, never fails"
	t.line("")
	if len(gating) == 0 {
		t.line(informationalTitle)
	}
	l.write(t, heading)
	l.last = ""
	for i, c := range gating {
		t.comparison(c, gatingRows[i], l)
	}
	if len(informational) == 0 {
		return
	}
	if len(gating) > 0 {
		t.line("")
		t.line(informationalTitle)
	}
	l.last = ""
	for i, c := range shown {
		t.comparison(c, shownRows[i], l)
	}
	// ranked puts what stayed the same last.
	if rest := informational[len(shown):]; len(rest) > 0 {
		t.line(fmt.Sprintf("and %d more: %s", len(rest), tally(rest)))
	}
}

func (t *text) rowsOf(list []*gate.Comparison) []row {
	rows := make([]row, len(list))
	for i, c := range list {
		rows[i] = row{
			Printable(nameOf(t.verdict, c.Benchmark)), Printable(c.Metric.Name),
			baseOf(c), headOf(c), changeOf(c), boundsOf(c.Slowdown), failsAt(c),
		}
	}
	return rows
}

// comparison writes a row, the outcome with its reason below it, and what else
// there is to know.
func (t *text) comparison(c *gate.Comparison, r row, l *layout) {
	l.write(t, r)
	indent := strings.Repeat(" ", l.indent+2)
	outcome := indent + outcomeOf(c) + ":"
	for i, line := range wrap(outcome+" ", plain.prose(c.Why), len(indent)+2, textWidth) {
		if i == 0 {
			line = indent + t.paint(colorOf(c), outcome[len(indent):]) + line[len(outcome):]
		}
		t.line(line)
	}
	for _, n := range notes(c, t.common) {
		t.wrapped(indent+"  note: ", plain.prose(n), len(indent)+4)
	}
}

// A layout is how wide the columns are. Where the names do not fit beside the
// numbers, each benchmark has a line of its own above its metrics.
type layout struct {
	widths  [len(heading)]int
	stacked bool
	indent  int
	last    string // the benchmark whose line is the latest, where stacked
}

func layoutOf(tables ...[]row) *layout {
	l := &layout{}
	for _, rows := range append(tables, []row{heading}) {
		for _, r := range rows {
			for i, cell := range r {
				l.widths[i] = max(l.widths[i], width(cell))
			}
		}
	}
	room := textWidth - gap*(len(heading)-1)
	for _, w := range l.widths[2:] {
		room -= w
	}
	if l.widths[0]+l.widths[1] > room {
		l.stacked, l.indent = true, gap
		l.widths[1] = min(l.widths[1], room)
	}
	return l
}

// write writes a row. Names stand left and are cut to fit, numbers stand right.
func (l *layout) write(t *text, r row) {
	cells := []string{padRight(r[0], l.widths[0])}
	if l.stacked {
		if r[0] != l.last {
			t.line(cut(r[0], textWidth))
		}
		l.last = r[0]
		cells = []string{""}
	}
	cells = append(cells, padRight(cut(r[1], l.widths[1]), l.widths[1]))
	for i, cell := range r[2:] {
		cells = append(cells, padLeft(cell, l.widths[2+i]))
	}
	t.line(strings.Join(cells, strings.Repeat(" ", gap)))
}

// moved writes the functions in which the instructions of an operation moved.
func (t *text) moved() {
	if t.verdict.Moved == nil {
		return
	}
	t.line("")
	t.line(cut(Printable(movedTitle(t.verdict)), textWidth))
	rows := append([]movedRow{{"function", "in", "base", "head", "change"}}, movedRows(t.verdict.Moved)...)
	var widths [5]int
	cells := make([][5]string, len(rows))
	for i, r := range rows {
		cells[i] = [5]string{cut(Printable(r.name), 44), cut(Printable(r.place), 24), r.base, r.head, r.change}
		for j, c := range cells[i] {
			widths[j] = max(widths[j], width(c))
		}
	}
	for _, c := range cells {
		t.line("  " + strings.Join([]string{
			padRight(c[0], widths[0]), padRight(c[1], widths[1]), padLeft(c[2], widths[2]), padLeft(c[3], widths[3]), padLeft(c[4], widths[4]),
		}, strings.Repeat(" ", gap)))
	}
}

func (t *text) wrapped(first, s string, indent int) {
	for _, l := range wrap(first, s, indent, textWidth) {
		t.line(l)
	}
}

// keys lists what is on one side only, a line a benchmark.
func (t *text) keys(title string, keys []bench.Key) {
	order, metrics := keysByBenchmark(keys)
	var lines []string
	for _, benchmark := range order {
		lines = append(lines, plain.name(nameOf(t.verdict, benchmark))+": "+strings.Join(metrics[benchmark], ", "))
	}
	t.list(title, lines)
}

// list writes sentences under a title, bounded.
func (t *text) list(title string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	t.line("")
	t.line(title)
	for _, s := range sentences[:min(len(sentences), mostListed)] {
		t.wrapped("  - ", plain.prose(s), 4)
	}
	if more := len(sentences) - mostListed; more > 0 {
		t.line(fmt.Sprintf("    and %d more", more))
	}
}

func (t *text) sides() {
	base, head := sides(t.verdict, plain)
	t.line("")
	if base != "" {
		t.wrapped("base  ", base, 6)
	}
	t.wrapped("head  ", head, 6)
}
