package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/noslower/noslower/pkg/bench"
)

// A Reaction is what a finding that is no regression does to the check.
type Reaction string

// The reactions: nothing, a warning, a failed check.
const (
	Pass Reaction = "pass"
	Warn Reaction = "warn"
	Fail Reaction = "fail"
)

// ParseReaction reads a reaction by its word.
func ParseReaction(s string) (Reaction, error) {
	switch r := Reaction(s); r {
	case Pass, Warn, Fail:
		return r, nil
	}
	return "", fmt.Errorf("want pass, warn or fail, have %q", s)
}

// A Rule sets what a metric is judged by. Rules apply in order, and the last
// one that sets a field wins. Benchmark and Metric are globs of * and ?; an
// empty one matches everything.
type Rule struct {
	Benchmark, Metric string

	Gate   *bool    // whether a regression fails the check
	Fail   *float64 // smallest slowdown that fails, as a share of the metric: 0.05 is 5 %
	Warn   *float64 // smallest slowdown that is warned of
	Limit  *float64 // absolute, in the metric's base unit, whatever the baseline
	Better bench.Better

	// Meant says that something is to answer to the rule: that nothing does is
	// told of, and where Flag has the option that gave it, refused as few runs are.
	Meant bool
	Flag  string
}

// covers reports whether the rule is for a metric of a benchmark, which goes by
// the suite's name where it has none.
func (r Rule) covers(benchmark, metric, suite string) bool {
	return matches(r.Metric, metric) && (matches(r.Benchmark, benchmark) || benchmark == "" && matches(r.Benchmark, suite))
}

// A Policy is what the user asked of the gate.
type Policy struct {
	Suite string // stands in for benchmarks without a name
	Rules []Rule
	// Pairs are "BASE NAME=HEAD NAME": benchmarks that are compared under
	// different names.
	Pairs []string
	// Aliases are renames, old name to new: they hold where base has only the
	// old name and head has the new one.
	Aliases map[string]string
	// Expect names what head must have: "BENCHMARK" or "BENCHMARK/METRIC".
	Expect []string
	// Beside is what other suites of the same job measured, by their names: what a
	// rule, a pair or an expectation speaks of may be theirs.
	Beside map[string]*bench.Set

	OnInconclusive Reaction // a gating comparison that stayed open
	OnNoBaseline   Reaction // nothing to compare with
	OnMissing      Reaction // a benchmark of base that head lacks
	OnErrors       Reaction // more errors on head than on base

	// NoiseTimes and NoiseCounts are the least spread between jobs that is
	// assumed until there is a history, as shares: 0.02 is 2 %.
	NoiseTimes, NoiseCounts float64
	// RefuseFewRuns makes numbers that are too few for a gating metric ever to
	// fail wrong use, and not a comparison that stays open.
	RefuseFewRuns bool
	// RefuseIdle makes a threshold or limit that an option gives, and that nothing
	// which was measured answers to, a wrong use: else it is a warning.
	RefuseIdle bool
	// Interleaved says that both sides were measured in turn, in one job: their
	// runs belong together in pairs, and there is no noise between jobs.
	Interleaved bool
	// Creep holds head against the past too; nil where it is not asked for.
	Creep *Creep
	// Look is how often was looked before, from 0 to LastLook: earlier looks
	// need more to call a regression.
	Look int
}

// DefaultPolicy returns the policy of a user who configured nothing.
func DefaultPolicy() Policy {
	return Policy{
		Suite:          "default",
		OnInconclusive: Pass, OnNoBaseline: Pass, OnMissing: Warn, OnErrors: Fail,
		NoiseTimes: 0.02, NoiseCounts: 0.0002, Look: LastLook,
	}
}

// defaultFail has the metrics that gate without being asked, and the slowdown
// at which they fail.
var defaultFail = map[string]float64{
	"instructions_per_op": 0.01,
	"throughput":          0.05,
	"time_per_op":         0.05,
	"cpu_time_per_op":     0.05,
	"iops":                0.05,
	"bandwidth":           0.05,
}

// impliedByThroughput has the metrics that do not gate by default beside a
// gating throughput of the same benchmark: they are the same measurement, and
// would double every false alarm.
var impliedByThroughput = map[string]bool{"time_per_op": true, "iops": true, "bandwidth": true}

