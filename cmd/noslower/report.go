package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) reportCommand() *cobra.Command {
	return w.subcommand("report [flags]", "report",
		"Comment on the pull request of a finished workflow run (on workflow_run: the half that is safe for forks)", cobra.NoArgs,
		func(cmd *cobra.Command, o *optionSet) error { return w.report(cmd.Context(), o) })
}

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
	heads, unread, err := hub.measurementsOf(ctx, run)
	if err != nil {
		return undecided(err)
	}
	if len(heads) == 0 {
		fmt.Fprintf(w.Stderr, "no comment: run %d has left no measurements\n", run.ID)
		return nil
	}
	at := situation{mode: modeGate, branch: pr.BaseRef, base: pr.BaseSHA}
	kept, err := openKeeper(o.Baseline, hub, at, cmp.Or(o.BaselineWorkflow, run.Path))
	if err != nil {
		return wrongUse(err)
	}
	j, err := w.judgeEach(ctx, gating{world: w, options: o, hub: hub, at: at}.each(heads), kept)
	if err != nil {
		return err
	}
	j.Unread = append(j.Unread, unread...)
	hub.accept(ctx, o.AcceptLabel, j.Verdicts, func(context.Context) (github.PullRequest, bool, error) { return pr, true, nil })
	if err := w.publish(j, forms); err != nil {
		return err
	}
	if o.Comment != commentNever {
		hub.warn("no comment", hub.comment(ctx, pr, j.Suites, o, github.Sticky{
			Merges: true, RunNumber: int(run.Number), Attempt: run.Attempt, SHA: run.HeadSHA,
		}))
	}
	// A regression is for the run that measured it to fail of.
	return end(j.status, nil)
}

// measurementsOf returns what the run measured, a side a suite, and a sentence for
// each artifact that is passed over. It is an error that there is nothing else.
func (h hub) measurementsOf(ctx context.Context, run github.Run) (heads gathering, unread []string, err error) {
	all, err := h.client.Artifacts(ctx, run, "")
	if err != nil {
		return nil, nil, err
	}
	var faults []error
	seen := map[string]bool{}
	for _, artifact := range all {
		suite, ok := strings.CutPrefix(artifact.Name, measurementsArtifact)
		// Of an attempt before this one there may be another of the name, and of
		// its suite under a name of its own; the newest comes first.
		if !ok || artifact.Expired || seen[suite] {
			continue
		}
		if len(heads)+len(faults) == maxSuites || len(seen) == maxLooked {
			faults = append(faults, fmt.Errorf("one job reports on %d suites at most: artifact %s and those before it are not looked at", maxSuites, report.Printable(artifact.Name)))
			break
		}
		seen[suite] = true
		m, err := h.measurementsIn(ctx, artifact)
		name := slug(m.Suite)
		switch {
		case err == nil && suite != name && !strings.HasPrefix(suite, name+"-a"):
			err = fmt.Errorf("what it measured is of the suite %q", m.Suite)
		case err == nil && slices.ContainsFunc(heads, func(s *side) bool { return s.Suite == m.Suite }):
			continue
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("artifact %s: %w", report.Printable(artifact.Name), err))
			continue
		}
		// Which commit it is of is not its own to say.
		m.Commit, m.Ref = run.HeadSHA, ""
		heads = append(heads, &side{Measurements: m, runs: m.Set.Launches()})
	}
	if len(heads) == 0 {
		return nil, nil, errors.Join(faults...)
	}
	for _, err := range faults {
		h.warn("it is not reported on", err)
		unread = append(unread, err.Error())
	}
	return heads, unread, nil
}

// measurementsIn reads the measurements that an artifact holds.
func (h hub) measurementsIn(ctx context.Context, artifact github.Artifact) (bench.Measurements, error) {
	data, err := downloadEntry(ctx, h.client, artifact, measurementsEntry)
	if err != nil {
		return bench.Measurements{}, err
	}
	return bench.DecodeMeasurements(data)
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
