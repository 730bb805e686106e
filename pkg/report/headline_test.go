package report_test

import (
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// TestHeadline has the first sentences for every mixture of answers.
func TestHeadline(t *testing.T) {
	var (
		slower  = [2]sample{{"write", instructions, five(50005)}, {"write", instructions, five(50731)}}
		faster  = [2]sample{{"write", instructions, five(50005)}, {"write", instructions, five(48005)}}
		warned  = [2]sample{{"write", instructions, five(50005)}, {"write", instructions, five(50205)}}
		same    = [2]sample{{"write", instructions, five(50005)}, {"write", instructions, five(50005)}}
		exact   = [2]sample{{"write", instructions, launches(7, 7, 7, 7, 7)}, {"write", instructions, launches(7, 7, 7, 7, 7)}}
		noise   = [2]sample{{"write", throughput, noisy(1000)}, {"write", throughput, noisy(990)}}
		steady  = [2]sample{{"write", throughput, five(1000)}, {"write", throughput, five(1001)}}
		dropped = [2]sample{{"write", throughput, five(1000)}, {"write", throughput, five(800)}}
		stopped = [2]sample{{"write", throughput, five(1000)}, {"write", throughput, five(0)}}
		few     = [2]sample{{"write", throughput, launches(1000)}, {"write", throughput, launches(990)}}
		memory  = [2]sample{{"write", maxRSS, five(100)}, {"write", maxRSS, five(100)}}
		bigger  = [2]sample{{"write", maxRSS, five(100)}, {"write", maxRSS, five(130)}}
		tail    = [2]sample{{"write", latency, five(0.01)}, {"write", latency, five(0.03)}}
		failing = [2]sample{{"write", failures, launches(0, 0, 0, 0, 0)}, {"write", failures, launches(1, 1, 1, 1, 1)}}
	)
	of := func(name string, p [2]sample) [2]sample {
		p[0].benchmark, p[1].benchmark = name, name
		return p
	}
	limit := func(p *gate.Policy) { p.Rules = []gate.Rule{{Metric: "latency_p99", Limit: share(0.02)}} }
	warn := func(p *gate.Policy) {
		p.Rules = []gate.Rule{{Metric: "instructions_per_op", Warn: share(0.002), Fail: share(0.01)}}
	}
	for _, tt := range []struct {
		name   string
		pairs  [][2]sample
		policy func(*gate.Policy)
		want   string
	}{
		{"same", [][2]sample{same}, nil,
			"No regression in instructions_per_op (within 0.101 %)."},
		{"exactly the same", [][2]sample{exact}, nil,
			"No regression in instructions_per_op (exactly the same)."},
		{"same, of several", [][2]sample{same, of("read", same)}, nil,
			"No regression in instructions_per_op on all 2 benchmarks (within 0.101 %)."},
		{"same, two metrics", [][2]sample{same, steady}, nil,
			"No regression in instructions_per_op (within 0.101 %) and throughput (within 3.46 %)."},
		{"same, two metrics of several", [][2]sample{same, steady, of("read", same), of("read", steady)}, nil,
			"No regression in instructions_per_op (within 0.101 %) and throughput (within 3.46 %) on all 2 benchmarks."},
		{"same, a metric not everywhere", [][2]sample{same, steady, of("read", same)}, nil,
			"No regression in instructions_per_op on all 2 benchmarks (within 0.101 %) and throughput on 1 benchmark (within 3.46 %)."},
		{"regressed", [][2]sample{slower}, nil,
			"Regression: write instructions_per_op 1.45 % worse (fails at 1 %)."},
		{"regressed, of a tool without names", [][2]sample{of("", slower)}, nil,
			"Regression: instructions_per_op 1.45 % worse (fails at 1 %)."},
		{"regressed without a name among others", [][2]sample{of("", slower), same}, nil,
			"1 of 2 benchmarks regressed: storage instructions_per_op 1.45 % worse (fails at 1 %)."},
		{"regressed twice in one", [][2]sample{slower, dropped}, nil,
			"Regression: write throughput 20 % worse (fails at 5 %), write instructions_per_op 1.45 % worse (fails at 1 %)."},
		{"regressed in two", [][2]sample{slower, of("read", dropped), of("scan", same)}, nil,
			"2 of 3 benchmarks regressed: read throughput 20 % worse (fails at 5 %), write instructions_per_op 1.45 % worse (fails at 1 %), worst first."},
		{"regressed to nothing", [][2]sample{stopped}, nil,
			"Regression: write throughput went from 1000 ops/s to 0 ops/s."},
		{"regressed and inconclusive", [][2]sample{slower, noise}, nil,
			"Regression: write instructions_per_op 1.45 % worse (fails at 1 %). throughput was not judged: this machine could have shown 44.8 % or more."},
		{"regressed and improved", [][2]sample{slower, of("read", faster)}, nil,
			"1 of 2 benchmarks regressed: write instructions_per_op 1.45 % worse (fails at 1 %). 1 of 2 benchmarks improved: read instructions_per_op 4 % better."},
		{"regressed beside more errors", [][2]sample{slower, of("read", failing), of("read", same)}, nil,
			"1 of 2 benchmarks regressed: write instructions_per_op 1.45 % worse (fails at 1 %). Besides: read: head had 1 error a run, base 0. " +
				"read instructions_per_op was not judged: more errors on head: head had 1 error a run, base 0; what fails is not slower or faster. " +
				"Not gating: read errors went from 0 to 1."},
		{"improved", [][2]sample{faster}, nil,
			"Improved: write instructions_per_op 4 % better."},
		{"improved and same", [][2]sample{faster, steady}, nil,
			"Improved: write instructions_per_op 4 % better. No regression in throughput (within 3.46 %)."},
		{"improved and inconclusive", [][2]sample{faster, noise}, nil,
			"Improved: write instructions_per_op 4 % better. throughput was not judged: this machine could have shown 44.8 % or more."},
		{"warned", [][2]sample{warned}, warn,
			"Warning: write instructions_per_op 0.4 % worse (warns at 0.2 %, fails at 1 %). No regression in instructions_per_op (within 0.501 %)."},
		{"inconclusive", [][2]sample{noise}, nil,
			"throughput was not judged: this machine could have shown 44.8 % or more."},
		{"inconclusive and same", [][2]sample{same, noise}, nil,
			"No regression in instructions_per_op (within 0.101 %). throughput was not judged: this machine could have shown 44.8 % or more."},
		{"inconclusive on some", [][2]sample{steady, of("read", noise), of("scan", noise)}, nil,
			"No regression in throughput on 1 of 3 benchmarks (within 3.46 %). throughput on 2 of 3 benchmarks was not judged: this machine could have shown 44.8 % or more."},
		{"inconclusive and forbidden", [][2]sample{noise}, func(p *gate.Policy) { p.OnInconclusive = gate.Fail },
			"Failed: a gating comparison is inconclusive. throughput was not judged: this machine could have shown 44.8 % or more."},
		{"too few", [][2]sample{few}, nil,
			"throughput was not judged: 1 value of base and 1 of head are too few for any regression to be called: it takes 5 on each side."},
		{"too few, refused", [][2]sample{few}, func(p *gate.Policy) { p.RefuseFewRuns = true },
			"Wrong use: throughput of write can never fail: 1 value of base and 1 of head are too few for any regression to be called: it takes 5 on each side" +
				" (--runs sets the number; --allow-few-runs turns this into a warning). throughput was not judged."},
		{"only informational", [][2]sample{memory}, nil,
			"Could not decide: no gating metric is on both sides: base has max_rss; head has max_rss; add for example --fail max_rss=5%."},
		{"informational got worse", [][2]sample{same, bigger}, nil,
			"No regression in instructions_per_op (within 0.101 %). Not gating: write max_rss 30 % worse."},
		{"beyond a limit and a threshold", [][2]sample{tail}, limit,
			"Regression: write latency_p99: every launch is above the limit of 20 ms; 200 % worse, at least 184 % worse (99 % sure); fails at 5 %."},
		{"beyond a limit alone", [][2]sample{tail}, func(p *gate.Policy) { limit(p); p.Rules[0].Fail = share(3) },
			"Regression: write latency_p99: every launch is above the limit of 20 ms."},
		{"not measured", [][2]sample{same}, func(p *gate.Policy) { p.Expect = []string{"read", "scan"} },
			`Could not decide: --expect read: it was not measured; head has ["write"] (and 1 more reason). No regression in instructions_per_op (within 0.101 %).`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var base, head []sample
			for _, p := range tt.pairs {
				base, head = append(base, p[0]), append(head, p[1])
			}
			v := decide(t, base, head, func(p *gate.Policy) {
				p.Suite = "storage"
				if tt.policy != nil {
					tt.policy(p)
				}
			})
			if got := strings.TrimSpace(written(t, "headline", v, report.Options{})); got != tt.want {
				t.Errorf("\n have %s\n want %s", got, tt.want)
			}
		})
	}
}

