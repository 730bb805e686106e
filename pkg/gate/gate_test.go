package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// A data is launches of one value each, by "benchmark/metric".
type data map[string][]float64

var units = map[string]string{
	"throughput": "ops/s", "time_per_op": "s/op", "instructions_per_op": "instructions/op", "iops": "ops/s", "errors": "errors",
	"latency_p99": "s", "allocs_per_op": "allocs/op", "score": "points",
}

// set makes a set of data, in the order of the keys given.
func set(t testing.TB, d data, order ...string) *bench.Set {
	t.Helper()
	s := &bench.Set{}
	for _, key := range order {
		benchmark, metric, _ := strings.Cut(key, "/")
		for run, v := range d[key] {
			if err := s.Add(run, bench.Result{Name: benchmark, Values: []bench.Value{bench.Measure(metric, v, units[metric])}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func sideOf(t testing.TB, d data) Side {
	t.Helper()
	var order []string
	for _, benchmark := range []string{"", "read", "write", "Encode-8", "Encode-16", "Encode", "Read-64", "Read-128", "Read-1000", "Read-2000", "Scan-8", "Scan-16", "old", "new", "a=b", "c=d"} {
		for _, metric := range []string{"throughput", "time_per_op", "instructions_per_op", "iops", "latency_p99", "allocs_per_op", "score", "errors"} {
			if key := benchmark + "/" + metric; d[key] != nil {
				order = append(order, key)
			}
		}
	}
	if len(order) != len(d) {
		t.Fatalf("the test's data has a key that is not ordered: %v", d)
	}
	s := set(t, d, order...)
	return Side{Set: s, Runs: s.Launches()}
}

func ptr[T any](v T) *T { return &v }

// steady and slow are throughputs of five launches, 20 % apart.
var (
	steady = []float64{100, 101, 99, 100, 100.5}
	slow   = []float64{80, 81, 79, 80, 80.5}
	wild   = []float64{60, 140, 90, 110, 100}
)

func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		name       string
		base, head data // base nil: no baseline
		policy     func(*Policy)
		outcome    Outcome
		status     Status
		reason     string // a part of one of the reasons
		warning    string // a part of one of the warnings
	}{
		{name: "the same", base: data{"/throughput": steady}, head: data{"/throughput": steady}, outcome: Same},
		{name: "slower", base: data{"/throughput": steady}, head: data{"/throughput": slow}, outcome: Regressed, status: StatusFail, reason: "throughput regressed"},
		{name: "faster", base: data{"/throughput": slow}, head: data{"/throughput": steady}, outcome: Improved},
		{name: "noise", base: data{"/throughput": wild}, head: data{"/throughput": steady}, outcome: Inconclusive},
		{
			name: "noise, to be minded", base: data{"/throughput": wild}, head: data{"/throughput": steady},
			policy:  func(p *Policy) { p.OnInconclusive = Fail },
			outcome: Inconclusive, status: StatusFail, reason: "inconclusive",
		},
		{name: "no baseline", head: data{"/throughput": steady}, outcome: Inconclusive},
		{
			name: "no baseline, required", head: data{"/throughput": steady},
			policy:  func(p *Policy) { p.OnNoBaseline = Fail },
			outcome: Inconclusive, status: StatusUndecided, reason: "no baseline",
		},
		{
			name: "informational alone", base: data{"/allocs_per_op": steady}, head: data{"/allocs_per_op": slow},
			outcome: Inconclusive, status: StatusUndecided, reason: "add for example --fail allocs_per_op=5%",
		},
		{
			name: "informational made gating", base: data{"/allocs_per_op": slow}, head: data{"/allocs_per_op": steady},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "allocs_per_op", Fail: ptr(0.05)}} },
			outcome: Regressed, status: StatusFail, reason: "allocs_per_op regressed",
		},
		{
			name: "a worse informational metric never fails",
			base: data{"/throughput": steady, "/latency_p99": slow}, head: data{"/throughput": steady, "/latency_p99": steady},
			outcome: Same,
		},
		{
			name: "time beside throughput does not gate",
			base: data{"/throughput": steady, "/time_per_op": slow}, head: data{"/throughput": steady, "/time_per_op": steady},
			outcome: Same,
		},
		{
			name: "time gates where throughput is told not to",
			base: data{"/throughput": steady, "/time_per_op": slow}, head: data{"/throughput": steady, "/time_per_op": steady},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "throughput", Gate: ptr(false)}} },
			outcome: Regressed, status: StatusFail, reason: "time_per_op regressed",
		},
		{
			name: "one regression among many",
			base: data{"read/throughput": steady, "write/throughput": wild}, head: data{"read/throughput": slow, "write/throughput": steady},
			outcome: Regressed, status: StatusFail, reason: "read: throughput regressed",
		},
		{
			name: "an exception by benchmark",
			base: data{"read/throughput": steady}, head: data{"read/throughput": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Benchmark: "re*", Metric: "throughput", Fail: ptr(0.5)}} },
			outcome: Same,
		},
		{
			name: "the last match wins",
			base: data{"read/throughput": steady}, head: data{"read/throughput": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Fail: ptr(0.5)}, {Metric: "through*", Fail: ptr(0.05)}} },
			outcome: Regressed, status: StatusFail, reason: "fails at 5 %",
		},
		{
			name: "a benchmark without a name goes by its suite's",
			base: data{"/throughput": steady}, head: data{"/throughput": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Benchmark: "default", Fail: ptr(0.5)}} },
			outcome: Same,
		},
		{
			name: "a limit, with no baseline", head: data{"/latency_p99": {.03, .04, .05}},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "latency_p99", Limit: ptr(.02)}} },
			outcome: Regressed, status: StatusFail, reason: "every launch is above the limit of 20 ms",
		},
		{
			name: "a limit passed by the median alone", head: data{"/latency_p99": {.01, .04, .05}},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "latency_p99", Limit: ptr(.02)}} },
			outcome: Inconclusive,
		},
		{
			name: "a limit that is kept", head: data{"/latency_p99": {.01, .01, .05}},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "latency_p99", Limit: ptr(.02)}} },
			outcome: Same,
		},
		{
			name: "a limit below which a throughput must not fall, whatever the baseline",
			base: data{"/throughput": slow}, head: data{"/throughput": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "throughput", Limit: ptr(90.0)}} },
			outcome: Regressed, status: StatusFail, reason: "every launch is below the limit of 90 ops/s",
		},
		{
			name: "a limit that a regression passes, too",
			base: data{"/throughput": steady}, head: data{"/throughput": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "throughput", Limit: ptr(90.0)}} },
			outcome: Regressed, status: StatusFail, reason: "every launch is below the limit of 90 ops/s; ",
		},
		{
			name: "informational alone, of unknown direction", base: data{"/score": steady}, head: data{"/score": slow},
			outcome: Inconclusive, status: StatusUndecided, reason: `metrics: {score: {better: lower, fail: 5%}}`,
		},
		{
			name: "informational alone, of a direction that is told", base: data{"/score": steady}, head: data{"/score": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "score", Better: bench.Higher}} },
			outcome: Inconclusive, status: StatusUndecided, reason: "add for example --fail score=5%",
		},
		{
			name: "an unknown direction cannot gate", base: data{"/score": steady}, head: data{"/score": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "score", Fail: ptr(.05)}} },
			outcome: Inconclusive, status: StatusWrongUse, reason: "better: lower",
		},
		{
			name: "a direction that is told", base: data{"/score": steady}, head: data{"/score": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "score", Fail: ptr(.05), Better: bench.Higher}} },
			outcome: Regressed, status: StatusFail, reason: "score regressed",
		},
		{
			name: "a drop of everything can never happen", base: data{"/throughput": steady}, head: data{"/throughput": slow},
			policy:  func(p *Policy) { p.Rules = []Rule{{Metric: "throughput", Fail: ptr(1.0)}} },
			outcome: Same, status: StatusWrongUse, reason: "can never happen",
		},
		{
			name: "too few, as a warning", base: data{"/throughput": {100}}, head: data{"/throughput": {50}},
			outcome: Inconclusive, warning: "it takes 5 on each side",
		},
		{
			name: "too few, as wrong use", base: data{"/throughput": {100, 101}}, head: data{"/throughput": {50, 51}},
			policy:  func(p *Policy) { p.RefuseFewRuns = true },
			outcome: Inconclusive, status: StatusWrongUse, reason: "it takes 13 of head against these 2 of base",
		},
		{
			name: "too few even with no baseline", head: data{"/throughput": {50, 51}},
			policy:  func(p *Policy) { p.RefuseFewRuns = true },
			outcome: Inconclusive, status: StatusWrongUse, reason: "it takes 5 on each side",
		},
		{
			name: "more errors open everything else", base: data{"/throughput": steady, "/errors": {0, 0, 0, 0, 0}}, head: data{"/throughput": slow, "/errors": {0, 0, 7, 0, 0}},
			outcome: Inconclusive, status: StatusFail, reason: "head had 1.4 errors",
		},
		{
			name: "more errors, only warned of", base: data{"/throughput": steady, "/errors": {0, 0, 0, 0, 0}}, head: data{"/throughput": slow, "/errors": {0, 0, 7, 0, 0}},
			policy:  func(p *Policy) { p.OnErrors = Warn },
			outcome: Inconclusive, warning: "head had 1.4 errors",
		},
		{
			name: "a benchmark that vanished", base: data{"read/throughput": steady, "write/throughput": steady}, head: data{"read/throughput": steady},
			outcome: Same, warning: "write: base has throughput of it",
		},
		{
			name: "a benchmark that vanished, to be minded", base: data{"read/throughput": steady, "write/throughput": steady}, head: data{"read/throughput": steady},
			policy:  func(p *Policy) { p.OnMissing = Fail },
			outcome: Same, status: StatusFail, reason: "write: base has throughput of it",
		},
		{
			name: "expected and not measured", base: data{"read/throughput": steady}, head: data{"read/throughput": steady},
			policy:  func(p *Policy) { p.Expect = []string{"read/throughput", "default", "write"} },
			outcome: Same, status: StatusUndecided, reason: "--expect write",
		},
		{
			name: "what is asked of another suite of the job", base: data{"read/throughput": steady}, head: data{"read/throughput": steady},
			policy: func(p *Policy) {
				p.Expect, p.Pairs = []string{"write", "load", "load/iops"}, []string{"wrote=write"}
				p.Rules = []Rule{{Metric: "iops", Fail: new(float64), Meant: true, Flag: "--fail"}}
				p.Beside = map[string]*bench.Set{"load": set(t, data{"/iops": steady, "write/throughput": steady}, "/iops", "write/throughput")}
			},
			outcome: Same,
		},
		{
			name: "what is asked of no suite of the job", base: data{"read/throughput": steady}, head: data{"read/throughput": steady},
			policy: func(p *Policy) {
				p.Expect = []string{"scan"}
				p.Beside = map[string]*bench.Set{"load": set(t, data{"write/throughput": steady}, "write/throughput")}
			},
			outcome: Same, status: StatusUndecided, reason: "--expect scan",
		},
		{
			name: "a pair", base: data{"old/throughput": steady}, head: data{"new/throughput": slow},
			policy:  func(p *Policy) { p.Pairs = []string{"old=new"} },
			outcome: Regressed, status: StatusFail, reason: "new: throughput regressed",
		},
		{
			name: "a pair of names with = in them", base: data{"a=b/throughput": steady}, head: data{"c=d/throughput": slow},
			policy:  func(p *Policy) { p.Pairs = []string{"a=b=c=d"} },
			outcome: Regressed, status: StatusFail, reason: "c=d: throughput regressed",
		},
		{
			name: "an alias", base: data{"old/throughput": steady}, head: data{"new/throughput": slow},
			policy:  func(p *Policy) { p.Aliases = map[string]string{"old": "new"} },
			outcome: Regressed, status: StatusFail, reason: "new: throughput regressed",
		},
		{
			name: "what vanished is not compared with what has no name", base: data{"read/throughput": steady, "/throughput": steady}, head: data{"/throughput": steady},
			outcome: Same, warning: "read: base has throughput of it",
		},
		{
			name: "another number of cores", base: data{"Encode-8/time_per_op": slow}, head: data{"Encode-16/time_per_op": steady},
			outcome: Regressed, status: StatusFail, reason: "Encode-16: time_per_op regressed",
		},
		{
			name: "another number of cores, not unique", base: data{"Encode-8/time_per_op": slow}, head: data{"Encode-16/time_per_op": steady, "Encode/time_per_op": steady},
			outcome: Inconclusive, status: StatusUndecided, reason: `nothing is on both sides: base has time_per_op of ["Encode-8"]`,
		},
		{
			name: "a number that is too large for one of cores", base: data{"Read-1000/time_per_op": slow}, head: data{"Read-2000/time_per_op": steady},
			outcome: Inconclusive, status: StatusUndecided, reason: "nothing is on both sides",
		},
		{
			name:    "numbers that differ on one side are none of cores",
			base:    data{"Read-64/time_per_op": steady, "Read-128/time_per_op": steady, "Scan-8/time_per_op": slow},
			head:    data{"Read-64/time_per_op": steady, "Read-128/time_per_op": steady, "Scan-16/time_per_op": steady},
			outcome: Same, warning: "Scan-8: base has time_per_op of it, head has not",
		},
		{
			name: "almost equal and too few, with no baseline", head: data{"/time_per_op": {100, 100, 102}},
			policy:  func(p *Policy) { p.RefuseFewRuns = true },
			outcome: Inconclusive, status: StatusWrongUse, reason: "3 values a side are too few",
		},
		{
			name: "a threshold for nothing, refused", base: data{"/throughput": steady}, head: data{"/throughput": steady},
			policy: func(p *Policy) {
				p.RefuseIdle = true
				p.Rules = []Rule{{Metric: "thruput", Fail: ptr(.05), Meant: true, Flag: "--fail"}}
			},
			outcome: Same, status: StatusWrongUse, reason: `--fail: no metric "thruput" was measured`,
		},
		{
			name: "a threshold for nothing, warned of", base: data{"/throughput": steady}, head: data{"/throughput": steady},
			policy:  func(p *Policy) { p.Rules = []Rule{{Benchmark: "Nope*", Fail: ptr(.05), Meant: true}} },
			outcome: Same, warning: `no metric of a benchmark "Nope*" was measured`,
		},
		{
			name: "a threshold that base answers to", base: data{"/throughput": steady, "/score": steady}, head: data{"/throughput": steady},
			policy: func(p *Policy) {
				p.RefuseIdle = true
				p.Rules = []Rule{{Metric: "score", Better: bench.Lower, Fail: ptr(.05), Meant: true, Flag: "--fail"}}
			},
			outcome: Same, warning: "base has score of it, head has not",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := DefaultPolicy()
			if tt.policy != nil {
				tt.policy(&p)
			}
			var base *Side
			if tt.base != nil {
				s := sideOf(t, tt.base)
				base = &s
			}
			v, err := Decide(base, sideOf(t, tt.head), "never kept", Past{}, p)
			if err != nil {
				t.Fatal(err)
			}
			if v.Outcome != tt.outcome || v.Status != tt.status {
				t.Errorf("%v with status %d, want %v with %d: %q %q %+v", v.Outcome, v.Status, tt.outcome, tt.status, v.Reasons, v.Warnings, v.Comparisons)
			}
			if !strings.Contains(strings.Join(v.Reasons, "\n"), tt.reason) {
				t.Errorf("reasons %q, want one with %q", v.Reasons, tt.reason)
			}
			if tt.reason == "" && len(v.Reasons) > 0 {
				t.Errorf("reasons %q, want none", v.Reasons)
			}
			if !strings.Contains(strings.Join(v.Warnings, "\n"), tt.warning) {
				t.Errorf("warnings %q, want one with %q", v.Warnings, tt.warning)
			}
			for _, c := range v.Comparisons {
				if c.Why == "" {
					t.Errorf("%v says not why it is %v", c.Key(), c.Outcome)
				}
			}
		})
	}
}

