package format

import (
	"cmp"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What the tests and benchmarks of Apache Kudu log. The stopwatch of
// https://github.com/apache/kudu/blob/master/src/kudu/util/stopwatch.h times one
// execution of what its label says:
//
//	I0820 13:56:39.875732 12176 scan-test.cc:346] Time spent key scan, 1 col: real 0.663s	user 0.030s	sys 0.000s
//	I0724 10:52:56.416996 10208 compaction-test.cc:163] Times for Compacting: real 15.339s	user 12.625s	sys 0.384s
//	Sending 1024MB via tcp socket: real 0.355s (1.2x)
//
// Before the label may stand a prefix of glog, whole, cut or none, and a log
// prefix of Kudu, which has identifiers that change with each run and is no part
// of the name. Results of other programs are lines of a label and one number:
// kuduLines. A result without a name of its own has that of the gtest test that it
// is logged in, or the mode of rpc-bench. A histogram is an object of JSON with a
// key a line, and a benchmark of its own.
var _ = register(Format{
	Name:  "kudu",
	Tool:  "tests and benchmarks of Apache Kudu",
	Print: "rpc-bench --gtest_filter=RpcBench.BenchmarkCalls",
	How:   "a stopwatch's line (Time spent X: real Fs …) or one of rpc-bench and its siblings (User CPU per req: Fus)",
	Sniff: sniffKudu,
	Read:  readKudu,
})

// kuduStopwatch are the times of the stopwatch. real is of one execution, as of
// a tool whose operation is one.
var kuduStopwatch = map[string]string{"real": "time_per_op", "user": "user_time", "sys": "system_time"}

// kuduLines are the lines with one number, after the prefix.
var kuduLines = []struct {
	words        string  // what the line has in any case
	pattern      pattern // the groups are the benchmark's name and the number
	metric, unit string
	better       bench.Better
	own          bool // no other tool prints it
}{
	// rpc-bench.cc
	{"Reqs/sec:", compile(`^()Reqs/sec:\s+(\S+)`), "throughput", "ops/s", bench.Higher, false},
	{"User CPU per req:", compile(`^()User CPU per req:\s+(\S+)us$`), "user_cpu_per_req", "us/req", bench.Lower, true},
	{"Sys CPU per req:", compile(`^()Sys CPU per req:\s+(\S+)us$`), "sys_cpu_per_req", "us/req", bench.Lower, true},
	{"Ctx Sw. per req:", compile(`^()Ctx Sw\. per req:\s+(\S+)`), "ctx_sw_per_req", "switches/req", bench.Lower, true},
	// tablet_server-stress-test.cc
	{"Throughput:", compile(`^()Throughput:\s+(\S+) rows/sec`), "throughput", "ops/s", bench.Higher, false},
	{"CPU efficiency:", compile(`^()CPU efficiency:\s+(\S+) rows/cpusec`), "cpu_efficiency", "rows/cpusec", bench.Higher, true},
	// blocking_queue-test.cc
	{"() rate:", compile(`^((?:total )?Blocking\S+\(\)) rate:\s+(\S+) calls/sec`), "throughput", "ops/s", bench.Higher, true},
	// cache-bench.cc
	{"lookups/sec", compile(`^(.*\bn_unique=\d+):\s+(\S+) lookups/sec`), "throughput", "ops/s", bench.Higher, true},
	{"% hit rate", compile(`^(.*\bn_unique=\d+):\s+(\S+)% hit rate`), "hit_rate", "%", bench.Higher, true},
	// kudu perf loadgen
	{"time total", compile(`^()time total\s*:\s+(\S+) ms`), "wall_time", "ms", bench.Lower, false},
	{"time per row", compile(`^()time per row\s*:\s+(\S+) ms`), "time_per_op", "ms", bench.Lower, true},
	// lock_manager-test.cc
	{"cycles per second", compile(`^(\w+ Lock/Unlock) cycles per second:\s+(\S+)`), "throughput", "ops/s", bench.Higher, true},
	// column_predicate-test.cc, which prints both on one line
	{"evals/sec", compile(`^(\S.*?)\s+(\S+) evals/sec`), "throughput", "ops/s", bench.Higher, true},
	{"cycles/eval", compile(`^(\S.*?)\s+\S+ evals/sec\s+(\S+) cycles/eval`), "cpu_cycles_per_op", "cycles/op", bench.Lower, true},
	// service_queue-test.cc
	{"Avg rpc queue length:", compile(`^()Avg rpc queue length:\s+(\S+)`), "rpc_queue_length", "", bench.Unknown, true},
	{"Avg idle workers:", compile(`^()Avg idle workers:\s+(\S+)`), "idle_workers", "", bench.Unknown, true},
	// gtest
	{" OK ", compile(`^\[\s+OK\s+\]\s+(\S+).*\((\S+) ms\)`), "wall_time", "ms", bench.Lower, false},
}

var (
	kuduSource = compile(`^.*\S\.(?:cc|h):\d+$`) // from its end
	kuduTimes  = compile(`^(.*?):\s+(real(?:\s+(?:[-+.\d]|nan|inf).*)?)$`)
	kuduLabel  = compile(`^(?:.*?\b(?:Time spent|Times for)\s+|Timing$)`)
	kuduTest   = compile(`^\[\s+RUN\s+\]\s+(\S+)`)
	kuduMode   = compile(`^Mode:\s+(\S+)`)
	// kuduKey is a line of a histogram.
	kuduKey     = compile(`^"(\w+)": (?:"([^"]*)"|(\S+?)),?$`)
	kuduMeasure = compile(`^(?:min|mean|max|percentile_(\d+)_?(\d*))$`)
)

// kuduText returns what a line says after its prefix of glog, if it has one.
func kuduText(text string) string {
	if prefix, rest, ok := strings.Cut(text, "] "); ok && kuduSource.MatchString(prefix) {
		text = rest
	}
	return unquotedText(text)
}

// stopwatchLine returns the label and the words after it of a stopwatch's line.
func stopwatchLine(text string) (label string, words []string, ok bool) {
	if !strings.Contains(text, "real") {
		return "", nil, false
	}
	m := kuduTimes.FindStringSubmatch(text)
	if m == nil {
		return "", nil, false
	}
	return m[1], strings.Fields(m[2]), true
}

// sniffKudu asks for a line that no other tool prints. "X: real 1s" is none
// without one of the stopwatch's own words, or all of its times.
var sniffKudu = sniffClues(kuduClues()...)

func kuduClues() []clue {
	has := func(text string) func() [][]byte { return func() [][]byte { return [][]byte{[]byte(text)} } }
	list := []clue{{has("real"), func(text string) bool {
		label, words, ok := stopwatchLine(kuduText(text))
		return ok && len(words) > 1 &&
			(kuduLabel.MatchString(label) || slices.Contains(words, "user") && slices.Contains(words, "sys"))
	}}}
	for _, k := range kuduLines {
		if k.own {
			list = append(list, clue{has(k.words), func(text string) bool { return k.pattern.MatchString(kuduText(text)) }})
		}
	}
	return list
}

func readKudu(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		test, mode := "", "" // the names of what has none
		var h kuduHistogram
		eachResult(r, name, yield, func(l line) (bench.Result, error) {
			text := kuduText(l.text)
			if m := kuduTest.FindStringSubmatch(text); m != nil {
				test = m[1]
			}
			if m := kuduMode.FindStringSubmatch(text); m != nil {
				mode = m[1]
			}
			res, err := h.line(l, text)
			if len(res.Values) == 0 && err == nil {
				res, err = parseKudu(l, text)
			}
			res.Name = cmp.Or(res.Name, test, mode)
			return res, err
		})
	}
}

