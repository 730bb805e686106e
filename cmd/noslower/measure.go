package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/run"
)

func (w world) measureCommand() *cobra.Command {
	return w.subcommand("measure [flags] [-- COMMAND…]", "measure",
		"Run the command, write measurements", cobra.ArbitraryArgs,
		func(cmd *cobra.Command, o *optionSet) error {
			head, err := w.measure(cmd.Context(), o)
			if head.Set.Len() > 0 {
				w.warnOf(head)
				data, encodeErr := head.Encode()
				if encodeErr != nil {
					return undecided(errors.Join(err, encodeErr))
				}
				out := o.Out
				if err != nil && out != "" {
					out = partOf(out)
				}
				putErr := w.put(out, data)
				if err != nil && putErr == nil && out != "" {
					fmt.Fprintf(w.Stderr, "what was measured until then is in %s\n", out)
				}
				err = errors.Join(err, putErr)
			}
			return undecided(err)
		})
}

// warnOf prints the warnings of a side.
func (w world) warnOf(s side) {
	for _, text := range s.Warnings {
		w.warn(errors.New(text))
	}
}

// put writes what a command makes: to a file, or to standard output where none
// is named.
func (w world) put(path string, data []byte) error {
	if path == "" {
		_, err := w.Stdout.Write(data)
		return err
	}
	return writeWhole(path, data)
}

// putJSON writes a document to standard output, for people to read, too.
func (w world) putJSON(v any) error {
	data, err := bench.EncodeDocument(v, "  ")
	if err != nil {
		return err
	}
	return w.put("", data)
}

// measure runs the command and reads what it prints. What was measured until
// then comes with an error, too, and says that it is not all.
func (w world) measure(ctx context.Context, o *optionSet) (side, error) {
	if err := o.checkCommand(); err != nil {
		return side{Measurements: bench.Measurements{Set: &bench.Set{}}}, wrongUse(err)
	}
	c, err := w.newContest(ctx, o, nil)
	if err != nil {
		return side{Measurements: bench.Measurements{Set: &bench.Set{}}}, err
	}
	_, head := c.sides()
	if err := c.measure(ctx, o.Warmup, gate.Looks(o.Runs.Max, o.Runs.Max), nil); err != nil {
		c.incomplete(o.Runs.Max)
		return *head, err
	}
	c.bound()
	return *head, nil
}

// plan says what is run, and how its output is read.
func (w world) plan(o *optionSet) (*reader, run.Spec, error) {
	spec := run.Spec{
		Args: o.Args, Shell: o.Command, Dir: o.WorkingDirectory, Env: w.childEnvironment(o.Env),
		Timeout: time.Duration(o.Timeout), Results: o.Results,
	}
	if o.Command == "" && len(o.Args) == 0 {
		return nil, spec, errors.New("there is no command to run: give it by --command, after --, or as the command of a suite in the configuration")
	}
	if o.Format == formatNone {
		return nil, spec, spec.Validate()
	}
	r, err := newReader(o, w.Stderr)
	return r, spec, errors.Join(err, spec.Validate())
}

// formatNone is the format of a command whose output holds no measurement: that
// of the process suffices.
const formatNone = "none"

// childEnvironment is what the command may see of ours. The image of the action
// says that it is one: there the environment is the job's, with host paths in
// it, and only a few names mean anything.
func (w world) childEnvironment(names []string) []string {
	env := run.HostEnv(w.Environ, names)
	if w.Getenv("NOSLOWER_CONTAINER") != "" {
		env = run.ContainerEnv(w.Environ, names)
	}
	if workspace := w.Getenv("GITHUB_WORKSPACE"); workspace != "" {
		env = run.MergeSafeDirectory(env, workspace)
	}
	return env
}

