package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) gateCommand() *cobra.Command {
	return w.subcommand("gate [flags] [-- COMMAND…]", "gate",
		"The whole job: measure, find the baseline, decide, report, keep the baseline", cobra.ArbitraryArgs,
		func(cmd *cobra.Command, o *optionSet) error {
			err := w.gate(cmd.Context(), o)
			w.publishFailure(err)
			return err
		})
}

// gate is the whole pipeline.
func (w world) gate(ctx context.Context, o *optionSet) error {
	forms, formsErr := o.forms()
	hub, hubErr := w.github(ctx)
	at, modeErr := hub.situation(o.Mode)
	if at.mode == modeReport {
		return w.report(ctx, o)
	}
	kept, storeErr := openKeeper(o.Baseline, hub, at, o.BaselineWorkflow)
	if _, ok := kept.(branch); ok && len(o.Program) > 0 {
		storeErr = errors.New("--program: a branch of data keeps no programs, they would outgrow it: use --baseline artifact or dir:PATH with it")
	}
	if err := errors.Join(formsErr, hubErr, modeErr, storeErr, o.checkCommand()); err != nil {
		return wrongUse(err)
	}
	one := gating{world: w, options: o, hub: hub, at: at, keeps: at.mode == modeBaseline || o.SaveBaseline}
	gates := []*gating{&one}
	if o.Measurements != "" {
		heads, err := hub.measured(ctx, o, w)
		if err != nil {
			return undecided(err)
		}
		gates = one.each(heads)
	}
	if s, ok := kept.(store); ok && s.file != "" && len(gates) > 1 {
		return wrongUse(fmt.Errorf("--baseline: %s is the record of one suite, and there are %d: want dir:PATH", s, len(gates)))
	}
	j, err := w.judgeEach(ctx, gates, kept)
	if err != nil {
		return err
	}
	hub.accept(ctx, o.AcceptLabel, j.Verdicts, hub.pullRequest)
	err = w.publish(j, forms)
	for i, g := range j.gates {
		if g.keeps {
			err = errors.Join(err, g.keep(ctx, kept, j.Verdicts[i]))
		}
	}
	if !one.keeps && at.why != "" {
		fmt.Fprintf(w.Stderr, "no baseline is kept: %s\n", at.why)
	}
	return j.end(errors.Join(err, hub.publish(ctx, j, o)))
}

// A gating is one gate of a suite on its way.
type gating struct {
	world
	options *optionSet
	hub     hub
	at      situation
	keeps   bool  // what is measured becomes a baseline
	head    *side // what was measured; nil where it is yet to be, here
	from    found
	unasked error             // why from is not known
	told    []baseline.Change // of level, by this verdict
	profile *baseline.Profile // of head, to be kept
}

// each makes a gate of each suite that was measured elsewhere. Thresholds, pairs
// and expectations are the job's: what they name may be any suite's.
func (g gating) each(heads gathering) []*gating {
	// In an order that neither files nor uploads decide.
	slices.SortFunc(heads, func(a, b *side) int { return cmp.Compare(a.Suite, b.Suite) })
	var gates []*gating
	for _, head := range heads {
		beside := map[string]*bench.Set{}
		for _, other := range heads {
			if other != head {
				beside[other.Suite] = other.Set
			}
		}
		one := g
		one.options, one.head = g.options.ofSuite(head.Suite, beside), head
		gates = append(gates, &one)
	}
	return gates
}

// A judgement is what a job decided on its suites.
type judgement struct {
	report.Suites
	gates  []*gating   // of each verdict
	status gate.Status // of what is unread
}

// judgeEach decides on each suite. What is wrong with one of several is told of
// beside the others; where there are no others it is the end.
func (w world) judgeEach(ctx context.Context, gates []*gating, kept keeper) (judgement, error) {
	var j judgement
	var first error
	for _, g := range gates {
		v, err := g.decide(ctx, kept)
		if err == nil {
			j.Verdicts, j.gates = append(j.Verdicts, v), append(j.gates, g)
			continue
		}
		first = cmp.Or(first, err)
		var ended *ending
		errors.As(undecided(err), &ended)
		j.status = j.status.Join(ended.status)
		err = fmt.Errorf("suite %q: %w", g.options.Suite, err)
		j.Unread = append(j.Unread, err.Error())
		if len(gates) > 1 {
			w.complain(err)
		}
	}
	if len(j.Verdicts) == 0 {
		return j, first
	}
	return j, nil
}

// whole is what all of it comes to. Where something could not be judged, nothing is
// known to be as fast as it was.
func (j judgement) whole() (gate.Outcome, gate.Status) {
	outcome, status := gate.Whole(j.Verdicts)
	if j.status != gate.StatusPass && outcome != gate.Regressed {
		outcome = gate.Inconclusive
	}
	return outcome, status.Join(j.status)
}