// Without a threshold of their own, informational metrics are worded at these.
const (
	informationalTimes  = 0.05
	informationalCounts = 0.01
)

// A standard is what one comparison is judged by.
type standard struct {
	metric     bench.Metric
	gate       bool
	fail, warn float64 // warn is 0 where there is none
	limit      *float64
}

// standardFor resolves the rules for a metric of a benchmark. besideThroughput
// says that the benchmark's throughput gates.
func (p Policy) standardFor(benchmark string, m bench.Metric, besideThroughput bool) standard {
	s := standard{metric: m, fail: informationalTimes}
	if m.IsCount() {
		s.fail = informationalCounts
	}
	if fail, ok := defaultFail[m.Name]; ok {
		s.fail = fail
		s.gate = !besideThroughput || !impliedByThroughput[m.Name]
	}
	for _, r := range p.Rules {
		if !r.covers(benchmark, m.Name, p.Suite) {
			continue
		}
		if r.Better != bench.Unknown {
			s.metric.Better = r.Better
		}
		if r.Fail != nil {
			s.fail, s.gate = *r.Fail, true
		}
		if r.Limit != nil {
			s.limit, s.gate = r.Limit, true
		}
		if r.Warn != nil {
			s.warn = *r.Warn
		}
		if r.Gate != nil {
			s.gate = *r.Gate
		}
	}
	return s
}

// faults returns why a gating comparison by this standard could never fail.
func (s standard) faults() error {
	switch {
	case s.metric.Better == bench.Unknown:
		return fmt.Errorf("its direction is not known from its unit %q: %s", s.metric.Unit, sayBetter(s.metric.Name, ""))
	case s.metric.Better == bench.Higher && s.fail >= 1:
		return fmt.Errorf("a drop of %s can never happen: ask for less than 100 %%", Percent(s.fail))
	}
	return nil
}

// sayBetter tells how to give a metric its direction, and what more to write of it.
func sayBetter(metric, more string) string {
	return fmt.Sprintf(`write "metrics: {%s: {better: lower%s}}" in the configuration, or "better: higher"`, metric, more)
}

// missingExpected returns which of the expected names head has not.
func (p Policy) missingExpected(head *bench.Set) []string {
	return slices.DeleteFunc(slices.Clone(p.Expect), func(want string) bool {
		return p.elsewhere(named(want)) || has(p.Suite, head, named(want))
	})
}

// named matches what goes by a name, as a benchmark or as a metric of it.
func named(want string) func(benchmark, metric string) bool {
	return func(benchmark, metric string) bool { return want == benchmark || want == benchmark+"/"+metric }
}

// elsewhere reports whether another suite of the job has what is asked for.
func (p Policy) elsewhere(is func(benchmark, metric string) bool) bool {
	for suite, set := range p.Beside {
		if has(suite, set, is) {
			return true
		}
	}
	return false
}

// has reports whether a suite measured what is asked for. A benchmark without a
// name goes by the suite's.
func has(suite string, set *bench.Set, is func(benchmark, metric string) bool) bool {
	return slices.ContainsFunc(set.Keys(), func(k bench.Key) bool { return is(cmp.Or(k.Benchmark, suite), k.Metric) })
}

// A Standard is what a metric of a benchmark is judged by.
type Standard struct {
	Key        bench.Key
	Gating     bool
	Fail, Warn float64  // shares of the metric; Warn is 0 where there is none
	Limit      *float64 // absolute
}

// Standards resolves the policy for everything that a side measured.
func (p Policy) Standards(set *bench.Set) []Standard {
	throughput := p.gatingThroughput(set)
	var standards []Standard
	for _, sample := range set.Samples() {
		s := p.standardFor(sample.Benchmark, sample.Metric, throughput[sample.Benchmark])
		standards = append(standards, Standard{sample.Key(), s.gate, s.fail, s.warn, s.limit})
	}
	return standards
}

// gatingThroughput has the benchmarks of a side whose throughput gates.
func (p Policy) gatingThroughput(set *bench.Set) map[string]bool {
	gating := map[string]bool{}
	for _, sample := range set.Samples() {
		if sample.Metric.Name == "throughput" && p.standardFor(sample.Benchmark, sample.Metric, false).gate {
			gating[sample.Benchmark] = true
		}
	}
	return gating
}
