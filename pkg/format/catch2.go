package format

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The benchmarks of Catch2, as printed by
// https://github.com/catchorg/Catch2/blob/devel/src/catch2/reporters/catch_reporter_console.cpp:
// the test case with its sections between two rules, then a table, in which a
// long name is wrapped.
//
//	-------------------------------------------------------------------------------
//	Fibonacci
//	  of small numbers
//	-------------------------------------------------------------------------------
//	benchmark name                       samples       iterations    estimated
//	                                     mean          low mean      high mean
//	                                     std dev       low std dev   high std dev
//	-------------------------------------------------------------------------------
//	fib 10                                          10           298     354.62 us
//	                                        66.5248 ns    66.3134 ns    67.1564 ns
//	                                        0.51547 ns   0.147505 ns   0.853404 ns
//
// with --benchmark-no-analysis in one line with the mean alone, or with -r xml:
//
//	<TestCase name="Fibonacci"><Section name="of small numbers">
//	<BenchmarkResults name="fib 10" samples="10" …><mean value="66.352" …/><standardDeviation value="0.1729" …/></BenchmarkResults>
//
// A benchmark's full name has the test case and sections before it: two cases
// may have benchmarks of one name.
var _ = register(Format{
	Name:  "catch2",
	Tool:  "Catch2, its text and its XML",
	How:   "a header benchmark name, samples, iterations, or elements BenchmarkResults",
	Seen:  []string{"Catch2 2.13.10"},
	Print: `./tests "[!benchmark]" --reporter xml`,
	Sniff: either(sniffLine(`^benchmark name\s+samples\s+iterations\s+\S`), sniffCatch2XML),
	Read:  readCatch2,
})

var (
	catch2Header = compile(`^benchmark name\s+samples\s+iterations\s+(.*?)\s*$`)
	catch2First  = compile(`^(.*?)\s+(\d+)\s+(\d+)\s+(\S+) (ns|us|ms|s|m|h)\s*$`)
	catch2Times  = compile(`^\s+(\S+) (ns|us|ms|s|m|h)\s+\S+ \w+\s+\S+ \w+\s*$`)
	catch2Failed = compile(`^(.*?)\s+Benchmark failed\b`)
	// sniffCatch2XML is for what begins after a long log.
	sniffCatch2XML = sniffLine(`^\s*<BenchmarkResults name="`)
	catch2XML      = compile(`<BenchmarkResults name="|<Catch2?\b|<Catch2TestRun\b`)
)

func readCatch2(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		const beginning = 1 << 20
		in := bufio.NewReaderSize(r, beginning)
		head, _ := in.Peek(beginning) // an error is for the reading to find
		again, isLong := r.(io.ReaderAt)
		isLong = isLong && len(head) == beginning
		if catch2XML.re().Match(head) || isLong && sniffCatch2XML(&Input{in: again}) {
			input, err := readDocument(in, name)
			if err != nil {
				yield(bench.Result{}, err)
				return
			}
			readCatch2XML(input, name, yield)
			return
		}
		t := catch2Text{yield: yield}
		if eachLine(in, name, yield, t.line) {
			t.end()
		}
	}
}

// A catch2Text is where in the console's output the reader is.
type catch2Text struct {
	yield   func(bench.Result, error) bool
	path    []string // the test case and sections
	title   bool     // between the rules around them
	table   bool     // below the header, of which the last column is this one
	column  string
	wrapped string // the lines of a name so far
	current bench.Result
	samples int
}

// line reads a line and reports whether to go on.
func (t *catch2Text) line(l line) bool {
	text := strings.TrimRight(l.text, " ")
	if len(text) >= 40 && strings.Trim(text, "-") == "" {
		switch {
		case t.column != "" && !t.table:
			t.table = true
		case t.title:
			t.title = false
		default:
			t.title, t.table, t.column, t.path = true, false, "", nil
			return t.end()
		}
		return true
	}
	if m := catch2Header.FindStringSubmatch(text); m != nil {
		t.column, t.table, t.title = m[1], false, false
		return t.end()
	}
	switch {
	case t.title:
		t.path = append(t.path, strings.TrimSpace(text))
	case t.table:
		return t.row(l, text)
	}
	return true
}

