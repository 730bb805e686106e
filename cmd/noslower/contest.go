package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
	"github.com/noslower/noslower/pkg/run"
)

// A contestant is a side whose program is run here.
type contestant struct {
	name string // "base" or "head"; "" where it is the only one
	side side
	spec run.Spec
	// fresh makes its folder what it is to be before a run; nil leaves it.
	fresh func() error
	// blame says of an error whose program it was; nil where that is clear.
	blame     func(error) error
	tally     tally
	leftovers leftovers
}

// leftovers are the processes that outlived their runs.
type leftovers struct {
	runs int // that left any
	most int // that one run left
}

func (l *leftovers) add(processes int) {
	if processes > 0 {
		l.runs++
		l.most = max(l.most, processes)
	}
}

// words tell of all runs in one warning; "" where no run left anything.
func (l leftovers) words(of int) string {
	processes, were := "1 process", "was"
	if l.most > 1 {
		processes, were = fmt.Sprintf("up to %d processes", l.most), "were"
	}
	switch {
	case l.runs == 0:
		return ""
	case of == 1:
		return fmt.Sprintf("the run left %s behind, which %s ended", strings.TrimPrefix(processes, "up to "), were)
	}
	return fmt.Sprintf("%d of %d runs left %s behind, which %s ended", l.runs, of, processes, were)
}

// renew makes its folder what it is to be before a run.
func (c *contestant) renew() error {
	if c.fresh == nil {
		return nil
	}
	return c.fresh()
}

// whose says of an error of its program whose that is.
func (c *contestant) whose(err error) error {
	if c.blame == nil {
		return err
	}
	return c.blame(err)
}

// A contest measures its contestants in turn, in an order that is shuffled pair
// by pair, so that nothing that drifts on the machine favours one of them.
type contest struct {
	contestants []*contestant
	reader      *reader
	order       *rand.Rand
	seed        uint64
	progress    *progress
	shown       func(error) error // what is said of a command that failed
	quote       func(run.Step, []string)
	counting    *counting // nil where nothing is counted

	ops uint64 // operations of a run that is timed; 0 where that is the command's own to say
}

// measure runs every contestant until it has been run as often as the last look
// wants, or decided says after an earlier one that it is enough. What was
// measured until then is kept with an error.
func (c *contest) measure(ctx context.Context, warmup int, looks []gate.Look, decided func(gate.Look) (bool, error)) error {
	defer c.progress.end()
	before, began := run.ReadLoad(), time.Now()
	defer func() {
		c.tellLoad(before, time.Since(began))
		c.tellLeftovers()
	}()
	most := looks[len(looks)-1].Runs
	for i := range warmup {
		for _, at := range c.contestants {
			if _, err := c.once(ctx, at, run.Step{N: i + 1, Of: warmup, Warmup: true}); err != nil {
				return err
			}
		}
	}
	for n := 1; n <= most; n++ {
		pair := c.contestants
		if len(pair) == 2 && c.order.IntN(2) == 1 {
			pair = []*contestant{pair[1], pair[0]}
		}
		for _, at := range pair {
			done, err := c.once(ctx, at, run.Step{N: n, Of: most})
			if err != nil {
				return err
			}
			at.side.runs++
			at.leftovers.add(done.Leftover)
			if err := c.reader.readRun(&at.side, done, c.ops); err != nil {
				// Why there is nothing to read is often in what was printed.
				c.quote(done.Step, done.Tail())
				return at.whose(err)
			}
			if c.counting != nil && !at.tally.settled {
				if err := c.counting.count(ctx, at, run.Step{N: n, Of: most}, c.progress); err != nil {
					return at.whose(c.shown(err))
				}
			}
		}
		for _, look := range looks[:len(looks)-1] {
			if look.Runs != n {
				continue
			}
			enough, err := decided(look)
			if err != nil || enough {
				return err
			}
		}
	}
	return nil
}