// end ends with the status of all suites, or with what kept it from being told.
func (j judgement) end(err error) error {
	_, status := j.whole()
	return end(status, err)
}

// decide finds the baseline, measures, and decides.
func (g *gating) decide(ctx context.Context, kept keeper) (gate.Verdict, error) {
	if err := g.find(ctx, kept); err != nil {
		return gate.Verdict{}, undecided(err)
	}
	v, err := g.measure(ctx)
	if err != nil {
		return gate.Verdict{}, err
	}
	v.Refused = g.from.refused
	if g.at.mode == modeBaseline {
		v.Excuse()
		g.tellChanges(&v)
	}
	return v, nil
}

// find looks for the baseline. That it cannot be asked for is no error where it is
// kept over a network: there is none then, and the reports say why. A file that is
// there and cannot be read is one, or the next to be kept would take its place.
func (g *gating) find(ctx context.Context, kept keeper) error {
	if g.options.Against != "" {
		g.from.none = "both sides are measured here"
		return nil
	}
	from, err := kept.find(ctx, g.options.Suite)
	if err != nil {
		var ended *ending
		if !published(kept) || ctx.Err() != nil || errors.As(err, &ended) {
			return err
		}
		g.unasked, from.none = err, err.Error()
	}
	g.from = from
	return nil
}

// measure measures head, with what there is of base, and decides.
func (g *gating) measure(ctx context.Context) (gate.Verdict, error) {
	o := g.options
	if g.head != nil {
		if err := g.hub.claim(g.head, g.keeps); err != nil {
			return gate.Verdict{}, undecided(err)
		}
		v, err := g.judge(nil, g.head, gate.LastLook)
		v.Unconfirmed()
		return v, wrongUse(err)
	}
	rival, err := g.rival(ctx)
	defer func() { g.warn(rival.close()) }()
	if err != nil {
		return gate.Verdict{}, undecided(err)
	}
	looks := gate.Looks(o.Runs.Min, o.Runs.Max)
	if g.keeps {
		// A lucky early stop here would weaken every later comparison.
		looks = gate.Looks(o.Runs.Max, o.Runs.Max)
	}
	m, err := g.compete(ctx, o, rival, looks, g.judge)
	g.head = &m.head
	if rival == nil {
		m.verdict.Unconfirmed()
	}
	if err == nil && m.contest.profiles() {
		g.profileHead(ctx, m.contest, &m.verdict)
	}
	return m.verdict, undecided(errors.Join(err, g.write(m.head, err)))
}

// profileHead profiles head where its profile is to be kept, or where it regressed
// against a baseline of which nothing but the profile is at hand.
func (g *gating) profileHead(ctx context.Context, c *contest, v *gate.Verdict) {
	var stored *baseline.Profile
	if r := g.from.record; r != nil && len(c.contestants) == 1 && v.Blames("instructions_per_op") {
		stored = r.Profile
	}
	if !g.keeps && stored == nil {
		return
	}
	costs, err := c.costsOf(ctx, c.contestants[len(c.contestants)-1])
	if err == nil && g.keeps {
		g.profile, err = storedProfile(costs)
	}
	switch {
	case err != nil:
		v.Warnings = append(v.Warnings, fmt.Sprintf("in which functions the instructions are is not known: %v", err))
	case stored != nil && stored.WithSetup == costs.WithSetup:
		v.Moved = c.moved(costsOfStored(*stored), costs)
	}
}

// rival is base's own program, where it is to be had; nil where it is not, which
// is said where one might expect it.
func (g *gating) rival(ctx context.Context) (*rival, error) {
	if g.options.Against != "" {
		return g.againstRival(ctx, g.options)
	}
	if g.at.mode == modeBaseline {
		return nil, nil
	}
	r, err := keptRival(ctx, g.from, g.options)
	if err != nil {
		g.warn(fmt.Errorf("base's program cannot be run here, its stored measurements are compared with: %w", err))
		return nil, nil
	}
	return r, nil
}

// write keeps what was measured in a file: what was asked for, or, of a
// measurement that did not end well, one that is named.
func (g *gating) write(head side, failed error) error {
	out := g.options.Out
	switch {
	case failed != nil && out == "":
		out = store{folder: defaultFolder}.path(g.options.Suite) + ".partial"
	case failed != nil:
		out = partOf(out)
	}
	if out == "" || head.Set.Len() == 0 {
		return nil
	}
	err := writeMeasurements(out, head.Measurements)
	if failed != nil && err == nil {
		fmt.Fprintf(g.Stderr, "what was measured until then is in %s\n", out)
	}
	return err
}

