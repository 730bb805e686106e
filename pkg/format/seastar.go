package format

import (
	"io"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The tables of Seastar's perf_tests, in which also every microbenchmark of
// ScyllaDB prints, as text or Markdown:
//
//	test     iterations  median      mad      min      max  [allocs tasks inst [cycles]]      2018 to 2025
//	group.x   293173628 3.414ns  0.004ns  3.404ns  3.420ns    1.000 0.000 58.0   12.1
//
//	test          iters          runtime  allocs  tasks   inst  cycles [overhead]             since
//	group.x   548592737  1.82ns ± 0.02%    0.000  0.000  55.00    10.0    0.000
//
// and its --json-output, as printed by
// https://github.com/scylladb/seastar/blob/master/tests/perf/perf_tests.cc.
//
// What is printed are medians of the runs (of time) and means (of all else). mad
// is the median absolute deviation around the median, "± F%" the same in percent
// of it. Iterations, min, max and the harness's overhead are no metrics.
var _ = register(Format{
	Name:  "seastar",
	Tool:  "Seastar perf_tests, and ScyllaDB's microbenchmarks",
	Print: "perf_tests --runs 10",
	How:   `a row of a name, iterations and a median with its mad, or JSON with "total_iterations" and "mad"`,
	Sniff: either(sniffDocument(seastarOwn), sniffLine(
		`^[>| \t]*test[\s|]+(?:iterations[\s|]+median[\s|]+mad|iters[\s|]+runtime)\b`,
		`^[>| \t]*\S+[\s|]+\d+(?:[\s|]+[\d.]+(?:ns|us|µs|μs|ms|s)){4}(?:[\s|]|$)`,
		`^[>| \t]*\S+[\s|]+\d+[\s|]+[\d.]+(?:ns|us|µs|μs|ms|s) ± [\d.]+%`,
		`"total_iterations"\s*:`,
	)),
	Read: readEither(seastarDocument, readSeastarJSON, readSeastarText),
})

// seastarColumns are the columns of a table whose header was cut off, by how
// many there are.
var seastarColumns = strings.Fields("iterations median mad min max allocs tasks inst cycles")

// seastarNewColumns are those of a table in which the time has its deviation
// beside it.
var seastarNewColumns = strings.Fields("iters runtime allocs tasks inst cycles overhead")

var (
	seastarDuration  = compile(`^([\d.]+(?:e[-+]?\d+)?)(ns|us|µs|μs|ms|s)$`)
	seastarDeviation = compile(`\s*±\s*([\d.]+|-?(?:nan|inf))%`)
	seastarRuns      = compile(`^number of runs:\s*(\d+)$`)
	seastarRule      = compile(`^[-:|\s]+$`)
)

func readSeastarText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	var t seastarTable
	eachResult(r, name, yield, func(l line) (bench.Result, error) { return t.row(unquoted(l)) })
}

// A seastarTable is what the lines above a row say about it.
type seastarTable struct {
	columns []string // nil without a header
	runs    int      // 0 where it is not said
	name    string   // a line of one word: the name of a row that was wrapped after it

	// Of the latest row:
	fields []string
	cells  []seastarCell
	room   []bench.Value
}

// row reads a row's values; a line that is no row has none.
func (t *seastarTable) row(l line) (bench.Result, error) {
	if m := seastarRuns.FindStringSubmatch(l.text); m != nil {
		t.runs, _ = strconv.Atoi(m[1])
		return bench.Result{}, nil
	}
	name, cells := t.split(l.text)
	if len(cells) == 0 || seastarRule.MatchString(l.text) {
		return bench.Result{}, nil
	}
	if name == "test" && (cells[0].text == "iterations" || cells[0].text == "iters") {
		t.columns = nil
		for _, c := range cells {
			t.columns = append(t.columns, c.text)
		}
		return bench.Result{}, nil
	}
	columns := t.columns
	if columns == nil {
		columns = seastarColumns
		if len(cells) > 1 && cells[1].deviation != "" {
			columns = seastarNewColumns
		}
	}
	if len(cells) < 2 || !isInteger(cells[0].text) || !seastarDuration.MatchString(cells[1].text) {
		return bench.Result{}, nil
	}
	if name == "" {
		return bench.Result{}, l.errorf("want a name before %q, have none", cells[0].text)
	}
	if len(cells) > len(columns) {
		return bench.Result{}, l.errorf("want at most the %d columns %s, have %d", len(columns), strings.Join(columns, ", "), len(cells))
	}
	g := gatherer{at: l, result: bench.Result{Name: name, Values: t.room[:0]}}
	t.values(&g, columns, cells)
	t.room = g.result.Values
	return g.parsed()
}

