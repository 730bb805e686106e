package format

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// Nothing but numbers, as the simplest of scripts print them: repeats of one
// benchmark that has no name, one a line or all of them on one.
//
//	12.5 ms      58.8k, 63.1k, 62.1k
//	12.7 ms
//
// A unit tells the metric as it does after a label. A number without one is a
// value of which it is not known what is better: it may as well be a date or a
// status, and never gates until the configuration says more. Several lines of
// several numbers are a table, and nobody knows what its columns are. This format
// claims an input only if it is nothing else.
var _ = register(Format{
	Name:    "numbers",
	Tool:    "scripts of your own that print numbers alone",
	Print:   "echo 12.5",
	How:     "nothing but numbers, each with a unit or none: one a line, or one line of several",
	General: true,
	Bare:    true,
	Sniff:   sniffNumbers,
	Read:    readNumbers,
})

func sniffNumbers(in *Input) bool {
	if sniffTime(in) {
		return false // what is timed prints whatever it finds
	}
	var n numbersReader
	return sniffScript(in, func(l line) (values int, ok bool) {
		if n.line(l.text) {
			return len(n.values), !n.isTable()
		}
		_, _, isLabelled := parseLabelled(l, "")
		return 0, isLabelled // which claims it, too
	})
}

func readNumbers(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		var n numbersReader
		eachResult(r, name, yield, func(l line) (res bench.Result, err error) {
			switch l = unquoted(l); {
			case isScriptNote(l.text):
			case !n.line(l.text):
				err = l.errorf("want numbers, each with a unit or none")
			case n.isTable():
				err = fmt.Errorf("%s:%d: want one number a line, or several on one line alone, have a table: "+
					"parse, of a suite in the configuration, says what its columns are", name, l.number)
			default:
				res.Values = n.values
			}
			return res, err
		})
	}
}

// A numbersReader reads lines of numbers.
type numbersReader struct {
	words  []string
	values []bench.Value          // of the latest line
	gauges map[string]bench.Gauge // by unit

	lines   int  // that have numbers
	several bool // are on one of them
}

func (n *numbersReader) isTable() bool { return n.several && n.lines > 1 }

// line reads a line, and reports whether it is of numbers alone.
func (n *numbersReader) line(text string) bool {
	const longest = 64 << 10
	if len(text) > longest {
		return false
	}
	n.words = whites.appendFields(n.words[:0], strings.ReplaceAll(text, ";", ", "))
	n.values = n.values[:0]
	for words := n.words; len(words) > 0; {
		number, unit := words[0], ""
		words = words[1:]
		if len(words) > 0 && !labelledStart[words[0][0]] {
			unit, words = words[0], words[1:]
		}
		if len(words) > 0 {
			number, unit = strings.TrimSuffix(number, ","), strings.TrimSuffix(unit, ",")
		}
		if isThousands(unit) {
			number, unit = number+unit, ""
		}
		v, attached, ok := numberLabelled(number)
		if !ok || attached != "" && unit != "" {
			return false
		}
		gauge, ok := n.gauge(cmp.Or(attached, unit))
		if !ok {
			return false
		}
		n.values = append(n.values, gauge.Value(v))
	}
	n.lines++
	n.several = n.several || len(n.values) > 1
	return true
}

// gauge returns what makes values in a unit. It is asked for again and again.
func (n *numbersReader) gauge(unit string) (bench.Gauge, bool) {
	const most = 64 // of units that somebody made up there is no end
	gauge, ok := n.gauges[unit]
	if ok {
		return gauge, true
	}
	if gauge, ok = gaugeLabelled("", unit); !ok {
		return gauge, false
	}
	if n.gauges == nil || len(n.gauges) == most {
		n.gauges = map[string]bench.Gauge{}
	}
	n.gauges[strings.Clone(unit)] = gauge
	return gauge, true
}
