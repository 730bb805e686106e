package gate

import (
	"math"
	"slices"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// The constants of the rule. They were tuned together on measurements of the
// same program and of known slowdowns; docs/method.md has the figures.
const (
	// A regression must be sure to be at least this share of the threshold.
	provenShare = 0.5
	// Pairs measured in turn are compared pair by pair from this rank
	// correlation on: below it pairing throws information away.
	pairedFrom, pairedFewest = 0.5, 8
	// passAlpha is the two-sided error of the bound by which a comparison
	// passes.
	passAlpha = 0.20
	// driftFail and driftPass are the quantiles by which noise between two jobs
	// widens the bounds.
	driftFail, driftPass = 1.96, 1.2816
	// Differences of logarithms below this are rounding.
	equal = 1e-12
)

// failAlphas are the two-sided errors of the bound by which a comparison fails,
// by look: the earlier looks spend less, so that all looks together stay within
// the last one.
var failAlphas = [...]float64{.008, .01, .01, .02}

// LastLook is the look at which a comparison that is still open stays
// inconclusive. It is the only one where the number of runs is fixed.
const LastLook = len(failAlphas) - 1

// Evidence is what Judge weighs: one quantity on both sides, without what a
// policy and a report have to say about it.
type Evidence struct {
	Better     bench.Better
	Base, Head []float64 // one independent value each, in the metric's unit
	Look       int       // 0 to LastLook
	Paired     bool      // base and head were measured in turn, in one job
	Exact      bool      // counts that agreed over their runs
	// History is what earlier jobs of base measured, oldest first, as the
	// logarithms of its cost: negative where higher is better.
	History []stat.Job
	// BaseWaiting and HeadWaiting are the logarithms of the wall time over the CPU
	// time of each run, where Base and Head are CPU times; else nil.
	BaseWaiting, HeadWaiting []float64
	// Prior is the least noise between jobs assumed without a history, as a
	// standard deviation of logarithms; 0 where both sides are of one job.
	Prior float64
}

// evidence is what Decide weighs.
type evidence struct {
	Evidence
	// printed is the standard error of the shift of the logarithms by the
	// spreads that the tool printed; 0 where it printed none.
	printed float64
	ranks   *stat.Ranks // nil where there is but one
}

// A basis says what a finding rests on.
type basis int

const (
	byBounds     basis = iota // the bounds of the shift
	byEquality                // no value differs but by the shift itself
	byPrinted                 // statistics that the tool printed
	byHistory                 // the history alone: too few values
	byZero                    // a value is zero: there is no ratio
	byNothing                 // there is nothing to decide from
	byFewNumbers              // too few values for a bound
	byCalm                    // the bounds of the shift without what contention explains
)

// A finding is how much worse head is, in logarithms of the slowdown, with the
// bounds by which it fails and passes. It knows no threshold.
type finding struct {
	basis    basis
	estimate float64
	fail     stat.Interval
	pass     stat.Interval
	floor    float64 // byHistory: the smallest estimate that is no noise
	between  float64 // noise between jobs that the bounds were widened by
	drift    float64 // correlation of successive values of a side, where it is no chance
	// outlying is how far base lies off its own history where that is no noise:
	// above 0 where base is worse than it was, which makes head look better.
	outlying float64
	// byZero: whether head is worse, in the middle and beyond doubt.
	worse, gone bool
	better      bool // byZero: the same with the sides exchanged
	come        bool
	calm        *finding // without what contention explains; nil where it is the same
}

// ruling is the answer to "is it worse by this threshold or more".
type ruling int

const (
	open ruling = iota
	notWorse
	worse
)

// An Answer is what the rule says of evidence at a threshold. Estimate, Low and
// High are logarithms of the slowdown.
type Answer struct {
	Outcome             Outcome
	Estimate, Low, High float64
	Detectable          float64 // the smallest slowdown it could have called, as a share of the metric; +Inf where none
}

// Judge answers by the rule of Decide alone whether head is worse, by the
// threshold or more.
func Judge(e Evidence, threshold float64) Answer {
	loss := lossOf(threshold, e.Better)
	f := evidence{Evidence: e}.find().at(loss)
	return Answer{
		Outcome: f.outcome(loss), Estimate: f.estimate, Low: f.fail.Low, High: f.pass.High,
		Detectable: thresholdOf(f.detectable(loss), e.Better),
	}
}

// lossOf returns the logarithm of the slowdown at a threshold: the metric rises
// by it where lower is better, drops by it where higher is better. It is
// infinite where a drop of the whole is asked for.
func lossOf(threshold float64, better bench.Better) float64 {
	if better == bench.Higher {
		return -math.Log1p(-threshold)
	}
	return math.Log1p(threshold)
}

// thresholdOf is the inverse of lossOf.
func thresholdOf(loss float64, better bench.Better) float64 {
	if better == bench.Higher {
		return -math.Expm1(-loss)
	}
	return math.Expm1(loss)
}

// costs returns the logarithms in which more is worse.
func costs(values []float64, better bench.Better) []float64 {
	c := make([]float64, len(values))
	for i, v := range values {
		c[i] = math.Log(v)
		if better == bench.Higher {
			c[i] = -c[i]
		}
	}
	return c
}

// find weighs the evidence.
func (e evidence) find() finding {
	if len(e.Base) == 0 || len(e.Head) == 0 || !usable(e.Base) || !usable(e.Head) {
		return finding{basis: byNothing}
	}
	if slices.Contains(e.Base, 0) || slices.Contains(e.Head, 0) {
		return e.findZero()
	}
	x, y := costs(e.Base, e.Better), costs(e.Head, e.Better)
	failLevel, passLevel := 1-failAlphas[e.Look], 1-passAlpha
	shift := e.ranks.Unpaired(x, y, failLevel, passLevel)
	if shift.Range < equal && (e.Exact || len(x) > 2 && len(y) > 2) {
		at := stat.Interval{Low: shift.Estimate, High: shift.Estimate, Level: 1}
		return finding{basis: byEquality, estimate: shift.Estimate, fail: at, pass: at}
	}
	if e.Paired && len(x) == len(y) && len(x) >= pairedFewest && stat.Spearman(x, y) >= pairedFrom {
		shift = e.ranks.Paired(x, y, failLevel, passLevel)
	}
	f := finding{
		estimate: shift.Estimate, fail: shift.Bounds[0], pass: shift.Bounds[1],
		calm: e.withoutContention(x, y, failLevel, passLevel),
	}
	few := math.IsInf(f.fail.Low, -1)
	if few && e.printed > 0 {
		normal := stat.Normal(shift.Estimate, e.printed)
		f.basis, f.fail, f.pass = byPrinted, normal(failLevel), normal(passLevel)
	}
	if !e.Paired {
		// Values that drift are fewer than they look. Sides measured in turn
		// drift together, and the difference is free of it.
		f.drift = max(stat.Drift(x), stat.Drift(y))
		f.fail = f.fail.Stretch(f.estimate, stat.Inflation(f.drift))
		f.pass = f.pass.Stretch(f.estimate, stat.Inflation(f.drift))
	}
	f.between = e.betweenJobs(x, y)
	drift := math.Sqrt2 * f.between
	f.fail = f.fail.Widen(f.estimate, driftFail*drift)
	f.pass = f.pass.Widen(f.estimate, driftPass*drift)
	if !e.Paired {
		f.allowForOutlier(x, e.History)
	}
	switch {
	case !few || f.basis == byPrinted:
	case len(e.History) >= stat.JobsForHistoryRule:
		return finding{
			basis: byHistory, floor: stat.NoiseFloor(e.History), between: f.between,
			estimate: stat.Median(y) - stat.LatestCenter(e.History), fail: unbounded(failLevel), pass: unbounded(passLevel),
		}
	default:
		f.basis = byFewNumbers
	}
	return f
}

func unbounded(level float64) stat.Interval {
	return stat.Interval{Low: math.Inf(-1), High: math.Inf(1), Level: level}
}

func usable(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v < 0 })
}

