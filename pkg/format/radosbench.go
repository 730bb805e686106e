package format

import (
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The summary of rados bench, as printed by
// https://github.com/ceph/ceph/blob/main/src/common/obj_bencher.cc:
//
//	Total writes made:      45
//	Bandwidth (MB/sec):     17.1
//	Stddev Bandwidth:       5.2
//	Average IOPS:           4
//	Stddev IOPS:            1.3
//	Average Latency(s):     3.6
//	Stddev Latency(s):      1.2
//	Max latency(s):         6.1
//
// Older versions have no "(s)". MB are MiB. The deviations are of the numbers of
// each second. What it prints while it runs, and the smallest and largest second,
// are not read: Max IOPS once overflowed.
var _ = register(Format{
	Name:  "rados-bench",
	Tool:  "rados bench of Ceph",
	Print: "rados bench -p POOL 60 write",
	How:   `lines "Bandwidth (MB/sec): F" and "Average Latency(s): F"`,
	Sniff: sniffLine(`^[>\s]*(?:Bandwidth \(MB/sec\)|Average Latency\(s\)|Average IOPS):\s+\d`),
	Read:  readRados,
})

// radosMetrics are the metrics of the lines, by their label in lower case and
// without "(s)".
var radosMetrics = map[string]bench.Metric{
	"bandwidth (mb/sec)": {Name: "bandwidth", Unit: "MiB/s"},
	"stddev bandwidth":   {Name: "bandwidth", Unit: "MiB/s"},
	"average iops":       {Name: "iops", Unit: "iops"},
	"stddev iops":        {Name: "iops", Unit: "iops"},
	"average latency":    {Name: "latency_mean", Unit: "s"},
	"stddev latency":     {Name: "latency_mean", Unit: "s"},
	"max latency":        {Name: "latency_max", Unit: "s"},
}

var radosLine = compile(`^([A-Z][A-Za-z ]+(?:\(MB/sec\))?)(?:\(s\))?:\s+(\S+)$`)

func readRados(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		benchmark := ""
		var last *bench.Value // waits for the line of its deviation
		flush := func() bool {
			v := last
			last = nil
			return v == nil || yield(bench.Result{Name: benchmark, Values: []bench.Value{*v}}, nil)
		}
		_ = eachUnquoted(r, name, yield, func(l line) bool {
			m := radosLine.FindStringSubmatch(l.text)
			if m == nil {
				return true
			}
			label := strings.ToLower(m[1])
			if made, ok := strings.CutPrefix(label, "total "); ok {
				if kind, ok := strings.CutSuffix(made, "s made"); ok {
					ended := flush()
					benchmark = kind
					return ended
				}
			}
			metric, ok := radosMetrics[label]
			if !ok {
				return true
			}
			n, err := parseNumber(m[2])
			if err != nil || n < 0 {
				return yield(bench.Result{}, l.errorf("want a number after %q, have %q", m[1], m[2]))
			}
			v := bench.Measure(metric.Name, n, metric.Unit)
			if strings.HasPrefix(label, "stddev ") {
				if last != nil && last.Metric == v.Metric {
					last.Statistic = &bench.Spread{Kind: bench.StdDev, Value: v.V}
				}
				return true
			}
			ended := flush()
			last = &v
			return ended
		}) && flush()
	}
}
