package format

import (
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What wrk (https://github.com/wg/wrk/blob/master/src/wrk.c) and wrk2 print:
//
//	Running 10s test @ http://127.0.0.1:8080/
//	  2 threads and 8 connections
//	  Thread Stats   Avg      Stdev     Max   +/- Stdev
//	    Latency   487.77us    1.13ms  19.20ms   93.42%
//	    Req/Sec    16.96k     3.41k   26.78k    76.19%
//	  Latency Distribution
//	     50%   78.00us
//	  35354 requests in 1.10s, 3.69MB read
//	  Socket errors: connect 0, read 3, write 0, timeout 1
//	  Non-2xx or 3xx responses: 12
//	Requests/sec:  32180.37
//	Transfer/sec:      3.36MB
//
// Errors are those of sockets and the responses that are no success. What wrk
// calls MB is 1024 times 1024 bytes. Of wrk2 the first distribution is read: the
// latency from when a request was due.
var _ = register(Format{
	Name:  "wrk",
	Tool:  "wrk and wrk2",
	Print: "wrk -t2 -c8 -d10s --latency http://127.0.0.1:8080/",
	How:   `a line "N requests in Ns, N read"`,
	Seen:  []string{"wrk 4.1.0"},
	Sniff: sniffLine(`^[>\s]*\d+ requests in [\d.]+(?:us|ms|s|m|h), [\d.]+[KMGTP]?B read\s*$`),
	Read:  readWrk,
})

var (
	wrkTarget      = compile(`^Running \S+ test @ (\S+)$`)
	wrkConnections = compile(`^(\d+) threads and (\d+) connections$`)
	wrkLatency     = compile(`^Latency\s+(\S+)\s+\S+\s+(\S+)\s+(\S+)$`)
	wrkRank        = compile(`^([\d.]+)%\s+(\S+)$`)
	wrkRequests    = compile(`^(\d+) requests in `)
	wrkSockets     = compile(`^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)$`)
	wrkResponses   = compile(`^Non-2xx or 3xx responses: (\d+)$`)
	wrkRate        = compile(`^Requests/sec:\s+(\S+)$`)
	wrkBytes       = compile(`^Transfer/sec:\s+(-?(?:[\d.]+|nan|inf))([KMGTP]?)B$`)
)

func readWrk(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		w := wrkReader{reporter: reporter{to: yield}}
		if eachUnquoted(r, name, yield, w.line) {
			w.end()
		}
	}
}

// A wrkReader gathers the report of one run.
type wrkReader struct {
	reporter
	errors     float64
	began      bool // a line of it was seen
	summed     bool // its rate was, which is after its errors
	ranked     bool // a distribution was seen
	second     bool // another is
	unmeasured bool // its latencies are of nothing
}

func (w *wrkReader) line(l line) bool {
	if m := wrkTarget.FindStringSubmatch(l.text); m != nil {
		ok := w.end()
		w.at, w.result.Name = l, m[1]
		return ok
	}
	if m := wrkConnections.FindStringSubmatch(l.text); m != nil {
		w.result.Name = strings.TrimSpace(w.result.Name + " threads=" + m[1] + " connections=" + m[2])
	} else if m := wrkLatency.FindStringSubmatch(l.text); m != nil {
		if w.unmeasured = strings.HasSuffix(m[3], "nan%"); w.unmeasured { // a share of none
			w.problem("want latencies, have none: no response came in time")
			return true
		}
		w.duration("latency_mean", m[1])
		w.duration("latency_max", m[2])
	} else if strings.HasPrefix(l.text, "Latency Distribution") {
		w.second, w.ranked = w.ranked, true
	} else if m := wrkRank.FindStringSubmatch(l.text); m != nil && w.ranked && !w.second && !w.unmeasured && percentile(m[1]) != "" {
		w.duration(percentile(m[1]), m[2])
	} else if m := wrkRequests.FindStringSubmatch(l.text); m != nil {
		w.at, w.began = l, true
		if m[1] == "0" {
			w.result.Values, w.problems = nil, nil // latencies of nothing
		}
	} else if m := wrkSockets.FindStringSubmatch(l.text); m != nil {
		w.failed(m[1:]...)
	} else if m := wrkResponses.FindStringSubmatch(l.text); m != nil {
		w.failed(m[1])
	} else if m := wrkRate.FindStringSubmatch(l.text); m != nil {
		w.summed = true
		w.parseRate("throughput", m[1], "rps")
	} else if m := wrkBytes.FindStringSubmatch(l.text); m != nil && m[1] != "0.00" {
		w.parse("bandwidth", m[1], binaryUnit(m[2])+"/s")
	}
	return true
}

func (w *wrkReader) failed(counts ...string) {
	for _, c := range counts {
		n, _ := parseNumber(c)
		w.errors += n
	}
}

// end ends a report. One that was cut off before its sum is not whole.
func (w *wrkReader) end() bool {
	if w.summed {
		w.measure("errors", w.errors, "errors")
	} else if w.began {
		w.problem("want a report to its end, have none of its rate and, it may be, of its errors")
	} else if len(w.result.Values) > 0 {
		w.result.Values = nil
		w.problem("want a report to its end, have none of how many requests there were")
	}
	ok := w.next()
	*w = wrkReader{reporter: w.reporter}
	return ok
}
