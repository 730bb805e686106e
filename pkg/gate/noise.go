package gate

import (
	"math"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// A Noise says what a machine lets one metric of one benchmark show, by two
// measurements of one program.
type Noise struct {
	Benchmark string
	Metric    bench.Metric
	Gating    bool
	Threshold float64 // at which the metric fails, or, informational, is worded
	Runs      int     // launches a side
	// Spread is the robust standard deviation of a launch, as a share of the
	// metric.
	Spread float64
	// InTurn and Stored are the smallest thresholds at which a slowdown of just
	// that size could be called: with base's program run in turn with head's, and
	// against the stored measurements of another job, whose noise is assumed.
	// +Inf where the numbers are too few for any.
	InTurn, Stored float64
	// Needed is how many runs a side it takes, in turn, to hold Threshold; 0 where
	// that cannot be said.
	Needed int
	// Exact is set where no value differs from another: whatever threshold there
	// is, it holds in turn.
	Exact bool
	// Differ is set where the one program looks slower than itself: something
	// drifts, or its runs are not independent.
	Differ bool
}

// MeasureNoise compares two measurements of one program, made in turn.
func MeasureNoise(first, second *bench.Set, p Policy) []Noise {
	throughput := p.gatingThroughput(first)
	var noises []Noise
	for _, a := range first.Samples() {
		b, ok := second.Lookup(a.Key())
		if !ok {
			continue
		}
		s := p.standardFor(a.Benchmark, a.Metric, throughput[a.Benchmark])
		n := Noise{Benchmark: a.Benchmark, Metric: s.metric, Gating: s.gate, Threshold: s.fail, InTurn: math.Inf(1), Stored: math.Inf(1)}
		x, y := independent(a, b)
		n.Runs = min(len(x), len(y))
		e := evidence{Evidence: Evidence{Better: s.metric.Better, Base: x, Head: y, Look: LastLook, Paired: true, Exact: countedAlike(a, b)}}
		f := e.find()
		if f.basis != byNothing && f.basis != byZero {
			n.measure(f, x, y, p.priorOf(s.metric))
			o := f.outcome(lossOf(s.fail, s.metric.Better))
			n.Differ = o == Regressed || o == Improved
			n.Exact = f.basis == byEquality && math.Abs(f.estimate) < equal
		}
		noises = append(noises, n)
	}
	return noises
}

// measure turns the bounds of one program against itself into thresholds: a
// slowdown of the threshold is called where its bound is beyond provenShare of
// it.
func (n *Noise) measure(f finding, x, y []float64, prior float64) {
	better := n.Metric.Better
	both := costs(append(append([]float64{}, x...), y...), better)
	n.Spread = math.Expm1(stat.RobustSD(both))
	width := max(f.estimate-f.fail.Low, f.fail.High-f.estimate)
	if math.IsInf(width, 1) {
		return
	}
	holds := func(width float64) float64 { return thresholdOf(width/(1-provenShare), better) }
	n.InTurn = holds(width)
	between := stat.LargestSD(prior, costs(x, better), costs(y, better))
	n.Stored = holds(math.Hypot(width, driftFail*math.Sqrt2*between))
	if loss := lossOf(n.Threshold, better); width > 0 && loss > 0 {
		// The width falls as the root of the number of runs.
		const many = 1e9 // of which an int of any size has room
		n.Needed = max(EnoughRuns(), int(min(many, math.Ceil(float64(n.Runs)*math.Pow(width/((1-provenShare)*loss), 2)))))
	}
}

// EnoughRuns is the smallest number of runs a side by which a regression can be
// called at all.
func EnoughRuns() int {
	n := 1
	for !stat.Bounded(n, n, 1-failAlphas[LastLook]) {
		n++
	}
	return n
}

// priorOf is the noise between jobs that is assumed of a metric without a
// history.
func (p Policy) priorOf(m bench.Metric) float64 {
	if m.IsCount() {
		return p.NoiseCounts
	}
	return p.NoiseTimes
}

// niceAbove returns the next 1, 2 or 5 times a power of ten.
func niceAbove(share float64) float64 {
	if !(share > 0) || math.IsInf(share, 1) {
		return share
	}
	power := math.Pow(10, math.Floor(math.Log10(share)))
	for _, nice := range []float64{1, 2, 5} {
		if share <= nice*power*(1+1e-9) {
			return nice * power
		}
	}
	return 10 * power
}

// Bounds of what is advised.
const (
	leastAdvice = 0.001 // of a count that is always the same: less is not worth a red check
	mostAdvice  = 0.5   // beyond it, a threshold is no gate
)

// Advice is the threshold to configure: the one that the metric has, if the
// machine can hold it in turn, else the next one above that it can. For a count
// that is always the same it is as small as stored measurements can hold. It is
// +Inf where it would be none of use.
func (n Noise) Advice() float64 {
	advice := niceAbove(n.InTurn)
	switch {
	case n.Exact && n.Metric.IsCount():
		advice = min(n.Threshold, max(leastAdvice, niceAbove(n.Stored)))
	case n.InTurn <= n.Threshold:
		advice = n.Threshold
	}
	if advice > mostAdvice && advice != n.Threshold {
		return math.Inf(1)
	}
	return advice
}
