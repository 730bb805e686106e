package format

import (
	"fmt"
	"io"
	"iter"
	"regexp"
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
	Print: "valgrind --tool=cachegrind --cache-sim=no ./bench",
	Sniff: sniffCachegrind,
	Read:  readCachegrind,
})

var (
	cachegrindHeader  = sniffLine(`^==\d+== Cachegrind, a`)
	cachegrindRefs    = sniffLine(`^[>\s]*==\d+==\s+I\s+refs:\s+\d`)
	cachegrindEvents  = sniffLine(`^events: Ir(?: |$)`)
	callgrindOwn      = sniffLine(`^==\d+==\s+Collected : \d`, `^# callgrind format`, `^positions: `, `^creator: `)
	cachegrindCount   = regexp.MustCompile(`^([A-Z]\S*(?:\s+(?:refs|misses))?):\s+(\S+)(?:\s+\(|$)`)
	cachegrindPrinted = map[string]string{"I refs": "Ir"}
)

// sniffCachegrind takes care not to claim what Callgrind prints, which ends in
// the same counts.
func sniffCachegrind(input []byte) bool {
	return cachegrindHeader(input) || (cachegrindRefs(input) || cachegrindEvents(input)) && !callgrindOwn(input)
}

func readCachegrind(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		c := cachegrindReader{processes: map[string]int{}}
		var failure error
		for l, err := range lines(r, name) {
			if err != nil {
				failure = err
				break
			}
			if m := valgrindLine.FindStringSubmatch(l.text); m != nil {
				c.printed(l, m[1], m[2])
			} else {
				c.profile(l)
			}
		}
		for res := range commandResults(c.reports) {
			if !yield(res, nil) {
				return
			}
		}
		if c.events != nil {
			c.faults = append(c.faults, fmt.Errorf("%s: want a summary after the costs, have none: the profile is cut off", name))
		} else {
			c.faults = append(c.faults, failure)
		}
		for _, err := range c.faults {
			if err != nil && !yield(bench.Result{}, err) {
				return
			}
		}
	}
}

type cachegrindReader struct {
	reports []commandReport
	faults  []error
	// Of the profile that is being read:
	command string
	events  []string // nil after its summary
	// Of what is printed:
	processes map[string]int // index of the report by process
	headed    bool           // a process has printed its command
}

// profile takes a line of a profile.
func (c *cachegrindReader) profile(l line) {
	key, value, ok := strings.Cut(l.text, ": ")
	if !ok {
		return
	}
	switch key {
	case "cmd":
		c.command = strings.TrimSpace(value)
	case "events":
		c.events = strings.Fields(value)
	case "summary":
		counts := strings.Fields(value)
		if len(counts) != len(c.events) {
			c.fault(l.errorf("want a count for each of %d events, have %d", len(c.events), len(counts)))
			return
		}
		values, err := valgrindCounts(l, c.events, counts)
		c.fault(err)
		c.reports = append(c.reports, commandReport{c.command, values})
		c.events = nil
	}
}

func (c *cachegrindReader) fault(err error) {
	if err != nil {
		c.faults = append(c.faults, err)
	}
}

// printed takes a line that a process prints.
func (c *cachegrindReader) printed(l line, pid, text string) {
	if command, ok := strings.CutPrefix(text, "Command: "); ok {
		c.headed = true
		c.processes[pid] = len(c.reports)
		c.reports = append(c.reports, commandReport{command: command})
		return
	}
	m := cachegrindCount.FindStringSubmatch(text)
	if m == nil {
		return
	}
	event := oneBlank(m[1])
	if own, ok := cachegrindPrinted[event]; ok {
		event = own
	}
	values, err := valgrindCounts(l, []string{event}, []string{m[2]})
	c.fault(err)
	i, ok := c.processes[pid]
	if !ok {
		if !c.headed {
			c.reports = append(c.reports, commandReport{})
		}
		i = len(c.reports) - 1
		c.processes[pid] = i
	}
	c.reports[i].values = addCounts(c.reports[i].values, values)
}
