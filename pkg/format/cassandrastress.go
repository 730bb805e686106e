package format

import (
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The results of cassandra-stress, as printed by the summarise of
// https://github.com/apache/cassandra/blob/trunk/tools/stress/src/org/apache/cassandra/stress/report/StressMetrics.java
// and, in lower case and without units, by older versions:
//
//	Running WRITE with 200 threads for 1000000 iteration
//	Results:
//	Op rate                   :   12,773 op/s  [WRITE: 12,773 op/s]
//	Latency 99.9th percentile :   19.2 ms [WRITE: 19.2 ms]
//	Total errors              :          0 [WRITE: 0]
//	Total operation time      : 00:13:02
//	END
//
// The numbers of all kinds of operations together are read, not those in the
// brackets.
var _ = register(Format{
	Name:  "cassandra-stress",
	Tool:  "cassandra-stress",
	Print: "cassandra-stress write n=1000000 -rate threads=200",
	How:   `lines such as "op rate : F" and "latency 99th percentile : F"`,
	Sniff: sniffLine(`^[> \t]*(?:[Oo]p rate|[Ll]atency (?:mean|median|[\d.]+th percentile))\s*:\s*\d`),
	Read:  readCassandraStress,
})

var (
	stressRun        = compile(`^Running (?:(\w+) )?with (\d+) thread`)
	stressLine       = compile(`(?i)^((?:(?:op|partition|row) rate|latency|total|(?:avg|stddev|stdev) gc)[^:]*?)\s*:\s*([^\s\[]+)(?:[ \t]+([a-zA-Z][\w/]*))?(?:\s*\[.*)?$`)
	stressGC         = compile(`(?i)^(?:avg|stddev|stdev) gc`)
	stressUnit       = compile(`^(.*?)\s*\((m?s)\)$`) // of a name in older versions
	stressPercentile = compile(`^latency (\d+)\.?(\d*)th percentile$`)
)

func readCassandraStress(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		benchmark := ""
		var filter filter
		for l, err := range lines(r, name) {
			if err != nil {
				if !passOn(err, yield) {
					return
				}
				continue
			}
			l = unquoted(l)
			if m := stressRun.FindStringSubmatch(l.text); m != nil {
				benchmark = strings.TrimSpace(strings.ToLower(m[1]) + " threads=" + m[2])
				continue
			}
			m := stressLine.FindStringSubmatch(l.text)
			if m == nil || m[2] == "NaN" && stressGC.MatchString(m[1]) { // the mean of none
				continue
			}
			value, err := measureStress(strings.ToLower(m[1]), m[2], m[3])
			if err != nil {
				if !yield(bench.Result{}, l.errorf("%s: %v", m[1], err)) {
					return
				}
				continue
			}
			if !filter.yield(l, bench.Result{Name: benchmark, Values: []bench.Value{value}}, yield) {
				return
			}
		}
	}
}

// measureStress makes a value of a line; latencies without a unit are in
// milliseconds.
func measureStress(name, number, unit string) (bench.Value, error) {
	read := parseNumber
	if strings.Contains(number, ":") {
		read = parseClock
	}
	v, err := read(number)
	if err != nil {
		return bench.Value{}, err
	}
	if m := stressUnit.FindStringSubmatch(name); m != nil && unit == "" {
		name, unit = m[1], m[2]
	}
	if unit == "" && strings.HasPrefix(name, "latency") {
		unit = "ms"
	}
	switch name {
	case "op rate":
		return bench.Measure("throughput", v, "ops/s"), nil
	case "partition rate":
		return bench.Measure(name, v, "partitions/s"), nil
	case "row rate":
		return bench.Measure(name, v, "rows/s"), nil
	case "latency median":
		return bench.Measure("latency_p50", v, unit), nil
	case "total errors":
		return bench.Measure(bench.Errors, v, "errors"), nil
	case "total operation time":
		return bench.Measure("wall_time", v, "s"), nil
	}
	if m := stressPercentile.FindStringSubmatch(name); m != nil {
		return bench.Measure("latency_p"+m[1]+m[2], v, unit), nil
	}
	return bench.Measure(name, v, unit), nil
}
