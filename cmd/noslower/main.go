// Command noslower tells whether a change made a program slower, by running its
// benchmarks and comparing what they print with what the default branch
// measured.
//
// Each subcommand is a cut of one pipeline; gate is the whole of it.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/github"
)

// version is set when a release is linked.
var version = ""

func main() {
	// What is read is mostly kept until the end: to look for garbage less often saves
	// more time than it costs memory (docs/speed.md).
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(150)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	w := world{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ(), Now: time.Now,
		Terminal: terminal(os.Stdout), ProgressTerminal: terminal(os.Stderr),
	}
	status := w.run(ctx, os.Args[1:])
	stop()
	os.Exit(status)
}

// A world is everything that the command reaches outside of itself, apart from
// files.
type world struct {
	Stdin            io.Reader
	Stdout, Stderr   io.Writer
	Getenv           func(string) string
	Environ          []string
	Now              func() time.Time
	Terminal         bool           // standard output is one
	ProgressTerminal bool           // standard error is one
	Runner           *github.Runner // nil outside a workflow
	GitHub           github.Options
}

// run executes the command and returns its exit status.
func (w world) run(ctx context.Context, args []string) int {
	if runner, ok := github.NewRunner(w.Getenv, w.Stderr); ok {
		w.Runner = runner
		w.warn(hideMemory())
		w.Stdout, w.Stderr = github.Inert(w.Stdout), github.Inert(w.Stderr)
		w.Terminal, w.ProgressTerminal = false, false
		if len(args) == 0 {
			// An action's step passes inputs, not arguments: it gates.
			args = []string{"gate"}
		}
	}
	root := &cobra.Command{
		Use:           "noslower",
		Short:         "A red check is a real regression, a green check really measured something.",
		Long:          "noslower runs a benchmark, compares what it prints with what the default branch\nmeasured, and fails the check when it became slower beyond doubt.",
		Version:       release(),
		SilenceErrors: true, SilenceUsage: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("no command %q: see \"noslower --help\"", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if fault, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = fmt.Errorf("--%s: %w", fault.GetFlag().Name, worded(fault.Unwrap()))
		}
		return fmt.Errorf("%w: see \"%s --help\"", err, cmd.CommandPath())
	})
	root.AddCommand(w.gateCommand(), w.measureCommand(), w.compareCommand(), w.parseCommand(), w.reportCommand(), w.noiseCommand(), w.historyCommand(), w.siteCommand(), w.importCommand(), w.badgeCommand(), w.baselineCommand(), w.formatsCommand())
	err := root.ExecuteContext(ctx)
	var ended *ending
	switch {
	case err == nil:
		return int(gate.StatusPass)
	case errors.As(err, &ended):
		if ended.err != nil {
			fmt.Fprintf(w.Stderr, "noslower: %s\n", visible(ended.err))
		}
		return int(ended.status)
	}
	// What is not an ending of ours is cobra's: a flag or an argument.
	fmt.Fprintf(w.Stderr, "noslower: %s\n", visible(err))
	return int(gate.StatusWrongUse)
}

// operands says in words of ours what a command takes beside its flags, as its
// use has it: "compare [flags] BASE HEAD".
func operands(use string, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		if args(cmd, given) == nil {
			return nil
		}
		_, wanted, _ := strings.Cut(use, "[flags]")
		var have []string
		for _, arg := range given {
			have = append(have, strconv.Quote(arg))
		}
		return fmt.Errorf("%s: want %s beside flags, have %s: see \"%s --help\"",
			cmd.Name(), cmp.Or(strings.TrimSpace(wanted), "nothing"), cmp.Or(strings.Join(have, ", "), "none"), cmd.CommandPath())
	}
}

// An ending is an exit status with what is left to say; err is nil where a
// report has said it.
type ending struct {
	status gate.Status
	err    error
}

func (e *ending) Error() string {
	if e.err == nil {
		return fmt.Sprintf("status %d", e.status)
	}
	return e.err.Error()
}

func (e *ending) Unwrap() error { return e.err }

// wrongUse and undecided end the command; nil stays nil.
func wrongUse(err error) error { return endWith(gate.StatusWrongUse, err) }

func undecided(err error) error { return endWith(gate.StatusUndecided, err) }

func endWith(s gate.Status, err error) error {
	var ended *ending
	if err == nil || errors.As(err, &ended) {
		return err
	}
	return &ending{s, err}
}

// release is the version that was linked, else that of the module.
func release() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
