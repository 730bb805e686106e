package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/run"
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

// creep is what a policy asks about the jobs of the record that base is of, by
// what the configuration asks. Where its anchor is not among them, why says so.
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
	if c.Against == againstBest {
		return creep, ""
	}
	var err error
	if creep.Commit, creep.Name, err = o.anchor(c.Against, jobs); err != nil {
		return nil, fmt.Sprintf("creep against %s is not judged: %v", c.Against, err)
	}
	return creep, ""
}

// fewestOfCommit is how much of a commit's hash is taken for one without asking
// git.
const fewestOfCommit = 7

// findAnchor finds the job that head is held against: by the beginning of its
// commit, or by what git knows.
func (w world) findAnchor(ctx context.Context, against string, jobs []baseline.Job) (commit, name string, err error) {
	measured := func(commit string) bool {
		return slices.ContainsFunc(jobs, func(j baseline.Job) bool { return j.Commit == commit })
	}
	if against == againstRelease {
		return w.findRelease(ctx, measured, len(jobs))
	}
	if len(against) >= fewestOfCommit {
		for _, j := range slices.Backward(jobs) {
			if strings.HasPrefix(j.Commit, against) {
				return j.Commit, "", nil
			}
		}
	}
	commit, err = w.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", against+"^{commit}")
	switch {
	case err != nil:
		return "", "", fmt.Errorf("git knows no such commit (a workflow needs it fetched: fetch-depth: 0, fetch-tags: true)")
	case !measured(commit):
		return "", "", fmt.Errorf("%s is of none of the %d jobs that the record tells of", shortCommit(commit), len(jobs))
	}
	return commit, against, nil
}

// findRelease finds the newest tag v* of which there is a job.
func (w world) findRelease(ctx context.Context, measured func(string) bool, jobs int) (commit, name string, err error) {
	// Of an annotated tag the commit is the object that it points to.
	tags, err := w.git(ctx, "for-each-ref", "--sort=-version:refname", "--format=%(refname:strip=2) %(objectname) %(*objectname)", "refs/tags/v*")
	if err != nil {
		return "", "", fmt.Errorf("git cannot list the tags: %w", err)
	}
	for line := range strings.Lines(tags) {
		f := strings.Fields(line)
		if len(f) >= 2 && measured(f[len(f)-1]) {
			return f[len(f)-1], f[0], nil
		}
	}
	return "", "", fmt.Errorf("no tag v* is of one of the %d jobs that the record tells of (a workflow needs the tags fetched: fetch-depth: 0, fetch-tags: true)", jobs)
}

// git asks git in the working folder.
func (w world) git(ctx context.Context, args ...string) (string, error) {
	done, err := run.Once(ctx, run.Spec{
		Args: append([]string{"git"}, args...), Env: w.gitEnvironment(), MaxOutput: gitOutput,
	}, run.Step{N: 1, Of: 1}, nil)
	return strings.TrimSpace(string(done.Stdout())), err
}

// trendsOf has the trends of a machine class for the gate.
func trendsOf(jobs []baseline.Job, machineClass string) gate.Trend {
	t := gate.Trend{}
	for _, s := range baseline.Trends(jobs) {
		if s.MachineClass == machineClass {
			t[s.Key] = pointsOf(s)
		}
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
	return fmt.Sprintf("%s%s, between %s and %s", signed(c.Size), verdict, jobName(c.From), jobName(c.To))
}

// jobName is what a job is called in a sentence: its commit, else its time.
func jobName(p gate.Point) string {
	if p.Commit == "" {
		return orDash(instant(p.Time))
	}
	return shortCommit(p.Commit)
}

// signed words a share with its sign.
func signed(share float64) string {
	if share > 0 {
		return "+" + gate.Percent(share)
	}
	return gate.Percent(share)
}

// named is what a benchmark is called: the suite's name stands in where its tool
// named none.
func named(benchmark, suite string) string {
	if benchmark == "" {
		return suite
	}
	return benchmark
}
