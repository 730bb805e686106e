// Package gate decides whether a change made a program slower: two sides and a
// policy in, a verdict out.
//
// It is pure. It reads no output, stores nothing, and writes no report; but the
// one sentence that explains each comparison is its own, since only here is
// known what decided.
package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// Decide compares head with base by the policy. base is nil where there is no
// baseline; limits are judged then too, and noBaseline says why.
//
// An error is wrong use that was found on the way: a pair that names nothing.
func Decide(base *Side, head Side, noBaseline string, past Past, p Policy) (Verdict, error) {
	v := Verdict{Suite: p.Suite, Base: base, Head: head, Interleaved: p.Interleaved}
	d := decider{policy: p, history: past.History, trend: past.Trend, head: head, verdict: &v}
	if base == nil {
		v.NoBaseline = noBaseline
		d.judgeAlone()
	} else if err := d.judge(*base); err != nil {
		return Verdict{}, err
	}
	slices.SortStableFunc(v.Comparisons, func(a, b Comparison) int { return cmp.Compare(asInt(b.Gating), asInt(a.Gating)) })
	v.Outcome = overall(v.Comparisons)
	v.Loosened = d.loosened(past.Standards)
	d.settle()
	return v, nil
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// overall is the outcome of the whole: the worst that a gating comparison says.
func overall(comparisons []Comparison) Outcome {
	seen := map[Outcome]bool{}
	for _, c := range comparisons {
		if c.Gating {
			seen[c.Outcome] = true
		}
	}
	return worst(seen)
}

// worst is the worst of the outcomes that were seen; where there was none, nothing
// is known.
func worst(seen map[Outcome]bool) Outcome {
	for _, o := range []Outcome{Regressed, Inconclusive, Improved, Same} {
		if seen[o] {
			return o
		}
	}
	return Inconclusive
}

// A decider carries one decision from its sides to its verdict.
type decider struct {
	policy  Policy
	history History
	trend   Trend
	head    Side
	verdict *Verdict
	few     map[bench.Key]string // comparisons whose numbers are too few, and why
	// How long each run was kept waiting, where sides were measured in turn.
	baseWaiting, headWaiting []float64
}

// judge compares the sides.
func (d *decider) judge(base Side) error {
	m, err := d.policy.match(base, d.head)
	if err != nil {
		return err
	}
	d.verdict.Added, d.verdict.Removed = m.added, m.removed
	if differ := hostDifferences(base.Host, d.head.Host); differ != "" {
		d.verdict.errata = append(d.verdict.errata, differ)
	}
	if d.policy.Interleaved {
		d.baseWaiting, d.headWaiting = waiting(base.Set), waiting(d.head.Set)
	}
	moreErrors := map[string]string{}
	gatingThroughput := map[string]bool{}
	for _, pair := range m.pairs {
		name := pair.head.Benchmark
		switch pair.head.Metric.Name {
		case bench.Errors:
			if before, now := mean(pair.base.Values()), mean(pair.head.Values()); now > before {
				moreErrors[name] = fmt.Sprintf("head had %s a run, base %s", errorsOf(now), number(before))
			}
		case "throughput":
			gatingThroughput[name] = d.policy.standardFor(name, pair.head.Metric, false).gate
		}
	}
	for _, k := range m.added {
		if s, _ := d.head.Set.Lookup(k); k.Metric == bench.Errors && mean(s.Values()) > 0 {
			moreErrors[k.Benchmark] = fmt.Sprintf("head had %s a run, base told of none", errorsOf(mean(s.Values())))
		}
	}
	d.verdict.Comparisons = compareAll(m.pairs, func(pair match, ranks *stat.Ranks) Comparison {
		s := d.policy.standardFor(pair.head.Benchmark, pair.head.Metric, gatingThroughput[pair.head.Benchmark])
		c := d.compare(pair, s, ranks)
		if counters := foreignCounters(pair, base.Host, d.head.Host); counters != "" {
			c.open(counters)
		}
		baseMachine := machineOf(pair.base, base)
		if baseMachine == "" && base.Origin != "" {
			baseMachine = "a machine that is not known" // of a past that was brought along, say
		}
		if foreign := foreignMachines(baseMachine, machineOf(pair.head, d.head)); foreign != "" {
			c.distrust(foreign)
		}
		d.holdAnchor(&c, pair, s)
		c.Past = d.trend.centers(pair.base.Key())
		if why := moreErrors[c.Benchmark]; why != "" && c.Metric.Name != bench.Errors {
			c.open("more errors on head: " + why + "; what fails is not slower or faster")
		}
		return c
	})
	for _, k := range m.added {
		d.limitAlone(k)
	}
	for _, name := range slices.Sorted(maps.Keys(moreErrors)) {
		d.verdict.errors = append(d.verdict.errors, fmt.Sprintf("%s: %s", d.name(name), moreErrors[name]))
	}
	return nil
}

// compareAll compares each pair. Of thousands, many are compared at a time.
func compareAll(pairs []match, compare func(match, *stat.Ranks) Comparison) []Comparison {
	const atOnce = 500
	comparisons := make([]Comparison, len(pairs))
	var all sync.WaitGroup
	for from := 0; from < len(pairs); from += atOnce {
		all.Go(func() {
			var ranks stat.Ranks
			for i := from; i < min(from+atOnce, len(pairs)); i++ {
				comparisons[i] = compare(pairs[i], &ranks)
			}
		})
	}
	all.Wait()
	return comparisons
}

// judgeAlone holds head against its limits, where there is no base.
func (d *decider) judgeAlone() {
	for _, k := range d.head.Set.Keys() {
		d.limitAlone(k)
	}
}

// limitAlone judges a sample of head that base has not, if it has a limit.
func (d *decider) limitAlone(k bench.Key) {
	sample, _ := d.head.Set.Lookup(k)
	s := d.policy.standardFor(k.Benchmark, sample.Metric, false)
	if s.limit == nil {
		return
	}
	c := Comparison{
		Benchmark: k.Benchmark, Metric: s.metric, Gating: s.gate, Threshold: s.fail, Warn: s.warn, Limit: s.limit,
		Head: summarize(sample, representatives(sample)), Change: math.NaN(), Detectable: math.Inf(1),
	}
	c.Outcome, c.Why = judgeLimit(s, launchMedians(sample))
	c.byLimit = c.Why
	d.verdict.Comparisons = append(d.verdict.Comparisons, c)
}

// compare judges one pair of samples.
func (d *decider) compare(pair match, s standard, ranks *stat.Ranks) Comparison {
	base, head := independent(pair.base, pair.head)
	c := Comparison{
		Benchmark: pair.head.Benchmark, Metric: s.metric, Gating: s.gate,
		Threshold: s.fail, Warn: s.warn, Limit: s.limit,
		Head: summarize(pair.head, head), Change: math.NaN(), Detectable: math.Inf(1),
	}
	b := summarize(pair.base, base)
	c.Base = &b
	if pair.renamed != "" {
		c.Warnings = append(c.Warnings, pair.renamed)
	}
	if pair.base.Metric.Unit != pair.head.Metric.Unit {
		c.Why = fmt.Sprintf("not comparable: base is in %q, head in %q", pair.base.Metric.Unit, pair.head.Metric.Unit)
		return c
	}
	e := evidence{
		Evidence: Evidence{
			Better: s.metric.Better, Base: base, Head: head, Look: d.policy.Look,
			Paired: d.policy.Interleaved, Exact: countedAlike(pair.base, pair.head),
		},
		printed: printedError(pair.base, pair.head),
		ranks:   ranks,
	}
	// A benchmark's own cpu_time is of a part of the run, and may have waited less.
	if k := c.key(); k == (bench.Key{Metric: "cpu_time"}) || k.Metric == "cpu_time_per_op" {
		e.BaseWaiting, e.HeadWaiting = d.baseWaiting, d.headWaiting
	}
	if !e.Paired {
		e.History = d.costHistory(pair.base.Key(), s.metric.Better)
		e.Prior = d.policy.priorOf(s.metric)
	}
	loss := lossOf(s.fail, s.metric.Better)
	f := e.find().at(loss)
	c.record(f, s)
	if s.metric.Better == bench.Unknown {
		c.Slowdown = nil
		c.Why = "it is not known whether more is better: " + sayBetter(s.metric.Name, "")
		return c
	}
	c.Outcome = f.outcome(loss)
	if d := f.detectable(loss); !math.IsInf(d, 1) {
		c.Detectable = thresholdOf(d, s.metric.Better)
	}
	if c.Gating && c.Outcome == Inconclusive {
		c.Needed = f.needed(loss, min(len(e.Base), len(e.Head)))
	}
	if s.warn > 0 && c.Outcome != Regressed {
		c.Warned = f.rule(lossOf(s.warn, s.metric.Better)) == worse
	}
	c.few = f.basis == byFewNumbers
	_, known := stat.BetweenJobs(e.History)
	c.assumed = !e.Paired && !known
	c.Why = explain(c, f, len(e.Base), len(e.Head))
	c.caution(pair, f)
	c.holdLimit(s, pair.head)
	return c
}

// countedAlike reports whether both sides were counted, as often as it takes to
// know whether equal runs count alike.
func countedAlike(base, head bench.Sample) bool {
	return base.Counted && head.Counted && min(len(base.Launches), len(head.Launches)) >= 2
}

// record keeps the finding's numbers.
func (c *Comparison) record(f finding, s standard) {
	if f.basis == byNothing || f.basis == byZero {
		return
	}
	c.Change = math.Expm1(f.estimate)
	if s.metric.Better == bench.Higher {
		c.Change = math.Expm1(-f.estimate)
	}
	c.Slowdown = &Slowdown{
		Estimate: math.Exp(f.estimate), Low: math.Exp(f.fail.Low), High: math.Exp(f.pass.High),
		LowConfidence: f.fail.OneSided(), HighConfidence: f.pass.OneSided(),
	}
}

// caution adds what a reader should know about the numbers.
func (c *Comparison) caution(pair match, f finding) {
	launches := min(len(pair.base.Launches), len(pair.head.Launches))
	if launches < fewestLaunches && (c.Base.Values > c.Base.Launches || c.Head.Values > c.Head.Launches) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: noise between launches is not seen", Count(launches, "launch")))
	}
	isTime := strings.TrimSuffix(c.Metric.Unit, "/op") == "s"
	if isTime && len(pair.head.Launches) > 1 && c.Head.Min == c.Head.Max {
		c.Warnings = append(c.Warnings, "the time is identical in all launches: it looks cached or rounded")
	}
	if f.outlying != 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("base is %s than the jobs before it: the bounds allow for that", amountOf(f.outlying, c.Metric.Better)))
	}
	if f.drift > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the values drift: each is like the one before it (correlation %.2g), so they count for fewer", f.drift))
	}
	if f.basis == byCalm {
		c.Warnings = append(c.Warnings, "less what contention explains: the more a run was kept waiting, the more CPU time it took")
	}
	if f.basis == byPrinted {
		c.Warnings = append(c.Warnings, "from printed statistics")
	}
}

