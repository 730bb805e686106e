package format

import (
	"fmt"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of iperf3 (https://github.com/esnet/iperf/blob/master/src/iperf_api.c):
//
//	{"title": "…",
//	 "start": {"test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0}},
//	 "intervals": […],
//	 "end": {"sum_sent": {"bits_per_second": 22705026781.6, "retransmits": 8},
//	         "sum_received": {"bits_per_second": 22702484901.4}}}
//
// What counts is what was received, of all streams over the whole test; the
// intervals are parts of it. Of UDP there are jitter and loss too. A test in both
// directions (--bidir) is two benchmarks. One that failed has "error" alone.
var _ = register(Format{
	Name:  "iperf3",
	Tool:  "iperf3 --json",
	Print: "iperf3 -c 127.0.0.1 -t 10 --json",
	How:   `a JSON object with "start", "intervals" and "end"`,
	Seen:  []string{"iperf3 3.12"},
	Sniff: sniffDocument(iperfShape),
	Read:  iperfShape.read(readIperf),
})

var iperfShape = withKeys("start.version", "intervals")

type iperfSum struct {
	Bits        jsonNumber `json:"bits_per_second"`
	Retransmits jsonNumber `json:"retransmits"`
	Jitter      jsonNumber `json:"jitter_ms"`
	Lost        jsonNumber `json:"lost_percent"`
}

func readIperf(d *jsonDocument) error {
	var report struct {
		Title string `json:"title"`
		Error string `json:"error"`
		Start struct {
			Test struct {
				Protocol string     `json:"protocol"`
				Streams  int        `json:"num_streams"`
				Reverse  jsonNumber `json:"reverse"`
			} `json:"test_start"`
		} `json:"start"`
		End struct {
			Sum             iperfSum `json:"sum"` // UDP
			Sent            iperfSum `json:"sum_sent"`
			Received        iperfSum `json:"sum_received"`
			SentReverse     iperfSum `json:"sum_sent_bidir_reverse"`
			ReceivedReverse iperfSum `json:"sum_received_bidir_reverse"`
		} `json:"end"`
	}
	if err := d.decode(&report); err != nil {
		return err
	}
	test := report.Start.Test
	name := report.Title
	if name == "" && test.Protocol != "" {
		name = fmt.Sprintf("%s streams=%d", test.Protocol, test.Streams)
		if test.Reverse.count() != 0 {
			name += " reverse"
		}
	}
	isNamed := test.Protocol != "" && test.Streams > 0 && test.Reverse.present()
	if d.isHalf() && report.Title == "" && !isNamed {
		return nil // without its name
	}
	if report.Error != "" {
		d.warnf(name, "want a test that ran to its end, have the error %q", shorten(report.Error, 100))
	}
	end := report.End
	received := end.Received
	isLess := !received.Bits.present() && !d.isHalf() || received.Bits.present() && received.Bits.v == 0
	if end.Sum.Bits.present() && isLess {
		received = end.Sum
	}
	iperfResult(d, name, end.Sent, received)
	iperfResult(d, name+" bidir-reverse", end.SentReverse, end.ReceivedReverse)
	return nil
}

func iperfResult(d *jsonDocument, name string, sent, received iperfSum) {
	g := gatherer{result: bench.Result{Name: name}}
	if bits := received.Bits; bits.v > 0 {
		g.measure("bandwidth", bits.v/8, "B/s")
	} else if bits.present() {
		g.problem("want bits_per_second above 0, have %s", bits.text)
	}
	if sent.Retransmits.present() {
		g.lower("retransmits", sent.Retransmits.count(), "")
	}
	g.number("jitter", received.Jitter, "ms")
	if received.Lost.present() {
		g.lower("lost", received.Lost.count(), "%")
	}
	g.report(d)
}
