// Package run runs a benchmark command, counts, and keeps what it printed.
//
// It never reads a benchmark in what was printed, never draws progress, never
// writes or deletes a file of the caller's, and never hands the caller's
// environment on unasked.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"
)

// DefaultMaxOutput is how much one run may print, and how much its result files
// may hold, where Spec.MaxOutput does not say: 64 MiB.
const DefaultMaxOutput = 64 << 20

const (
	// stopGrace is how long a command that is told to stop has to end by itself
	// before it is killed. With killLimit and drainLimit it stays below the 7.5 s
	// that a GitHub runner leaves between its first and its second signal.
	stopGrace = 2 * time.Second
	// settle is how long processes that outlive a finished command are left
	// alone: the reader behind a shell's process substitution has yet to write
	// what it holds.
	settle = 250 * time.Millisecond
	// leftoverGrace is stopGrace for what outlives a finished command.
	leftoverGrace = time.Second
	// killLimit is how long killed processes may take to disappear.
	killLimit = 1500 * time.Millisecond
	// drainLimit is how long the pipes are read on after all processes are gone:
	// one out of our reach may hold the other end open.
	drainLimit = 500 * time.Millisecond
	// reapEvery bounds how often dead orphans are looked for during a run, so
	// that looking does not disturb what is measured.
	reapEvery = 100 * time.Millisecond
	// tickEvery is how often an Observer hears that a run is still going.
	tickEvery = time.Second
)

// busy is held by the run in progress. Two runs at once would measure each
// other, and could not tell whose an orphaned process is.
var busy = make(chan struct{}, 1)

// A Spec says what to run, and how far it may go. Either Args or Shell is set.
type Spec struct {
	Args  []string // the program and its arguments, run as they are
	Shell string   // a command line for "sh -c"
	Dir   string   // working directory; "" is the current one

	// Env is the whole environment of the command, as NAME=VALUE; nil is an empty
	// one. HostEnv and ContainerEnv make one from an existing environment.
	Env []string

	Timeout   time.Duration // for one run; 0 is none
	MaxOutput int64         // bytes that one run may print; 0 is DefaultMaxOutput

	// Results is a glob, relative to Dir and with ** for any number of folders,
	// of the files in which the command leaves its results; "" is none.
	Results string
}