// TestPairNamesNothing: a pair that matches no benchmark is a mistake of the
// call, and the names that there are help to mend it.
func TestPairNamesNothing(t *testing.T) {
	base, head := sideOf(t, data{"read/throughput": steady}), sideOf(t, data{"write/throughput": steady})
	p := DefaultPolicy()
	p.Pairs = []string{"read=wrote"}
	_, err := Decide(&base, head, "", Past{}, p)
	if err == nil || !strings.Contains(err.Error(), `["write"]`) {
		t.Errorf("error %v, want one that names what head has", err)
	}
}

// TestUnnamedIsCalled: a benchmark without a name is called by the suite's, in
// errors and in what they ask for.
func TestUnnamedIsCalled(t *testing.T) {
	base, head := sideOf(t, data{"read/throughput": steady}), sideOf(t, data{"write/throughput": steady, "/throughput": steady})
	p := DefaultPolicy()
	p.Pairs = []string{"read=wrote"}
	if _, err := Decide(&base, head, "", Past{}, p); err == nil || !strings.Contains(err.Error(), `"default"`) || strings.Contains(err.Error(), `""`) {
		t.Errorf("error %v, want one that calls the benchmark by the suite's name", err)
	}
	for _, pair := range []string{"read=default", "read="} {
		p.Pairs = []string{pair}
		v, err := Decide(&base, head, "", Past{}, p)
		if err != nil || len(v.Comparisons) != 1 || v.Comparisons[0].Benchmark != "" {
			t.Errorf("pair %q: %+v, %v, want the benchmark without a name compared", pair, v.Comparisons, err)
		}
	}
	p.Pairs, p.Expect = nil, []string{"", "default", "default/throughput"}
	v, err := Decide(nil, head, "", Past{}, p)
	if err != nil || len(v.Reasons) != 1 || !strings.Contains(v.Reasons[0], `--expect "": it was not measured; head has ["default", "write"]`) {
		t.Errorf("%q, %v, want one that names what to expect", v.Reasons, err)
	}
}