// TestHeadlineOneSided has what is said where there is nothing to compare.
func TestHeadlineOneSided(t *testing.T) {
	head := set(t, sample{"write", instructions, five(50731)}, sample{"write", latency, five(0.01)})
	other := set(t, sample{"other", instructions, five(50731)})
	limit := func(v float64) []gate.Rule { return []gate.Rule{{Metric: "latency_p99", Limit: share(v)}} }
	elsewhere := machine
	elsewhere.CPU = "Xeon"
	for _, tt := range []struct {
		name       string
		base, head *bench.Set
		host       bench.Host
		noBaseline string
		policy     func(*gate.Policy)
		want       string
	}{
		{"no baseline", nil, head, machine, "none of 3 artifacts is younger than 90 days", nil,
			"No baseline: none of 3 artifacts is younger than 90 days; nothing was compared."},
		{"no baseline, no reason", nil, head, machine, "", nil,
			"No baseline; nothing was compared."},
		{"no baseline, required", nil, head, machine, "the folder is empty", func(p *gate.Policy) { p.OnNoBaseline = gate.Fail },
			"No baseline: the folder is empty; nothing was compared."},
		{"no baseline, within a limit", nil, head, machine, "the folder is empty", func(p *gate.Policy) { p.Rules = limit(0.02) },
			"No baseline: the folder is empty; only limits were judged. No regression in latency_p99 (within its limit of 20 ms)."},
		{"no baseline, beyond a limit", nil, head, machine, "the folder is empty", func(p *gate.Policy) { p.Rules = limit(0.002) },
			"No baseline: the folder is empty; only limits were judged. Regression: write latency_p99: every launch is above the limit of 2 ms."},
		{"no baseline, astride a limit", nil, head, machine, "the folder is empty", func(p *gate.Policy) { p.Rules = limit(0.009999) },
			"No baseline: the folder is empty; only limits were judged. latency_p99 was not judged: the median is above the limit of 9.999 ms, but not every launch is."},
		{"added only", other, head, machine, "", nil,
			"Could not decide: nothing is on both sides: base has instructions_per_op of [\"other\"]; head has instructions_per_op, latency_p99 of [\"write\"]; --pair and aliases bring together what was renamed."},
		{"nothing at all", &bench.Set{}, &bench.Set{}, machine, "", nil,
			"Could not decide: no gating metric is on both sides: head has no metric at all."},
		{"other machine", set(t, sample{"write", timePerOp, five(2)}), set(t, sample{"write", timePerOp, five(3)}), elsewhere, "", nil,
			"time_per_op was not judged: measured on different machines, so times are not compared: base on amd64, AMD EPYC 7763 64-Core Processor, 4 cores, head on amd64, Xeon, 4 cores."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := gate.DefaultPolicy()
			if tt.policy != nil {
				tt.policy(&p)
			}
			b, h := sidesOf(tt.base, tt.head)
			h.Host = tt.host
			base := &b
			if tt.base == nil {
				base = nil
			}
			v, err := gate.Decide(base, h, tt.noBaseline, gate.Past{}, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(written(t, "headline", v, report.Options{})); got != tt.want {
				t.Errorf("\n have %s\n want %s", got, tt.want)
			}
		})
	}
	if got, want := written(t, "headline", gate.Verdict{Base: &gate.Side{}}, report.Options{}), "Nothing was compared.\n"; got != want {
		t.Errorf("of an empty verdict: %q, want %q", got, want)
	}
}

