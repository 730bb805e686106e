package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// A forms says which reports go where.
type forms struct {
	stdout report.Form
	files  []fileReport
}

type fileReport struct {
	form report.Form
	path string
}

// forms reads --output and --report.
func (o *options) forms() (forms, error) {
	var faults []error
	stdout, err := report.ByName(o.Output)
	if err != nil {
		faults = append(faults, fmt.Errorf("--output: %w", err))
	}
	f := forms{stdout: stdout}
	for _, r := range o.Report {
		kind, path, _ := strings.Cut(r, "=")
		form, err := report.ByName(kind)
		switch {
		case path == "":
			faults = append(faults, fmt.Errorf("--report: want KIND=PATH, have %q", r))
		case err != nil:
			faults = append(faults, fmt.Errorf("--report: %w", err))
		}
		f.files = append(f.files, fileReport{form, path})
	}
	return f, errors.Join(faults...)
}

// publish writes the reports of what was decided. Trouble with anything but
// standard output is a warning: it changes no status.
func (w world) publish(j judgement, f forms) error {
	if err := f.stdout.WriteSuites(w.Stdout, j.Suites, report.Options{Color: w.Terminal, Version: release()}); err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	for _, file := range f.files {
		w.warn(file.write(j.Suites))
	}
	if w.Runner != nil {
		w.publishStep(j)
	}
	return nil
}

// write writes the file, or, of a form that has no document of several suites, one
// a suite: what would be verdict.json is verdict-read.json and verdict-write.json
// then.
func (f fileReport) write(s report.Suites) error {
	if f.form.Together == nil && len(s.Verdicts) > 1 {
		var faults []error
		for _, v := range s.Verdicts {
			ending := filepath.Ext(f.path)
			one := fileReport{f.form, strings.TrimSuffix(f.path, ending) + "-" + slug(v.Suite) + ending}
			faults = append(faults, one.write(report.Suites{Verdicts: []gate.Verdict{v}}))
		}
		return errors.Join(faults...)
	}
	var b bytes.Buffer
	if err := f.form.WriteSuites(&b, s, report.Options{Version: release()}); err != nil {
		return err
	}
	return writeWhole(f.path, b.Bytes())
}

// publishStep writes the step's outputs, its summary and its annotations.
func (w world) publishStep(j judgement) {
	comparisons, regressions := 0, 0
	var reasons []string
	for _, v := range j.WorstFirst() {
		comparisons += len(v.Comparisons)
		for _, c := range v.Comparisons {
			if c.Gating && c.Outcome == gate.Regressed {
				regressions++
			}
		}
		for _, reason := range v.Reasons {
			if len(j.Verdicts) > 1 {
				reason = v.Suite + ": " + reason
			}
			reasons = append(reasons, reason)
		}
	}
	outcome, status := j.whole()
	for _, output := range []struct{ name, value string }{
		{"outcome", outcome.String()},
		{"status", strconv.Itoa(int(status))},
		{"comparisons", strconv.Itoa(comparisons)},
		{"regressions", strconv.Itoa(regressions)},
	} {
		w.warn(w.Runner.SetOutput(output.name, output.value))
	}
	summary, err := markdownOf(j.Suites, report.Options{Limit: maxSummary, Version: release()})
	if err == nil {
		err = w.Runner.AddSummary(summary)
	}
	w.warn(err)
	// The runner shows ten of a kind, and cuts what is longer.
	for _, reason := range reasons[:min(len(reasons), 10)] {
		w.Runner.Annotate("noslower", report.Printable(reason[:min(len(reason), 4096)]))
	}
}

// publishFailure sets the outputs of a step that ended before there was a
// verdict, so that a later step can ask for the status of any.
func (w world) publishFailure(err error) {
	var ended *ending
	if w.Runner == nil || !errors.As(err, &ended) || ended.err == nil {
		return
	}
	w.warn(w.Runner.SetOutput("outcome", gate.Inconclusive.String()))
	w.warn(w.Runner.SetOutput("status", strconv.Itoa(int(ended.status))))
	w.warn(w.Runner.AddSummary("⚠️ **noslower could not decide.** Status " + strconv.Itoa(int(ended.status)) + "; the log says why."))
	w.Runner.Annotate("noslower", visible(ended.err))
}

// maxSummary leaves room for what the library adds to a summary of 1 MiB.
const maxSummary = 1<<20 - 1<<10

// formNames lists the forms of a report.
func formNames() string {
	var names []string
	for _, f := range report.All() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// warn says that something beside the verdict went wrong.
func (w world) warn(err error) {
	if err != nil {
		fmt.Fprintf(w.Stderr, "warning: %s\n", visible(err))
	}
}

// complain warns of what ends a suite and not the job.
func (w world) complain(err error) {
	w.warn(err)
	if w.Runner != nil {
		w.Runner.Annotate("noslower", visible(err))
	}
}

// visible writes an error, which may quote what came from outside, for a log or
// a terminal: its lines stay lines, and everything else is seen.
func visible(err error) string {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		lines = append(lines, report.Printable(line))
	}
	return strings.Join(lines, "\n")
}
