package format

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The counts of "perf stat", of every version since 2012, as printed by
// https://github.com/torvalds/linux/blob/master/tools/perf/util/stat-display.c
//
//	Performance counter stats for './bench 100' (10 runs):
//
//	        1,095.61 msec task-clock       #    0.863 CPUs utilized     ( +-  0.54% )
//	   1,369,266,675      instructions:u   #    0.56  insn per cycle    ( +-  0.12% )  (83.30%)
//	 <not supported>      cycles
//
//	          1.2691 +- 0.0042 seconds time elapsed  ( +-  0.33% )
//	          1.2557 seconds user
//
// with -x (value, unit, event, spread with -r, nanoseconds and share of the time
// that the counter ran, and a derived metric):
//
//	1369266675,,instructions:u,0.12%,564697,83.30,0.56,insn per cycle
//
// and with -j:
//
//	{"counter-value" : "1369266675.0", "unit" : "", "event" : "instructions:u", "variance" : 0.12, "event-runtime" : 564697, "pcnt-running" : 83.30, …}
//
// What it derives (insn per cycle) is not read. A counter that ran only a part
// of the time is scaled up to the whole by perf: such a value is an estimate and
// so a statistic. Counts of parts of a run, by interval (-I), processor (-A) or
// thread, say nothing of the whole, and are warned of.
var _ = register(Format{
	Name:  "perf-stat",
	Tool:  "perf stat, also with -x, -j, -r and --table",
	How:   "a line Performance counter stats for …, seconds time elapsed, or of task-clock; lines of -x or -j",
	Seen:  []string{"perf 6.1.192"},
	Print: "perf stat -e instructions:u,cycles:u,task-clock -- ./bench",
	Sniff: sniffLine(
		`^[>\s]*Performance counter stats for .*:`,
		`^[>\s]*[\d.,]+(?: \+- [\d.]+)? seconds time elapsed`,
		`^[>\s]*[\d.,]+ +(?:msec )?task-clock(?::\w+)?(?:\s|$)`,
		`^\{"counter-value" : "`,
		// By parts.
		`^[>\s]*#\s+time\s+(?:\S+\s+)*counts unit events`,
		`^\{"(?:interval|cpu|core|die|socket|node|thread)" : .*"counter-value" : "`,
		`^\s*\d+\.\d{9}[,;|\t][^,;|\t]*[,;|\t](?:msec|ns|Joules)?[,;|\t](?:task-clock|cpu-clock|cycles|instructions)[\w/:-]*[,;|\t]\d+[,;|\t]\d+\.\d\d`,
		// value, unit, event, spread, nanoseconds, share of the time
		`^(?:[\d.]+|<not \w+>)[,;|\t](?:msec|ns|Joules)?[,;|\t](?:cpu_core/|cpu_atom/)?(?:task-clock|cpu-clock|cycles|instructions|branch|context-switches|cpu-migrations|page-faults|cache-|stalled-|duration_time)[\w/:-]*[,;|\t](?:[\d.]+%[,;|\t])?\d+[,;|\t]\d+\.\d\d`,
	),
	Read: readPerfStat,
})

// perfNames are the metrics of events, after their modifiers are taken off.
var perfNames = map[string]string{
	"instructions":  "instructions",
	"cycles":        "cpu_cycles",
	"cpu-cycles":    "cpu_cycles",
	"task-clock":    "cpu_time",
	"duration_time": "wall_time",
	"user_time":     "user_time",
	"system_time":   "system_time",
	"elapsed":       "wall_time",
	"user":          "user_time",
	"sys":           "system_time",
}