// A seastarCell is "F", "Fns" or "Fns ± F%".
type seastarCell struct{ text, deviation string }

// split cuts a line into its first column and the others. Names hold no blanks,
// but one may stand on a line of its own.
func (t *seastarTable) split(text string) (name string, cells []seastarCell) {
	text = blanks.trim(strings.ReplaceAll(text, "|", " "))
	// The deviation becomes part of the cell before it.
	t.fields = whites.appendFields(t.fields[:0], seastarDeviation.ReplaceAllString(text, "±$1"))
	fields := t.fields
	wrapped := t.name
	t.name = ""
	switch {
	case len(fields) == 1:
		t.name = fields[0]
		return "", nil
	case len(fields) > 1 && isInteger(fields[0]):
		name = wrapped
	case len(fields) > 1:
		name, fields = fields[0], fields[1:]
	}
	t.cells = t.cells[:0]
	for _, f := range fields {
		text, deviation, _ := strings.Cut(f, "±")
		t.cells = append(t.cells, seastarCell{text, deviation})
	}
	return name, t.cells
}

func isInteger(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func (t *seastarTable) values(g *gatherer, columns []string, cells []seastarCell) {
	unknown := &bench.Spread{}
	for i, c := range cells {
		switch columns[i] {
		case "iterations", "iters", "min", "max", "overhead":
			continue
		}
		number, unit := c.text, ""
		if m := seastarDuration.FindStringSubmatch(c.text); m != nil {
			number, unit = m[1], m[2]
		}
		v, err := parseNumber(number)
		if err != nil {
			g.problem("column %s: %v", columns[i], err)
			continue
		}
		if columns[i] == "mad" {
			if len(g.result.Values) > 0 {
				deviation := bench.Measure("time_per_op", v, unit).V
				g.result.Values[0].Statistic = t.spread(deviation)
			}
			continue
		}
		value := measureSeastar(columns[i], v, unit)
		value.Statistic = unknown
		if percent, err := parseNumber(c.deviation); err == nil {
			value.Statistic = t.spread(percent / 100 * value.V)
		}
		g.add(value)
	}
}

// measureSeastar makes a value of a column, which is per operation whatever its
// name.
func measureSeastar(column string, v float64, unit string) bench.Value {
	if g, ok := seastarCounts[column]; ok {
		return g.Value(v)
	}
	if column == "median" || column == "runtime" {
		column = "time_per_op"
	}
	return bench.Measure(column, v, unit)
}

var seastarCounts = map[string]bench.Gauge{
	"inst":   bench.NewGauge("instructions_per_op", ""),
	"cycles": bench.NewGauge("cpu_cycles_per_op", ""),
	"allocs": bench.NewGauge("allocs_per_op", ""),
	"tasks":  bench.NewGauge("tasks_per_op", ""),
}

// spread is the deviation of the runs. A single one has none.
func (t *seastarTable) spread(mad float64) *bench.Spread {
	if t.runs == 1 || (t.runs == 0 && mad == 0) {
		return &bench.Spread{Count: t.runs}
	}
	return &bench.Spread{Kind: bench.MAD, Value: mad, Count: t.runs}
}

// Documents of other programs have results, too: beside one of those, text is read.
var (
	seastarOwn      = withKeys("results.*.total_iterations")
	seastarDocument = seastarOwn.orElse(withKeys("results.*.median"))
)

// readSeastarJSON reads {"results": {NAME: {"median": F, "mad": F, …}}}, with
// times in nanoseconds.
func readSeastarJSON(d *jsonDocument) error {
	return d.member("results", func() error {
		return d.members(func(benchmark string) error {
			columns, err := d.object()
			if err != nil {
				return err
			}
			g := gatherer{result: bench.Result{Name: benchmark}}
			t := seastarTable{runs: int(min(columns.number("runs").count(), 1e9))}
			mad := columns.number("mad")
			for _, c := range columns.byKey() {
				switch c.key {
				case "runs", "mad", "total_iterations", "min", "max", "overhead":
					continue
				}
				n := c.number()
				if n.v < 0 {
					g.problem("want a number as %s, have %s", c.key, n.text)
					continue
				}
				v := measureSeastar(c.key, n.v, "")
				v.Statistic = &bench.Spread{}
				if c.key == "median" {
					v = measureSeastar(c.key, n.v, "ns")
					v.Statistic = &bench.Spread{Count: t.runs}
					if mad.present() && mad.v >= 0 {
						v.Statistic = t.spread(mad.v * 1e-9)
					}
				}
				g.add(v)
			}
			g.report(d)
			return nil
		})
	})
}
