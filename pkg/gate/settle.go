package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// settle turns what was found into the status of the check. A regression is
// said before everything else; then what kept the gate from working, then what
// the policy minds beside.
func (d *decider) settle() {
	v := d.verdict
	for _, c := range v.Comparisons {
		if c.Gating && c.Outcome == Regressed {
			d.raise(StatusFail, fmt.Sprintf("%s: %s regressed: %s", d.name(c.Benchmark), c.Metric.Name, c.Why))
		}
	}
	d.refuseToothless()
	d.refuseIdle()
	for _, want := range d.policy.missingExpected(d.head.Set) {
		d.raise(StatusUndecided, fmt.Sprintf("--expect %s: it was not measured; head has %s", cmp.Or(want, `""`), d.policy.names(d.head.Set)))
	}
	switch gating := slices.ContainsFunc(v.Comparisons, func(c Comparison) bool { return c.Gating }); {
	case v.Base != nil && len(v.Comparisons) == 0 && min(v.Base.Set.Len(), d.head.Set.Len()) > 0:
		d.raise(StatusUndecided, fmt.Sprintf("nothing is on both sides: base has %s of %s; head has %s of %s; --pair and aliases bring together what was renamed",
			strings.Join(metricNames(v.Base.Set), ", "), d.policy.names(v.Base.Set), strings.Join(metricNames(d.head.Set), ", "), d.policy.names(d.head.Set)))
	case v.Base != nil && !gating:
		d.raise(StatusUndecided, "no gating metric is on both sides: "+d.howToGate())
	case v.Base == nil && d.policy.OnNoBaseline == Fail:
		d.raise(StatusUndecided, "there is no baseline: "+v.NoBaseline)
	case v.Base == nil && !d.wouldGate():
		v.Warnings = append(v.Warnings, "nothing that was measured will ever gate: "+d.howToGate())
	}
	if v.Outcome == Inconclusive && v.Base != nil && d.policy.OnInconclusive != Pass {
		d.react(d.policy.OnInconclusive, "a gating comparison is inconclusive")
	}
	v.Warnings = append(v.Warnings, v.errata...)
	for _, e := range v.errors {
		d.react(d.policy.OnErrors, e)
	}
	d.missing()
	d.pointToCPUTime()
}

// processorTimes are in seconds, too, but of no clock on the wall.
var processorTimes = []string{"cpu_time", "cpu_time_per_op", "user_time", "system_time"}

// pointToCPUTime tells of the time to trust on a noisy machine, where a wall-clock
// metric that gates stayed open and the processor's time was measured with it.
func (d *decider) pointToCPUTime() {
	i := slices.IndexFunc(d.verdict.Comparisons, func(c Comparison) bool { return c.Metric.Name == "cpu_time" && c.Base != nil })
	if i < 0 || d.verdict.Comparisons[i].Gating {
		return
	}
	cpu := d.verdict.Comparisons[i]
	for _, c := range d.verdict.Comparisons {
		wallClock := !slices.Contains(processorTimes, c.Metric.Name) && (strings.HasSuffix(c.Metric.Unit, "/s") || strings.TrimSuffix(c.Metric.Unit, "/op") == "s")
		if c.Gating && wallClock && c.Outcome == Inconclusive && cpu.Detectable < c.Detectable/2 {
			d.verdict.Warnings = append(d.verdict.Warnings, fmt.Sprintf(
				"the processor's time of the runs could have shown %s or more, where the clock on the wall has to be trusted for %s of %s: --fail cpu_time=%s gates on it",
				Percent(cpu.Detectable), c.Metric.Name, d.name(c.Benchmark), strings.ReplaceAll(Percent(niceAbove(cpu.Detectable)), " ", "")))
			return
		}
	}
}

