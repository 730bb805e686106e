package main

import (
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/bench"
)

func TestPercentage(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want percentage
		text string
	}{
		{"5%", 0.05, "5%"},
		{"0.2 %", 0.002, "0.2%"},
		{" 7% ", 0.07, "7%"},
		{"150%", 1.5, "150%"},
		{"1e-3%", 0.00001, "0.001%"},
		{".5%", 0.005, "0.5%"},
	} {
		var p percentage
		if err := p.Set(tt.in); err != nil || p != tt.want || p.String() != tt.text {
			t.Errorf("Set(%q) gives %v (%q), %v, want %v (%q)", tt.in, float64(p), p, err, float64(tt.want), tt.text)
		}
	}
}

func TestPercentageFaults(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"0.05", `want a percentage above 0 such as 5%, have "0.05": write 0.05% or 5%, whichever is meant`},
		{"5", `want a percentage above 0 such as 5%, have "5": write 5% or 500%, whichever is meant`},
		{"", `want a percentage above 0 such as 5%, have ""`},
		{"%", `want a percentage above 0 such as 5%, have "%"`},
		{"0%", `want a percentage above 0 such as 5%, have "0%"`},
		{"-5%", `want a percentage above 0 such as 5%, have "-5%"`},
		{"NaN%", `want a percentage above 0 such as 5%, have "NaN%"`},
		{"Inf%", `want a percentage above 0 such as 5%, have "Inf%"`},
		{"0x5%", `want a percentage above 0 such as 5%, have "0x5%"`},
		{"1e6%", `want a percentage above 0 such as 5%, have "1e6%"`},
		{"1e-323%", `want a percentage above 0 such as 5%, have "1e-323%"`},
		{"0,5%", `want a percentage above 0 such as 5%, have "0,5%"`},
		{"5%%", `want a percentage above 0 such as 5%, have "5%%"`},
	} {
		p := percentage(0.5)
		if err := p.Set(tt.in); err == nil || err.Error() != tt.want || p != 0.5 {
			t.Errorf("Set(%q) = %v and leaves %v, want %s", tt.in, err, p, tt.want)
		}
	}
}

func TestRunCount(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want runCount
		text string
	}{
		{"10", runCount{10, 10}, "10"},
		{"5..20", runCount{5, 20}, "5..20"},
		{" 1 ", runCount{1, 1}, "1"},
		{"7..7", runCount{7, 7}, "7"},
		{"1..1000", runCount{1, 1000}, "1..1000"},
	} {
		var c runCount
		if err := c.Set(tt.in); err != nil || c != tt.want || c.String() != tt.text {
			t.Errorf("Set(%q) gives %+v (%q), %v, want %+v (%q)", tt.in, c, c, err, tt.want, tt.text)
		}
	}
	for _, in := range []string{"", "0", "-1", "1001", "20..5", "0..5", "5..", "..5", "5...20", "5-20", "1.5", "1e2", "0x10", "ten", "5 .. 20", "99999999999999999999"} {
		var c runCount
		want := `want a number of runs from 1 to 1000 such as 10, or a range such as 5..20, have "` + in + `"`
		if err := c.Set(in); err == nil || err.Error() != want || c != (runCount{}) {
			t.Errorf("Set(%q) = %v and gives %v, want %s", in, err, c, want)
		}
	}
}

