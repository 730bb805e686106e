package format

import (
	"encoding/json"
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The benchmarks of Rust's test harness, and of those that print alike
// (bencher, Criterion.rs with --output-format bencher), as printed by
// https://github.com/rust-lang/rust/blob/master/library/test/src/bench.rs: a
// median, and the largest minus the smallest value.
//
//	     Running unittests src/lib.rs (target/release/deps/crate-0123456789abcdef)
//	running 2 tests
//	test tests::copy ... bench:       1,180.33 ns/iter (+/- 38.32) = 55538 MB/s
//
// or, with -Z unstable-options --format json:
//
//	{ "type": "bench", "name": "tests::copy", "median": 1193.96, "deviation": 58.30, "mib_per_second": 54933 }
//
// Where the output names the program that runs, its name stands before the
// benchmark's: two of them may have one name. A name that an earlier program
// had is of a launch of its own.
var _ = register(Format{
	Name:  "libtest",
	Tool:  "cargo bench with #[bench], bencher",
	How:   "lines test NAME ... bench: F ns/iter (+/- F), or events of that",
	Seen:  []string{"Rust 1.95.0", "bencher 0.1.5", "criterion 0.3.6"},
	Print: "cargo +nightly bench",
	Sniff: sniffLine(
		`^test .+ \.\.\. bench\s*:\s+[\d,.]+ \S+/iter \(\+/- [\d,.]+\)`,
		`^\{ ?"type": ?"bench", ?"name": ?".*"median": ?(?:\d|NaN|null)`,
	),
	Read: readLibtest,
})

var (
	libtestLine    = compile(`^test (.+?)\s+\.\.\. bench:\s+(\S+) (\S+/iter) \(\+/- (\S+)\)(?: = (\S+) (MB/s))?`)
	libtestFailure = compile(`^test .+ \.\.\. FAILED`)
	libtestBench   = compile(`^\{ ?"type": ?"bench"`)
	libtestProgram = compile(`^\s+Running (?:unittests )?\S+ \(.*?([^/\\]+?)-[0-9a-f]{16}(?:\.exe)?\)`)
	libtestStart   = compile(`^running \d+ tests?$|^\{ ?"type": ?"suite", ?"event": ?"started"`)
)

// A libtestReader knows which program's output it reads.
type libtestReader struct {
	program  string
	number   int            // of the program
	last     map[string]int // the program that had a benchmark last
	launches map[string]int
}

func readLibtest(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		p := libtestReader{last: map[string]int{}, launches: map[string]int{}}
		eachResult(r, name, yield, p.line)
	}
}

// line reads a line. One that is no result has no values.
func (p *libtestReader) line(l line) (bench.Result, error) {
	if m := libtestProgram.FindStringSubmatch(l.text); m != nil {
		p.program = m[1]
	}
	switch {
	case libtestStart.MatchString(l.text):
		p.number++
	case libtestFailure.MatchString(l.text):
		return bench.Result{}, l.errorf("want a run in which nothing fails, have a failure: results are missing")
	case strings.HasPrefix(l.text, "{"):
		return p.event(l)
	}
	m := libtestLine.FindStringSubmatch(l.text)
	if m == nil {
		return bench.Result{}, nil
	}
	g := p.benchmark(l, m[1])
	var spread *float64
	if width, err := parseNumber(m[4]); err == nil {
		spread = &width
	}
	if median, err := parseNumber(m[2]); err == nil {
		g.add(statistic("time_per_op", median, m[3], bench.MinMax, spread, 0))
	} else {
		g.problem("want a number before %q, have %q", m[3], m[2])
	}
	if m[5] != "" {
		g.parse("bandwidth", m[5], m[6])
	}
	g.statistics()
	return g.parsed()
}

// event reads a line that may be an event.
func (p *libtestReader) event(l line) (bench.Result, error) {
	var e struct {
		Type, Name        string
		Median, Deviation *float64
		Rate              *float64 `json:"mib_per_second"` // in fact MB
	}
	err := json.Unmarshal(withoutNonFinite([]byte(l.text)), &e)
	if err != nil && libtestBench.MatchString(l.text) {
		return bench.Result{}, l.errorf("want a whole event: %v", err)
	}
	if err != nil || e.Type != "bench" {
		return bench.Result{}, nil
	}
	g := p.benchmark(l, e.Name)
	if e.Median != nil {
		g.add(statistic("time_per_op", *e.Median, "ns", bench.MinMax, e.Deviation, 0))
	} else {
		g.problem("want a number as median, have none")
	}
	if e.Rate != nil {
		g.measure("bandwidth", *e.Rate, "MB/s")
	}
	g.statistics()
	return g.parsed()
}

// benchmark begins the result of a benchmark in this line.
func (p *libtestReader) benchmark(l line, printed string) *gatherer {
	name := printed
	if p.program != "" {
		name = p.program + "::" + printed
	}
	return &gatherer{at: l, result: bench.Result{Name: name, Launch: p.launch(name)}}
}

// launch returns the launch that a benchmark's result is of.
func (p *libtestReader) launch(name string) int {
	if last, ok := p.last[name]; ok && last != p.number {
		p.launches[name]++
	}
	p.last[name] = p.number
	return p.launches[name]
}