// holdLimit judges the absolute limit beside the comparison: it can make an
// answer worse, never better.
func (c *Comparison) holdLimit(s standard, head bench.Sample) {
	if s.limit == nil {
		return
	}
	outcome, why := judgeLimit(s, launchMedians(head))
	switch {
	case outcome == Regressed:
		c.byLimit = why
		if c.Outcome == Regressed {
			why += "; " + c.Why
		}
		c.Outcome, c.Why = Regressed, why
	case outcome == Inconclusive && c.Outcome != Regressed:
		c.open(why)
	}
}

// judgeLimit holds the launches of head against an absolute limit.
func judgeLimit(s standard, launches []float64) (Outcome, string) {
	beyond := func(v float64) bool { return v > *s.limit }
	word := "above"
	if s.metric.Better == bench.Higher {
		beyond, word = func(v float64) bool { return v < *s.limit }, "below"
	}
	limit := Quantity(*s.limit, s.metric.Unit)
	switch {
	case !usable(launches):
		return Inconclusive, "head has values that no limit can be held against"
	case !slices.ContainsFunc(launches, func(v float64) bool { return !beyond(v) }):
		return Regressed, fmt.Sprintf("every launch is %s the limit of %s", word, limit)
	case beyond(stat.Median(launches)):
		return Inconclusive, fmt.Sprintf("the median is %s the limit of %s, but not every launch is", word, limit)
	}
	return Same, fmt.Sprintf("within the limit of %s", limit)
}

