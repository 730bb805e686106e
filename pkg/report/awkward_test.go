package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

// The metrics of the awkward verdict: from counts to nanoseconds.
var (
	instructions = bench.Metric{Name: "instructions_per_op", Unit: "instructions/op", Better: bench.Lower}
	throughput   = bench.Metric{Name: "throughput", Unit: "ops/s", Better: bench.Higher}
	timePerOp    = bench.Metric{Name: "time_per_op", Unit: "s/op", Better: bench.Lower}
	allocs       = bench.Metric{Name: "allocs_per_op", Unit: "allocs/op", Better: bench.Lower}
	bytesPerOp   = bench.Metric{Name: "bytes_per_op", Unit: "B/op", Better: bench.Lower}
	maxRSS       = bench.Metric{Name: "max_rss", Unit: "B", Better: bench.Lower}
	latency      = bench.Metric{Name: "latency_p99", Unit: "s", Better: bench.Lower}
	bandwidth    = bench.Metric{Name: "bandwidth", Unit: "B/s", Better: bench.Higher}
	failures     = bench.Metric{Name: bench.Errors, Unit: "errors", Better: bench.Lower}
	hostile      = bench.Metric{Name: "score", Unit: "|<b>@team\x1b[2J", Better: bench.Unknown}
)

// evil are names that want to be something else.
var evil = struct{ closer, pipe, ticks, mention, ansi, rtl, long, newline, command string }{
	closer:  "</details><script>alert(1)</script>",
	pipe:    `a|b\|c`,
	ticks:   "``three```four",
	mention: "@everyone see #123 at https://evil.example/x",
	ansi:    "\x1b[31mred\x1b[0m",
	rtl:     "abc\u202edcba",
	long:    strings.Repeat("BenchmarkTheSame/", 17) + "theEnd",
	newline: "line one\nline two",
	command: "::error::##[error]pwned",
}

// launches makes one launch of one value each.
func launches(values ...float64) [][]float64 {
	var l [][]float64
	for _, v := range values {
		l = append(l, []float64{v})
	}
	return l
}

// five scatters a value a little.
func five(v float64) [][]float64 { return launches(v, v*1.0008, v*0.9991, v*1.0003, v*0.9997) }

// noisy scatters it by a lot.
func noisy(v float64) [][]float64 { return launches(v, v*1.3, v*0.8, v*1.1, v*0.9) }

// sample makes the values of one benchmark and metric on one side.
type sample struct {
	benchmark string
	metric    bench.Metric
	launches  [][]float64
}

