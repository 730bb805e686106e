package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// A Custom describes output that no format knows. One of Regex, JSON and CSV is
// set, and says where the numbers stand; the rest says what they are.
type Custom struct {
	// Regex is a regular expression (https://pkg.go.dev/regexp/syntax), of which
	// every match in a line is a number: its group "value". It may have groups
	// "name", "metric" and "unit" too.
	Regex string
	// JSON is a JSON path (RFC 9535) of results: "$.results[*]". Value is a path
	// within a result, of its numbers; without it the result is one. A Name, Metric
	// or Unit that begins with "$" is such a path.
	JSON, Value string
	// CSV is the header of the column that has the numbers. Each Name is that of a
	// column. Separator is what stands between columns, a comma if it is "".
	CSV, Separator string

	Name   []string // what makes the benchmark's name, joined by "/"
	Metric string   // else it is told by the unit
	Unit   string
	Better bench.Better // where neither metric nor unit tells
	// Launches is set where repeated numbers of a benchmark are of processes of
	// their own. Otherwise they are repeats within one.
	Launches bool
}

// The kinds of a Custom, which are names of formats as well.
const (
	kindRegex = "regex"
	kindJSON  = "json"
	kindCSV   = "csv"
)

// CustomNames returns the names of the formats that NewCustom makes.
func CustomNames() []string { return []string{kindRegex, kindJSON, kindCSV} }

// A customReader reads one description's numbers from an input.
type customReader func(c *customInput) error

// NewCustom returns a format that reads what is described. All descriptions are
// of one kind; each is looked for in the whole input.
func NewCustom(descriptions ...Custom) (Format, error) {
	var kind string
	var readers []customReader
	var faults []error
	for _, c := range descriptions {
		own, read, err := c.reader()
		switch {
		case err != nil:
			faults = append(faults, err)
		case kind != "" && own != kind:
			faults = append(faults, fmt.Errorf("want descriptions of one kind, have %s and %s", kind, own))
		}
		kind = own
		readers = append(readers, read)
	}
	if len(descriptions) == 0 {
		faults = append(faults, errors.New("want a description, have none"))
	}
	if err := errors.Join(faults...); err != nil {
		return Format{}, err
	}
	return Format{
		Name:  kind,
		Tool:  "as the configuration describes it",
		How:   "what the configuration describes under parse",
		Print: "your own command",
		Sniff: func(*Input) bool { return false },
		Read: guard(func(r io.Reader, name string) iter.Seq2[bench.Result, error] {
			return func(yield func(bench.Result, error) bool) { readCustom(r, name, descriptions, readers, yield) }
		}),
	}, nil
}

// reader checks a description, and returns its kind and how it is read.
func (c Custom) reader() (kind string, read customReader, err error) {
	set := 0
	for _, s := range []string{c.Regex, c.JSON, c.CSV} {
		if s != "" {
			set++
		}
	}
	if set != 1 {
		return "", nil, fmt.Errorf("want one of %s, have %d of them", strings.Join(CustomNames(), ", "), set)
	}
	if c.Metric != "" && bench.SnakeCase(c.Metric) == "" {
		return "", nil, fmt.Errorf("metric: want a name with a letter or digit in it, have %q", c.Metric)
	}
	switch {
	case c.Regex != "":
		read, err = newRegex(c)
		return kindRegex, read, err
	case c.JSON != "":
		read, err = newJSON(c)
		return kindJSON, read, err
	}
	read, err = newCSV(c)
	return kindCSV, read, err
}

// A customInput is an input that is read by one description.
type customInput struct {
	Custom
	document string
	data     []byte
	launches map[bench.Key]int
	filter   filter
	yield    func(bench.Result, error) bool
	stopped  bool
	found    bool // something was, or was wrong
}

// warnf reports a line or result that cannot be read.
func (c *customInput) warnf(l line, format string, args ...any) {
	c.found = true
	c.stopped = !c.yield(bench.Result{}, l.errorf(format, args...))
}

func readCustom(r io.Reader, document string, descriptions []Custom, readers []customReader, yield func(bench.Result, error) bool) {
	data, err := readDocument(r, document)
	if err != nil {
		yield(bench.Result{}, err)
		return
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	launches := map[bench.Key]int{}
	for i, read := range readers {
		c := &customInput{Custom: descriptions[i], document: document, data: data, launches: launches, yield: yield}
		err := read(c)
		switch {
		case c.stopped:
			return
		case err != nil && len(readers) == 1:
			yield(bench.Result{}, err)
			return
		case err != nil: // the other descriptions may find theirs
			c.warnf(line{document: document}, "%s", strings.TrimPrefix(err.Error(), document+": "))
		case !c.found && len(readers) > 1:
			text := cmp.Or(c.Regex, c.JSON, c.CSV)
			c.warnf(line{document: document, text: text}, "want something that this description finds, have nothing")
		}
		if c.stopped {
			return
		}
	}
}

// number yields a result of one number as it is printed.
func (c *customInput) number(l line, name, metric, number, unit string) {
	v, err := parseNumber(strings.TrimSpace(number))
	if err != nil {
		c.warnf(l, "want a finite number, have %q", number)
		return
	}
	value := measureAny(metric, v, unit)
	if value.Metric.Better == bench.Unknown {
		value.Metric.Better = c.Better
	}
	res := bench.Result{Name: name, Values: []bench.Value{value}}
	if key := (bench.Key{Benchmark: name, Metric: value.Metric.Name}); c.Launches {
		res.Launch = c.launches[key]
		c.launches[key]++
	}
	c.found = true
	c.stopped = !c.filter.yield(l, res, c.yield)
}