// open makes the comparison inconclusive for a reason that no number changes.
func (c *Comparison) open(why string) {
	c.Outcome, c.Warned, c.Why, c.Detectable, c.Needed, c.Crept = Inconclusive, false, why, math.Inf(1), 0, nil
}

// distrust takes back what cannot be said across machines: nothing of a time,
// and of a count no regression until it is confirmed on one machine.
func (c *Comparison) distrust(foreign string) {
	switch {
	case c.byLimit != "":
		// It holds whatever base was, on whatever machine.
		c.Why = c.byLimit
	case !c.Metric.IsCount():
		c.open("measured on different machines, so times are not compared: " + foreign)
	case c.Outcome == Regressed:
		c.open("it counts more, but on another machine, and the same program has been seen 13 % apart on two of them: " + foreign)
	}
}

// hostDifferences says in what the hosts of one machine class differ all the
// same: each has been seen to move times, and counts a little.
func hostDifferences(base, head bench.Host) string {
	if base.Class() == "" || base.Class() != head.Class() {
		return ""
	}
	var differ []string
	for _, f := range []struct{ name, base, head string }{
		{"kernel", base.Kernel, head.Kernel}, {"C library", base.Libc, head.Libc}, {"image", base.Image, head.Image},
		{"microcode", base.Microcode, head.Microcode}, {"virtualisation", base.Hypervisor, head.Hypervisor}, {"frequency policy", base.Governor, head.Governor},
	} {
		if f.base != f.head && f.base != "" && f.head != "" {
			differ = append(differ, fmt.Sprintf("%s (base %s, head %s)", f.name, f.base, f.head))
		}
	}
	if len(differ) == 0 {
		return ""
	}
	return "the machines are of one class, but differ in " + strings.Join(differ, ", ")
}