// parseKudu reads the text of a line after its prefix. A line that is no result
// has no values.
func parseKudu(l line, text string) (bench.Result, error) {
	if label, words, ok := stopwatchLine(text); ok {
		return parseStopwatch(l, label, words)
	}
	g := gatherer{at: l}
	for i := range kuduLines {
		k := &kuduLines[i]
		if !strings.Contains(text, k.words) {
			continue
		}
		m := k.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		g.result.Name = oneBlank(m[1])
		before := len(g.result.Values)
		if g.parse(k.metric, m[2], k.unit); len(g.result.Values) > before {
			g.result.Values[before].Metric.Better = k.better
		}
	}
	return g.parsed()
}

// A kuduHistogram is the histogram that the lines stand in, if there is one.
type kuduHistogram struct {
	is         bool
	name, unit string
}

// line reads a key of a histogram: those of a time are latencies.
func (h *kuduHistogram) line(l line, text string) (bench.Result, error) {
	m := kuduKey.FindStringSubmatch(text)
	if m == nil {
		h.is = h.is && !strings.HasPrefix(text, "}")
		return bench.Result{}, nil
	}
	switch key := m[1]; {
	case key == "type":
		*h = kuduHistogram{is: m[2] == "histogram"}
	case key == "name":
		h.name = m[2]
	case key == "unit":
		h.unit = m[2]
	case h.is && kuduMeasure.MatchString(key):
		n, err := parseNumber(m[3])
		if err != nil || n < 0 {
			return bench.Result{}, l.errorf("want a number as %s of %s, have %q", key, h.name, m[3])
		}
		if _, base := bench.BaseUnit(h.unit); base == "s" {
			if p := kuduMeasure.FindStringSubmatch(key); p[1] != "" {
				key = "p" + p[1] + p[2]
			}
			key = "latency_" + key
		}
		return bench.Result{Name: h.name, Values: []bench.Value{bench.Measure(key, n, h.unit)}}, nil
	}
	return bench.Result{}, nil
}

// parseStopwatch reads the words after a label: "real 0.355s user 0.110s sys
// 0.245s", where people leave out some and put notes such as "(4.4x)" between.
func parseStopwatch(l line, label string, words []string) (bench.Result, error) {
	g := gatherer{at: l, result: bench.Result{Name: oneBlank(kuduLabel.ReplaceAllString(label, ""))}}
	for i, word := range words {
		metric, ok := kuduStopwatch[word]
		if !ok {
			continue
		}
		have := strings.Join(words[i+1:min(i+2, len(words))], "")
		number, ok := strings.CutSuffix(have, "s")
		v, err := parseNumber(number)
		if !ok || err != nil {
			g.problem("want seconds such as 0.355s after %q, have %q", word, have)
			continue
		}
		g.measure(metric, v, "s")
	}
	return g.parsed()
}

// oneBlank makes every run of white space one blank: copies of an output differ
// in it.
func oneBlank(s string) string { return strings.Join(strings.Fields(s), " ") }
