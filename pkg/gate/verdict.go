package gate

import (
	"math"
	"slices"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// An Outcome is the answer of a comparison, and of the whole. The zero value is
// Inconclusive: where nothing was shown, nothing is claimed.
type Outcome int

// The outcomes.
const (
	Inconclusive Outcome = iota
	Same
	Improved
	Regressed
)

// String returns the outcome's word in documents and reports.
func (o Outcome) String() string {
	return [...]string{"inconclusive", "same", "improved", "regressed"}[o]
}

// A Status is what the verdict makes of the check: the exit status of the
// command.
type Status int

// The statuses.
const (
	StatusPass      Status = 0
	StatusFail      Status = 1 // a regression, or what the policy treats like one
	StatusWrongUse  Status = 2 // a gate that could never fail
	StatusUndecided Status = 3 // there was nothing to decide from
)

// Join returns what two statuses come to as one: a regression is said before what
// kept a gate from working, as it is of one suite.
func (s Status) Join(other Status) Status {
	if s == StatusPass || other != StatusPass && other < s {
		return other
	}
	return s
}

// A Side is one of the two that are compared.
type Side struct {
	Commit string
	Time   time.Time
	Runs   int // runs of the command, as far as known: else the most launches of a sample
	Host   bench.Host
	Origin string // where it was kept, and how far from head; "" where it was only just measured
	Set    *bench.Set
}

// A History has, by key, what earlier jobs of base's branch and machine class
// measured, oldest first. Their logarithms are of the metric itself, not of its
// cost.
type History map[bench.Key][]stat.Job

// A Past is what is known of the jobs before head's.
type Past struct {
	History   History
	Standards []Standard // by which base was judged; a change that loosens them is told of
	Trend     Trend      // of head's machine class
}

// A Summary describes a sample in a report.
type Summary struct {
	Median, Min, Max float64
	Launches, Values int
}

// A Slowdown is a ratio above 1 where head is worse, whatever the metric's
// direction, with one-sided bounds. A bound that there is none of is 0 or +Inf.
type Slowdown struct {
	Estimate, Low, High           float64
	LowConfidence, HighConfidence float64
}

// A Comparison is one metric of one benchmark on both sides.
type Comparison struct {
	Benchmark string // head's name
	Metric    bench.Metric
	Gating    bool
	Base      *Summary // nil where only a limit judges
	Head      Summary
	// Change is the estimate as a change of the metric itself, negative where
	// it fell; NaN where there is no ratio.
	Change   float64
	Slowdown *Slowdown // nil where there is no ratio
	// Threshold is the smallest slowdown that fails (of an informational
	// metric: that is called one), as a share of the metric.
	Threshold float64
	Warn      float64  // 0 where there is no warning threshold
	Limit     *float64 // absolute
	Warned    bool     // beyond Warn, not beyond Threshold
	// Detectable is the smallest slowdown, as a share of the metric, that could
	// have been called regressed; +Inf where none could.
	Detectable float64
	// Needed is how many runs a side would decide what gates and stayed open, at the
	// noise that there was: +Inf where no number would, 0 where it cannot be told.
	Needed  float64
	Outcome Outcome
	Why     string // one sentence for the reader
	Crept   *Crept // nil where head is not beyond what is allowed since an anchor
	// Past has what the jobs before head measured on its machine class, base's
	// own the last, as the logarithms of their medians.
	Past     []float64
	Warnings []string

	few     bool   // the numbers are too few for any regression to be called
	assumed bool   // the noise between jobs is not known, only assumed
	byLimit string // the sentence of an absolute limit that decides by itself; "" where none does
}

// Key returns what the comparison is about.
func (c *Comparison) Key() bench.Key { return bench.Key{Benchmark: c.Benchmark, Metric: c.Metric.Name} }

// Share turns a slowdown into a share of the metric, as thresholds are: 1.05 is
// 0.05 where lower is better, and 0.0476 where higher is. What is faster is
// below 0.
func (c *Comparison) Share(slowdown float64) float64 {
	return thresholdOf(math.Log(slowdown), c.Metric.Better)
}

// A Verdict is the outcome of everything, with what it rests on.
type Verdict struct {
	Suite       string
	Outcome     Outcome
	Status      Status
	Reasons     []string // why the status is not StatusPass, one sentence each
	Base        *Side    // nil where there is no baseline
	NoBaseline  string   // why there is none
	Refused     []string // what looked like a baseline and is none, with the reason
	Head        Side
	Comparisons []Comparison // gating ones first, each group in head's order
	Added       []bench.Key
	Removed     []bench.Key
	Interleaved bool     // both sides were measured in turn, in one job
	Seed        uint64   // of the order in which they were; 0 where they were not
	Accepted    string   // who accepted the regression and when; "" where nobody did, or there is none
	Loosened    []string // thresholds that are less strict than those that base was judged by
	Moved       *Moved   // nil where no function was blamed
	Warnings    []string

	errors []string // benchmarks that had more errors on head
	errata []string // what else is warned of
}

// A Moved says in which functions the instructions of an operation moved between
// base and head. Costs are a function's own, in instructions an operation.
type Moved struct {
	Benchmark  string
	Base, Head float64 // in all
	Functions  []MovedFunction
	Explained  float64 // share of the difference that Functions explain
}

// A MovedFunction is one of them.
type MovedFunction struct {
	Name          string
	File          string // "" where it is not known
	Line          int
	Base, Head    float64
	New, Vanished bool
}

// Blames reports whether a metric regressed, or was warned of, anywhere.
func (v *Verdict) Blames(metric string) bool {
	return slices.ContainsFunc(v.Comparisons, func(c Comparison) bool {
		return c.Metric.Name == metric && (c.Outcome == Regressed || c.Warned)
	})
}

// Decided reports whether more runs are not needed: something gates, and nothing
// that gates is inconclusive. What regressed is measured to the last while the
// noise between jobs is only assumed: on contended machines that takes most
// false alarms away (docs/detection.md), and costs runs only where there is
// something to be sure of.
func (v *Verdict) Decided() bool {
	gates := false
	for _, c := range v.Comparisons {
		gates = gates || c.Gating
		if c.Gating && (c.Outcome == Inconclusive || c.Outcome == Regressed && c.assumed) {
			return false
		}
	}
	return gates
}

// Accept lets a regression pass that somebody answers for: by says who, and
// since when. What keeps the gate from working is not theirs to accept.
func (v *Verdict) Accept(by string) {
	if v.Status == StatusFail {
		v.Status, v.Accepted = StatusPass, by
	}
}

// Excuse lets a regression pass where the check is not to fail of one: on the
// branch that baselines come from, what regressed has happened already.
func (v *Verdict) Excuse() {
	if v.Status == StatusFail {
		v.Status = StatusPass
	}
}

// Whole is what the verdicts of several suites come to: the worst of their
// outcomes, and the status of a check that stands for all of them.
func Whole(verdicts []Verdict) (Outcome, Status) {
	seen, status := map[Outcome]bool{}, StatusPass
	for _, v := range verdicts {
		seen[v.Outcome] = true
		status = status.Join(v.Status)
	}
	return worst(seen), status
}