// foreignCounters says how counts of two counters came about; "" where they are
// of one.
func foreignCounters(pair match, base, head bench.Host) string {
	if !pair.base.Counted || !pair.head.Counted || base.Counter == head.Counter {
		return ""
	}
	return fmt.Sprintf("base was counted by %s and head by %s, which do not count alike", base.Counter, head.Counter)
}

// machineOf is the machine class that a sample of a side was measured on.
func machineOf(s bench.Sample, of Side) string { return cmp.Or(s.Machine, of.Host.Class()) }

// foreignMachines says how two machine classes differ; "" where they do not, or
// one is not known.
func foreignMachines(base, head string) string {
	if base != "" && head != "" && base != head {
		return fmt.Sprintf("base on %s, head on %s", base, head)
	}
	return ""
}

// costHistory turns the history of a metric into one of its cost.
func (d *decider) costHistory(k bench.Key, better bench.Better) []stat.Job {
	jobs := slices.Clone(d.history[k])
	if better == bench.Higher {
		for i := range jobs {
			jobs[i].Center = -jobs[i].Center
		}
	}
	return jobs
}

// fewestLaunches is the number of launches from which on a launch is one value.
const fewestLaunches = 5

// independent returns the values of both sides that count as independent: the
// median of each launch where both sides have launches enough, else all values
// of a side that has too few.
func independent(base, head bench.Sample) (b, h []float64) {
	return representatives(base), representatives(head)
}

func representatives(s bench.Sample) []float64 {
	if len(s.Launches) >= fewestLaunches {
		return launchMedians(s)
	}
	return s.Values()
}

func launchMedians(s bench.Sample) []float64 {
	var medians []float64
	for _, values := range s.Launches {
		medians = append(medians, stat.Median(values))
	}
	return medians
}

// printedError returns the standard error of the shift between two printed
// statistics, on the scale of logarithms; 0 where a side printed no spread.
func printedError(base, head bench.Sample) float64 {
	b, h := relativeError(base), relativeError(head)
	if b == 0 || h == 0 {
		return 0
	}
	return math.Hypot(b, h)
}

// relativeError returns the printed spread of a sample over its center, divided
// by the root of the count only where a count was printed; 0 where there is
// none. A spread of 0, or of a single value, is no spread.
func relativeError(s bench.Sample) float64 {
	if s.Spread == nil || s.Spread.Value <= 0 || s.Spread.Count == 1 {
		return 0
	}
	center := stat.Median(s.Values())
	if center <= 0 {
		return 0
	}
	var sd float64
	switch s.Spread.Kind {
	case bench.MAD:
		sd = stat.SDOfMAD(s.Spread.Value)
	case bench.StdDev:
		sd = s.Spread.Value
	default:
		return 0
	}
	if s.Spread.Count > 1 {
		sd /= math.Sqrt(float64(s.Spread.Count))
	}
	return sd / center
}

// summarize describes a sample; the median is that of the values decided on.
func summarize(s bench.Sample, decidedOn []float64) Summary {
	values := s.Values()
	return Summary{
		Median: stat.Median(decidedOn), Min: slices.Min(values), Max: slices.Max(values),
		Launches: len(s.Launches), Values: len(values),
	}
}

// Describe returns the summary of a sample by itself.
func Describe(s bench.Sample) Summary { return summarize(s, representatives(s)) }

// Summarize returns what a job measured of a sample in a few numbers, for the
// history of later ones. ok is false where a value has no logarithm.
func Summarize(s bench.Sample) (job stat.Job, ok bool) {
	values := representatives(s)
	if len(values) == 0 || !usable(values) || slices.Contains(values, 0) {
		return stat.Job{}, false
	}
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	return stat.Summarize(logs), true
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// name is what a benchmark is called in a sentence.
func (d *decider) name(benchmark string) string {
	if benchmark == "" {
		return d.policy.Suite
	}
	return benchmark
}
