package main

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/stat"
)

// A rule answers a trial at a threshold, and says how many runs of head it took.
type rule struct {
	name  string
	judge func(t trial, threshold float64) (gate.Outcome, int)
}

// A peer is the rule of another gate. It looks once, at a fixed number of runs,
// and cannot leave an answer open.
type peer struct {
	name   string
	runs   int
	fewest int  // runs below which it can never alarm
	paired bool // it is for sides that were measured in turn
	alarms func(t trial, threshold float64) bool
}

// peers are as they ship; "at T" are those with noslower's threshold in the
// place of their own.
var peers = []peer{
	{"github-action-benchmark, 200 % (default)", 1, 1, false, ratioAbove(2)},
	{"github-action-benchmark, 105 %", 1, 1, false, ratioAbove(1.05)},
	{"Bencher, t-test .99", 10, 1, false, bencherTTest},
	{"Bencher, percentage at T", 10, 1, false, bencherPercentage},
	{"benchstat, n = 10", 10, 4, false, benchstat(0)},
	{"benchstat, n = 10, at T", 10, 4, false, benchstat(1)},
	{"benchstat, n = 20, at T", 20, 4, false, benchstat(1)},
	{"perfgate at T", 10, 1, false, perfgate},
	{"perfgate paired, at T", 10, 2, true, perfgatePaired},
	{"CodSpeed, 10 % (default)", 10, 1, false, codspeed},
	{"rustc-perf", 1, 1, false, rustcPerf},
}

// peersFor returns the rules of the peers that can judge trials like this one.
func peersFor(t trial) []rule {
	var rules []rule
	for _, p := range peers {
		if len(t.head) >= p.fewest && (t.together || !p.paired) {
			rules = append(rules, rule{p.name, p.judge})
		}
	}
	return rules
}

func (p peer) judge(t trial, threshold float64) (gate.Outcome, int) {
	t = t.first(p.runs)
	if p.alarms(t, threshold) {
		return gate.Regressed, len(t.head)
	}
	return gate.Same, len(t.head)
}

// slowdown is how many times worse b is than a.
func slowdown(a, b float64, better bench.Better) float64 {
	if better == bench.Higher {
		return a / b
	}
	return b / a
}

// limit is the slowdown at a threshold, which is a change of the metric itself.
func limit(threshold float64, better bench.Better) float64 {
	if better == bench.Higher {
		return 1 / (1 - threshold)
	}
	return 1 + threshold
}

// ratioAbove is github-action-benchmark, src/write.ts (getRatio, findAlerts) and
// src/config.ts (alert-threshold): one value against one value.
func ratioAbove(ratio float64) func(trial, float64) bool {
	return func(t trial, _ float64) bool { return slowdown(t.base[0], t.head[0], t.better) > ratio }
}

// metrics are what Bencher has of base: a mean for each job, by --fold mean.
// Without earlier jobs (its relative benchmarking) each of base's runs is one.
func metrics(t trial) []float64 {
	if len(t.history) == 0 {
		return t.base
	}
	var means []float64
	for _, job := range t.history[max(0, len(t.history)-63):] {
		means = append(means, gonum.Mean(job[:min(len(t.base), len(job))], nil))
	}
	return append(means, gonum.Mean(t.base, nil))
}

// bencherTTest is Bencher, lib/bencher_boundary/src/mean.rs: the prediction
// interval of Student's t, and no boundary where the deviation is 0. Its
// documentation recommends .99 and at most 64 metrics.
func bencherTTest(t trial, _ float64) bool {
	m := metrics(t)
	n := float64(len(m))
	mean, sd := gonum.MeanStdDev(m, nil)
	if n < 2 || sd == 0 {
		return false
	}
	off := sd * math.Sqrt(1+1/n) * distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(.99)
	return float64(t.better)*(mean-gonum.Mean(t.head, nil)) > off
}

// bencherPercentage is Bencher, lib/bencher_boundary/src/limits/mod.rs: a share
// of the mean.
func bencherPercentage(t trial, threshold float64) bool {
	return float64(t.better)*(1-gonum.Mean(t.head, nil)/gonum.Mean(metrics(t), nil)) > threshold
}

// benchstat is golang/perf, benchmath/anone.go, by its own code: a two-sided
// Mann-Whitney test at .05. It knows no smallest effect; who gates by it puts
// one beside: a share of the threshold, between the medians.
func benchstat(share float64) func(trial, float64) bool {
	return func(t trial, threshold float64) bool {
		s := slowdown(stat.Median(t.base), stat.Median(t.head), t.better)
		if s <= 1 || s < limit(share*threshold, t.better) {
			return false
		}
		base := benchmath.NewSample(slices.Clone(t.base), &benchmath.DefaultThresholds)
		head := benchmath.NewSample(slices.Clone(t.head), &benchmath.DefaultThresholds)
		return benchmath.AssumeNothing.Compare(base, head).P <= base.Thresholds.CompareAlpha
	}
}

// perfgate is EffortlessMetrics/perfgate, crates/perfgate/src/domain/budget.rs:
// the medians; where head's values scatter by more than a tenth it only warns.
func perfgate(t trial, threshold float64) bool {
	mean, sd := gonum.MeanStdDev(t.head, nil) // of one value, sd is no number
	before, now := stat.Median(t.base), stat.Median(t.head)
	return float64(t.better)*(before-now)/before > threshold && !(sd/mean > .10)
}

// perfgatePaired is its crates/perfgate/src/domain/paired.rs: the mean
// difference of pairs, and twice its standard error beyond 0.
func perfgatePaired(t trial, threshold float64) bool {
	d := make([]float64, min(len(t.base), len(t.head)))
	for i := range d {
		d[i] = float64(t.better) * (t.base[i] - t.head[i])
	}
	mean, variance := gonum.PopMeanVariance(d, nil)
	return mean/gonum.Mean(t.base, nil) > threshold && mean > 2*math.Sqrt(variance/float64(len(d)))
}

// codspeed is the documented default of CodSpeed, a closed service: 10 % off
// the base run.
func codspeed(t trial, _ float64) bool {
	return slowdown(stat.Median(t.base), stat.Median(t.head), t.better) > 1.10
}

// rustcPerf is rust-lang/rustc-perf, site/src/comparison.rs: a change counts
// from the third quartile plus three interquartile ranges of the earlier
// changes on, else from 0.2 %. Upstream wants 30 earlier values for that; here
// 6 do, or it would always be 0.2 %.
func rustcPerf(t trial, _ float64) bool {
	significant := .002
	if len(t.history) >= 6 {
		var changes []float64
		for i, job := range t.history[1:] {
			changes = append(changes, math.Abs(job[0]/t.history[i][0]-1))
		}
		slices.Sort(changes)
		q1, q3 := gonum.Quantile(.25, gonum.LinInterp, changes, nil), gonum.Quantile(.75, gonum.LinInterp, changes, nil)
		significant = q3 + 3*(q3-q1)
	}
	return float64(t.better)*(1-t.head[0]/t.base[0]) >= significant
}
