package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/noslower/noslower/pkg/run"
)

// terminal reports whether a person looks at f.
func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// A progress tells how the runs are going: on a terminal by a bar with the time
// left, elsewhere by one line a run.
type progress struct {
	w   io.Writer
	tty bool
	bar *progressbar.ProgressBar // nil until the first run, and off a terminal

	side  string        // that runs now, where there are two
	spent time.Duration // processor time of all runs, those too that only count
}

func newProgress(w io.Writer, tty bool) *progress { return &progress{w: w, tty: tty} }

// Started begins the bar.
func (p *progress) Started(s run.Step) {
	if !p.tty {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(s.Of, progressbar.OptionSetWriter(p.w), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
	}
	p.bar.Describe(p.name(s))
}

// Running keeps the bar's clock going.
func (p *progress) Running(run.Step, time.Duration) {
	if p.bar != nil {
		_ = p.bar.RenderBlank() // a bar that cannot be drawn stops no measurement
	}
}

// Finished moves the bar on, or writes the run's line.
func (p *progress) Finished(r run.Run, err error) {
	p.spent += r.User + r.System
	switch {
	case p.bar != nil:
		_ = p.bar.Add(1)
	case err == nil:
		fmt.Fprintf(p.w, "%s: %s, CPU time %s\n", p.name(r.Step), r.Wall.Round(time.Millisecond), (r.User + r.System).Round(time.Millisecond))
	}
}

func (p *progress) name(s run.Step) string {
	if p.side == "" {
		return s.String()
	}
	return p.side + ", " + s.String()
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
