package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/run"
)

// A contestant is a side whose program is run here.
type contestant struct {
	name string // "base" or "head"; "" where it is the only one
	side side
	spec run.Spec
	// fresh makes its folder what it is to be before a run; nil leaves it.
	fresh func() error
	tally tally
}

// renew makes its folder what it is to be before a run.
func (c *contestant) renew() error {
	if c.fresh == nil {
		return nil
	}
	return c.fresh()
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
	counting    *counting         // nil where nothing is counted

	ops uint64 // operations of a run that is timed; 0 where that is the command's own to say
}

// dirWord is what stands in a command for the folder of the side's program.
const dirWord = "{dir}"

// measure runs every contestant until it has been run as often as the last look
// wants, or decided says after an earlier one that it is enough. What was
// measured until then is kept with an error.
func (c *contest) measure(ctx context.Context, warmup int, looks []gate.Look, decided func(gate.Look) (bool, error)) error {
	defer c.progress.end()
	before, began := run.ReadLoad(), time.Now()
	defer func() { c.tellLoad(before, time.Since(began)) }()
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
			if err := c.reader.readRun(&at.side, done, c.ops); err != nil {
				return err
			}
			if c.counting != nil && !at.tally.settled {
				if err := c.counting.count(ctx, at, run.Step{N: n, Of: most}, c.progress); err != nil {
					return c.shown(err)
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
		return done, c.shown(err)
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

// incomplete says on every side that it is not all.
func (c *contest) incomplete(of int) {
	for _, at := range c.contestants {
		at.side = at.side.incomplete(of)
	}
}

// bound keeps the warnings of every side readable.
func (c *contest) bound() {
	for _, at := range c.contestants {
		at.side.bound()
	}
}

// newContest makes the contest of a gate: head alone, or head beside base's own
// program where that is to be had.
func (w world) newContest(ctx context.Context, o *optionSet, rival *rival) (*contest, error) {
	r, spec, err := w.plan(o)
	if err != nil {
		return nil, wrongUse(err)
	}
	c := &contest{reader: r, progress: newProgress(w.Stderr, w.ProgressTerminal), shown: w.explainRun}
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
	base := &contestant{name: "base", side: head.side, spec: spec, fresh: rival.fresh}
	base.side.Set, base.side.Commit, base.side.Ref, base.side.origin = &bench.Set{}, rival.commit, "", rival.origin
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

// A rival is base's own program, to be run beside head's. Both are reached by
// paths of one length: that of the arguments moves the stack, and with it the
// measurement.
type rival struct {
	commit     string
	origin     string // how it was come by
	root       string // a folder of our own
	head, base string // folders, as the commands see them
	fresh      func() error
	inside     bool // the command runs within its side's folder
	forget     func() error
}

// newRival makes the two folders. Head's is this one, by a link.
func newRival(commit, origin string) (*rival, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "noslower-")
	if err != nil {
		return nil, err
	}
	r := &rival{commit: commit, origin: origin, root: root, head: filepath.Join(root, "head"), base: filepath.Join(root, "base")}
	return r, errors.Join(os.Symlink(here, r.head))
}

func (r *rival) close() error {
	if r == nil {
		return nil
	}
	var err error
	if r.forget != nil {
		err = r.forget()
	}
	return errors.Join(err, os.RemoveAll(r.root))
}

// place lets a command find its side's program, and puts it in its side's folder
// where it belongs there.
func (r *rival) place(s run.Spec, dir string) run.Spec {
	s = placed(s, dir)
	if r.inside {
		s.Dir = filepath.Join(dir, s.Dir)
	}
	return s
}

// placed says where the program is that a command names by {dir}.
func placed(s run.Spec, dir string) run.Spec {
	s.Shell = strings.ReplaceAll(s.Shell, dirWord, dir)
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = strings.ReplaceAll(a, dirWord, dir)
	}
	s.Args = args
	return s
}

// keptRival makes a rival of the program that was kept with the baseline; nil
// where none was, or the command does not say where it would stand.
func keptRival(ctx context.Context, from found, o *optionSet) (*rival, error) {
	if from.record == nil || from.record.Program == nil || from.program == nil || len(o.Program) == 0 {
		return nil, nil
	}
	zip, err := from.program(ctx)
	if err != nil {
		return nil, err
	}
	said := *from.record.Program
	entries, err := openProgram(zip, said)
	if err != nil {
		return nil, err
	}
	r, err := newRival(from.record.Measurements.Commit, "its own program, kept by "+from.origin)
	if err != nil {
		return nil, err
	}
	// Head's code runs beside it and could have changed it: it is unpacked anew
	// from the bytes that were checked, before each of its runs.
	r.fresh = func() error { return renew(r.base, entries, said) }
	return r, nil
}

func renew(folder string, entries []github.Entry, said baseline.Program) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return unpack(entries, said, folder)
}

// usesDir reports whether a command says where its side's program is.
func (o *optionSet) usesDir() bool {
	for _, s := range append([]string{o.Command}, o.Args...) {
		if strings.Contains(s, dirWord) {
			return true
		}
	}
	return false
}

// checkCommand finds what is wrong with what the command is to be told.
func (o *optionSet) checkCommand() error {
	var faults []error
	if len(o.Program) > 0 && !o.usesDir() && o.Measurements == "" {
		faults = append(faults, errors.New("--program: the command must name its program as {dir}/…, so that base's own can be run in its place"))
	}
	if o.Build != "" && o.Against == "" {
		faults = append(faults, errors.New("--build: it builds what --against names, and there is no --against"))
	}
	if o.Against != "" && o.Measurements != "" {
		faults = append(faults, errors.New("--against: it measures both sides here, and --measurements has head's: give one"))
	}
	switch takes := (run.Spec{Shell: o.Command, Args: o.Args}).TakesOps(); {
	case len(o.Ops) > 0 && !takes && o.Measurements == "":
		faults = append(faults, errors.New("--ops: the command must take its number of operations as {ops}"))
	case len(o.Ops) == 0 && takes:
		faults = append(faults, errors.New("the command takes its number of operations as {ops}: give it by --ops, such as --ops 10000,20000"))
	}
	return errors.Join(faults...)
}

// gitOutput bounds what git may print.
const gitOutput = 16 << 20

// againstRival makes a rival of a commit: its worktree, built as head's tree is.
func (w world) againstRival(ctx context.Context, o *optionSet) (r *rival, err error) {
	git := func(args ...string) (string, error) { return w.git(ctx, args...) }
	commit, err := git("rev-parse", "--verify", "--quiet", "--end-of-options", o.Against+"^{commit}")
	if err != nil {
		// A shallow clone, as a workflow checks out, has it not yet.
		if _, fetchErr := git("fetch", "--quiet", "--depth=1", "origin", "--end-of-options", o.Against); fetchErr != nil {
			return nil, fmt.Errorf("--against %s: git knows no such commit, and cannot fetch it: %w", o.Against, fetchErr)
		}
		if commit, err = git("rev-parse", "--verify", "FETCH_HEAD^{commit}"); err != nil {
			return nil, err
		}
	}
	place, err := git("rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return nil, err
	}
	top, prefix, _ := strings.Cut(place, "\n")
	if r, err = newRival(commit, "built of "+o.Against); err != nil {
		return nil, err
	}
	r.inside = true
	tree := r.base
	r.forget = func() error {
		// The worktree is git's too, which must forget it whatever has ended us.
		ctx = context.WithoutCancel(ctx)
		_, err := git("worktree", "remove", "--force", tree)
		return err
	}
	if _, err := git("worktree", "add", "--quiet", "--detach", tree, commit); err != nil {
		return r, err
	}
	if err := errors.Join(os.Remove(r.head), os.Symlink(top, r.head)); err != nil {
		return r, err
	}
	r.head, r.base = filepath.Join(r.head, prefix), filepath.Join(r.base, prefix)
	return r, w.build(ctx, o, r)
}

// build builds both sides by the same command.
func (w world) build(ctx context.Context, o *optionSet, r *rival) error {
	if o.Build == "" {
		return nil
	}
	for _, at := range []struct{ name, dir string }{{"base", r.base}, {"head", r.head}} {
		fmt.Fprintf(w.Stderr, "building %s\n", at.name)
		spec := run.Spec{Shell: o.Build, Dir: at.dir, Env: run.MergeSafeDirectory(w.childEnvironment(o.Env), at.dir)}
		if _, err := run.Once(ctx, spec, run.Step{N: 1, Of: 1}, nil); err != nil {
			return fmt.Errorf("building %s: %w", at.name, w.explainRun(err))
		}
	}
	return nil
}

func (w world) gitEnvironment() []string {
	env := run.HostEnv(w.Environ, nil)
	if workspace := w.Getenv("GITHUB_WORKSPACE"); workspace != "" {
		env = run.MergeSafeDirectory(env, workspace)
	}
	return env
}

// A judge decides on what a contest has measured so far; base is nil where the
// stored one is to be compared with.
type judge func(base, head *side, look int) (gate.Verdict, error)

// A measured is the outcome of a contest.
type measured struct {
	head    side
	verdict gate.Verdict
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
	level := gate.LastLook
	err = c.measure(ctx, o.Warmup, looks, func(look gate.Look) (bool, error) {
		v, err := decide(base, head, look.Level)
		if err != nil || !v.Decided() {
			return false, err
		}
		level = look.Level
		return true, nil
	})
	if err != nil {
		c.incomplete(o.Runs.Max)
		return measured{head: *head}, err
	}
	c.bound()
	v, err := decide(base, head, level)
	m := measured{*head, v}
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

// confirm measures both sides afresh, as often as before, and takes back what
// does not regress again.
func (w world) confirm(ctx context.Context, o *optionSet, rival *rival, v gate.Verdict, runs int, decide judge) (gate.Verdict, error) {
	c, err := w.newContest(ctx, o, rival)
	if err != nil {
		return v, err
	}
	if err := c.measure(ctx, 0, gate.Looks(runs, runs), nil); err != nil {
		return v, err
	}
	base, head := c.sides()
	again, err := decide(base, head, gate.LastLook)
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