// judge decides on head against base as it was measured beside it, or, where it
// is nil, as it was found.
func (g *gating) judge(base, head *side, look int) (gate.Verdict, error) {
	p := g.options.policy()
	p.RefuseFewRuns, p.RefuseIdle = !g.options.AllowFewRuns, true
	p.Look = look
	p.Interleaved = base != nil
	none := g.from.none
	switch {
	case base != nil:
	case g.keeps:
		none += "; this one is to be kept as the first"
	case g.at.branch == "":
		none += "; to keep this one as the first, run it again with --save-baseline"
	}
	if base == nil {
		base = sideOfRecord(g.from, g.options.Suite)
	} else if g.options.Against == "" {
		base.past, base.earlier = g.from.record, g.from.earlier
	}
	judged := *head
	if c := g.hub.context; c != nil && c.PullRequest != nil {
		// What is measured is the test merge, a commit that no clone has.
		judged.Commit = c.PullRequest.HeadSHA
	}
	return g.options.verdict(base, judged, none, p)
}

// sideOfRecord makes a side of a record; nil where there is none.
func sideOfRecord(from found, suite string) *side {
	if from.record == nil {
		return nil
	}
	m := from.record.Measurements
	if m.Suite != "" && m.Suite != suite {
		m.Warnings = append(slices.Clip(m.Warnings), fmt.Sprintf("it is of the suite %q, and head is of %q", m.Suite, suite))
	}
	return &side{
		Measurements: m, runs: m.Set.Launches(), origin: from.origin,
		jobs: from.record.Jobs, standards: from.record.Policy, past: from.record, earlier: from.earlier,
	}
}

// mostChanges is how many changes of level are told of at once: a record that
// was never searched may have many.
const mostChanges = 10

// tellChanges says which changes of level the jobs show now, each once: the next
// record knows them.
func (g *gating) tellChanges(v *gate.Verdict) {
	var sentences []string
	sentences, g.told = newChanges(g.from.record, g.head.Measurements, g.options.policy())
	if more := len(sentences) - mostChanges; more > 0 {
		sentences = append(sentences[:mostChanges], fmt.Sprintf("%d more changes of level: \"noslower history\" shows them", more))
	}
	v.Warnings = append(v.Warnings, sentences...)
}

func writeMeasurements(path string, m bench.Measurements) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return writeWhole(path, data)
}

// keep makes what was measured the suite's next baseline. What cannot serve as one is not
// kept, and that is said; so is a workflow's trouble with artifacts or a branch, which
// changes no status, but for a name that another job has taken: its baseline would
// stand for both.
func (g *gating) keep(ctx context.Context, k keeper, v gate.Verdict) error {
	if v.Status == gate.StatusWrongUse || v.Status == gate.StatusUndecided && v.Base != nil {
		fmt.Fprintf(g.Stderr, "the baseline stays as it was: this run is none to compare with\n")
		return nil
	}
	if g.unasked != nil {
		g.warn(fmt.Errorf("keeping the baseline: the past of the one before it would be lost: %w", g.unasked))
		return nil
	}
	next := nextRecord(g.from.record, g.head.Measurements, g.options.policy())
	next.Changes = append(next.Changes, g.told...)
	next.Profile = g.profile
	var packed []byte
	if len(g.options.Program) > 0 {
		p, err := packProgram(g.options.Program)
		if err != nil {
			return err
		}
		next.Program, packed = &p.Program, p.zip
	}
	where, err := k.keep(ctx, v.Suite, next, packed)
	if err != nil {
		err = fmt.Errorf("keeping the baseline: %w", err)
		if g.hub.client != nil && published(k) && !errors.Is(err, github.ErrNameTaken) {
			g.warn(err)
			return nil
		}
		return err
	}
	fmt.Fprintf(g.Stderr, "kept as the baseline of %q in %s\n", v.Suite, where)
	return nil
}

// nextRecord makes the record that follows one, or the first.
func nextRecord(before *baseline.Record, m bench.Measurements, p gate.Policy) baseline.Record {
	next := baseline.Record{Measurements: m}
	if before != nil {
		next = before.Next(m, quantitiesOf(before.Measurements))
	}
	for _, s := range p.Standards(m.Set) {
		next.Policy = append(next.Policy, baseline.Standard(s))
	}
	return next
}

// quantitiesOf summarizes measurements for the records after them.
func quantitiesOf(m bench.Measurements) []baseline.Quantity {
	var quantities []baseline.Quantity
	for _, sample := range m.Set.Samples() {
		if job, ok := gate.Summarize(sample); ok {
			quantities = append(quantities, baseline.Quantity{Key: sample.Key(), Center: job.Center, Variance: job.Variance, Count: job.Count})
		}
	}
	return quantities
}
