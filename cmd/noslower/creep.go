package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/stat"
)

// What head can be held against beside a commit or a tag by its name.
const (
	againstBest    = "best"
	againstRelease = "release"
)

// A creepConfig is the configuration's second look: head against an anchor in the
// past.
type creepConfig struct {
	Against    string // againstBest, againstRelease, or what git knows as a commit
	Fail, Warn *float64
}

var creepKeys = []configKey[creepConfig]{
	{"against", func(r *configReader, at place, c *creepConfig) { c.Against = r.text(at) }},
	{"fail", func(r *configReader, at place, c *creepConfig) { c.Fail = r.share(at) }},
	{"warn", func(r *configReader, at place, c *creepConfig) { c.Warn = r.share(at) }},
}

// creep reads a mapping, or a percentage alone: what fails against the best.
func (r *configReader) creep(at place, c *config) {
	faults := len(r.faults)
	read := creepConfig{Against: againstBest}
	if _, isMapping := at.node.(*ast.MappingNode); isMapping {
		readFields(r, at, creepKeys, &read)
	} else {
		read.Fail = r.share(at)
	}
	if read.Fail == nil && read.Warn == nil && len(r.faults) == faults {
		r.fault(at, "want fail, warn or both, have neither")
	}
	c.Creep = &read
}

// creep is what a policy asks about the jobs of head's machine class that base
// tells of, by what the configuration asks. Where its anchor is not among them,
// why says so.
func (o *optionSet) creep(jobs []baseline.Job) (creep *gate.Creep, why string) {
	if o.config == nil || o.config.Creep == nil {
		return nil, ""
	}
	c := o.config.Creep
	creep = &gate.Creep{}
	if c.Fail != nil {
		creep.Fail = *c.Fail
	}
	if c.Warn != nil {
		creep.Warn = *c.Warn
	}
	var err error
	switch {
	case len(jobs) == 0:
		err = errors.New("base is no record of jobs on head's kind of machine")
	case c.Against != againstBest:
		creep.Commit, creep.Name, err = o.anchor(c.Against, jobs)
	}
	if err != nil {
		return nil, fmt.Sprintf("creep against %s is not judged: %v", c.Against, err)
	}
	return creep, ""
}

// fewestOfCommit is how much of a commit's hash is taken for one without asking
// anybody.
const fewestOfCommit = 7

// findAnchor finds the job that head is held against, among those of its machine
// class: by the beginning of its commit, or by a name of it.
func (w world) findAnchor(ctx context.Context, against string, jobs []baseline.Job) (commit, name string, err error) {
	if against == againstRelease {
		return w.findRelease(ctx, jobs)
	}
	if len(against) >= fewestOfCommit {
		for _, j := range slices.Backward(jobs) {
			if strings.HasPrefix(j.Commit, against) {
				return j.Commit, "", nil
			}
		}
	}
	commit, err = w.commitNamed(ctx, against)
	switch {
	case err != nil:
		return "", "", err
	case !slices.ContainsFunc(jobs, func(j baseline.Job) bool { return j.Commit == commit }):
		return "", "", fmt.Errorf("%s is of none of the %s", bench.ShortCommit(commit), looked(jobs))
	}
	return commit, against, nil
}

// findRelease finds the latest job that is of a release.
func (w world) findRelease(ctx context.Context, jobs []baseline.Job) (commit, name string, err error) {
	releases, err := w.releases(ctx)
	if err != nil {
		return "", "", err
	}
	for _, j := range slices.Backward(jobs) {
		if name, ok := releases[j.Commit]; ok {
			return j.Commit, name, nil
		}
	}
	return "", "", fmt.Errorf("none of %d tags v* is of one of the %s", len(releases), looked(jobs))
}

// looked words among which jobs an anchor was looked for.
func looked(jobs []baseline.Job) string {
	return gate.Count(len(jobs), "job") + " that the record tells of on head's kind of machine"
}

// trendsOf has the trends of jobs of one machine class for the gate.
func trendsOf(jobs []baseline.Job) gate.Trend {
	t := gate.Trend{}
	for _, s := range baseline.Trends(jobs) {
		t[s.Key] = pointsOf(s)
	}
	return t
}

func pointsOf(s baseline.Series) []gate.Point {
	points := make([]gate.Point, len(s.Points))
	for i, p := range s.Points {
		points[i] = gate.Point{Commit: p.Commit, Time: p.Time, Job: stat.Job{Center: p.Center, Variance: p.Variance, Count: p.Count}}
	}
	return points
}

// trailOf has the jobs that a record tells of, its own last.
func trailOf(r *baseline.Record) []baseline.Job { return r.Trail(quantitiesOf(r.Measurements)) }

// newChanges are the changes of level that the jobs of a record and head, the
// next of them, show, and that nobody was told of: a sentence for each, and what
// the next record must know of them. Only what gates is looked at, on head's
// machine class: a level of another one is no news of head.
func newChanges(before *baseline.Record, head bench.Measurements, p gate.Policy) (sentences []string, told []baseline.Change) {
	if before == nil {
		return nil, nil
	}
	next := before.Next(head, quantitiesOf(before.Measurements))
	for _, s := range baseline.Trends(trailOf(&next)) {
		sample, ok := head.Set.Lookup(s.Key)
		if !ok || s.MachineClass != head.Host.Class() {
			continue
		}
		watch := p.Watch(s.Key.Benchmark, sample.Metric)
		if !watch.Gating {
			continue
		}
		for _, c := range gate.Changes(pointsOf(s), watch.Smallest) {
			if before.Told(s, c.At, c.Size > 0) {
				continue
			}
			told = append(told, baseline.Change{Key: s.Key, MachineClass: s.MachineClass, Commit: c.To.Commit, Time: c.To.Time, Rose: c.Size > 0})
			sentences = append(sentences, fmt.Sprintf("%s %s changed its level: %s", named(s.Key.Benchmark, p.Suite), s.Key.Metric, changeSentence(c, watch)))
		}
	}
	return sentences, told
}

// changeSentence words a change of level.
func changeSentence(c gate.Change, w gate.Watch) string {
	verdict := ""
	switch {
	case w.Metric.Better == bench.Unknown:
	case w.Worse(c.Size):
		verdict = ", worse"
	default:
		verdict = ", better"
	}
	return fmt.Sprintf("%s%s, between %s and %s", gate.SignedPercent(c.Size), verdict, jobName(c.From), jobName(c.To))
}

// jobName is what a job is called in a sentence: its commit, else its time.
func jobName(p gate.Point) string {
	if p.Commit == "" {
		return orDash(instant(p.Time))
	}
	return bench.ShortCommit(p.Commit)
}

// named is what a benchmark is called: the suite's name stands in where its tool
// named none.
func named(benchmark, suite string) string {
	if benchmark == "" {
		return suite
	}
	return benchmark
}