// TestAcrossMachines: a time of another machine is no time to compare with, and
// a count that rose there is not believed.
func TestAcrossMachines(t *testing.T) {
	known := bench.Host{Arch: "amd64", CPU: "a", Cores: 2}
	for _, tt := range []struct {
		name   string
		host   bench.Host
		origin string
		want   string // "": they are compared
	}{
		{"another machine", known, "", "base on amd64, a, 2 cores"},
		{"a kept one of no known machine", bench.Host{}, "dir:.noslower", "base on a machine that is not known"},
		{"two files, one of no known machine", bench.Host{}, "", ""},
	} {
		base := sideOf(t, data{"/throughput": steady, "/instructions_per_op": slow})
		head := sideOf(t, data{"/throughput": steady, "/instructions_per_op": steady})
		base.Host, base.Origin = tt.host, tt.origin
		head.Host = bench.Host{Arch: "amd64", CPU: "b", Cores: 2}
		v, err := Decide(&base, head, "", Past{}, DefaultPolicy())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range v.Comparisons {
			open := c.Outcome == Inconclusive && strings.Contains(c.Why, "base on ")
			if open != (tt.want != "") || !strings.Contains(c.Why, tt.want) {
				t.Errorf("%s, %s: %v, %q", tt.name, c.Metric.Name, c.Outcome, c.Why)
			}
		}
		if status := v.Status; tt.want != "" && status != StatusPass {
			t.Errorf("%s: status %d, want %d", tt.name, status, StatusPass)
		}
	}
}

