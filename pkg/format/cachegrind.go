package format

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The profiles of Cachegrind (https://valgrind.org/docs/manual/cg-manual.html),
// of which the summary alone is read:
//
//	desc: I1 cache:         32768 B, 64 B, 8-way associative
//	cmd: ./bench 1000
//	events: Ir I1mr ILmr
//	fl=bench.c
//	…
//	summary: 145040 1258 1239
//
// or what it prints at the end, without the rates, which follow from the counts:
//
//	==25345== I   refs:      145,040
//	==25345== I1  misses:      1,258
//	==25345== I1  miss rate:    0.87%
//	==25345== D   refs:       39,825  (29,138 rd   + 10,687 wr)
//
// Each process is a launch, but one that prints no command of its own was forked
// off the one before and is added to it.
var _ = register(Format{
	Name:  "cachegrind",
	Tool:  "valgrind --tool=cachegrind: its cachegrind.out file, or what it prints",
	How:   "lines events: Ir … and summary: N without positions:, or ==PID== I refs: N",
	Seen:  []string{"valgrind 3.19.0"},
	Print: "valgrind --tool=cachegrind --cache-sim=no ./bench",
	Sniff: sniffCachegrind,
	Read:  readCachegrind,
})

var (
	cachegrindHeader = sniffLine(`^==\d+== Cachegrind, a`)
	cachegrindRefs   = sniffLine(cachegrindRefsLine.expression)
	cachegrindEvents = sniffLine(`^events: Ir(?: |$)`)
	callgrindOwn     = sniffLine(`^==\d+==\s+Collected : \d`, callgrindHeader.expression)
	callgrindHeader  = compile(`^(?:# callgrind format|positions: |creator: |part: )`)

	cachegrindRefsLine = compile(`^[>\s]*==\d+==\s+I\s+refs:\s+\d`)
	cachegrindCount    = compile(`^([A-Z]\S*(?:\s+(?:refs|misses))?):\s+(\S+)(?:\s+\(|$)`)
)

// sniffCachegrind takes care not to claim what Callgrind prints, which has the same
// counts.
func sniffCachegrind(in *Input) bool {
	if cachegrindHeader(in) {
		return true
	}
	return (cachegrindRefs(in) || cachegrindEvents(in)) && (!callgrindOwn(in) || hasCachegrindCounts(in.reader()))
}

// hasCachegrindCounts reports whether some counts are none of Callgrind's: those of
// a process that it has not printed of before, or below a header without a line of
// its own.
func hasCachegrindCounts(r io.Reader) bool {
	callgrinds := map[string]bool{} // processes
	isCallgrind := false            // the header is
	for l, err := range lines(r, "") {
		if err != nil {
			continue
		}
		pid, said, isPrinted := cutValgrind(l.text)
		switch {
		case isPrinted && strings.HasPrefix(said, "Collected : "):
			if len(callgrinds) == maxReports {
				clear(callgrinds)
			}
			callgrinds[pid] = true
		case isPrinted && cachegrindRefsLine.MatchString(l.text):
			if !callgrinds[pid] {
				return true
			}
		case callgrindHeader.MatchString(l.text):
			isCallgrind = true
		case strings.HasPrefix(l.text, "events: "):
			if !isCallgrind {
				return true
			}
			isCallgrind = false
		case strings.HasPrefix(l.text, "fn="):
			isCallgrind = false // its header is over
		}
	}
	return false
}

func readCachegrind(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		c := cachegrindReader{names: commandNamer{yield: yield}, yield: yield, processes: map[string]int{}}
		failure, ok := readProfile(r, name, yield, c.line)
		if !ok || !c.hand(len(c.open)) || !c.names.end() {
			return
		}
		if failure == nil && c.events != nil {
			failure = fmt.Errorf("%s: want a summary after the costs, have none: the profile is cut off", name)
		}
		if failure != nil {
			yield(bench.Result{}, failure)
		}
	}
}

// readProfile is eachLine, but for what ends the reading: it is for the caller to
// yield, after what came before.
func readProfile(
	r io.Reader, document string, yield func(bench.Result, error) bool, read func(line) bool,
) (failure error, ok bool) {
	ok = eachLine(r, document, func(res bench.Result, err error) bool {
		if _, isLine := errors.AsType[*LineError](err); isLine {
			return yield(res, err)
		}
		failure = err
		return false
	}, read)
	return failure, ok || failure != nil
}

type cachegrindReader struct {
	names commandNamer
	yield func(bench.Result, error) bool
	// Reports of processes that may say more.
	open   []commandReport
	handed int // reports before those
	// Of the profile that is being read:
	command string
	events  []string // nil after its summary
	// Of what is printed:
	processes map[string]int // number of the report by process
	headed    bool           // a process has printed its command
}

func (c *cachegrindReader) line(l line) bool {
	if pid, said, ok := cutValgrind(l.text); ok {
		return c.printed(l, pid, said)
	}
	return c.profile(l)
}

// begin begins a report. Processes that run at the same time are few.
func (c *cachegrindReader) begin(r commandReport) bool {
	c.open = append(c.open, r)
	return len(c.open) < 2*maxReports || c.hand(maxReports)
}

// hand hands on the first n of the reports.
func (c *cachegrindReader) hand(n int) bool {
	for _, r := range c.open[:n] {
		if !c.names.add(r) {
			return false
		}
	}
	c.open = slices.Clone(c.open[n:])
	c.handed += n
	maps.DeleteFunc(c.processes, func(_ string, i int) bool { return i < c.handed })
	return true
}

// profile takes a line of a profile.
func (c *cachegrindReader) profile(l line) bool {
	key, value, ok := strings.Cut(l.text, ": ")
	if !ok {
		return true
	}
	switch key {
	case "cmd":
		c.command = strings.TrimSpace(value)
	case "events":
		c.events = strings.Fields(value)
	case "summary":
		counts := strings.Fields(value)
		if len(counts) != len(c.events) {
			return c.yield(bench.Result{}, l.errorf("want a count for each of %d events, have %d", len(c.events), len(counts)))
		}
		values, err := valgrindCounts(l, c.events, counts)
		c.events = nil
		return c.begin(commandReport{c.command, values}) && (err == nil || c.yield(bench.Result{}, err))
	}
	return true
}

// printed takes a line that a process prints.
func (c *cachegrindReader) printed(l line, pid, text string) bool {
	if command, ok := strings.CutPrefix(text, "Command: "); ok {
		c.headed = true
		c.processes[pid] = c.handed + len(c.open)
		return c.begin(commandReport{command: command})
	}
	m := cachegrindCount.FindStringSubmatch(text)
	if m == nil {
		return true
	}
	event := oneBlank(m[1])
	if event == "I refs" {
		event = "Ir"
	}
	values, err := valgrindCounts(l, []string{event}, []string{m[2]})
	if err != nil && !c.yield(bench.Result{}, err) {
		return false
	}
	i, ok := c.processes[pid]
	if !ok {
		if !c.headed && !c.begin(commandReport{}) {
			return false
		}
		i = c.handed + len(c.open) - 1
		c.processes[pid] = i
	}
	report := &c.open[i-c.handed]
	report.values = addCounts(report.values, values)
	return true
}
