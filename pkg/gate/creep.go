package gate

import (
	"fmt"
	"math"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// A Creep holds head against an anchor in the past, so that many small steps do
// not add up unseen.
type Creep struct {
	Commit     string  // of the job to hold against; "" for the best of those known
	Name       string  // what the anchor is called, such as "v1.2"; "" for its commit
	Fail, Warn float64 // shares of the metric; 0 where there is none
}

// A Crept is how far head is from its anchor.
type Crept struct {
	Since     string  // what the anchor is called
	Commit    string  // the anchor's; "" where it is not known
	Jobs      int     // from the anchor to head
	Change    float64 // of the metric itself
	Threshold float64 // what it is beyond, as a share
	// From and To are the commits between which most of it happened; "" where
	// it came little by little, or the jobs are too few to tell.
	From, To string
}

// String is the sentence that a report has.
func (c Crept) String() string {
	s := fmt.Sprintf("creep since %s: %s over %s", c.Since, SignedPercent(c.Change), Count(c.Jobs, "job"))
	if c.From != "" {
		s += fmt.Sprintf("; most of it between %s and %s", c.From, c.To)
	}
	return s
}

// holdAnchor judges head against its anchor, beside the comparison: it can make
// an answer worse, never better. A change that takes something back, or adds
// nothing, is not failed for what was there before it, only told of it.
func (d *decider) holdAnchor(c *Comparison, pair match, s standard) {
	creep, head := d.policy.Creep, pair.head
	points := d.trend[pair.base.Key()]
	if creep == nil || len(points) == 0 || s.metric.Better == bench.Unknown || machineOf(head, d.head) != d.head.Host.Class() {
		return
	}
	job, ok := Summarize(head)
	if !ok {
		return
	}
	a, ok := d.anchorOf(points, s.metric)
	if !ok {
		return
	}
	f := a.hold(job, s.metric, d.policy)
	ruled := func(threshold float64) bool {
		if threshold <= 0 || s.metric.Better == bench.Higher && threshold >= 1 {
			return false
		}
		loss := lossOf(threshold, s.metric.Better)
		return f.rule(loss) == worse && a.lasting >= provenShare*loss
	}
	fails := ruled(creep.Fail)
	if !fails && !ruled(creep.Warn) {
		return
	}
	crept := Crept{
		Since: a.name, Commit: points[a.at].Commit, Jobs: len(points) - a.at, Threshold: creep.Warn,
		Change: math.Expm1(f.estimate * float64(-s.metric.Better)),
	}
	crept.From, crept.To = mostOf(append(points[a.at:len(points):len(points)], Point{Commit: d.head.Commit, Job: job}), f.estimate, s.metric.Better)
	adds := c.Slowdown != nil && c.Slowdown.Estimate > 1
	switch {
	case c.Outcome == Regressed || !c.Gating:
		c.Warnings = append(c.Warnings, crept.String())
	case fails && adds:
		crept.Threshold = creep.Fail
		c.Outcome, c.Warned, c.Crept = Regressed, false, &crept
		c.Why = fmt.Sprintf("%s; fails at %s; against base alone: %s", crept, Percent(creep.Fail), c.Why)
	case fails:
		c.Warnings = append(c.Warnings, crept.String()+", which is more than the "+Percent(creep.Fail)+" that fail; this change adds nothing to it")
	default:
		c.Warned, c.Crept = true, &crept
		c.Why = fmt.Sprintf("%s; beyond the warning at %s; against base alone: %s", crept, Percent(creep.Warn), c.Why)
	}
}

// anchorJobs is how many successive jobs an anchor is the median of, by how many
// jobs there are: one lucky job is no level to be held against. Of a handful
// nothing would be left, so that one is enough of a count, which hardly moves by
// itself.
func anchorJobs(jobs int, m bench.Metric) int {
	switch {
	case jobs >= stat.JobsForHistoryRule:
		return 5
	case jobs >= stat.FewestJobs || !m.IsCount():
		return 3
	}
	return 1
}

// An anchor is what head is held against, as the logarithm of its cost.
type anchor struct {
	name     string
	at       int // index of its last job
	jobs     int // that it is the median of
	of       int // how many it was picked from; 1 where it was asked for
	center   float64
	variance float64 // of the center, by the noise within its jobs
	lasting  float64 // how far above it the jobs just before head lie, the least of them
	history  []stat.Job
}

// anchorOf finds the anchor among the points: the one that is asked for, or the
// best median of successive jobs. ok is false where it is not among them.
func (d *decider) anchorOf(points []Point, m bench.Metric) (a anchor, ok bool) {
	costs := make([]stat.Job, len(points))
	for i, p := range points {
		costs[i] = p.Job
		if m.Better == bench.Higher {
			costs[i].Center = -costs[i].Center
		}
	}
	level := anchorJobs(len(points), m)
	width, of := level, len(points)-level+1
	if d.policy.Creep.Commit != "" {
		width, of = 1, 1
	}
	for i := width - 1; i < len(points); i++ {
		if want := d.policy.Creep.Commit; want != "" && points[i].Commit != want {
			continue
		}
		var centers []float64
		var within float64
		for _, j := range costs[i+1-width : i+1] {
			centers = append(centers, j.Center)
			within = max(within, j.Variance/float64(max(1, j.Count)))
		}
		center := stat.Median(centers)
		// Of jobs of the commit that is asked for, the last one counts.
		if ok && d.policy.Creep.Commit == "" && center >= a.center {
			continue
		}
		a, ok = anchor{name: d.policy.Creep.Name, at: i, jobs: width, of: of, center: center, variance: math.Pi / 2 * within / float64(width)}, true
	}
	a.history = costs
	latest := costs[max(0, len(costs)-level):]
	if d.policy.Creep.Commit != "" && ok {
		latest = costs[max(a.at+1, len(costs)-level):]
	}
	a.lasting = a.least(latest, m)
	if a.name == "" && ok {
		a.name = shortCommit(points[a.at].Commit)
	}
	return a, ok
}

// least returns how far above the anchor the latest jobs lie, the least of them: a
// machine has slow hours, but what crept stays. That a run of points beyond a
// limit is a signal where a single one is none is of the control charts of
// industry (Western Electric Company, Statistical Quality Control Handbook,
// 1956). A count has no slow hours, and needs no other jobs: +Inf. Nothing else
// lasted where there is none.
func (a anchor) least(latest []stat.Job, m bench.Metric) float64 {
	switch {
	case m.IsCount():
		return math.Inf(1)
	case len(latest) == 0:
		return 0
	}
	least := math.Inf(1)
	for _, j := range latest {
		least = min(least, j.Center-a.center)
	}
	return least
}

// hold compares a job with the anchor, as the logarithm of a slowdown. Both are
// of jobs apart, so the noise between jobs widens the bounds by the rule's own
// quantiles.
func (a anchor) hold(head stat.Job, m bench.Metric, p Policy) finding {
	center := head.Center
	if m.Better == bench.Higher {
		center = -center
	}
	between, _ := stat.BetweenJobs(a.history)
	// An anchor is picked by its noise: what few jobs tell of that, or only the
	// middle of many, is not enough.
	if len(a.history) < stat.JobsForHistoryRule {
		between = max(between, p.priorOf(m), math.Sqrt(head.Variance))
	} else {
		between = max(between, stat.TailBetweenJobs(a.history))
	}
	estimate := center - a.center
	within := math.Sqrt(math.Pi/2*head.Variance/float64(max(1, head.Count)) + a.variance)
	bounds := stat.Normal(estimate, within)
	// A median of n jobs lies off by √(π/2n) of what one job does.
	off := between * math.Sqrt(min(1, math.Pi/2/float64(a.jobs)))
	apart := math.Hypot(between, off)
	f := finding{
		basis: byPrinted, estimate: estimate, between: between,
		fail: bounds(1-failAlphas[LastLook]).Widen(estimate, driftFail*apart),
		pass: bounds(1-passAlpha).Widen(estimate, driftPass*apart),
	}
	// The best of k such medians is the best by luck too: of normal ones it is
	// expected at most √(2 ln k) deviations below their middle (S. Boucheron,
	// G. Lugosi and P. Massart, Concentration Inequalities, 2013, theorem 2.5).
	lucky := off * math.Sqrt(2*math.Log(float64(a.of)))
	f.fail.Low -= lucky
	f.pass.Low -= lucky
	return f
}

// mostOf returns the commits around the change of level that most of a loss came
// by; "" where no change has as much as half of it.
func mostOf(points []Point, loss float64, better bench.Better) (from, to string) {
	most := loss / 2
	for _, c := range Changes(points, math.Expm1(loss/4)) {
		if step := math.Log1p(c.Size) * float64(-better); step >= most {
			most, from, to = step, shortCommit(c.From.Commit), shortCommit(c.To.Commit)
		}
	}
	return from, to
}

// shortCommit is what a commit is called in a sentence.
func shortCommit(commit string) string {
	if commit == "" {
		return "a job of no known commit"
	}
	return bench.ShortCommit(commit)
}