// TestHistory: noise between jobs that the samples do not show keeps a
// difference of that size from being called.
func TestHistory(t *testing.T) {
	base, head := sideOf(t, data{"/throughput": {100, 100.1, 99.9, 100, 100.05}}), sideOf(t, data{"/throughput": {93, 93.1, 92.9, 93, 93.05}})
	key := bench.Key{Metric: "throughput"}
	quiet, noisy := History{}, History{}
	for i := range 10 {
		wobble := 0.001 * float64(i%2)
		quiet[key] = append(quiet[key], stat.Job{Center: math.Log(100) + wobble, Count: 5})
		noisy[key] = append(noisy[key], stat.Job{Center: math.Log(100) + 80*wobble, Count: 5})
	}
	for _, tt := range []struct {
		name    string
		history History
		want    Outcome
	}{{"quiet", quiet, Regressed}, {"noisy", noisy, Inconclusive}} {
		v, err := Decide(&base, head, "", Past{History: tt.history}, DefaultPolicy())
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome != tt.want {
			t.Errorf("%s history: %v, want %v: %+v", tt.name, v.Outcome, tt.want, v.Comparisons)
		}
	}
}

// TestExample has the figures of a comparison from end to end: five values of
// one launch, 1.44 % apart.
func TestExample(t *testing.T) {
	side := func(values ...float64) Side {
		s := &bench.Set{}
		for _, v := range values {
			if err := s.Add(0, bench.Result{Values: []bench.Value{bench.Measure("instructions_per_op", v, "insns/op")}}); err != nil {
				t.Fatal(err)
			}
		}
		return Side{Set: s, Runs: 1}
	}
	base, head := side(49667, 49992, 50005, 50014, 50027), side(50326, 50704, 50731, 50735, 50757)
	p := DefaultPolicy()
	p.Rules = []Rule{{Metric: "instructions_per_op", Warn: ptr(0.002)}}
	v, err := Decide(&base, head, "", Past{}, p)
	if err != nil {
		t.Fatal(err)
	}
	c := v.Comparisons[0]
	within := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 6e-6 {
			t.Errorf("%s %.6f, want %.6f", what, got, want)
		}
	}
	within("change", c.Change, 0.01442)
	within("estimate", c.Slowdown.Estimate, 1.01442)
	within("low", c.Slowdown.Low, 1.00597)
	within("high", c.Slowdown.High, 1.01595)
	// The bound lies 0.84 % below the estimate, and half a percent is to be proven.
	within("detectable", c.Detectable, math.Exp(math.Log(1.01442)-math.Log(1.00597)+0.5*math.Log(1.01))-1)
	if c.Outcome != Regressed || c.Slowdown.LowConfidence != 0.99 || c.Slowdown.HighConfidence != 0.9 || c.Warned {
		t.Errorf("have %+v", c)
	}
	p.Rules = []Rule{{Metric: "instructions_per_op", Fail: ptr(0.02), Warn: ptr(0.002)}}
	v, err = Decide(&base, head, "", Past{}, p)
	if err != nil {
		t.Fatal(err)
	}
	if c := v.Comparisons[0]; c.Outcome != Same || !c.Warned || v.Status != StatusPass {
		t.Errorf("at 2 %%, warned of at 0.2 %%: have %v, warned %v, status %d", c.Outcome, c.Warned, v.Status)
	}
}

