package format

import (
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/noslower/noslower/pkg/bench"
)

// Lines of a label and a number, as scripts of all kinds print them:
//
//	encode 12.5 ms              benchmark encode, metric time
//	encode requests 1,234       benchmark encode, metric requests
//	read throughput: 99 MB/s    metric read_throughput, or below a heading
//	in memtable:                benchmark "in memtable" for the labels with ":" or "=" below it
//	avg = 513.68                metric avg
//	size = 64; elapsed = 2us    benchmark size=64, metric elapsed
//
// A unit or a metric that noslower knows brings its direction. Any other number
// has none and never gates until the configuration says which. A line that
// begins with "#" is a comment. This format claims an input only if every line
// of it is one of these.
var _ = register(Format{
	Name:    "labelled",
	Tool:    "scripts of your own",
	Print:   "echo 'encode 12.5 ms'",
	How:     "nothing but lines of a label and a number, such as encode 12.5 ms",
	General: true,
	Sniff:   sniffLabelled,
	Read:    readLabelled,
})

func sniffLabelled(in *Input) bool {
	isTimed := sniffTime(in) // "real 0.05" is more than a label
	var numbers numbersReader
	return sniffScript(in, func(l line) (values int, ok bool) {
		if isTimed && isTimeLine(l.text) || numbers.line(l.text) {
			return 0, true // of another, which claims it, too
		}
		heading, _, isValue := parseLabelled(l, "")
		if isValue {
			values = 1
		}
		return values, isValue || heading != ""
	})
}

// sniffScript reports whether an input is nothing but lines that count takes, and
// has values: count returns how many a line has. Blank lines and comments are
// anywhere.
func sniffScript(in *Input, count func(line) (values int, ok bool)) bool {
	total := 0
	for l, err := range lines(in.reader(), "") {
		if err != nil {
			return false
		}
		if l = unquoted(l); isScriptNote(l.text) {
			continue
		}
		values, ok := count(l)
		if !ok {
			return false
		}
		total += values
	}
	return total > 0
}

func isScriptNote(text string) bool { return text == "" || strings.HasPrefix(text, "#") }

func readLabelled(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		heading := ""
		one := make([]bench.Value, 1) // of each result in turn
		eachResult(r, name, yield, func(l line) (res bench.Result, err error) {
			l = unquoted(l)
			name, v, ok := parseLabelled(l, heading)
			switch {
			case ok:
				one[0] = v
				res.Name, res.Values = name, one
			case name != "":
				heading = name
			case !isScriptNote(l.text):
				err = l.errorf("want a label and a number with a unit or none")
			}
			return res, err
		})
	}
}

// parseLabelled reads a line below a heading: the value of a benchmark, or where
// there is none the next heading.
func parseLabelled(l line, heading string) (name string, v bench.Value, ok bool) {
	const longest = 1024
	if len(l.text) > longest {
		return "", bench.Value{}, false
	}
	text := strings.TrimPrefix(strings.TrimPrefix(l.text, "- "), "* ")
	for {
		// "size = 64; elapsed = 2us"
		parameter, rest, more := strings.Cut(text, "; ")
		name, value, isPair := strings.Cut(parameter, "=")
		if !more || !isPair {
			break
		}
		heading = oneBlank(heading + " " + strings.TrimSpace(name) + "=" + strings.TrimSpace(value))
		text = rest
	}
	text = strings.TrimSpace(text)
	if text == "" || !unicode.IsLetter(rune(text[0])) {
		return "", bench.Value{}, false
	}
	if i := labelledEnd.index(text); i >= 0 {
		if isDigitAt(text, i-1) && isDigitAt(text, i+1) {
			return "", bench.Value{}, false // of a clock: 1:30
		}
		label, after := strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:])
		if after == "" && text[i] == ':' {
			return oneBlank(label), bench.Value{}, false
		}
		if v, ok = measureLabelled(label, after); ok {
			name = heading
		}
		return name, v, ok
	}
	var most [8]string
	words := whites.appendFields(most[:0], text)
	number := slices.IndexFunc(words, func(w string) bool { return labelledStart[w[0]] })
	if number < 1 || number < len(words)-2 {
		return "", bench.Value{}, false
	}
	labels, metric := words[:number], ""
	if last := len(labels) - 1; last > 0 {
		labels, metric = labels[:last], labels[last]
	}
	if v, ok = measureLabelled(metric, strings.Join(words[number:], " ")); ok {
		name = strings.Join(labels, " ")
	}
	return name, v, ok
}

func isDigitAt(text string, i int) bool {
	return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9'
}

// labelledUnits are the metrics of numbers that have but a unit.
var labelledUnits = map[string]string{"": "value", "%": "share", "s": "time", "B": "size"}

var (
	labelledEnd    = bytesOf(":=")                // of a label
	labelledStart  = bytesOf("+-.0123456789")     // of a number
	labelledNumber = bytesOf("+-.,'0123456789eE") // all of it
)

// measureLabelled makes a value of "N" or "N unit". The unit must be one that
// has a direction, or a factor: "5 apples" is the end of a sentence. What has a
// unit and no name is called by the unit.
func measureLabelled(metric, text string) (bench.Value, bool) {
	v, unit, ok := numberLabelled(text)
	if !ok {
		return bench.Value{}, false
	}
	gauge, ok := gaugeLabelled(metric, unit)
	return gauge.Value(v), ok
}

// numberLabelled reads "N" or "N unit".
func numberLabelled(text string) (v float64, unit string, ok bool) {
	end := labelledNumber.prefix(text)
	number, unit := text[:end], whites.trim(text[end:])
	if isThousands(unit) {
		number, unit = number+unit, ""
	}
	v, err := parseNumber(number)
	return v, unit, err == nil
}

// isThousands reports whether a unit is a part of the number before it.
func isThousands(unit string) bool { return len(unit) == 1 && strings.Contains("kKMG", unit) }

// gaugeLabelled returns what makes values of a metric in a unit.
func gaugeLabelled(metric, unit string) (bench.Gauge, bool) {
	_, base := bench.BaseUnit(unit)
	if unit != "" && unit != "%" && bench.BetterByUnit(base) == bench.Unknown {
		return bench.Gauge{}, false
	}
	if metric == "" {
		var ok bool
		if metric, ok = labelledUnits[base]; !ok {
			metric = metricOfUnit(unit)
		}
	}
	name := bench.SnakeCase(metric)
	switch {
	case name == "":
		return bench.Gauge{}, false
	case unit == "":
		return gaugeNamed(name), true
	}
	return bench.NewGauge(name, unit), true
}
