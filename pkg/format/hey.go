package format

import (
	"io"
	"iter"

	"github.com/noslower/noslower/pkg/bench"
)

// What hey prints, by
// https://github.com/rakyll/hey/blob/master/requester/print.go:
//
//	Summary:
//	  Total:        0.0657 secs
//	  Slowest:      0.0058 secs
//	  Average:      0.0006 secs
//	  Requests/sec: 7608.0032
//	Latency distribution:
//	  50% in 0.0005 secs
//	Status code distribution:
//	  [200] 500 responses
//	Error distribution:
//	  [10]  Get "http://127.0.0.1:8080/": connection refused
//
// Errors are responses from 400 on and requests without one. It names no target.
var _ = register(Format{
	Name:  "hey",
	Tool:  "hey",
	Print: "hey -n 10000 -c 50 http://127.0.0.1:8080/",
	How:   `a line "Slowest: N secs"`,
	Seen:  []string{"hey 0.1.5"},
	Sniff: sniffLine(`^[>\s]*Slowest:\s+[\d.]+ secs\s*$`),
	Read:  readHey,
})

var (
	heySummary = compile(`^Summary:$`)
	heyTime    = compile(`^(Slowest|Average):\s+(\S+) secs$`)
	heyRate    = compile(`^Requests/sec:\s+(\S+)$`)
	// A version of hey prints %%.
	heyRank    = compile(`^([\d.]+)%%? in (\S+) secs\.?$`)
	heyCode    = compile(`^\[(\d+)\]\s+(\d+) responses$`)
	heySection = compile(`^Error distribution:$`)
	heyError   = compile(`^\[(\d+)\]\s`)
)

// heyTimes are the metrics of the times in the summary.
var heyTimes = map[string]string{"Slowest": "latency_max", "Average": "latency_mean"}

func readHey(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		h := heyReader{reporter: reporter{to: yield}}
		if eachUnquoted(r, name, yield, h.line) {
			h.end()
		}
	}
}

// A heyReader gathers the report of one run.
type heyReader struct {
	reporter
	responses, errors float64
	inErrors          bool
	began             bool // its summary was seen
}

func (h *heyReader) line(l line) bool {
	if heySummary.MatchString(l.text) {
		ok := h.end()
		h.at, h.began = l, true
		return ok
	}
	if m := heyTime.FindStringSubmatch(l.text); m != nil {
		h.parse(heyTimes[m[1]], m[2], "s")
		h.began = true
	} else if m := heyRate.FindStringSubmatch(l.text); m != nil {
		h.parseRate("throughput", m[1], "rps")
	} else if m := heyRank.FindStringSubmatch(l.text); m != nil && percentile(m[1]) != "" {
		h.parse(percentile(m[1]), m[2], "s")
	} else if heySection.MatchString(l.text) {
		h.inErrors = true
	} else if m := heyCode.FindStringSubmatch(l.text); m != nil {
		n, _ := parseNumber(m[2])
		h.responses += n
		if m[1] >= "400" {
			h.errors += n
		}
	} else if m := heyError.FindStringSubmatch(l.text); m != nil && h.inErrors {
		n, _ := parseNumber(m[1])
		h.errors += n
	}
	return true
}

// end ends a report. Its numbers are of nothing where no request was answered.
func (h *heyReader) end() bool {
	if h.began && h.responses == 0 {
		h.result.Values, h.problems = nil, nil
		h.problem("want responses, have none")
	}
	if h.responses+h.errors > 0 {
		h.measure("errors", h.errors, "errors")
	}
	ok := h.next()
	*h = heyReader{reporter: h.reporter}
	return ok
}