func (t *catch2Text) row(l line, text string) bool {
	if m := catch2Failed.FindStringSubmatch(text); m != nil {
		return t.end() && t.yield(bench.Result{}, l.errorf("want a result, have that the benchmark failed: it is missing"))
	}
	if m := catch2First.FindStringSubmatch(text); m != nil {
		if !t.end() {
			return false
		}
		name := strings.TrimSpace(t.wrapped + " " + strings.TrimSpace(m[1]))
		t.wrapped = ""
		t.current.Name = strings.Join(append(slices.Clone(t.path), name), " > ")
		t.samples, _ = strconv.Atoi(m[2])
		if t.column == "mean" {
			return t.mean(l, m[4], m[5])
		}
		return true
	}
	if m := catch2Times.FindStringSubmatch(text); m != nil && t.current.Name != "" {
		if len(t.current.Values) == 0 {
			return t.mean(l, m[1], m[2])
		}
		if v, err := parseNumber(m[1]); err == nil && v >= 0 {
			mean := &t.current.Values[0]
			mean.Statistic = &bench.Spread{Kind: bench.StdDev, Value: bench.Measure("time_per_op", v, m[2]).V, Count: t.samples}
		}
		return t.end()
	}
	if strings.TrimSpace(text) == "" {
		t.wrapped = ""
		return t.end()
	}
	if strings.HasSuffix(l.text, " ") { // each line of the table is padded
		t.wrapped = strings.TrimSpace(t.wrapped + " " + strings.TrimSpace(text))
	}
	return true
}

// mean reads the mean of the current benchmark.
func (t *catch2Text) mean(l line, number, unit string) bool {
	v, err := parseNumber(number)
	if err != nil || v < 0 {
		t.current = bench.Result{}
		return t.yield(bench.Result{}, l.errorf("want a mean of 0 or more before %q, have %q", unit, number))
	}
	t.current.Values = []bench.Value{statistic("time_per_op", v, unit, bench.NoSpread, nil, t.samples)}
	return true
}

// end yields the current benchmark, if there is one.
func (t *catch2Text) end() bool {
	res := t.current
	t.current = bench.Result{}
	return len(res.Values) == 0 || t.yield(res, nil)
}

func readCatch2XML(input []byte, document string, yield func(bench.Result, error) bool) {
	start := max(0, bytes.Index(input, []byte("<?xml")))
	in := xml.NewDecoder(bytes.NewReader(input[start:]))
	in.Strict = false
	in.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var path []string // names of the open elements, "" of those without
	var mean bench.Result
	samples := 0 // it is made from
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		row, _ := in.InputPos()
		l := line{document, row + bytes.Count(input[:start], []byte("\n")), ""}
		if err != nil {
			yield(bench.Result{}, l.errorf("want the rest of the XML document: %v: what follows is not read", err))
			return
		}
		switch e := token.(type) {
		case xml.StartElement:
			path = append(path, "")
			number, err := parseNumber(attribute(e, "value"))
			l.text = mean.Name
			switch e.Name.Local {
			case "TestCase", "Section":
				path[len(path)-1] = strings.TrimSpace(attribute(e, "name"))
			case "BenchmarkResults":
				path[len(path)-1] = attribute(e, "name")
				mean = bench.Result{Name: strings.Join(slices.DeleteFunc(slices.Clone(path), func(s string) bool { return s == "" }), " > ")}
				samples, _ = strconv.Atoi(attribute(e, "samples"))
			case "mean":
				if err == nil && number >= 0 {
					mean.Values = []bench.Value{statistic("time_per_op", number, "ns", bench.NoSpread, nil, samples)}
				} else if !yield(bench.Result{}, l.errorf("want a mean of 0 or more, have %q", attribute(e, "value"))) {
					return
				}
			case "standardDeviation":
				if err == nil && len(mean.Values) > 0 {
					seconds := number * 1e-9
					mean.Values[0] = statistic("time_per_op", mean.Values[0].V, "s", bench.StdDev, &seconds, samples)
				}
			case "failed":
				if !yield(bench.Result{}, l.errorf("want a result, have that the benchmark failed: it is missing")) {
					return
				}
			}
		case xml.EndElement:
			path = path[:max(0, len(path)-1)]
			if e.Name.Local == "BenchmarkResults" && len(mean.Values) > 0 && !yield(mean, nil) {
				return
			}
		}
	}
}

// attribute returns an attribute's value, "" where there is none.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