// readRun reads what one run printed, or the files it left, and adds what the
// run itself cost.
func (r *reader) readRun(s *side, done run.Run, ops uint64) error {
	at := s.runs - 1
	own := bench.Result{Values: []bench.Value{
		bench.Measure("wall_time", done.Wall.Seconds(), "s"),
		bench.Measure("user_time", done.User.Seconds(), "s"),
		bench.Measure("system_time", done.System.Seconds(), "s"),
		bench.Measure("cpu_time", (done.User + done.System).Seconds(), "s"),
	}}
	if done.MaxRSS > 0 {
		own.Values = append(own.Values, bench.Measure("max_rss", float64(done.MaxRSS), "B"))
	}
	if r != nil {
		if len(done.Files) == 0 {
			if err := r.read(s, at, done.Step.String(), bytes.NewReader(r.printed(done))); err != nil {
				return err
			}
		}
		for _, f := range done.Files {
			if err := r.read(s, at, f.Name, bytes.NewReader(f.Data)); err != nil {
				return err
			}
		}
	}
	if name, only := onlyBenchmark(s.Set); ops > 0 && only {
		perOp := bench.Measure("cpu_time_per_op", (done.User+done.System).Seconds()/float64(ops), "s/op")
		if err := s.Set.Add(at, bench.Result{Name: name, Values: []bench.Value{perOp}}); err != nil {
			return err
		}
	}
	// A tool that timed its own process under the same name is nearer to it.
	own.Values = withoutKnown(s.Set, own.Values, at)
	return s.Set.Add(at, own)
}

// printed is what the run's results are read from: its standard output, so that
// no log line stands in the middle of a document, or both streams where standard
// output alone says nothing, or numbers that may be anything. The command has ended,
// so that its last line has.
func (r *reader) printed(done run.Run) []byte {
	out := done.Stdout()
	if !r.recognises(out) || r.isBare(out) && !r.isBare(done.Output) && r.recognises(done.Output) {
		out = done.Output
	}
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(slices.Clip(out), '\n')
	}
	return out
}

// withoutKnown leaves out the values whose key the tool itself reported, in this
// run or an earlier one.
func withoutKnown(set *bench.Set, values []bench.Value, run int) []bench.Value {
	var kept []bench.Value
	for _, v := range values {
		sample, ok := set.Lookup(bench.Key{Metric: v.Metric.Name})
		if !ok || len(sample.Launches) == run {
			kept = append(kept, v)
		}
	}
	return kept
}

// incomplete says in the measurements that they are not all.
func (s side) incomplete(of int) side {
	s.warnings = append(s.warnings, fmt.Sprintf("incomplete: %d of %d runs were measured", s.Set.Launches(), of))
	s.bound()
	return s
}

// explainRun adds the last lines of a command that failed.
func (w world) explainRun(err error) error {
	var failed *run.Error
	if errors.As(err, &failed) {
		w.quote(failed.Step, failed.Tail)
	}
	return err
}

// quote prints the last lines of a command, if there are any.
func (w world) quote(step run.Step, tail []string) {
	if len(tail) == 0 {
		return
	}
	fmt.Fprintf(w.Stderr, "the last lines of %s:\n", step)
	write := func() {
		for _, line := range tail {
			fmt.Fprintf(w.Stderr, "  | %s\n", line)
		}
	}
	if w.Runner == nil {
		write()
	} else {
		w.Runner.Quote(rand.Text(), write)
	}
}

// commit is the commit that is measured: the workflow's, else that of the
// working directory; "" where there is no git or no repository.
func (w world) commit(ctx context.Context, dir string) string {
	if sha := w.Getenv("GITHUB_SHA"); sha != "" {
		return sha
	}
	spec := run.Spec{Args: []string{"git", "rev-parse", "HEAD"}, Dir: dir, Env: w.gitEnvironment(), MaxOutput: 1 << 10}
	done, err := run.Once(ctx, spec, run.Step{N: 1, Of: 1}, nil)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(done.Stdout()))
}

func (w world) host() bench.Host {
	m := run.Host(w.Getenv("ImageOS"), w.Getenv("ImageVersion"))
	return bench.Host{
		OS: m.OS, Arch: m.Arch, CPU: m.CPU, Cores: m.Cores, Kernel: m.Kernel, Libc: m.Libc, Image: m.Image,
		Microcode: m.Microcode, Hypervisor: m.Hypervisor, Governor: m.Governor,
	}
}

// sideOf hands a side to the gate.
func (s side) sideOf() gate.Side {
	return gate.Side{Commit: s.Commit, Origin: s.origin, Time: s.Time, Runs: s.runs, Host: s.Host, Set: s.Set}
}
