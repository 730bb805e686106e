// Package github talks to GitHub and to the runner of a workflow.
//
// It speaks strings and bytes: what a benchmark, a verdict or a report is, it
// does not know.
package github

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// maxSummary is how many bytes a step's summary may have: above it, GitHub
// keeps nothing at all of it.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions#step-isolation-and-limits
const maxSummary = 1 << 20

// A Runner is the process that runs a workflow's step, seen from within the
// step.
type Runner struct {
	getenv func(string) string
	action *githubactions.Action
}

// NewRunner returns the runner that this environment belongs to; ok is false
// outside a workflow. Workflow commands are written to w.
func NewRunner(getenv func(string) string, w io.Writer) (r *Runner, ok bool) {
	if getenv("GITHUB_ACTIONS") != "true" {
		return nil, false
	}
	return &Runner{getenv, githubactions.New(githubactions.WithGetenv(getenv), githubactions.WithWriter(w))}, true
}

// SetOutput sets an output of the step. Only a single line of printable ASCII
// is taken: the delimiter with which the library frames a value is a constant,
// so that a value of someone else's making could set outputs of its own.
func (r *Runner) SetOutput(name, value string) error {
	for _, text := range []string{name, value} {
		if i := strings.IndexFunc(text, func(c rune) bool { return c < ' ' || c > '~' }); i >= 0 {
			return fmt.Errorf("output %s: want one line of printable ASCII, have %q", name, text)
		}
	}
	if err := r.writable("GITHUB_OUTPUT"); err != nil {
		return fmt.Errorf("output %s: %w", name, err)
	}
	r.action.SetOutput(name, value)
	return nil
}

// AddSummary adds Markdown to the step's page.
func (r *Runner) AddSummary(markdown string) error {
	if len(markdown) > maxSummary {
		return fmt.Errorf("job summary: want at most %d bytes, have %d", maxSummary, len(markdown))
	}
	if err := r.writable("GITHUB_STEP_SUMMARY"); err != nil {
		return fmt.Errorf("job summary: %w", err)
	}
	r.action.AddStepSummary(markdown)
	return nil
}

// Annotate puts an error on the run's page.
func (r *Runner) Annotate(title, message string) {
	r.action.WithFieldsMap(map[string]string{"title": title}).Errorf("%s", message)
}

// Mask keeps a secret out of the log: the runner blackens it from here on.
func (r *Runner) Mask(secret string) {
	// An empty one would be found between all characters.
	if secret != "" {
		r.action.AddMask(secret)
	}
}

// writable checks the file that a variable names: the library panics where it
// cannot be opened.
func (r *Runner) writable(variable string) error {
	path := r.getenv(variable)
	if path == "" {
		return fmt.Errorf("%s is not set: this is no step of a workflow, or it runs where the runner's files are not", variable)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	return f.Close()
}

// Inert returns a writer to w, the runner's log, in which no line is a workflow
// command: the runner reads commands from everything that a step prints.
// https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
func Inert(w io.Writer) io.Writer { return &inert{w: w, lineStart: true} }

type inert struct {
	w         io.Writer
	lineStart bool // only blanks so far in this line
	held      byte // '#' or ':' that may begin a command; 0 for none
}

// Write writes p with each "::" at the start of a line, and each "##[" anywhere,
// broken by a zero-width space.
func (i *inert) Write(p []byte) (int, error) {
	const breaker = "\u200b"
	var b strings.Builder
	for _, c := range p {
		switch {
		case i.held == ':' && c == ':', i.held == '#' && c == '#':
			b.WriteString(breaker)
		}
		b.WriteByte(c)
		i.held = 0
		if c == '#' || c == ':' && i.lineStart {
			i.held = c
		}
		switch c {
		case '\n', '\r':
			i.lineStart = true
		case ' ', '\t', '\v', '\f':
		default:
			i.lineStart = false
		}
	}
	if _, err := io.WriteString(i.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Quote has write write to the log while the runner reads no commands there, not
// even those that Inert does not know. token ends that: a word that nothing that
// is written can know.
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions#stopping-and-starting-workflow-commands
func (r *Runner) Quote(token string, write func()) {
	r.action.IssueCommand(&githubactions.Command{Name: "stop-commands", Message: token})
	write()
	r.action.IssueCommand(&githubactions.Command{Name: token})
}
