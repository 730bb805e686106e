package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) baselineCommand() *cobra.Command {
	parent := &cobra.Command{Use: "baseline", Short: "Look after stored baselines", Args: cobra.NoArgs}
	parent.RunE = func(*cobra.Command, []string) error {
		return wrongUse(errors.New("baseline: want list, show, pull or push after it"))
	}
	parent.AddCommand(
		w.subcommand("list [flags]", "baseline list", "List the suites that have a baseline", cobra.NoArgs, w.listBaselines),
		w.subcommand("show [flags]", "baseline show", "Show what a suite's baseline measured", cobra.NoArgs, w.showBaseline),
		w.subcommand("pull [flags]", "baseline pull", "Write a suite's baseline to a file, as a record", cobra.NoArgs, w.pullBaseline),
		w.subcommand("push [flags] MEASUREMENTS", "baseline push", "Keep measurements as a suite's next baseline", cobra.ExactArgs(1), w.pushBaseline),
	)
	return parent
}

func (w world) listBaselines(cmd *cobra.Command, o *optionSet) error {
	k, err := w.openNewest(cmd.Context(), o)
	if err != nil {
		return wrongUse(err)
	}
	names, err := k.suites(cmd.Context())
	if err != nil {
		return undecided(err)
	}
	if len(names) == 0 {
		fmt.Fprintf(w.Stderr, "%s has no baseline: \"noslower gate --save-baseline\" keeps one\n", k)
		return nil
	}
	table := tabwriter.NewWriter(w.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SUITE\tCOMMIT\tTIME\tLAUNCHES\tSAMPLES\tJOBS BEFORE")
	var faults []error
	for _, name := range names {
		f, err := k.find(cmd.Context(), name)
		if err == nil && f.record == nil {
			err = errors.New(f.none)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		r := f.record
		m := r.Measurements
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\n", report.Cell(name), report.Cell(orDash(m.Commit)), orDash(instant(m.Time)), m.Set.Launches(), m.Set.Len(), len(r.Jobs))
	}
	return undecided(errors.Join(append(faults, table.Flush())...))
}

func (w world) showBaseline(cmd *cobra.Command, o *optionSet) error {
	r, err := w.openRecord(cmd.Context(), o)
	if err != nil {
		return err
	}
	return undecided(w.show(r.Measurements, "text"))
}

func (w world) pullBaseline(cmd *cobra.Command, o *optionSet) error {
	r, err := w.openRecord(cmd.Context(), o)
	if err != nil {
		return err
	}
	data, err := r.Encode()
	if err != nil {
		return undecided(err)
	}
	return undecided(w.put(o.Out, data))
}

func (w world) pushBaseline(cmd *cobra.Command, o *optionSet) error {
	k, err := w.openKeeper(cmd.Context(), o)
	if err != nil {
		return wrongUse(err)
	}
	r, err := newReader(o, w.Stderr)
	if err != nil {
		return wrongUse(err)
	}
	m, err := r.readSide(o.Args[0])
	if err != nil {
		return undecided(err)
	}
	if !o.given["suite"] && m.Suite != "" {
		o.Suite = m.Suite
	}
	m.Suite = o.Suite
	if m.Time.IsZero() { // a tool's own output does not say
		m.Time = w.Now().UTC()
	}
	before, err := k.find(cmd.Context(), o.Suite)
	if err != nil {
		return undecided(err)
	}
	where, err := k.keep(cmd.Context(), o.Suite, nextRecord(before.record, m.Measurements, o.policy()), nil)
	if err != nil {
		return undecided(err)
	}
	fmt.Fprintf(w.Stderr, "kept as the baseline of %q in %s\n", o.Suite, where)
	return nil
}

// openKeeper opens what --baseline names, in a workflow or outside one.
func (w world) openKeeper(ctx context.Context, o *optionSet) (keeper, error) {
	hub, at, err := w.situated(ctx)
	if err != nil {
		return nil, err
	}
	return openKeeper(o.Baseline, hub, at, o.BaselineWorkflow)
}

// situated returns what there is of GitHub, and what a command other than gate
// is there for.
func (w world) situated(ctx context.Context) (hub, situation, error) {
	h, err := w.github(ctx)
	if err != nil {
		return hub{}, situation{}, err
	}
	at, err := h.situation(modeAuto)
	return h, at, err
}

// openRecord finds the record that the options name; that there is none is an
// ending.
func (w world) openRecord(ctx context.Context, o *optionSet) (*baseline.Record, error) {
	k, err := w.openKeeper(ctx, o)
	if err != nil {
		return nil, wrongUse(err)
	}
	f, err := k.find(ctx, o.Suite)
	if err == nil && f.record == nil {
		err = errors.New(f.none)
	}
	return f.record, undecided(err)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// beginAnew says what to do about a record that was cut off.
func beginAnew(err error) error {
	broken, ok := errors.AsType[*json.SyntaxError](err)
	if !ok || broken.Error() != "unexpected end of JSON input" {
		return err
	}
	return fmt.Errorf("%w: the record was cut off: delete it, and the next run with --save-baseline begins anew", err)
}
