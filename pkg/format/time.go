package format

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What time says of one execution of a command: GNU time with -v
// (https://git.savannah.gnu.org/cgit/time.git/tree/src/time.c), by default, or
// with -p, as POSIX has it, and the keyword of bash and of zsh.
//
//	Command being timed: "./bench"                     0.00user 0.00system 0:00.05elapsed 0%CPU (0avgtext+0avgdata 1636maxresident)k
//	User time (seconds): 0.00
//	Elapsed (wall clock) time (h:mm:ss or m:ss): 0:00.05        real 0.05          real    0m0.051s
//	Maximum resident set size (kbytes): 1108                    user 0.00          user    0m0.001s
//	Exit status: 0                                              sys 0.00           sys     0m0.000s
//
//	./bench  0.00s user 0.00s system 2% cpu 0.054 total
//
// Each execution is a launch. It is the operation, as with hyperfine, so that
// the elapsed time is the time of one. The format is general: a benchmark that
// is timed prints more of itself.
var _ = register(Format{
	Name:    "time",
	Tool:    "time: GNU's, POSIX's, bash's and zsh's",
	How:     "lines real, user and sys, or those of GNU time -v, or zsh's F user F system F% cpu F total",
	Seen:    []string{"GNU time 1.9", "bash 5.2.15", "zsh 5.9"},
	Print:   "/usr/bin/time -v ./program",
	General: true,
	Sniff:   sniffTime,
	Read:    readTime,
})

var (
	posixTime = compile(`^(real|user|sys)\s+(?:(\d+)m)?(\S+?)s?$`)
	zshTime   = compile(`^(?:(.*?)\s+)?(\S+)s user (\S+)s system \d+% cpu (\S+) total$`)
	gnuTime   = compile(`^([\d.]+)user ([\d.]+)system ([\d:.]+)elapsed \S*CPU \(\d+avgtext\+\d+avgdata (\d+)maxresident\)k$`)
	gnuLine   = compile(`^(Command being timed|User time \(seconds\)|System time \(seconds\)|Elapsed \(wall clock\) time \(h:mm:ss or m:ss\)|Maximum resident set size \(kbytes\)|Exit status): (.+)$`)
	gnuStatus = compile(`^Command (?:exited with non-zero status|terminated by signal) \d+$`)
	// gnuOther are the lines of GNU time that are not read.
	gnuOther = compile(`^\d+inputs\+\d+outputs \(|^(?:Percent of CPU this job got|Average (?:shared text|unshared data|stack|total|resident set) size \(kbytes\)|Major \(requiring I/O\) page faults|Minor \(reclaiming a frame\) page faults|(?:Involuntary|Voluntary) context switches|Swaps|File system (?:inputs|outputs)|Socket messages (?:sent|received)|Signals delivered|Page size \(bytes\)): `)
)

var sniffTime = sniffLine(
	`^\s*Elapsed \(wall clock\) time \(h:mm:ss or m:ss\): \d`,
	`^[\d.]+user [\d.]+system [\d:.]+elapsed `,
	`^real\s+(?:\d+m)?\d+[.,]\d+s?$`,
	zshTime.expression,
)

// isTimeLine reports whether a line is of what time prints.
func isTimeLine(text string) bool {
	return slices.ContainsFunc([]pattern{posixTime, zshTime, gnuTime, gnuLine, gnuStatus, gnuOther}, func(p pattern) bool { return p.MatchString(text) })
}

// A timeReader collects what is said of an execution.
type timeReader struct {
	names   commandNamer
	current commandReport
	begun   bool  // current is one
	stopped bool  // nothing more is wanted
	problem error // that is to be yielded
}

func readTime(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		t := timeReader{names: commandNamer{yield: yield}}
		whole := eachUnquoted(r, name, yield, func(l line) bool {
			t.line(l)
			err := t.problem
			t.problem = nil
			return !t.stopped && (err == nil || yield(bench.Result{}, err))
		})
		if whole && t.names.add(t.current) {
			t.names.end()
		}
	}
}

func (t *timeReader) line(l line) {
	if gnuStatus.MatchString(l.text) {
		t.problem = l.errorf("want a command that exits with status 0, have another")
		return
	}
	if m := gnuLine.FindStringSubmatch(l.text); m != nil {
		switch key, value := m[1], m[2]; key[:2] {
		case "Co":
			t.begin(strings.Trim(value, `"`))
		case "Us":
			t.add(l, "user_time", value, "s")
		case "Sy":
			t.add(l, "system_time", value, "s")
		case "El":
			t.add(l, "time_per_op", value, "s")
		case "Ma":
			t.add(l, "max_rss", value, "KiB")
		}
		return
	}
	if m := gnuTime.FindStringSubmatch(l.text); m != nil {
		t.begin("")
		t.add(l, "user_time", m[1], "s")
		t.add(l, "system_time", m[2], "s")
		t.add(l, "time_per_op", m[3], "s")
		t.add(l, "max_rss", m[4], "KiB")
		return
	}
	if m := zshTime.FindStringSubmatch(l.text); m != nil {
		t.begin(m[1])
		t.add(l, "user_time", m[2], "s")
		t.add(l, "system_time", m[3], "s")
		t.add(l, "time_per_op", m[4], "s")
		return
	}
	if m := posixTime.FindStringSubmatch(l.text); m != nil {
		number := strings.Replace(m[3], ",", ".", 1) // by locale
		if m[2] != "" {
			number = m[2] + ":" + number
		}
		switch m[1] {
		case "real":
			t.begin("")
			t.add(l, "time_per_op", number, "s")
		case "user":
			t.add(l, "user_time", number, "s")
		case "sys":
			t.add(l, "system_time", number, "s")
		}
	}
}

func (t *timeReader) begin(command string) {
	t.stopped = !t.names.add(t.current)
	t.current, t.begun = commandReport{command: command}, true
}

// add adds a value to the execution that is being read.
func (t *timeReader) add(l line, metric, number, unit string) {
	v, err := parseClock(number)
	switch {
	case err != nil:
		t.problem = l.errorf("want a number as %s, have %q", metric, number)
	case t.begun:
		t.current.values = append(t.current.values, bench.Measure(metric, v, unit))
	}
}
