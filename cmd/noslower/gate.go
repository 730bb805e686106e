package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

func (w world) gateCommand() *cobra.Command {
	return w.subcommand("gate [flags] [-- COMMAND…]", "gate",
		"The whole job: measure, find the baseline, decide, report, keep the baseline", cobra.ArbitraryArgs,
		func(cmd *cobra.Command, o *optionSet) error { return w.gate(cmd.Context(), o) })
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
	if err := errors.Join(formsErr, hubErr, modeErr, storeErr); err != nil {
		return wrongUse(err)
	}
	head, err := w.head(ctx, o, hub)
	if err != nil {
		return err
	}
	keeps := at.mode == modeBaseline || o.SaveBaseline
	if err := hub.claim(&head, keeps); err != nil {
		return undecided(err)
	}
	from, err := kept.find(ctx, o.Suite)
	if err != nil {
		if o.RequireBaseline || ctx.Err() != nil {
			return undecided(err)
		}
		from.none = err.Error()
	}
	v, err := o.judge(from, head, keeps, at)
	if err != nil {
		return wrongUse(err)
	}
	hub.accept(ctx, o.AcceptLabel, &v)
	err = w.publish(v, forms)
	if keeps {
		keepErr := w.keep(ctx, kept, from.record, head, v, o.policy())
		if _, published := kept.(artifacts); published {
			// What cannot be published changes no verdict.
			w.warn(keepErr)
		} else {
			err = errors.Join(err, keepErr)
		}
	} else if at.why != "" {
		fmt.Fprintf(w.Stderr, "no baseline is kept: %s\n", at.why)
	}
	hub.publish(ctx, v, head, o)
	return end(v, err)
}

// judge decides on head against what was found.
func (o *optionSet) judge(from found, head side, keeps bool, at situation) (gate.Verdict, error) {
	p := o.policy()
	p.RefuseFewRuns = !o.AllowFewRuns
	none := from.none
	if keeps {
		none += "; this one is kept as the first"
	} else if at.branch == "" {
		none += "; to keep this one as the first, run it again with --save-baseline"
	}
	v, err := o.verdict(sideOfRecord(from), head, none, p)
	if err != nil {
		return v, err
	}
	v.Refused = from.refused
	if at.mode == modeBaseline {
		v.Excuse()
	}
	return v, nil
}

// sideOfRecord makes a side of a record; nil where there is none.
func sideOfRecord(from found) *side {
	if from.record == nil {
		return nil
	}
	m := from.record.Measurements
	return &side{
		Measurements: m, runs: m.Set.Launches(), origin: from.origin,
		jobs: from.record.Jobs, standards: from.record.Policy,
	}
}

// head is what the command measures, or what --measurements has. Whatever was
// measured is written before anything else can fail.
func (w world) head(ctx context.Context, o *optionSet, hub hub) (side, error) {
	if o.Measurements != "" {
		head, err := hub.measured(ctx, o, w)
		return head, undecided(err)
	}
	head, err := w.measure(ctx, o)
	out := o.Out
	if err != nil && out == "" {
		out = store{folder: defaultFolder}.path(o.Suite) + ".partial"
	}
	if out != "" && head.Set.Len() > 0 {
		writeErr := writeMeasurements(out, head.Measurements)
		if err != nil && writeErr == nil {
			fmt.Fprintf(w.Stderr, "what was measured until then is in %s\n", out)
		}
		err = errors.Join(err, writeErr)
	}
	return head, undecided(err)
}

func writeMeasurements(path string, m bench.Measurements) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return writeWhole(path, data)
}

// keep makes head the suite's next baseline. What cannot serve as one is not
// kept, and that is said.
func (w world) keep(ctx context.Context, k keeper, before *baseline.Record, head side, v gate.Verdict, p gate.Policy) error {
	if v.Status == gate.StatusWrongUse || v.Status == gate.StatusUndecided && v.Base != nil {
		fmt.Fprintf(w.Stderr, "the baseline stays as it was: this run is none to compare with\n")
		return nil
	}
	where, err := k.keep(ctx, v.Suite, nextRecord(before, head.Measurements, p))
	if err != nil {
		return fmt.Errorf("keeping the baseline: %w", err)
	}
	fmt.Fprintf(w.Stderr, "kept as the baseline of %q in %s\n", v.Suite, where)
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