func (c *contest) once(ctx context.Context, at *contestant, step run.Step) (run.Run, error) {
	if err := at.renew(); err != nil {
		return run.Run{}, err
	}
	c.progress.side = at.name
	spec := at.spec
	if c.ops > 0 {
		spec = spec.WithOps(c.ops)
	}
	done, err := run.Once(ctx, spec, step, c.progress)
	if err != nil {
		return done, at.whose(c.shown(err))
	}
	return done, nil
}

// tellLoad says on head's side what else the machine was busy with.
func (c *contest) tellLoad(before run.Load, elapsed time.Duration) {
	disturbance, ok := before.Until(run.ReadLoad(), elapsed, c.progress.spent)
	if words := disturbance.Words(); ok && words != "" {
		_, head := c.sides()
		head.warnings = append(head.warnings, words)
	}
}

// tellLeftovers says on each side how many of its runs left processes behind.
func (c *contest) tellLeftovers() {
	for _, at := range c.contestants {
		if words := at.leftovers.words(at.side.runs); words != "" {
			at.side.warnings = append(at.side.warnings, words)
		}
	}
}

// incomplete says on every side that it is not all.
func (c *contest) incomplete(of int) {
	for _, at := range c.contestants {
		at.side = at.side.incomplete(of)
	}
}

// bound completes the warnings of every side, and keeps them readable.
func (c *contest) bound() {
	for _, at := range c.contestants {
		if missing := at.side.missing(); missing != "" {
			at.side.warnings = slices.Insert(at.side.warnings, 0, missing)
		}
		at.side.bound()
	}
}