var (
	perfHeader = compile(`^Performance counter stats for (.*?)\s*(?:\((\d+) runs\))?\s*:\s*$`)
	perfTime   = compile(`^([-\d.,']+)(?:\s+\+-\s+([\d.]+))?\s+seconds (?:time )?(elapsed|user|sys)\b(.*)$`)
	// perfRow is a row of counts: the number, the unit, the event, the unit again
	// in older versions, and what follows.
	perfRow = compile(`^(-?[\d.,']+|<not supported>|<not counted>)\s+(?:(msec|ns|Joules|[KMG]i?B)\s+)?([^\s#(<]\S*)(?:\s+\(msec\))?(\s*$|\s+[#(\[].*)$`)
	// perfEvent is a name that an event has and hardly a word of a log.
	perfEvent = compile(`[-_/:]|^(?:instructions|cycles|branches|faults|migrations|cs|bus-cycles|r[0-9a-f]{2,})$`)
	// perfModifiers are the privilege levels and precision of an event.
	perfModifiers = compile(`^(.*?)[:/]([ukhHGpPSDWeIb]+)$`)
	perfSpread    = compile(`\(\s*\+-\s*([\d.]+)%\s*\)`)
	perfRunning   = compile(`[\[(]\s*([\d.]+)%\s*[\])]\s*$`)
	// perfPart is a row of a part of a run.
	perfPart   = compile(`^(?:\d+\.\d{9}(?:\s+|[,;|\t])(?:[A-Z]+\d+\S*(?:\s+|[,;|\t]))?(?:[\d.,']+|<not \w+>)(?:\s|[,;|\t])|(?:CPU|S|N|D)\d+(?:-\w+)*(?:\s+|[,;|\t])(?:\d+(?:\s+|[,;|\t]))?(?:[\d.,']+|<not \w+>)(?:\s|[,;|\t])|\{"(?:interval|cpu|core|die|socket|node|thread)" : )`)
	perfSingle = compile(`^([\d.]+) \([-+][\d.]+\)(?:\s#*)?$`)
	// perfCost are the events of which less is better, as far as is known.
	perfCost = compile(`(?:misses|switches|faults|migrations|branches|loads|stores|references|^cs|^stalled\S*)$`)
)

// A perfReading is one count as printed.
type perfReading struct {
	event   string
	number  string // or <not supported>, <not counted>
	unit    string
	spread  string // standard error of the mean in percent of it, or ""
	running string // share of the time that the counter ran in percent, or ""
}

func readPerfStat(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		p := perfReader{names: commandNamer{yield: yield}, yield: yield}
		failure, ok := readProfile(r, name, yield, func(l line) bool { return p.line(unquoted(l)) })
		if !ok || !p.take() {
			return
		}
		for _, note := range p.notes() {
			if !yield(bench.Result{}, note) {
				return
			}
		}
		if p.next("", "") && p.names.end() && failure != nil {
			yield(bench.Result{}, failure)
		}
	}
}

// maxNamed bounds how many events a note names.
const maxNamed = 20

// A perfReader gathers one report after the other.
type perfReader struct {
	names   commandNamer
	yield   func(bench.Result, error) bool
	report  commandReport
	seen    []string        // events of it
	runs    int             // of its header
	singles []commandReport // its runs, where they are listed
	pending perfReading
	at      line // of pending

	filter filter
	// What did not count all the time, once a document.
	absent, partial     []string
	absentAt, partialAt line
	partAt              line // the first that is of a part of a run
}

func (p *perfReader) line(l line) bool {
	if strings.HasPrefix(l.text, "#") {
		// A second derived metric: spread and share stand behind the last one.
		p.pending.tail(l.text)
		return true
	}
	if !p.take() {
		return false
	}
	p.at = l
	switch text := l.text; {
	case text == "":
	case perfPart.MatchString(text):
		if text[0] == '{' && !json.Valid([]byte(text)) {
			return p.yield(bench.Result{}, l.errorf("want a whole event as perf stat -j prints it"))
		}
		if p.partAt.number == 0 {
			p.partAt = l
		}
	case strings.HasPrefix(text, "Performance counter stats for "):
		if m := perfHeader.FindStringSubmatch(text); m != nil {
			return p.next(m[1], m[2])
		}
	case strings.HasPrefix(text, `{"counter-value"`):
		return p.json(text)
	case strings.Contains(text, " seconds "):
		if m := perfTime.FindStringSubmatch(text); m != nil {
			p.pending = perfReading{event: m[3], number: m[1], unit: "s"}
			p.pending.tail(m[4])
		}
	case text[0] != '<' && text[0] != '-' && (text[0] < '0' || text[0] > '9'): // no number
	default:
		if m := perfRow.FindStringSubmatch(text); m != nil {
			if m[3] == "task-clock" || strings.Contains(text, "(msec)") {
				m[2] = "msec"
			}
			if perfEvent.MatchString(m[3]) {
				p.pending = perfReading{event: m[3], number: m[1], unit: m[2]}
				p.pending.tail(m[4])
			}
		} else if reading, ok := perfCSV(text); ok {
			p.pending = reading
		} else if m := perfSingle.FindStringSubmatch(text); m != nil {
			p.single(m[1])
		}
	}
	return true
}

