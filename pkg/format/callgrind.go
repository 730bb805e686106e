package format

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The profiles of Callgrind, and of other tools that write its format
// (https://valgrind.org/docs/manual/cl-format.html), of which the totals alone
// are read:
//
//	# callgrind format
//	creator: callgrind-3.19.0
//	pid: 25164
//	cmd:  ./bench 1000
//	part: 1
//	events: Ir Dr Dw
//	summary: 143962 27680 12166
//	fn=(1) main
//	…
//	totals: 143962 27680 12166
//
// or what Callgrind itself prints at the end:
//
//	==25164== Events    : Ir Dr Dw
//	==25164== Collected : 143962 27680 12166
//
// Parts and threads of one process are added up; each process is a launch.
var _ = register(Format{
	Name:  "callgrind",
	Tool:  "valgrind --tool=callgrind: its callgrind.out file, or what it prints",
	How:   "a header # callgrind format or positions: line, or ==PID== Collected : N",
	Seen:  []string{"valgrind 3.19.0"},
	Print: "valgrind --tool=callgrind --callgrind-out-file=callgrind.out ./bench",
	Sniff: sniffLine(
		`^# callgrind format`,
		`^positions: (?:instr |line)`,
		`^==\d+==\s+Collected : \d`,
	),
	Read: readCallgrind,
})

// cutValgrind returns what a tool of Valgrind said in a line, and its process.
func cutValgrind(text string) (pid, said string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, "> \t"), "==")
	if !ok {
		return "", "", false
	}
	pid, said, ok = strings.Cut(rest, "==")
	return pid, strings.TrimSpace(said), ok && isInteger(pid) && said != strings.TrimLeft(said, " \t")
}

// A callgrindPart is one dump, or one thread of it.
type callgrindPart struct {
	pid, command    string
	part, thread    string // of the process, "" where it has but one
	events          []string
	summary, totals []string // counts as printed
	at              line
	written         bool // by Callgrind, which ends a profile by its totals
}

func readCallgrind(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		c := callgrindReader{names: commandNamer{yield: yield}, yield: yield, commands: map[string]string{}}
		failure, ok := readProfile(r, name, yield, c.line)
		if !ok || !c.add() || !c.names.add(c.report) || !c.names.end() {
			return
		}
		if failure == nil && c.process == nil {
			failure = fmt.Errorf("%s: want a profile with an events: line, have none", name)
		}
		if failure != nil {
			yield(bench.Result{}, failure)
		}
	}
}

// A callgrindReader gathers the parts of one process after another.
type callgrindReader struct {
	names    commandNamer
	yield    func(bench.Result, error) bool
	commands map[string]string  // of processes that print their counts when they end
	head     callgrindPart      // what the parts of a profile have in common
	part     callgrindPart      // being read, if it has events
	process  *string            // of the report, nil before the first part
	parts    map[[2]string]bool // of the process, by part and thread
	report   commandReport
}

// line takes a line; most are the cost of one position and of no interest.
func (c *callgrindReader) line(l line) bool {
	if strings.HasPrefix(l.text, "==") {
		pid, said, ok := cutValgrind(l.text)
		if !ok {
			return true
		}
		key, value, _ := strings.Cut(said, ":")
		switch strings.TrimSpace(key) {
		case "Command":
			c.commands[pid] = strings.TrimSpace(value)
		case "Events":
			command := c.commands[pid]
			delete(c.commands, pid)
			return c.begin(callgrindPart{pid: pid, command: command, events: strings.Fields(value), at: l})
		case "Collected":
			c.part.at, c.part.totals = l, strings.Fields(value)
		}
		return true
	}
	key, value, ok := strings.Cut(l.text, ":")
	if !ok {
		return true
	}
	switch key {
	case "version":
		c.head = callgrindPart{}
	case "creator":
		c.head.written = strings.HasPrefix(strings.TrimSpace(value), "callgrind")
	case "pid":
		c.head.pid = strings.TrimSpace(value)
	case "part":
		c.head.part = strings.TrimSpace(value)
	case "thread":
		c.head.thread = strings.TrimSpace(value)
	case "cmd":
		c.head.command = strings.TrimSpace(value)
	case "events":
		part := c.head
		part.at, part.events = l, strings.Fields(value)
		return c.begin(part)
	case "summary":
		c.part.at, c.part.summary = l, strings.Fields(value)
	case "totals":
		c.part.at, c.part.totals = l, strings.Fields(value)
	}
	return true
}

func (c *callgrindReader) begin(part callgrindPart) bool {
	ok := c.add()
	c.part = part
	return ok
}

// add adds the part that was read to the report of its process, or to a new one.
func (c *callgrindReader) add() bool {
	part := c.part
	c.part = callgrindPart{}
	if len(part.events) == 0 {
		return true
	}
	values, err := part.values()
	if err != nil && !c.yield(bench.Result{}, err) {
		return false
	}
	// In containers many processes have one number: one that begins anew is another.
	id := [2]string{part.part, part.thread}
	if c.process != nil && part.pid != "" && part.pid == *c.process && !c.parts[id] {
		c.parts[id] = true
		c.report.values = addCounts(c.report.values, values)
		return true
	}
	ok := c.names.add(c.report)
	c.process, c.parts = &part.pid, map[[2]string]bool{id: true}
	c.report = commandReport{part.command, values}
	return ok
}

// values returns the counts of a part. The summary, which stands at the top,
// serves where the profile was cut off before its totals: that is an error too.
func (p *callgrindPart) values() ([]bench.Value, error) {
	counts := p.totals
	if counts == nil {
		counts = p.summary
	}
	switch {
	case counts == nil:
		return nil, p.at.errorf("want totals after the costs, have none: the profile is cut off")
	case len(counts) > len(p.events):
		return nil, p.at.errorf("want a count for each of %d events, have %d", len(p.events), len(counts))
	}
	values, err := valgrindCounts(p.at, p.events, counts)
	if err == nil && p.totals == nil && p.written {
		err = p.at.errorf("want totals after the costs, have none: the profile is cut off, and its summary is taken")
	}
	return values, err
}

// valgrindCounts makes values of events and their counts. All that Valgrind
// counts are costs.
func valgrindCounts(l line, events, counts []string) ([]bench.Value, error) {
	g := gatherer{at: l}
	for i, c := range counts {
		n, err := parseNumber(c)
		if err != nil {
			g.problem("want a count for %s, have %q", events[i], c)
			continue
		}
		v := bench.Measure(strings.ToLower(events[i]), n, "")
		if events[i] == "Ir" {
			v = bench.Measure("instructions", n, "instructions")
		}
		v.Metric.Better = bench.Lower
		g.result.Values = addValue(g.result.Values, v, events[i]+" again")
	}
	res, problem := g.parsed()
	values, err := (&filter{}).keep(l, res.Values)
	return values, cmp.Or(problem, err)
}

// addCounts adds the counts of more to those of the same metrics.
func addCounts(counts, more []bench.Value) []bench.Value {
	for _, v := range more {
		i := slices.IndexFunc(counts, func(c bench.Value) bool { return c.Metric.Name == v.Metric.Name })
		if i < 0 {
			counts = append(counts, v)
		} else {
			counts[i].V += v.V
		}
	}
	return counts
}