// TestLoosened: what head made less strict than base was judged by is told, and
// what it made stricter is not.
func TestLoosened(t *testing.T) {
	before := DefaultPolicy()
	before.Rules = []Rule{{Metric: "latency_p99", Fail: ptr(.1), Limit: ptr(.02)}, {Metric: "iops", Gate: ptr(true), Limit: ptr(50.0)}}
	side := sideOf(t, data{"/throughput": steady, "/instructions_per_op": steady, "/latency_p99": {.01, .01, .01}, "/iops": steady})
	for _, tt := range []struct {
		name  string
		rules []Rule
		want  []string
	}{
		{"nothing", nil, nil},
		{"a higher threshold", []Rule{{Metric: "throughput", Fail: ptr(.5)}}, []string{"default throughput fails at 50 %, not at 5 %"}},
		{"a lower threshold", []Rule{{Metric: "throughput", Fail: ptr(.01)}}, nil},
		{"no gate", []Rule{{Metric: "instructions_per_op", Gate: ptr(false)}}, []string{"default instructions_per_op no longer fails the check"}},
		{"a higher limit", []Rule{{Metric: "latency_p99", Limit: ptr(.05)}}, []string{"default latency_p99 has a limit of 50 ms, not of 20 ms"}},
		{"a lower limit", []Rule{{Metric: "latency_p99", Limit: ptr(.01)}}, nil},
		{"a limit below which it may fall further", []Rule{{Metric: "iops", Limit: ptr(10.0)}}, []string{"default iops has a limit of 10 ops/s, not of 50 ops/s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := before
			p.Rules = append(slices.Clone(before.Rules), tt.rules...)
			v, err := Decide(&side, side, "", Past{Standards: before.Standards(side.Set)}, p)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(v.Loosened, tt.want) {
				t.Errorf("loosened %q, want %q", v.Loosened, tt.want)
			}
		})
	}
	v, err := Decide(&side, side, "", Past{Standards: before.Standards(side.Set)}, DefaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	if want := "default latency_p99 no longer fails the check"; !slices.Contains(v.Loosened, want) {
		t.Errorf("loosened %q, want %q in it", v.Loosened, want)
	}
}

// TestOutlyingBase: one base job that was fast or slow by accident does not make
// an unchanged program look worse or better.
func TestOutlyingBase(t *testing.T) {
	key := bench.Key{Metric: "throughput"}
	history := History{}
	for i := range 10 {
		history[key] = append(history[key], stat.Job{Center: math.Log(100) + 0.001*float64(i%2), Count: 5})
	}
	usual := []float64{100, 100.1, 99.9, 100, 100.05}
	scaled := func(by float64) []float64 {
		var v []float64
		for _, x := range usual {
			v = append(v, by*x)
		}
		return v
	}
	for _, tt := range []struct {
		name       string
		base, head []float64
		want       Outcome
		warned     string
	}{
		{"usual base", usual, usual, Same, ""},
		{"usual base, slower head", usual, scaled(0.9), Regressed, ""},
		{"base fast by accident", scaled(1.12), usual, Inconclusive, "11.9 % better than the jobs before it"},
		{"base fast by accident, head slower than ever", scaled(1.12), scaled(0.8), Regressed, "11.9 % better than the jobs before it"},
		{"base slow by accident", scaled(0.9), usual, Same, "10.1 % worse than the jobs before it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			base, head := sideOf(t, data{"/throughput": tt.base}), sideOf(t, data{"/throughput": tt.head})
			v, err := Decide(&base, head, "", Past{History: history}, DefaultPolicy())
			if err != nil {
				t.Fatal(err)
			}
			c := v.Comparisons[0]
			if c.Outcome != tt.want {
				t.Errorf("%v, want %v: %s", c.Outcome, tt.want, c.Why)
			}
			if !strings.Contains(strings.Join(c.Warnings, "\n"), tt.warned) || tt.warned == "" && len(c.Warnings) > 0 {
				t.Errorf("warnings %q, want one with %q", c.Warnings, tt.warned)
			}
		})
	}
}

