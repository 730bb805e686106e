package run

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/sys/unix"
)

const (
	tailLines = 20  // lines of output that an error carries
	tailWidth = 300 // characters of each
)

// A Kind is a way in which a run can go wrong.
type Kind int8

const (
	Failed        Kind = iota // ended with a status other than 0, or by a signal
	NotStarted                // could not be started
	TimedOut                  // ran longer than Spec.Timeout
	Interrupted               // the context was done
	TooMuchOutput             // printed more than Spec.MaxOutput
	NoResults                 // left no result file that could be read
)

// An Error says why a run gave no measurement.
type Error struct {
	Step    Step
	Command string // as a person would write it
	Kind    Kind
	Status  int            // exit status of a command that Failed; -1 if it has none
	Signal  syscall.Signal // that ended a command that Failed; 0 if none did

	Problem string // what is wrong
	Remedy  string // what to do about it; may be empty

	// Tail is the last lines that the command printed, at most 20, each cut and
	// without control characters. It is the command's word, not ours: whoever
	// shows it guards it against being read as instructions.
	Tail []string

	Err error // the cause, if there is one to tell; may be nil
}

// Error is one line without Tail: where, what is wrong, and what to do.
func (e *Error) Error() string {
	where := e.Step.String()
	if e.Step.Of == 1 && !e.Step.Warmup {
		where = "run 1"
	}
	s := fmt.Sprintf("%s of %q: %s", where, e.Command, e.Problem)
	if e.Remedy != "" {
		s += ": " + e.Remedy
	}
	return s
}

// Unwrap returns the cause. That of Interrupted is the cause of the context's
// end.
func (e *Error) Unwrap() error { return e.Err }

func (s Spec) fault(step Step, kind Kind, problem string) *Error {
	return &Error{Step: step, Command: s.String(), Kind: kind, Status: -1, Problem: problem}
}

func (s Spec) interrupted(ctx context.Context, step Step, when string) *Error {
	e := s.fault(step, Interrupted, "interrupted "+when)
	e.Err = context.Cause(ctx)
	return e
}

func (s Spec) tooMuchOutput(step Step) *Error {
	e := s.fault(step, TooMuchOutput, "printed more than "+size(s.MaxOutput))
	e.Remedy = "print less, or send logs to a file; results can come from files with --results"
	return e
}

// failed tells how the command ended, and why if its last words are known ones.
func (s Spec) failed(r *Run, state *os.ProcessState) *Error {
	e := s.fault(r.Step, Failed, "")
	e.Tail = tail(r.Output)
	signal := syscall.Signal(0)
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
		signal = e.Signal
		e.Problem = "killed by " + signalName(signal)
	} else {
		e.Status = state.ExitCode()
		e.Problem = fmt.Sprintf("exit status %d", e.Status)
		// A shell reports the signal of its last command so; see sh(1).
		if e.Status > 128 && e.Status <= 128+64 {
			signal = syscall.Signal(e.Status - 128)
			e.Problem += " (128 + " + signalName(signal) + ")"
		}
	}

	d := diagnose(e.Status, signal, r.Output)
	if d.program != "" {
		if better, ok := inspect(s.find(d.program)); ok {
			d.problem, d.remedy = better.problem, better.remedy
		}
	}
	switch {
	case d.problem != "":
		e.Problem += ": " + d.problem
		e.Remedy = d.remedy
	case d.remedy != "":
		e.Remedy = d.remedy
	case len(e.Tail) == 0:
		e.Problem += ", and nothing was printed"
		e.Remedy = "run it by hand; a variable that it needs is let through with --env NAME"
	default:
		e.Remedy = "its last lines say more"
	}
	return e
}

// notStarted tells why exec refused.
func (s Spec) notStarted(step Step, err error) *Error {
	e := s.fault(step, NotStarted, "")
	e.Err = err
	program := "sh"
	if s.Shell == "" {
		program = s.Args[0]
	}
	d := refused(program, err)
	if better, ok := inspect(s.find(program)); ok {
		d = better
	}
	e.Problem, e.Remedy = d.problem, d.remedy
	return e
}

func (s Spec) badResults(ctx context.Context, step Step, err error) *Error {
	if ctx.Err() != nil {
		return s.interrupted(ctx, step, "while its result files were read")
	}
	e := s.fault(step, NoResults, err.Error())
	e.Err = err
	return e
}

// find returns the path of a program that the command named, relative to its
// working directory or on its PATH; "" if there is none.
func (s Spec) find(program string) string {
	if strings.Contains(program, "/") {
		if filepath.IsAbs(program) {
			return program
		}
		return filepath.Join(s.Dir, program)
	}
	for _, dir := range filepath.SplitList(lookup(s.Env, "PATH")) {
		if p := filepath.Join(dir, program); isFile(p) {
			return p
		}
	}
	return ""
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(sig))
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// colour matches the control sequences of a terminal, as of ECMA-48.
var colour = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]`)

// tail returns the last lines of out that are not blank, fit to be shown.
func tail(out []byte) []string {
	var lines []string
	for rest := bytes.TrimRight(out, " \t\r\n"); len(rest) > 0 && len(lines) < tailLines; {
		i := bytes.LastIndexByte(rest, '\n')
		lines = append(lines, clean(rest[i+1:]))
		rest = rest[:max(i, 0)]
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return lines
}

// clean makes one line of output fit to be shown.
func clean(line []byte) string {
	// A line may be megabytes long; colour, invalid bytes and all, this much of it
	// is more than will be kept.
	line = line[:min(len(line), 16*tailWidth)]
	line = bytes.TrimRight(line, "\r")
	// A progress bar overwrites itself; its last state is the one that was seen.
	line = line[bytes.LastIndexByte(line, '\r')+1:]
	s := colour.ReplaceAllString(strings.ToValidUTF8(string(line), "\uFFFD"), "")
	s = strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
	return cut(s, tailWidth)
}

// cut shortens s to n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