func set(t testing.TB, samples ...sample) *bench.Set {
	t.Helper()
	s := &bench.Set{}
	for _, p := range samples {
		for i, values := range p.launches {
			r := bench.Result{Name: p.benchmark, Launch: i}
			for _, v := range values {
				r.Values = append(r.Values, bench.Value{Metric: p.metric, V: v})
			}
			if err := s.Add(0, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

var machine = bench.Host{OS: "linux", Arch: "amd64", CPU: "AMD EPYC 7763 64-Core Processor", Cores: 4, Kernel: "6.11.0-1018-azure", Image: "ubuntu24"}

// sidesOf makes two sides of three days apart on one machine.
func sidesOf(base, head *bench.Set) (gate.Side, gate.Side) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	return gate.Side{Commit: "4f2a91c0d3e15b6a7788990011223344556677aa", Time: now.Add(-75 * time.Hour), Runs: 5, Host: machine, Set: base},
		gate.Side{Commit: "9b1c77d0e2f30412345678901234567890abcdef", Time: now, Runs: 5, Host: machine, Set: head}
}

// decide compares two sides, by the default policy unless it is changed.
func decide(t testing.TB, base, head []sample, change func(*gate.Policy)) gate.Verdict {
	t.Helper()
	p := gate.DefaultPolicy()
	if change != nil {
		change(&p)
	}
	b, h := sidesOf(set(t, base...), set(t, head...))
	v, err := gate.Decide(&b, h, "", gate.Past{}, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func share(v float64) *float64 { return &v }

// awkward is a verdict with a case of everything that is hard to report.
func awkward(t testing.TB) gate.Verdict {
	t.Helper()
	base := []sample{
		{"write", instructions, five(50005)},
		{"write", throughput, noisy(181204)},
		{"write", allocs, five(0)},
		{"write", maxRSS, five(107 << 20)},
		{"read", instructions, five(39406)},
		{"read", bytesPerOp, five(1531)},
		{"read", latency, five(0.0153)},
		{"scan", throughput, five(1.21e6)},
		{"stopped", throughput, five(88123)},
		{"failing", timePerOp, five(2.5e-6)},
		{"failing", failures, launches(0, 0, 0, 0, 0)},
		{"few", timePerOp, launches(1.25e-7, 1.3e-7)},
		{"", timePerOp, five(1.7e-9)},
		{evil.closer, timePerOp, five(3.1e-8)},
		{evil.pipe, instructions, five(1200)},
		{evil.ticks, instructions, five(1e12)},
		{evil.mention, timePerOp, five(0.25)},
		{evil.ansi, bandwidth, five(3.2e9)},
		{evil.rtl, hostile, five(12)},
		{evil.long, instructions, five(812.25)},
		{evil.newline, throughput, noisy(1000)},
		{"gone\n| x | y |", maxRSS, five(1)},
	}
	head := []sample{
		{"write", instructions, five(50731)},
		{"write", throughput, noisy(171204)},
		{"write", allocs, five(0)},
		{"write", maxRSS, five(131 << 20)},
		{"read", instructions, five(39550)},
		{"read", bytesPerOp, five(1531)},
		{"read", latency, five(0.0224)},
		{"scan", throughput, five(1.52e6)},
		{"stopped", throughput, five(0)},
		{"failing", timePerOp, five(2.4e-6)},
		{"failing", failures, launches(3, 4, 3, 2, 3)},
		{"few", timePerOp, launches(1.26e-7, 1.31e-7)},
		{"", timePerOp, five(1.7e-9)},
		{evil.closer, timePerOp, five(4.6e-8)},
		{evil.pipe, instructions, five(1201)},
		{evil.ticks, instructions, five(1.0001e12)},
		{evil.mention, timePerOp, five(0.25)},
		{evil.ansi, bandwidth, five(3.2e9)},
		{evil.rtl, hostile, five(13)},
		{evil.long, instructions, five(812.25)},
		{evil.newline, throughput, noisy(900)},
		{evil.command, instructions, five(77)},
		{evil.command, latency, five(77)},
	}
	v := decide(t, base, head, func(p *gate.Policy) {
		p.Suite = "storage"
		p.Rules = []gate.Rule{
			{Metric: "latency_p99", Fail: share(0.6), Limit: share(0.02)},
			{Metric: "instructions_per_op", Warn: share(0.002), Fail: share(0.01)},
			{Metric: "allocs_per_op", Fail: share(0.01)},
		}
	})
	v.Base.Origin = "run 9123456789, 3 commits before the one to compare with"
	v.Refused = []string{"run 9123456790 of 0a1b2c3d4e5f: its record has expired; it was of 2026-08-01", "run 9123456791 of " + evil.pipe + ": it ran the code of a fork"}
	v.Moved = &gate.Moved{Benchmark: "write", Base: 50005, Head: 50731, Explained: 0.9945, Functions: []gate.MovedFunction{
		{Name: "std::vector<int, std::allocator<int> >::_M_realloc_insert(__gnu_cxx::__normal_iterator<int*, std::vector<int> >, int&&)", File: "/usr/include/c++/14/bits/vector.tcc", Line: 442, Base: 1000, Head: 1800.25},
		{Name: evil.pipe, File: evil.newline, Line: 3, Head: 12, New: true},
		{Name: "lookup", Base: 90.25, Vanished: true},
	}}
	v.Loosened = []string{evil.ticks + " instructions_per_op fails at 1 %, not at 0.5 %"}
	return v
}