// TestLimitAcrossMachines: a limit holds on any machine, but that there is one
// makes no two machines alike.
func TestLimitAcrossMachines(t *testing.T) {
	base, head := sideOf(t, data{"/time_per_op": steady}), sideOf(t, data{"/time_per_op": {110, 111, 110, 112, 110, 111, 110, 110, 111, 112}})
	base.Host = bench.Host{Arch: "amd64", CPU: "a", Cores: 2}
	head.Host = bench.Host{Arch: "amd64", CPU: "b", Cores: 2}
	for _, tt := range []struct {
		limit   float64
		outcome Outcome
		why     string
	}{
		{200, Inconclusive, "measured on different machines"},
		{105, Regressed, "every launch is above the limit of 105 s/op"},
	} {
		p := DefaultPolicy()
		p.Rules = []Rule{{Metric: "time_per_op", Limit: ptr(tt.limit)}}
		v, err := Decide(&base, head, "", Past{}, p)
		if err != nil {
			t.Fatal(err)
		}
		if c := v.Comparisons[0]; c.Outcome != tt.outcome || !strings.Contains(c.Why, tt.why) {
			t.Errorf("limit %g: %v, %q; want %v, %q", tt.limit, c.Outcome, c.Why, tt.outcome, tt.why)
		}
	}
}