// tail takes what stands behind an event, or behind a derived metric.
func (r *perfReading) tail(text string) {
	if !strings.Contains(text, "%") {
		return
	}
	if m := perfSpread.FindStringSubmatch(text); m != nil {
		r.spread = m[1]
	}
	if m := perfRunning.FindStringSubmatch(text); m != nil {
		r.running = m[1]
	}
}

// json takes an event of -j.
func (p *perfReader) json(text string) bool {
	var event struct {
		Value   string       `json:"counter-value"`
		Unit    string       `json:"unit"`
		Event   string       `json:"event"`
		Spread  json.Number  `json:"variance"`
		Running *json.Number `json:"pcnt-running"`
	}
	if err := json.Unmarshal([]byte(text), &event); err != nil {
		return p.yield(bench.Result{}, p.at.errorf("want a whole event as perf stat -j prints it: %v", err))
	}
	if event.Event == "" {
		return p.yield(bench.Result{}, p.at.errorf("want an event as perf stat -j prints it"))
	}
	p.pending = perfReading{event: event.Event, number: event.Value, unit: event.Unit, spread: event.Spread.String()}
	if event.Running != nil {
		p.pending.running = event.Running.String()
	}
	return true
}

// perfCSV reads a line of -x. The separator is whatever stands behind the first
// number.
func perfCSV(text string) (perfReading, bool) {
	i := strings.IndexAny(text, ",;|\t")
	if i < 1 {
		return perfReading{}, false
	}
	f := strings.SplitN(text, text[i:i+1], 9)
	if len(f) < 5 || !perfEvent.MatchString(f[2]) && f[2] != "task-clock" {
		return perfReading{}, false
	}
	r := perfReading{number: f[0], unit: f[1], event: f[2]}
	f = f[3:]
	if spread, ok := strings.CutSuffix(f[0], "%"); ok {
		r.spread, f = spread, f[1:]
	}
	if len(f) < 2 || !isInteger(f[0]) || !strings.Contains(f[1], ".") {
		return perfReading{}, false
	}
	if _, err := parseNumber(f[1]); err != nil {
		return perfReading{}, false
	}
	r.running = f[1]
	return r, true
}

// next ends the report and begins that of another execution.
func (p *perfReader) next(command, runs string) bool {
	if !p.names.add(p.report) {
		return false
	}
	for _, single := range p.singles {
		if !p.names.add(single) {
			return false
		}
	}
	if !strings.HasPrefix(command, "'") {
		command = "" // a process or a thread by its number
	}
	p.report = commandReport{command: strings.Trim(command, "'")}
	p.runs, _ = strconv.Atoi(runs) // 0 where it does not say
	p.seen, p.singles = nil, nil
	return true
}

// single takes the elapsed time of one of the runs of -r, as --table lists them
// before the mean. Each is of an execution of its own.
func (p *perfReader) single(number string) {
	if v, err := parseNumber(number); err == nil {
		p.singles = append(p.singles, commandReport{p.report.command, []bench.Value{bench.Measure("wall_time", v, "s")}})
	}
}