// loosened says which of the standards that base was judged by head's are less
// strict than: a change that makes itself pass must be seen to.
func (d *decider) loosened(before []Standard) []string {
	if len(before) == 0 {
		return nil
	}
	now := map[bench.Key]Standard{}
	for _, s := range d.policy.Standards(d.head.Set) {
		now[s.Key] = s
	}
	var list []string
	for _, old := range before {
		s, ok := now[old.Key]
		if !old.Gating || !ok {
			continue
		}
		what := fmt.Sprintf("%s %s", d.name(old.Key.Benchmark), old.Key.Metric)
		sample, _ := d.head.Set.Lookup(old.Key)
		better := d.policy.standardFor(old.Key.Benchmark, sample.Metric, false).metric.Better
		switch {
		case !s.Gating:
			list = append(list, what+" no longer fails the check")
		case s.Fail > old.Fail:
			list = append(list, fmt.Sprintf("%s fails at %s, not at %s", what, Percent(s.Fail), Percent(old.Fail)))
		case old.Limit != nil && s.Limit == nil:
			list = append(list, fmt.Sprintf("%s has no limit any more; it was %s", what, Quantity(*old.Limit, sample.Metric.Unit)))
		case old.Limit != nil && (better == bench.Higher && *s.Limit < *old.Limit || better != bench.Higher && *s.Limit > *old.Limit):
			list = append(list, fmt.Sprintf("%s has a limit of %s, not of %s", what, Quantity(*s.Limit, sample.Metric.Unit), Quantity(*old.Limit, sample.Metric.Unit)))
		}
	}
	return list
}

// missing reacts to each benchmark of base of which head lacks something.
func (d *decider) missing() {
	lost := map[string][]string{}
	var order []string
	for _, k := range d.verdict.Removed {
		if lost[k.Benchmark] == nil {
			order = append(order, k.Benchmark)
		}
		lost[k.Benchmark] = append(lost[k.Benchmark], k.Metric)
	}
	for _, benchmark := range order {
		d.react(d.policy.OnMissing, fmt.Sprintf("%s: base has %s of it, head has not", d.name(benchmark), strings.Join(lost[benchmark], ", ")))
	}
}

// raise gives a reason and, unless an earlier reason settled it, the status.
func (d *decider) raise(s Status, reason string) {
	if d.verdict.Status == StatusPass {
		d.verdict.Status = s
	}
	d.verdict.Reasons = append(d.verdict.Reasons, reason)
}

// react does what the policy says about a finding that is no regression.
func (d *decider) react(r Reaction, finding string) {
	switch r {
	case Fail:
		d.raise(StatusFail, finding)
	case Warn:
		d.verdict.Warnings = append(d.verdict.Warnings, finding)
	}
}

// refuseToothless finds gates that could never fail: a direction that is not
// known, a drop of everything, numbers too few for any regression to be called.
func (d *decider) refuseToothless() {
	throughput := d.policy.gatingThroughput(d.head.Set)
	d.few = map[bench.Key]string{}
	for _, c := range d.verdict.Comparisons {
		if c.few {
			d.few[c.Key()] = c.Why
		}
	}
	for _, k := range d.head.Set.Keys() {
		sample, _ := d.head.Set.Lookup(k)
		s := d.policy.standardFor(k.Benchmark, sample.Metric, throughput[k.Benchmark])
		if !s.gate {
			continue
		}
		what := fmt.Sprintf("%s of %s can never fail", k.Metric, d.name(k.Benchmark))
		if err := s.faults(); err != nil {
			d.raise(StatusWrongUse, what+": "+err.Error())
			continue
		}
		if few := d.tooFew(k, sample, s); few != "" {
			if d.policy.RefuseFewRuns {
				d.raise(StatusWrongUse, what+": "+few+" (--runs sets the number; --allow-few-runs turns this into a warning)")
			} else {
				d.verdict.Warnings = append(d.verdict.Warnings, what+": "+few)
			}
		}
	}
}

