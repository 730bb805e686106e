package format

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"regexp"
	"strings"

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

var (
	labelledNumber = `([-+]?(?:\d[\d.,']*|\.\d+)(?:[eE][-+]?\d+)?)([a-zA-Zµμ%]*(?:/[a-zA-Z]+)?|\s+[a-zA-Zµμ%]+(?:/[a-zA-Z]+)?)$`
	// labelledPair is "LABEL: N unit" or "LABEL = N unit".
	labelledPair = regexp.MustCompile(`^(?:[-*]\s+)?([A-Za-z][^:=]*?)\s*[:=]\s*` + labelledNumber)
	// labelledParameter is "NAME = VALUE;" before a pair.
	labelledParameter = regexp.MustCompile(`^(\w+)\s*=\s*([^\s;=]+);\s+`)
	// labelledWords is "NAME [METRIC] N unit".
	labelledWords = regexp.MustCompile(`^(?:[-*]\s+)?([A-Za-z]\S*(?:\s+[A-Za-z_]\S*)*)\s+` + labelledNumber)
	// labelledHeading is "NAME:".
	labelledHeading = regexp.MustCompile(`^(?:[-*]\s+)?([A-Za-z][^:=]*?)\s*:$`)
)

func sniffLabelled(input []byte) bool {
	values := 0
	for l, err := range lines(bytes.NewReader(input), "") {
		if err != nil {
			return false
		}
		heading, res, ok := parseLabelled(unquoted(l), "")
		if !ok && heading == "" && !isLabelledNote(unquoted(l).text) {
			return false
		}
		values += len(res.Values)
	}
	return values > 0
}

func isLabelledNote(text string) bool { return text == "" || strings.HasPrefix(text, "#") }

func readLabelled(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		heading := ""
		eachLine(r, name, yield, func(l line) bool {
			next, res, ok := parseLabelled(l, heading)
			switch {
			case ok:
				return yield(res, nil)
			case next != "":
				heading = next
			case !isLabelledNote(l.text):
				return yield(bench.Result{}, l.errorf("want a label and a number with a unit or none"))
			}
			return true
		})
	}
}

// parseLabelled reads a line below a heading: the next heading, or a result.
func parseLabelled(l line, heading string) (next string, res bench.Result, ok bool) {
	if m := labelledHeading.FindStringSubmatch(l.text); m != nil {
		return oneBlank(m[1]), bench.Result{}, false
	}
	for m := labelledParameter.FindStringSubmatch(l.text); m != nil; m = labelledParameter.FindStringSubmatch(l.text) {
		heading = strings.TrimSpace(heading + " " + m[1] + "=" + m[2])
		l.text = l.text[len(m[0]):]
	}
	if m := labelledPair.FindStringSubmatch(l.text); m != nil {
		v, ok := measureLabelled(m[1], m[2], strings.TrimSpace(m[3]))
		return "", bench.Result{Name: heading, Values: []bench.Value{v}}, ok
	}
	m := labelledWords.FindStringSubmatch(l.text)
	if m == nil {
		return "", bench.Result{}, false
	}
	words := strings.Fields(m[1])
	metric := ""
	if last := len(words) - 1; last > 0 {
		words, metric = words[:last], words[last]
	}
	v, ok := measureLabelled(metric, m[2], strings.TrimSpace(m[3]))
	return "", bench.Result{Name: strings.Join(words, " "), Values: []bench.Value{v}}, ok
}

// measureLabelled makes a value of a number. A unit must be one that has a
// direction, or a factor: "5 apples" is the end of a sentence. What has a unit
// and no name is called by the unit.
func measureLabelled(metric, number, unit string) (bench.Value, bool) {
	if len(unit) == 1 && strings.Contains("kKMG", unit) {
		number, unit = number+unit, ""
	}
	_, base := bench.BaseUnit(unit)
	v, err := parseNumber(number)
	if err != nil || unit != "" && unit != "%" && bench.BetterByUnit(base) == bench.Unknown {
		return bench.Value{}, false
	}
	byUnit := map[string]string{"": "value", "%": "share", "s": "time", "B": "size"}
	name := cmp.Or(metric, byUnit[base], metricOfUnit(unit))
	if bench.SnakeCase(name) == "" {
		return bench.Value{}, false
	}
	if unit == "" {
		return measureNamed(bench.SnakeCase(name), v), true
	}
	return bench.Measure(name, v, unit), true
}