// betweenJobs returns the standard deviation by which two jobs of the same code
// differ: from the history where there is one, else what is assumed, and never
// less than what is seen within the jobs.
func (e evidence) betweenJobs(x, y []float64) float64 {
	if e.Paired {
		return 0
	}
	if sd, ok := stat.BetweenJobs(e.History); ok {
		return sd
	}
	if e.Prior == 0 {
		return 0
	}
	return stat.LargestSD(e.Prior, x, y)
}

// allowForOutlier widens the bounds where base lies off its own history: one
// job that was slow, or fast, by accident must not make every later change look
// better, or worse. The bound on the side that it misleads to moves by all of
// the distance.
func (f *finding) allowForOutlier(base []float64, history []stat.Job) {
	if len(history) < stat.FewestJobs {
		return
	}
	off := stat.Median(base) - stat.LatestCenter(history)
	if math.Abs(off) <= max(stat.NoiseFloor(history), equal) {
		return
	}
	f.outlying = off
	if off > 0 {
		f.fail.High += off
		f.pass.High += off
	} else {
		f.fail.Low += off
		f.pass.Low += off
	}
}

// findZero judges where a value is zero and there is no ratio.
func (e evidence) findZero() finding {
	f := finding{basis: byZero, estimate: math.NaN()}
	f.worse, f.gone = e.zeroWorse(e.Base, e.Head)
	f.better, f.come = e.zeroWorse(e.Head, e.Base)
	return f
}