// refuseIdle finds thresholds and limits that nothing answers to: a name that is
// written wrong would make a gate that stays green for ever.
func (d *decider) refuseIdle() {
	suite, sets := d.policy.Suite, []*bench.Set{d.head.Set}
	if base := d.verdict.Base; base != nil {
		sets = append(sets, base.Set)
	}
	for _, r := range d.policy.Rules {
		answers := func(benchmark, metric string) bool { return r.covers(benchmark, metric, suite) }
		if !r.Meant || d.policy.elsewhere(answers) || slices.ContainsFunc(sets, func(s *bench.Set) bool { return has(suite, s, answers) }) {
			continue
		}
		where := ""
		if r.Benchmark != "" {
			where = fmt.Sprintf(" of a benchmark %q", r.Benchmark)
		}
		metric := "no metric"
		if r.Metric != "" {
			metric = fmt.Sprintf("no metric %q", r.Metric)
		}
		finding := fmt.Sprintf("%s%s was measured, so what is set for it can never fail or warn: head has %s in %s",
			metric, where, strings.Join(metricNames(d.head.Set), ", "), d.policy.names(d.head.Set))
		switch {
		case r.Flag == "":
			d.verdict.Warnings = append(d.verdict.Warnings, finding)
		case d.policy.RefuseIdle:
			d.raise(StatusWrongUse, r.Flag+": "+finding)
		default:
			d.verdict.Warnings = append(d.verdict.Warnings, r.Flag+": "+finding)
		}
	}
}

// tooFew says why the numbers of a sample can never fail, and what would do; ""
// where they can. Without a base it is asked of head against as many of base.
func (d *decider) tooFew(k bench.Key, head bench.Sample, s standard) string {
	if s.limit != nil {
		return ""
	}
	if d.verdict.Base != nil {
		return d.few[k]
	}
	values := representatives(head)
	allEqual := slices.Min(values) == slices.Max(values)
	if relativeError(head) > 0 || allEqual && (len(values) > 2 || len(values) == 2 && head.Counted) {
		return ""
	}
	return fewSentence(0, len(values))
}

// fewSentence says that so many values of head, against so many of base or, at
// 0, against as many, are too few, and what would do; "" where they are not.
func fewSentence(base, head int) string {
	level, aSide := 1-failAlphas[LastLook], EnoughRuns()
	would := fmt.Sprintf("it takes %d on each side", aSide)
	if base == 0 {
		if head >= aSide {
			return ""
		}
		return fmt.Sprintf("%s a side are too few for any regression to be called: %s", Count(head, "value"), would)
	}
	if stat.Bounded(base, head, level) {
		return ""
	}
	const enough = 20
	if more := stat.FewestFor(base, level); more > 0 && more <= enough {
		would = fmt.Sprintf("it takes %d of head against these %d of base, or %d on each side", more, base, aSide)
	}
	return fmt.Sprintf("%s of base and %d of head are too few for any regression to be called: %s", Count(base, "value"), head, would)
}

// wouldGate reports whether anything of head gates.
func (d *decider) wouldGate() bool {
	return slices.ContainsFunc(d.head.Set.Samples(), func(s bench.Sample) bool {
		return d.policy.standardFor(s.Benchmark, s.Metric, false).gate
	})
}

// howToGate names the metrics found and what makes one gate: a flag, and the
// configuration where no flag can.
func (d *decider) howToGate() string {
	found := metricNames(d.head.Set)
	if len(found) == 0 {
		return "head has no metric at all"
	}
	have := "head has " + strings.Join(found, ", ")
	if d.verdict.Base != nil {
		have = "base has " + strings.Join(metricNames(d.verdict.Base.Set), ", ") + "; " + have
	}
	var directed, undirected []string
	for _, s := range d.head.Set.Samples() {
		if d.policy.standardFor(s.Benchmark, s.Metric, false).metric.Better == bench.Unknown {
			undirected = append(undirected, s.Metric.Name)
		} else {
			directed = append(directed, s.Metric.Name)
		}
	}
	if len(directed) > 0 {
		have += fmt.Sprintf("; add for example --fail %s=5%%", slices.Min(directed))
	}
	if len(undirected) > 0 {
		name := slices.Min(undirected)
		have += fmt.Sprintf("; it is not known whether more of %s is better: %s", name, sayBetter(name, ", fail: 5%"))
	}
	return have
}

// metricNames returns the metrics of a set by name, bounded.
func metricNames(s *bench.Set) []string {
	const most = 20
	var list []string
	for _, k := range s.Keys() {
		if !slices.Contains(list, k.Metric) {
			list = append(list, k.Metric)
		}
	}
	slices.Sort(list)
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more", len(list)-most))
	}
	return list
}
