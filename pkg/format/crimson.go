package format

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The table of fio on RBD by which pull requests to Ceph's Crimson OSD
// (https://github.com/ceph/ceph) show their effect. A row is a field, a column
// a number of cores:
//
//	Block_size       4096        4096
//	Core             2           4
//	Tool             Fio RBD     Fio RBD
//	OPtype           Rand Write  Rand Write
//	CommitID         e160811c    e160811c
//	Latency(ms)      55.26       22.92
//	Bandwidth(MB/s)  37.94       91.47
//	IOPS             9264.22     22332.86
//
// Copies have bars between the cells, or the whole table on one line. Each table
// is a launch of its own.
var _ = register(Format{
	Name:  "crimson",
	Tool:  "fio on Ceph's Crimson OSD, as a table",
	Print: "the table of a pull request to Ceph, which its authors make of fio's results by hand",
	How:   "a row Block_size",
	Sniff: sniffLine(`^[>\s|]*Block_size[\s|]+\d`),
	Read:  readCrimson,
})

// crimsonParameters are the fields that name the benchmark, in the order of the
// name, each with what stands before it there.
var crimsonParameters = []struct{ field, before string }{
	{"Tool", ""}, {"OPtype", " "}, {"Block_size", " "},
	{"OSD", "/osd="}, {"Store", "/store="}, {"Thread_num", "/threads="}, {"Client_num", "/clients="}, {"Core", "/core="},
}

// crimsonNotes are the fields that are no part of the name: who compares two
// commits has one of each.
var crimsonNotes = []string{"Time", "Version", "CommitID"}

// crimsonMetrics are the names of what was measured, by the field without its
// unit.
var crimsonMetrics = map[string]string{"Latency": "latency_mean", "Bandwidth": "bandwidth", "IOPS": "iops"}

// crimsonMetric matches a field that was measured. Any word with a unit is one.
var crimsonMetric = compile(`^(?:(IOPS)|([A-Za-z]\w*)\(([A-Za-z/%]+)\))$`)

// crimsonBlanks are white space, the bars between cells and the marks of a quotation.
var crimsonBlanks = bytesOf(whiteSpace + "|>")

// A crimsonTable is the rows of one table, from that of Block_size on. Without
// one there is no table.
type crimsonTable []crimsonRow

// A crimsonRow is the words after a field.
type crimsonRow struct {
	field  string
	metric []string // of what was measured, by crimsonMetric
	at     line
	words  []string
}

func readCrimson(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		var table crimsonTable
		launch := 0
		flush := func() bool {
			done := table
			table = table[:0]
			if len(done.words("Core")) == 0 {
				return true
			}
			launch++
			return done.results(launch-1, yield)
		}
		read := eachLine(r, name, yield, func(l line) bool {
			words := crimsonBlanks.appendFields(make([]string, 0, len(l.text)/6), l.text) // of a few letters each
			for len(words) > 0 && isCrimsonField(words[0]) {
				field := words[0]
				if field == "Block_size" && !flush() {
					return false
				}
				if field != "Block_size" && len(table) == 0 || table.row(field) != nil {
					break // it is no row of this table
				}
				cells := words[1:]
				if next := slices.IndexFunc(cells, isCrimsonField); next >= 0 {
					cells = cells[:next]
				}
				table = append(table, crimsonRow{field, crimsonMetric.FindStringSubmatch(field), l, cells})
				words = words[1+len(cells):]
			}
			return true
		})
		_ = read && flush()
	}
}

func isCrimsonField(word string) bool {
	for _, p := range crimsonParameters {
		if p.field == word {
			return true
		}
	}
	mayBeMetric := word == "IOPS" || strings.HasSuffix(word, ")") // most words are none
	return slices.Contains(crimsonNotes, word) || mayBeMetric && crimsonMetric.MatchString(word)
}

// row returns the row of a field, or nil where there is none.
func (t crimsonTable) row(field string) *crimsonRow {
	for i := range t {
		if t[i].field == field {
			return &t[i]
		}
	}
	return nil
}

func (t crimsonTable) words(field string) []string {
	if row := t.row(field); row != nil {
		return row.words
	}
	return nil
}

// results yields a result for each column. A row that has other than as many
// cells is an error, and without the rows of its name there is no benchmark. It
// reports whether to go on.
func (t crimsonTable) results(launch int, yield func(bench.Result, error) bool) bool {
	columns := len(t.words("Core"))
	named := true
	for i, row := range t {
		if n := len(row.words); n > 0 && n%columns == 0 {
			continue
		}
		err := row.at.errorf("want %d cells of %s, as many as of Core, have %q", columns, row.field, row.words)
		if !yield(bench.Result{}, err) {
			return false
		}
		named = named && row.metric != nil
		t[i].words = nil
	}
	for c := 0; c < columns && named; c++ {
		res := bench.Result{Name: t.name(c, columns), Launch: launch, Values: make([]bench.Value, 0, len(crimsonMetrics))}
		for _, row := range t {
			m := row.metric
			if m == nil || row.words == nil {
				continue
			}
			cell := strings.Join(cellOf(row.words, c, columns), " ")
			v, err := parseNumber(cell)
			if err != nil || v < 0 {
				err := row.at.errorf("want a number of %s for each column, have %q", row.field, cell)
				if !yield(bench.Result{}, err) {
					return false
				}
				continue
			}
			metric, unit := m[1]+m[2], m[3]
			if canonical, ok := crimsonMetrics[metric]; ok {
				metric = canonical
			}
			res.Values = append(res.Values, bench.Measure(metric, v, unit))
		}
		if len(res.Values) > 0 && !yield(res, nil) {
			return false
		}
	}
	return true
}

// cellOf returns those of a row's words that are in a column: each column has as
// many.
func cellOf(words []string, column, columns int) []string {
	n := len(words) / columns
	return words[column*n : (column+1)*n]
}

// name returns the benchmark of a column:
// "Fio RBD Rand Write 4096/osd=Crimson/store=Bluestore/threads=128/clients=4/core=2".
func (t crimsonTable) name(column, columns int) string {
	var name strings.Builder
	name.Grow(100) // more than most have
	for _, p := range crimsonParameters {
		before := p.before
		for _, word := range cellOf(t.words(p.field), column, columns) {
			name.WriteString(before)
			name.WriteString(word)
			before = " "
		}
	}
	return strings.TrimLeft(name.String(), " /")
}