// TestHostDifferences: what differs between machines of one class is named.
func TestHostDifferences(t *testing.T) {
	base := sideOf(t, data{"/throughput": steady})
	head := sideOf(t, data{"/throughput": steady})
	base.Host = bench.Host{Arch: "amd64", CPU: "a", Cores: 2, Kernel: "6.1", Image: "ubuntu24 1", Governor: "performance"}
	head.Host = bench.Host{Arch: "amd64", CPU: "a", Cores: 2, Kernel: "6.2", Image: "ubuntu24 1"}
	v, err := Decide(&base, head, "", Past{}, DefaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"the machines are of one class, but differ in kernel (base 6.1, head 6.2)"}; !slices.Equal(v.Warnings, want) {
		t.Errorf("warnings %q, want %q", v.Warnings, want)
	}
}

// TestCounted: two counts that agree on each side are exact, whatever the noise
// of everything else; those that do not are judged like any other numbers.
func TestCounted(t *testing.T) {
	side := func(counted bool, counter string, values ...float64) Side {
		s := &bench.Set{}
		for run, v := range values {
			if err := s.Add(run, bench.Result{Counted: counted, Values: []bench.Value{bench.Measure("instructions_per_op", v, "")}}); err != nil {
				t.Fatal(err)
			}
		}
		return Side{Set: s, Runs: len(values), Host: bench.Host{Counter: counter}}
	}
	for _, tt := range []struct {
		name       string
		base, head Side
		want       Outcome
		why        string
	}{
		{"one more", side(true, "v", 1200, 1200), side(true, "v", 1201, 1201), Regressed, "exactly 0.083 % worse"},
		{"one less", side(true, "v", 1201, 1201), side(true, "v", 1200, 1200), Improved, "exactly 0.083 % better"},
		{"the same", side(true, "v", 1200, 1200), side(true, "v", 1200, 1200), Same, "exactly the same"},
		{"printed by a tool", side(false, "v", 1200, 1200), side(false, "v", 1201, 1201), Inconclusive, "too few"},
		{"counts that differ", side(true, "v", 1200, 1230), side(true, "v", 1201, 1240), Inconclusive, "too few"},
		{"once only", side(true, "v", 1200), side(true, "v", 1201), Inconclusive, "too few"},
		{"another counter", side(true, "v 1", 1200, 1200), side(true, "v 2", 1300, 1300), Inconclusive, "base was counted by v 1 and head by v 2"},
	} {
		p := DefaultPolicy()
		p.Rules = []Rule{{Metric: "instructions_per_op", Fail: ptr(0.0005)}}
		p.RefuseFewRuns = true
		v, err := Decide(&tt.base, tt.head, "", Past{}, p)
		if err != nil {
			t.Fatal(err)
		}
		c := v.Comparisons[0]
		if c.Outcome != tt.want || !strings.Contains(c.Why, tt.why) {
			t.Errorf("%s: %v, %q; want %v with %q", tt.name, c.Outcome, c.Why, tt.want, tt.why)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		glob, name string
		want       bool
	}{
		{"", "anything", true}, {"", "", true}, {"*", "", true}, {"a", "a", true}, {"a", "b", false}, {"a", "ab", false}, {"ab", "a", false},
		{"Encode*", "Encode/small", true}, {"*/small", "Encode/very/small", true}, {"*a*b*", "xxaxxbxx", true}, {"*a*b*", "xxbxxaxx", false},
		{"?", "é", true}, {"??", "é", false}, {"a?c*", "abc", true}, {"a?c*", "ac", false}, {"*x", "xxxxxxxxxxy", false}, {"latency_p*", "latency_p99", true},
		{"a.c", "abc", false}, {"[ab]", "a", false}, {"[ab]", "[ab]", true}, {"a\nb*", "a\nbc", true},
	} {
		if got := matches(tt.glob, tt.name); got != tt.want {
			t.Errorf("matches(%q, %q) = %v, want %v", tt.glob, tt.name, got, tt.want)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		name     string
		verdicts []Verdict
		outcome  Outcome
		status   Status
	}{
		{"none", nil, Inconclusive, StatusPass},
		{"one", []Verdict{{Outcome: Improved}}, Improved, StatusPass},
		{"a regression is said before what could not be decided", []Verdict{{Status: StatusUndecided}, {Outcome: Regressed, Status: StatusFail}, {Status: StatusWrongUse}}, Regressed, StatusFail},
		{"a gate that could never fail", []Verdict{{Outcome: Same}, {Status: StatusUndecided}, {Outcome: Same, Status: StatusWrongUse}}, Inconclusive, StatusWrongUse},
		{"better and the same", []Verdict{{Outcome: Same}, {Outcome: Improved}}, Improved, StatusPass},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if outcome, status := Whole(tt.verdicts); outcome != tt.outcome || status != tt.status {
				t.Errorf("Whole = %v, %v, want %v, %v", outcome, status, tt.outcome, tt.status)
			}
		})
	}
}
