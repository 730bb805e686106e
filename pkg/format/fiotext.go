package format

import (
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What fio prints for people, by show_ddir_status of
// https://github.com/axboe/fio/blob/master/stat.c:
//
//	job: (groupid=0, jobs=1): err= 0: pid=29075: Mon Jan  5 12:00:00 2026
//	  read: IOPS=10.8k, BW=42.2MiB/s (44.2MB/s)(5704KiB/132msec)
//	    clat (usec): min=52, max=7077, avg=89.79, stdev=329.47
//	     lat (usec): min=52, max=7077, avg=89.82, stdev=329.47
//	    clat percentiles (usec):
//	     |  1.00th=[   55],  5.00th=[   55], …
//
// and before version 3 "  write: io=1315.4MB, bw=7485.8KB/s, iops=1871, runt=…".
// Each direction of a job is a benchmark. Latencies are of the whole operation
// (lat), percentiles those that are printed: of its completion (clat) unless fio
// is told otherwise. Percentiles below the middle, the distribution of latencies
// and the summary of all jobs are not read. fio's JSON has more and more exact
// numbers.
var _ = register(Format{
	Name:  "fio-text",
	Tool:  "fio, as it prints for people",
	Print: "fio --name=job --rw=randread --size=1g",
	How:   `lines such as "read: IOPS=10.8k, BW=42.2MiB/s"`,
	Seen:  []string{"fio 3.33"},
	Sniff: sniffLine(
		`^[>\s]*(?:read|write|trim)\s*: IOPS=\d\S*, BW=`,
		`^[>\s]*(?:read|write|trim)\s*: io=.*, bw=.*, iops=\d`,
	),
	Read: readFioText,
})

var (
	fioJob         = compile(`^(.*?): \(groupid=\d+, jobs=\d+\): err=\s*(\d+)`)
	fioDirection   = compile(`^(read|write|trim)\s*: (IOPS=|io=)`)
	fioRate        = compile(`\b(?:(?:IOPS|iops)=\s*([^,\s]+)|(?:BW|bw)=\s*([-\d.,]+)([KMGT]?i?(?:B|bit)/s))`)
	fioLatency     = compile(`^lat \((nsec|usec|msec|sec)\)\s*: min=.*\bmax=\s*([^,\s]+), avg=\s*([^,\s]+)`)
	fioPercentiles = compile(`^c?lat percentiles \((nsec|usec|msec|sec)\):`)
	fioPercentile  = compile(`(\d+)(?:\.(\d+))?th=\[\s*([^\]\s]+)\s*\]`)
)

// fioUnits are the units of bandwidth before version 3, which says KB and means
// KiB.
var fioUnits = map[string]string{"KB/s": "KiB/s", "MB/s": "MiB/s", "GB/s": "GiB/s", "TB/s": "TiB/s"}

func readFioText(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		p := fioParser{yield: yield}
		eachUnquoted(r, name, yield, p.line)
	}
}

// A fioParser is where in the report of a job the line stands.
type fioParser struct {
	yield     func(bench.Result, error) bool
	job       string
	direction string // "" before the first
	ranked    bool   // percentiles were printed: what follows are those of a part, or the whole, of the same
	unit      string // of the percentiles in the lines that follow, "" where they are not read
}

func (p *fioParser) line(l line) bool {
	if strings.HasPrefix(l.text, "|") {
		return p.unit == "" || p.percentiles(l)
	}
	if m := fioJob.FindStringSubmatch(l.text); m != nil {
		p.job, p.direction, p.unit = m[1], "", ""
		if m[2] != "0" {
			return p.yield(bench.Result{}, l.errorf("want a job with err= 0, have %s: its results are of a part of its work, if there are any", m[2]))
		}
		return true
	}
	if m := fioDirection.FindStringSubmatch(l.text); m != nil {
		p.direction, p.ranked, p.unit = m[1], false, ""
		return p.rates(l, m[2] == "io=")
	}
	if p.direction == "" {
		return true
	}
	if m := fioLatency.FindStringSubmatch(l.text); m != nil {
		return p.value(l, "latency_mean", m[3], m[1]) && p.value(l, "latency_max", m[2], m[1])
	}
	if m := fioPercentiles.FindStringSubmatch(l.text); m != nil {
		if p.unit = m[1]; p.ranked {
			p.unit = ""
		}
		p.ranked = true
	}
	return true
}

func (p *fioParser) rates(l line, old bool) bool {
	for m := range fioRate.eachSubmatch(l.text) {
		if m[1] != "" {
			if !p.value(l, "iops", m[1], "iops") {
				return false
			}
			continue
		}
		unit := m[3]
		if kibi, ok := fioUnits[unit]; ok && old {
			unit = kibi
		}
		if !p.value(l, "bandwidth", m[2], unit) {
			return false
		}
	}
	return true
}

func (p *fioParser) percentiles(l line) bool {
	for m := range fioPercentile.eachSubmatch(l.text) {
		// "50.00" is latency_p50, "99.90" latency_p999.
		digits := m[1] + strings.TrimRight(m[2], "0")
		if m[1] >= "50" && len(m[1]) == 2 && !p.value(l, "latency_p"+digits, m[3], p.unit) {
			return false
		}
	}
	return true
}

func (p *fioParser) value(l line, metric, number, unit string) bool {
	v, err := parseNumber(number)
	if err != nil || v < 0 {
		return p.yield(bench.Result{}, l.errorf("want a number as %s, have %q", metric, number))
	}
	benchmark := strings.TrimPrefix(p.job+"/"+p.direction, "/")
	return p.yield(bench.Result{Name: benchmark, Values: []bench.Value{bench.Measure(metric, v, unit)}}, nil)
}