// TestPardons: who let a regression pass, and what was made less strict, is among
// the first sentences.
func TestPardons(t *testing.T) {
	v := decide(t, []sample{{"write", instructions, five(50005)}}, []sample{{"write", instructions, five(50731)}}, nil)
	v.Accept(`alice, by the label "perf-regression-accepted" at 2026-11-30 12:00 UTC`)
	v.Loosened = []string{"write instructions_per_op fails at 1 %, not at 0.5 %", "a b no longer fails the check", "c d no longer fails the check", "e f no longer fails the check"}
	want := "Regression: write instructions_per_op 1.45 % worse (fails at 1 %). " +
		`Accepted by alice, by the label "perf-regression-accepted" at 2026-11-30 12:00 UTC. ` +
		"This change loosens what it is judged by: write instructions_per_op fails at 1 %, not at 0.5 %; a b no longer fails the check; c d no longer fails the check; and 1 more.\n"
	if got := written(t, "headline", v, report.Options{}); got != want {
		t.Errorf("\n have %s\n want %s", got, want)
	}
	if v.Status != gate.StatusPass {
		t.Errorf("status %d, want %d", v.Status, gate.StatusPass)
	}
}

// TestAcceptance: how to accept a regression is told where there is one.
func TestAcceptance(t *testing.T) {
	o := report.Options{AcceptLabel: "perf-ok"}
	worse := decide(t, []sample{{"write", instructions, five(50005)}}, []sample{{"write", instructions, five(50731)}}, nil)
	same := decide(t, []sample{{"write", instructions, five(50005)}}, []sample{{"write", instructions, five(50005)}}, nil)
	if got := written(t, "markdown", worse, o); !strings.Contains(got, "by the label `perf-ok`") {
		t.Errorf("a regression says not how to accept it: %s", got)
	}
	if got := written(t, "markdown", same, o); strings.Contains(got, "perf-ok") {
		t.Errorf("there is nothing to accept: %s", got)
	}
}
