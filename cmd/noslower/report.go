package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) reportCommand() *cobra.Command {
	return w.subcommand("report [flags]", "report",
		"Comment on the pull request of a finished workflow run (on workflow_run: the half that is safe for forks)", cobra.NoArgs,
		func(cmd *cobra.Command, o *optionSet) error { return w.report(cmd.Context(), o) })
}

// maxSuites bounds how many comments one run of a pull request can cause.
const maxSuites = 20

// report decides again from what a run of a pull request measured, and comments.
// Of that run, only what the API says of it is believed: its measurements are
// data, its thresholds and its verdict are not even read. No code of the pull
// request is run.
func (w world) report(ctx context.Context, o *optionSet) error {
	forms, formsErr := o.forms()
	hub, err := w.github(ctx)
	if err := errors.Join(formsErr, err); err != nil {
		return wrongUse(err)
	}
	if hub.client == nil || hub.context.WorkflowRun == nil {
		return wrongUse(errors.New("it tells of a workflow's run: use it in a workflow on workflow_run"))
	}
	run, err := hub.client.Run(ctx, hub.context.WorkflowRun.ID)
	if err != nil {
		return undecided(err)
	}
	if run.Event != "pull_request" {
		fmt.Fprintf(w.Stderr, "run %d was started by %s: there is no pull request to comment on\n", run.ID, run.Event)
		return nil
	}
	pr, err := hub.client.PullRequestOf(ctx, run)
	if errors.Is(err, github.ErrNoPullRequest) || errors.Is(err, github.ErrHeadMoved) || errors.Is(err, github.ErrAmbiguous) {
		fmt.Fprintf(w.Stderr, "no comment: %v\n", err)
		return nil
	}
	if err != nil {
		return undecided(err)
	}
	if err := hub.readBranchConfiguration(ctx, o); err != nil {
		return undecided(err)
	}
	heads, err := hub.measurementsOf(ctx, run)
	if err != nil {
		return undecided(err)
	}
	if len(heads) == 0 {
		fmt.Fprintf(w.Stderr, "no comment: run %d has left no measurements\n", run.ID)
		return nil
	}
	var faults []error
	for _, head := range heads {
		faults = append(faults, hub.reportSuite(ctx, w, o, forms, run, pr, head))
	}
	return undecided(errors.Join(faults...))
}

// measurementsOf returns what the run measured, a side a suite. One that cannot be
// read is passed over, unless it is the only one.
func (h hub) measurementsOf(ctx context.Context, run github.Run) ([]side, error) {
	all, err := h.client.Artifacts(ctx, run, "")
	if err != nil {
		return nil, err
	}
	var heads []side
	var faults []error
	seen := map[string]bool{}
	for _, artifact := range all {
		suite, ok := strings.CutPrefix(artifact.Name, measurementsArtifact)
		if !ok || artifact.Expired || len(heads) == maxSuites {
			continue
		}
		data, err := downloadEntry(ctx, h.client, artifact, measurementsEntry)
		if err != nil {
			faults = append(faults, fmt.Errorf("artifact %s: %w", report.Printable(artifact.Name), err))
			continue
		}
		m, err := bench.DecodeMeasurements(data)
		if err != nil {
			faults = append(faults, fmt.Errorf("artifact %s: %w", report.Printable(artifact.Name), err))
			continue
		}
		// A re-run may have left two of one name, the newest first.
		if name := slug(m.Suite); seen[m.Suite] || suite != name && !strings.HasPrefix(suite, name+"-a") {
			continue
		}
		seen[m.Suite] = true
		// Which commit it is of is not its own to say.
		m.Commit, m.Ref = run.HeadSHA, ""
		heads = append(heads, side{Measurements: m, runs: m.Set.Launches()})
	}
	if len(heads) == 0 {
		return nil, errors.Join(faults...)
	}
	for _, err := range faults {
		h.warn("it is not reported on", err)
	}
	return heads, nil
}

// reportSuite decides on one suite and comments.
func (h hub) reportSuite(ctx context.Context, w world, o *optionSet, forms forms, run github.Run, pr github.PullRequest, head side) error {
	at := situation{mode: modeGate, branch: pr.BaseRef, base: pr.BaseSHA}
	workflow := o.BaselineWorkflow
	if workflow == "" {
		workflow = run.Path
	}
	kept, err := openKeeper(o.Baseline, h, at, workflow)
	if err != nil {
		return wrongUse(err)
	}
	o.Suite = head.Suite
	from, err := kept.find(ctx, o.Suite)
	if err != nil {
		from.none = err.Error()
	}
	g := gating{world: w, options: o, hub: h, at: at, from: from}
	v, err := g.judge(nil, &head, gate.LastLook)
	if err != nil {
		return err
	}
	v.Refused = from.refused
	h.accept(ctx, o.AcceptLabel, &v)
	if err := w.publish(v, forms); err != nil {
		return err
	}
	if o.Comment == commentNever {
		return nil
	}
	err = h.comment(ctx, pr, v, o, github.Sticky{
		PullRequest: pr.Number, Suites: []string{v.Suite}, RunNumber: int(run.Number), Attempt: run.Attempt, SHA: run.HeadSHA,
	}, h.context.RunURL(h.context.RunID)) // whose summary has it too
	h.warn("no comment", err)
	return nil
}

// readBranchConfiguration takes the configuration from the default branch: the
// pull request's own is not believed.
func (h hub) readBranchConfiguration(ctx context.Context, o *optionSet) error {
	paths := configurations
	if o.Config != "" {
		paths = []string{o.Config}
	}
	for _, path := range paths {
		data, err := h.client.File(ctx, path, h.context.DefaultBranch)
		if errors.Is(err, github.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		return wrongUse(o.useConfiguration(path, data, false))
	}
	return nil
}