// zeroWorse reports whether the second side is worse in the median, and whether
// that is beyond doubt: all of it fell to zero, or rose from nothing but zeros.
func (e evidence) zeroWorse(from, to []float64) (inMiddle, surely bool) {
	a, b := stat.Median(from), stat.Median(to)
	if e.Better == bench.Higher {
		return b < a, slices.Min(from) > 0 && slices.Max(to) == 0
	}
	enough := e.Exact || min(len(from), len(to)) >= 3
	return b > a, slices.Max(from) == 0 && slices.Min(to) > 0 && enough
}

// rule answers whether head is worse by this loss or more.
func (f finding) rule(loss float64) ruling {
	switch f.basis {
	case byNothing:
		return open
	case byZero:
		return pick(f.gone, !f.worse)
	case byEquality:
		return pick(f.estimate >= loss-equal, f.estimate < loss-equal)
	case byHistory:
		return pick(f.estimate >= max(loss, f.floor), f.estimate < loss)
	}
	return pick(f.estimate >= loss && f.fail.Low > provenShare*loss, f.pass.High < loss)
}

func pick(isWorse, isNotWorse bool) ruling {
	switch {
	case isWorse:
		return worse
	case isNotWorse:
		return notWorse
	}
	return open
}

// mirror returns the finding with the sides exchanged: what is worse there is
// better here.
func (f finding) mirror() finding {
	f.estimate = -f.estimate
	f.fail, f.pass = f.fail.Negate(), f.pass.Negate()
	f.worse, f.gone, f.better, f.come = f.better, f.come, f.worse, f.gone
	return f
}

// at returns the finding that answers at this loss: where noise leaves it open, the
// one without what contention explains, if that is worse. That never lets pass what
// the CPU time itself does not.
func (f finding) at(loss float64) finding {
	if f.calm != nil && f.rule(loss) == open && f.calm.rule(loss) == worse {
		return *f.calm
	}
	return f
}

// outcome is the answer at a threshold: worse by it, better by it, neither, or
// open.
func (f finding) outcome(loss float64) Outcome {
	switch f.at(loss).rule(loss) {
	case worse:
		return Regressed
	case notWorse:
		if f.mirror().rule(loss) == worse {
			return Improved
		}
		return Same
	}
	return Inconclusive
}

// detectable returns the smallest loss that could have been called worse with
// these bounds; infinite where none could.
func (f finding) detectable(loss float64) float64 {
	switch f.basis {
	case byEquality:
		return loss
	case byHistory:
		return max(loss, f.floor)
	case byNothing, byZero:
		return math.Inf(1)
	}
	return max(loss, f.estimate-f.fail.Low+provenShare*loss)
}

// needed returns how many runs a side would decide what these ones left open, were
// the estimate to stay where it is: bounds narrow with the root of their number,
// the noise between jobs stays. It is infinite where no number would, and 0 where
// that cannot be told.
func (f finding) needed(loss float64, runs int) float64 {
	if f.basis != byBounds {
		return 0
	}
	width, room := f.pass.High-f.estimate-max(f.outlying, 0), loss-f.estimate
	apart := driftPass * math.Sqrt2 * f.between
	if f.estimate >= loss {
		width, room = f.estimate-f.fail.Low+min(f.outlying, 0), f.estimate-provenShare*loss
		apart = driftFail * math.Sqrt2 * f.between
	}
	switch {
	case math.IsInf(width, 1):
		return 0
	case room <= apart:
		return math.Inf(1)
	}
	n := float64(runs)
	return max(n+1, math.Ceil(n*(width*width-apart*apart)/(room*room-apart*apart)))
}