func TestRunTimeout(t *testing.T) {
	var d runTimeout
	if err := d.Set("1h30m"); err != nil || time.Duration(d) != 90*time.Minute || d.String() != "1h30m0s" {
		t.Errorf(`Set("1h30m") gives %v, %v`, d, err)
	}
	for _, in := range []string{"", "0s", "-1m", "10", "10 minutes", "1d"} {
		var d runTimeout
		want := `want a duration above 0 such as 90s or 10m, have "` + in + `"`
		if err := d.Set(in); err == nil || err.Error() != want {
			t.Errorf("Set(%q) = %v, want %s", in, err, want)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		in   string
		v    float64
		unit string
	}{
		{"20ms", 0.02, "s"},
		{"1.5 GiB", 1.5 * (1 << 30), "B"},
		{"50000", 50000, ""},
		{"50k", 50000, ""},
		{"0", 0, ""},
		{"1e6", 1e6, ""},
		{"2.5E3 rps", 2500, "ops/s"},
		{"100 MB/s", 1e8, "B/s"},
		{"150 µs/op", 150e-6, "s/op"},
		{"95%", 95, "%"},
		{".5s", 0.5, "s"},
	} {
		var q quantity
		if err := q.Set(tt.in); err != nil || q.V != tt.v || q.Unit != tt.unit || q.String() != tt.in {
			t.Errorf("Set(%q) gives %v %q (%q), %v, want %v %q", tt.in, q.V, q.Unit, q, err, tt.v, tt.unit)
		}
	}
	for _, in := range []string{"", "ms", "-1ms", "1,000", "1.2.3", "5.", "NaN", "inf", "20 30", "1e999", "1e300 GiB"} {
		var q quantity
		want := `want a number of 0 or more with its unit such as 20ms, 1.5GiB or 50000, have "` + in + `"`
		if err := q.Set(in); err == nil || err.Error() != want {
			t.Errorf("Set(%q) = %v, want %s", in, err, want)
		}
	}
}

func TestQuantityIn(t *testing.T) {
	for _, tt := range []struct {
		metric, in string
		want       float64
		fault      string
	}{
		{"latency_p99", "20ms", 0.02, ""},
		{"latency_p99", "0.02", 0.02, ""},
		{"latency_p99", "20MB", 0, `want a value in s for latency_p99, have "20MB" in B`},
		{"time_per_op", "20ms", 0.02, ""},
		{"time_per_op", "20ms/op", 0.02, ""},
		{"throughput", "10krps", 10000, ""},
		{"throughput", "10 MB/s", 0, `want a value in ops/s for throughput, have "10 MB/s" in B/s`},
		{"bandwidth", "100MB", 0, `want a value in B/s for bandwidth, have "100MB" in B`},
		{"instructions_per_op", "50k", 50000, ""},
		{"max_rss", "1.5 GiB", 1.5 * (1 << 30), ""},
		{"max_rss", "20 parsecs", 0, `want a value in B for max_rss, have "20 parsecs" in parsecs`},
	} {
		metric, err := knownMetric(tt.metric)
		if err != nil {
			t.Fatal(err)
		}
		var q quantity
		if err := q.Set(tt.in); err != nil {
			t.Fatal(err)
		}
		got, err := q.in(metric)
		if fault := faultText(err); got != tt.want || fault != tt.fault {
			t.Errorf("%q in %s = %v, %q, want %v, %q", tt.in, tt.metric, got, fault, tt.want, tt.fault)
		}
	}
}

func faultText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestKnownMetric(t *testing.T) {
	for _, tt := range []struct {
		in    string
		want  bench.Metric
		fault string
	}{
		{"throughput", bench.Metric{Name: "throughput", Unit: "ops/s", Better: bench.Higher}, ""},
		{"latency_p999", bench.Metric{Name: "latency_p999", Unit: "s", Better: bench.Lower}, ""},
		{"errors", bench.Metric{Name: "errors", Unit: "errors", Better: bench.Lower}, ""},
		{"latency_*", bench.Metric{Name: "latency_*"}, ""},
		{"parse_speed", bench.Metric{Name: "parse_speed"}, ""},
		{"latency_p99.9", bench.Metric{}, `want the metric as "latency_p999", have "latency_p99.9"`},
		{"Throughput", bench.Metric{}, `want the metric as "throughput", have "Throughput"`},
		{"instructions-per-op", bench.Metric{}, `want the metric as "instructions_per_op", have "instructions-per-op"`},
		{"", bench.Metric{}, `want the name of a metric such as "throughput", have ""`},
	} {
		got, err := knownMetric(tt.in)
		if fault := faultText(err); got != tt.want || fault != tt.fault {
			t.Errorf("knownMetric(%q) = %+v, %q, want %+v, %q", tt.in, got, fault, tt.want, tt.fault)
		}
	}
}

func TestMetricSettings(t *testing.T) {
	fail := metricSettings{Flag: "fail"}
	for _, in := range []string{"instructions_per_op=0.5%", "\n  latency_*=10%\r\n\n  throughput = 3 %\n"} {
		if err := fail.Set(in); err != nil {
			t.Fatalf("Set(%q) = %v", in, err)
		}
	}
	if want := "instructions_per_op=0.5%\nlatency_*=10%\nthroughput = 3 %"; fail.String() != want {
		t.Errorf("String() = %q, want %q", fail.String(), want)
	}
	var got strings.Builder
	writeConfig(&got, config{Rules: fail.Rules, Limits: fail.Limits})
	if want := `rule "" "instructions_per_op" fail=0.005
rule "" "latency_*" fail=0.1
rule "" "throughput" fail=0.03
`; got.String() != want {
		t.Errorf("the rules are\n%swant\n%s", got.String(), want)
	}

	warn := metricSettings{Flag: "warn"}
	limits := metricSettings{Flag: "limit"}
	if err := warn.Set("max_rss=20%"); err != nil {
		t.Error(err)
	}
	if err := limits.Set("latency_p99=20ms\nparse_time=3"); err != nil {
		t.Error(err)
	}
	got.Reset()
	writeConfig(&got, config{Rules: append(warn.Rules, limits.Rules...), Limits: limits.Limits})
	if want := `rule "" "max_rss" warn=0.2
rule "" "latency_p99" limit=0.02
rule "" "parse_time" limit=3
limit "latency_p99" 0.02 "s"
`; got.String() != want {
		t.Errorf("the rules are\n%swant\n%s", got.String(), want)
	}
}

func TestMetricSettingsFaults(t *testing.T) {
	for _, tt := range []struct{ flag, in, want string }{
		{"fail", "", `want METRIC=PERCENT such as instructions_per_op=0.5%, have ""`},
		{"fail", "throughput", `want METRIC=PERCENT such as instructions_per_op=0.5%, have "throughput"`},
		{"fail", "=5%", `want METRIC=PERCENT such as instructions_per_op=0.5%, have "=5%"`},
		{"fail", "throughput=5", `throughput: want a percentage above 0 such as 5%, have "5": write 5% or 500%, whichever is meant`},
		{"fail", "throughput=100%", `want less than 100% for throughput, where higher is better, have 100%: no drop is that large, so this gate could never fail`},
		{"warn", "throughput=150%", `want less than 100% for throughput, where higher is better, have 150%: no drop is that large, so this gate could never warn`},
		{"fail", "Throughput=5%", `want the metric as "throughput", have "Throughput"`},
		{"limit", "latency_p99=", `latency_p99: want a number of 0 or more with its unit such as 20ms, 1.5GiB or 50000, have ""`},
		{"limit", "latency_p99", `want METRIC=VALUE such as latency_p99=20ms, have "latency_p99"`},
		{"limit", "latency_p99=20MB", `want a value in s for latency_p99, have "20MB" in B`},
		{"limit", "throughput=0", `want a limit above 0 for throughput, where higher is better, have "0": nothing is lower, so this gate could never fail`},
		// Every fault is told, and what has none is not taken either.
		{"fail", "iops=5%\nthroughput=5\nfoo", `throughput: want a percentage above 0 such as 5%, have "5": write 5% or 500%, whichever is meant
want METRIC=PERCENT such as instructions_per_op=0.5%, have "foo"`},
	} {
		s := metricSettings{Flag: tt.flag}
		err := s.Set(tt.in)
		if fault := faultText(err); fault != tt.want || s.Rules != nil {
			t.Errorf("%s: Set(%q) = %s\nand gives %d rules, want %s", tt.flag, tt.in, fault, len(s.Rules), tt.want)
		}
	}
}

func TestCheckLimits(t *testing.T) {
	var set bench.Set
	err := set.Add(0, bench.Result{Name: "read", Values: []bench.Value{
		bench.Measure("parse_time", 3, "ms"), bench.Measure("heap", 3, "MiB"), bench.Measure("latency_p50", 3, "us"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, want string }{
		{"parse_time=20ms", ""},
		{"parse_*=20", ""},
		{"heap=20MB", ""},
		{"latency_*=1ms", ""},
		{"absent=20MB", ""},
		{"parse_time=20MB", `limit of parse_time: want a value in s for parse_time, have "20MB" in B`},
		{"latency_*=20MB", `limit of latency_*: want a value in s for latency_p50, have "20MB" in B`},
		{"hea?=20ms", `limit of hea?: want a value in B for heap, have "20ms" in s`},
	} {
		s := metricSettings{Flag: "limit"}
		if err := s.Set(tt.in); err != nil {
			t.Fatal(err)
		}
		if got := faultText(checkLimits(s.Limits, &set)); got != tt.want {
			t.Errorf("checkLimits(%s) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