// take takes the pending reading, of which the last line has been read.
func (p *perfReader) take() bool {
	r := p.pending
	p.pending = perfReading{}
	if r.event == "" {
		return true
	}
	if slices.Contains(p.seen, r.event) && !p.next("'"+p.report.command+"'", "") {
		// Without a header, this is how the next execution shows.
		return false
	}
	p.seen = append(p.seen, r.event)
	running, err := parseNumber(r.running)
	switch {
	case strings.HasPrefix(r.number, "<not "), err == nil && running == 0:
		if p.absent == nil {
			p.absentAt = p.at
		}
		if len(p.absent) < maxNamed && !slices.Contains(p.absent, r.event) {
			p.absent = append(p.absent, r.event)
		}
		return true
	case err != nil:
		running = 100
	}
	n, err := parseNumber(r.number)
	if err != nil || n < 0 {
		return p.yield(bench.Result{}, p.at.errorf("want a count for %s (LC_ALL=C makes perf print it so), have %q", r.event, r.number))
	}
	v := measurePerf(r.event, n, r.unit)
	v.Statistic = p.statistic(r, v.V)
	if running < 100 {
		if p.partial == nil {
			p.partialAt = p.at
		}
		if v.Statistic == nil {
			v.Statistic = &bench.Spread{}
		}
		if len(p.partial) < maxNamed {
			p.partial = append(p.partial, fmt.Sprintf("%s (%s %%)", r.event, r.running))
		}
	}
	kept, err := p.filter.keep(p.at, []bench.Value{v})
	for _, v := range kept {
		p.report.values = addValue(p.report.values, v, r.event)
	}
	return err == nil || p.yield(bench.Result{}, err)
}

// statistic returns what is known of the scatter of a mean of several runs: perf
// prints the standard error in percent of the mean.
func (p *perfReader) statistic(r perfReading, mean float64) *bench.Spread {
	percent, err := parseNumber(r.spread)
	deviation := percent / 100 * mean * math.Sqrt(float64(p.runs))
	switch {
	case p.runs > 1 && err == nil && percent >= 0 && !math.IsInf(deviation, 0):
		return &bench.Spread{Kind: bench.StdDev, Value: deviation, Count: p.runs}
	case p.runs > 1 || err == nil:
		return &bench.Spread{Count: p.runs}
	}
	return nil
}

// notes returns what is to be said once of the whole document.
func (p *perfReader) notes() []error {
	var notes []error
	if p.absent != nil {
		notes = append(notes, p.absentAt.errorf("want counts, have none for %s: the counter is not available, and no value is taken", strings.Join(p.absent, ", ")))
	}
	if p.partial != nil {
		notes = append(notes, p.partialAt.errorf("want counters that run all the time, have %s: perf has estimated the rest; ask it for fewer events", shorten(strings.Join(p.partial, ", "), 200)))
	}
	if p.partAt.number != 0 {
		notes = append(notes, p.partAt.errorf("want counts of a whole run, have those of parts of it, which are not read: leave -I, -A and --per-… out"))
	}
	return notes
}

// measurePerf makes a value of an event's count. User space alone is counted in
// place of all where perf may not do more, so :u makes no other metric; the
// kernel alone does.
func measurePerf(event string, n float64, unit string) bench.Value {
	name := strings.TrimSuffix(strings.TrimPrefix(event, "cpu/"), "/")
	if strings.ContainsAny(name, ":/") {
		m := perfModifiers.FindStringSubmatch(name)
		if m != nil && (strings.Contains(m[2], "u") || !strings.ContainsAny(m[2], "kh")) {
			name = strings.TrimSuffix(m[1], "/")
		}
	}
	if canonical, ok := perfNames[name]; ok {
		return bench.Measure(canonical, n, unit)
	}
	v := bench.Measure(name, n, unit)
	switch {
	case strings.Contains(name, "instructions"):
		v.Metric.Unit, v.Metric.Better = "instructions", bench.Lower
	case perfCost.MatchString(strings.ToLower(name)):
		v.Metric.Better = bench.Lower
	}
	return v
}