// missing says which benchmarks some of the runs did not have: what they measured
// is no less, but somebody may be waiting for the rest.
func (s side) missing() string {
	most := map[string]int{}
	var names []string
	for _, sample := range s.Set.Samples() {
		if _, ok := most[sample.Benchmark]; !ok {
			names = append(names, sample.Benchmark)
		}
		most[sample.Benchmark] = max(most[sample.Benchmark], len(sample.Launches))
	}
	var rare []string
	for _, name := range names {
		if n := most[name]; name != "" && n < s.runs {
			rare = append(rare, fmt.Sprintf("%s in %d", report.Printable(name), n))
		}
	}
	if len(rare) == 0 {
		return ""
	}
	const shown = 5
	more := ""
	if n := len(rare) - shown; n > 0 {
		rare, more = rare[:shown], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("not every benchmark is in all %d runs: %s%s", s.runs, strings.Join(rare, ", "), more)
}

// newContest makes the contest of a gate: head alone, or head beside base's own
// program where that is to be had.
func (w world) newContest(ctx context.Context, o *optionSet, rival *rival) (*contest, error) {
	r, spec, err := w.plan(o)
	if err != nil {
		return nil, wrongUse(err)
	}
	c := &contest{reader: r, progress: newProgress(w.Stderr, w.ProgressTerminal), shown: w.explainRun, quote: w.quote}
	if c.counting, err = w.newCounting(ctx, o); err != nil {
		return nil, undecided(err)
	}
	c.ops = o.Ops.largest()
	c.seed = rand.Uint64()
	c.order = rand.New(rand.NewPCG(c.seed, 0))
	head := &contestant{side: w.blank(ctx, o), spec: spec}
	if c.counting != nil {
		head.side.Host.Counter = c.counting.meter.Fingerprint
	}
	c.contestants = []*contestant{head}
	if rival == nil {
		here, err := os.Getwd()
		if err != nil {
			return nil, undecided(err)
		}
		head.spec = placed(spec, here)
		return c, nil
	}
	head.name = "head"
	base := &contestant{name: "base", side: head.side, spec: spec, fresh: rival.fresh, blame: rival.blame}
	base.side.Set, base.side.Commit, base.side.Ref, base.side.origin = &bench.Set{}, rival.commit, "", rival.origin()
	head.spec = rival.place(spec, rival.head)
	base.spec = rival.place(spec, rival.base)
	c.contestants = []*contestant{base, head}
	return c, nil
}

// blank is a side before its first run.
func (w world) blank(ctx context.Context, o *optionSet) side {
	return side{Measurements: bench.Measurements{
		Suite: o.Suite, Commit: w.commit(ctx, o.WorkingDirectory), Ref: w.Getenv("GITHUB_REF"),
		Time: w.Now().UTC(), Host: w.host(), Set: &bench.Set{},
	}}
}

// A judge decides on what a contest has measured so far; base is nil where the
// stored one is to be compared with.
type judge func(base, head *side, look int) (gate.Verdict, error)

// A measured is the outcome of a contest.
type measured struct {
	head    side
	verdict gate.Verdict
	contest *contest
}

// compete measures head, beside base's own program where there is a rival, until
// everything that gates is decided or all runs are made. What regressed beside a
// rival is measured once more.
func (w world) compete(ctx context.Context, o *optionSet, rival *rival, looks []gate.Look, decide judge) (measured, error) {
	c, err := w.newContest(ctx, o, rival)
	if err != nil {
		return measured{}, err
	}
	base, head := c.sides()
	level, err := c.measureUntil(ctx, o.Warmup, looks, decide, func(v gate.Verdict) bool { return v.Decided() })
	if err != nil {
		c.incomplete(o.Runs.Max)
		return measured{head: *head}, err
	}
	c.bound()
	v, err := decide(base, head, level)
	m := measured{*head, v, c}
	if err != nil || rival == nil {
		return m, err
	}
	m.verdict.Seed = c.seed
	if v.Blames("instructions_per_op") {
		moved, err := c.blame(ctx)
		if err != nil {
			m.verdict.Warnings = append(m.verdict.Warnings, fmt.Sprintf("which function it was could not be told: %v", err))
		}
		m.verdict.Moved = moved
	}
	v = m.verdict
	if v.Status == gate.StatusFail {
		fmt.Fprintf(w.Stderr, "something regressed: both sides are measured again\n")
		if m.verdict, err = w.confirm(ctx, o, rival, m.verdict, head.runs, decide); err != nil {
			m.verdict = v
			m.verdict.Warnings = append(m.verdict.Warnings, fmt.Sprintf("what regressed could not be measured again: %v", err))
		}
	}
	return m, nil
}

// measureUntil measures until enough is known or all runs are made, and returns
// the level of the last look.
func (c *contest) measureUntil(ctx context.Context, warmup int, looks []gate.Look, decide judge, enough func(gate.Verdict) bool) (level int, err error) {
	base, head := c.sides()
	level = gate.LastLook
	err = c.measure(ctx, warmup, looks, func(look gate.Look) (bool, error) {
		v, err := decide(base, head, look.Level)
		if err != nil || !enough(v) {
			return false, err
		}
		level = look.Level
		return true, nil
	})
	return level, err
}

// confirm measures both sides afresh, as often as before and, while that does not
// tell, as often as is allowed, and takes back what does not regress again.
func (w world) confirm(ctx context.Context, o *optionSet, rival *rival, v gate.Verdict, runs int, decide judge) (gate.Verdict, error) {
	c, err := w.newContest(ctx, o, rival)
	if err != nil {
		return v, err
	}
	level, err := c.measureUntil(ctx, 0, gate.Looks(runs, o.Runs.Max), decide, func(again gate.Verdict) bool { return again.Confirms(v) })
	if err != nil {
		return v, err
	}
	base, head := c.sides()
	again, err := decide(base, head, level)
	if err != nil {
		return v, err
	}
	return gate.Confirm(v, again, o.policy()), nil
}

// sides are those of the contestants; base is nil where head runs alone.
func (c *contest) sides() (base, head *side) {
	if len(c.contestants) == 2 {
		base = &c.contestants[0].side
	}
	return base, &c.contestants[len(c.contestants)-1].side
}