// Validate reports everything that is wrong with s.
func (s Spec) Validate() error {
	var errs []error
	switch {
	case len(s.Args) == 0 && strings.TrimSpace(s.Shell) == "":
		errs = append(errs, errors.New("command: want a command to run, have none"))
	case len(s.Args) > 0 && s.Shell != "":
		errs = append(errs, fmt.Errorf("command: want a list or a string, have both %q and %q", s.Args, s.Shell))
	case len(s.Args) > 0 && s.Args[0] == "":
		errs = append(errs, errors.New(`command: want a program as its first word, have ""`))
	}
	if s.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout: want a duration above 0, have %v", s.Timeout))
	}
	if s.MaxOutput < 0 {
		errs = append(errs, fmt.Errorf("output bound: want a number of bytes above 0, have %d", s.MaxOutput))
	}
	if s.Results != "" {
		if _, err := s.pattern(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// String is the command as a person would write it, cut to fit a message.
func (s Spec) String() string {
	if s.Shell != "" {
		return cut(strings.TrimSpace(s.Shell), 100)
	}
	return cut(strings.Join(s.Args, " "), 100)
}

// words are the program and its arguments.
func (s Spec) words() []string {
	if s.Shell != "" {
		return []string{"sh", "-c", s.Shell}
	}
	return s.Args
}

func (s Spec) command(h *harness) *exec.Cmd {
	args := s.words()
	cmd := exec.Command(args[0], args[1:]...)
	if len(h.under) > 0 && cmd.Err == nil {
		// The program is found as it is without: the one around it may look elsewhere.
		args = slices.Concat(h.under, []string{cmd.Path}, args[1:])
		cmd = exec.Command(args[0], args[1:]...)
	}
	cmd.Dir = s.Dir
	cmd.Env = append([]string{}, s.Env...) // never nil: that would be ours
	cmd.SysProcAttr = attributes()
	return cmd
}

// A Step is the place of a run in its repetition.
type Step struct {
	N, Of  int  // the N-th of Of, from 1
	Warmup bool // does not count
}

func (s Step) String() string {
	kind := "run"
	if s.Warmup {
		kind = "warm-up"
	}
	return fmt.Sprintf("%s %d of %d", kind, s.N, s.Of)
}

// A Run is one finished run of the command, or what there is of one that an
// error ended.
type Run struct {
	Step
	Usage

	// Output is what the command printed, standard output and error in the order
	// in which their lines arrived. A line is never broken by one of the other
	// stream; for that, an unfinished last line gets its newline if more follows.
	Output []byte

	// Files are the result files that the run wrote, by name.
	Files []File

	// Leftover counts processes that outlived the command and were stopped.
	Leftover int

	spans []span
}

// Stdout is the part of Output that was printed to standard output.
func (r Run) Stdout() []byte { return pick(r.Output, r.spans, stdout) }

// Stderr is the part of Output that was printed to standard error.
func (r Run) Stderr() []byte { return pick(r.Output, r.spans, stderr) }

// Tail is the last lines that the command printed, as those of an Error.
func (r Run) Tail() []string { return tail(r.Output) }

// A Usage is what a run cost.
type Usage struct {
	// Wall is the time from just before the start of the command to its end, that
	// of processes which outlived it not included.
	Wall time.Duration

	// User and System are the CPU times of the command and all its descendants,
	// orphaned ones included where the system lets us find them (Linux). A
	// process whose parent ignores SIGCHLD is lost to every such sum.
	User, System time.Duration

	// MaxRSS is the peak resident memory of the largest process, in bytes; 0 if
	// it is not known.
	MaxRSS int64
}

// An Observer hears how runs are going. Its methods are called one at a time,
// from the goroutine that runs.
type Observer interface {
	Started(Step)
	Running(s Step, elapsed time.Duration) // about once a second
	Finished(r Run, err error)
}

type nobody struct{}

func (nobody) Started(Step)                {}
func (nobody) Running(Step, time.Duration) {}
func (nobody) Finished(Run, error)         {}

// Once runs the command once, as the given step of a repetition, and leaves none
// of its processes behind. When ctx is done or a bound is passed, the command is
// told to stop, soon after killed, and all of it over within five seconds.
//
// Any fault of the run is an *Error, which comes with what there is of the run;
// one of the Spec is that of Validate. obs may be nil.
//
// One run is made at a time; a second waits. Meanwhile a process that the caller
// starts by other means could be mistaken for an orphan of the command, and
// killed: start none.
func Once(ctx context.Context, s Spec, step Step, obs Observer) (Run, error) {
	return s.within(ctx, &harness{}, step, obs)
}

// within is Once with what a counting run adds.
func (s Spec) within(ctx context.Context, h *harness, step Step, obs Observer) (Run, error) {
	if err := s.Validate(); err != nil {
		return Run{}, err
	}
	if s.MaxOutput == 0 {
		s.MaxOutput = DefaultMaxOutput
	}
	if obs == nil {
		obs = nobody{}
	}

	r := Run{Step: step}
	select {
	case busy <- struct{}{}:
		defer func() { <-busy }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return r, s.interrupted(ctx, step, "before it began")
	}

	obs.Started(step)
	err := s.once(ctx, h, &r, obs)
	obs.Finished(r, err)
	return r, err
}

func (s Spec) once(ctx context.Context, h *harness, r *Run, obs Observer) error {
	if s.Dir != "" {
		// Exec blames the program for a missing directory.
		if fi, err := os.Stat(s.Dir); err != nil || !fi.IsDir() {
			e := s.fault(r.Step, NotStarted, fmt.Sprintf("no working directory %q", s.Dir))
			e.Remedy, e.Err = "create it first, or name another with --working-directory", err
			if err == nil {
				e.Problem = fmt.Sprintf("the working directory %q is no folder", s.Dir)
				e.Remedy = "name one with --working-directory"
			}
			return e
		}
	}
	var before snapshot
	if s.Results != "" {
		var err error
		if before, err = s.look(ctx); err != nil {
			return s.badResults(ctx, r.Step, err)
		}
	}

	// The kernel sends Pdeathsig when the thread that started the command ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	// Our own garbage is better collected after a measurement than during it. What
	// a run can add is bounded by what it may print.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))

	t, err := newTree()
	if err != nil {
		e := s.fault(r.Step, NotStarted, "its processes could not be followed")
		e.Err = err
		return e
	}
	defer t.close()

	printed, err := newOutput(s.MaxOutput)
	if err != nil {
		e := s.fault(r.Step, NotStarted, "no pipe for its output")
		e.Err = err
		return e
	}
	cmd := s.command(h)
	cmd.Stdout, cmd.Stderr = printed.ends()

	disarm := h.arm()
	start := time.Now()
	err = t.start(cmd)
	disarm()
	printed.started()
	if err != nil {
		printed.finish(0)
		return s.notStarted(r.Step, err)
	}

	stopped := s.supervise(ctx, t, printed, r, start, obs)
	printed.finish(drainLimit)
	r.Output, r.spans = printed.buf, printed.spans

	state, usage, err := t.collect()
	r.User, r.System, r.MaxRSS = usage.User, usage.System, usage.MaxRSS
	switch {
	case stopped == nil && printed.full():
		// All of it was in the pipe when the command had ended already.
		stopped = s.tooMuchOutput(r.Step)
	case stopped == nil && err != nil:
		stopped = s.fault(r.Step, Failed, "its end could not be learned")
		stopped.Err = err
	case stopped == nil && !state.Success():
		return s.failed(r, state)
	}
	if stopped != nil {
		stopped.Tail = tail(r.Output)
		return stopped
	}

	if s.Results != "" {
		if r.Files, err = s.changed(ctx, before); err != nil {
			return s.badResults(ctx, r.Step, err)
		}
	}
	return nil
}

// supervise waits for the command to end, or ends it for the reason that it
// returns, and then stops whatever is left of it.
func (s Spec) supervise(ctx context.Context, t *tree, printed *output, r *Run, start time.Time, obs Observer) *Error {
	ended := make(chan time.Duration, 1)
	go func() {
		t.await()
		ended <- time.Since(start)
	}()

	var timeout <-chan time.Time
	if s.Timeout > 0 {
		timer := time.NewTimer(s.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	var reap <-chan time.Time

	finished := func(wall time.Duration) *Error {
		r.Wall = wall
		t.end(settle, leftoverGrace)
		r.Leftover = len(t.told)
		return nil
	}
	var why *Error
	for why == nil {
		select {
		case wall := <-ended:
			return finished(wall)
		case <-tick.C:
			obs.Running(r.Step, time.Since(start))
		case <-t.died:
			if reap == nil {
				reap = time.After(reapEvery)
			}
		case <-reap:
			reap = nil
			t.reap()
		case <-timeout:
			why = s.fault(r.Step, TimedOut, fmt.Sprintf("still running after %v (--timeout sets the limit)", s.Timeout))
			why.Err = context.DeadlineExceeded
		case <-printed.over:
			why = s.tooMuchOutput(r.Step)
		case <-ctx.Done():
			why = s.interrupted(ctx, r.Step, fmt.Sprintf("after %v", time.Since(start).Round(10*time.Millisecond)))
		}
	}
	select {
	case wall := <-ended: // at the last moment, which is not to lose a finished run
		return finished(wall)
	default:
	}
	t.end(0, stopGrace)
	select {
	case r.Wall = <-ended:
	case <-time.After(drainLimit):
		// Not even killed does it end, as when a disk does not answer.
		r.Wall = time.Since(start)
		why.Problem += "; it does not end even when killed"
	}
	return why
}

// attributes puts the command into a process group of its own.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(a)
	return a
}
