package main

import (
	"errors"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
	"github.com/noslower/noslower/pkg/stat"
)

func (w world) compareCommand() *cobra.Command {
	return w.subcommand("compare [flags] BASE HEAD", "compare",
		"Decide from two sides: measurements, benchmark output, or folders and globs of either",
		cobra.ExactArgs(2),
		func(_ *cobra.Command, o *optionSet) error { return w.compare(o) })
}

func (w world) compare(o *optionSet) error {
	forms, err := o.forms()
	if err != nil {
		return wrongUse(err)
	}
	r, err := newFileReader(o, w.Stderr)
	if err != nil {
		return wrongUse(err)
	}
	var base, head side
	var baseErr, headErr error
	var both sync.WaitGroup
	both.Go(func() { base, baseErr = r.readSide(o.Args[0]) })
	both.Go(func() { head, headErr = r.readSide(o.Args[1]) })
	both.Wait()
	if err := errors.Join(baseErr, headErr); err != nil {
		return undecided(err)
	}
	o.Suite = head.Suite
	v, err := o.verdict(&base, head, "", o.policy())
	if err != nil {
		return wrongUse(err)
	}
	j := judgement{Suites: report.Suites{Verdicts: []gate.Verdict{v}}}
	return j.end(w.publish(j, forms))
}

// end ends with a status, or with what kept it from being told.
func end(status gate.Status, err error) error {
	if err == nil && status != gate.StatusPass {
		return &ending{status: status}
	}
	return undecided(err)
}

// verdict compares the sides. An error is wrong use.
func (o *optionSet) verdict(base *side, head side, noBaseline string, p gate.Policy) (gate.Verdict, error) {
	if err := checkLimits(o.limits(), head.Set); err != nil {
		return gate.Verdict{}, err
	}
	var b *gate.Side
	var past gate.Past
	var warnings []string
	if base != nil {
		s := base.sideOf()
		b = &s
		past.History = historyOf(base.jobs, base.Host.Class())
		for _, s := range base.standards {
			past.Standards = append(past.Standards, gate.Standard(s))
		}
		var jobs []baseline.Job
		if base.past != nil {
			jobs = onMachine(trailOf(base.past), head.Host)
		}
		creep, why := o.creep(jobs)
		if earlier := onMachine(base.earlier, head.Host); why != "" && len(earlier) > 0 {
			// The anchor may be older than what a record tells of.
			all := append(earlier, jobs...)
			if creep, why = o.creep(all); creep != nil {
				jobs = all[slices.IndexFunc(all, func(j baseline.Job) bool { return j.Commit == creep.Commit }):]
			}
		}
		past.Trend = trendsOf(jobs)
		if why != "" {
			warnings = append(warnings, why)
		}
		p.Creep = creep
		for _, text := range base.Warnings {
			warnings = append(warnings, "base: "+text)
		}
	}
	v, err := gate.Decide(b, head.sideOf(), noBaseline, past, p)
	if err != nil {
		return gate.Verdict{}, err
	}
	for _, text := range head.Warnings {
		warnings = append(warnings, "head: "+text)
	}
	v.Warnings = append(v.Warnings, warnings...)
	return v, nil
}

// onMachine returns the jobs that were measured on a host's kind of machine.
func onMachine(jobs []baseline.Job, host bench.Host) []baseline.Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j baseline.Job) bool { return j.MachineClass != host.Class() })
}

// historyOf hands a record's past to the gate.
func historyOf(jobs []baseline.Job, machineClass string) gate.History {
	h := gate.History{}
	for key, quantities := range (baseline.Record{Jobs: jobs}).History(machineClass) {
		for _, q := range quantities {
			h[key] = append(h[key], stat.Job{Center: q.Center, Variance: q.Variance, Count: q.Count})
		}
	}
	return h
}
