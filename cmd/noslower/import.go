package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) importCommand() *cobra.Command {
	return w.subcommand("import [flags] DATA.JS [NAME]", "import",
		"Bring the past along: read the history that github-action-benchmark keeps, of a suite that it calls NAME, into the baseline", cobra.RangeArgs(1, 2),
		func(cmd *cobra.Command, o *optionSet) error {
			k, err := w.openKeeper(cmd.Context(), o)
			if err != nil {
				return wrongUse(err)
			}
			into, ok := k.(prepender)
			if !ok {
				return wrongUse(errors.New("--baseline: want dir:PATH, file:PATH or branch:NAME to import into; \"noslower gate --baseline\" reads it from there"))
			}
			data, err := readBounded(o.Args[0])
			if err != nil {
				return undecided(err)
			}
			past, err := w.readHistory(data, o)
			if err != nil {
				return undecided(err)
			}
			kept, err := into.prepend(cmd.Context(), o.Suite, past)
			if err != nil {
				return undecided(err)
			}
			fmt.Fprintf(w.Stderr, "read %s from %s to %s; the record of %q in %s has %d\n",
				gate.Count(len(past), "job"), orDash(instant(past[0].Time)), orDash(instant(past[len(past)-1].Time)), o.Suite, k, kept)
			return nil
		})
}

// A prepender is a keeper that can be given a past. prepend returns how many jobs
// it then has of the suite.
type prepender interface {
	keeper
	prepend(ctx context.Context, suite string, past []bench.Measurements) (jobs int, err error)
}

// prepend makes the newest jobs of the past those before the record.
func (s store) prepend(ctx context.Context, suite string, past []bench.Measurements) (jobs int, err error) {
	before, err := s.find(ctx, suite)
	if err != nil {
		return 0, err
	}
	r := join(before.record, past)
	_, err = s.keep(ctx, suite, r, nil)
	return len(r.Jobs) + 1, err
}

// prepend adds all of the past that is older than what was measured here, folded as
// old jobs are.
func (b branch) prepend(ctx context.Context, suite string, past []bench.Measurements) (jobs int, err error) {
	err = b.change(ctx, suite, report.Printable(suite)+": the past", func(there []branchFile) (add []branchFile, gone []string) {
		older := past
		var trails [][]baseline.Job
		for _, f := range there {
			trail := trailOf(&f.record)
			trails = append(trails, trail)
			// What is imported knows no machine.
			if f.record.Measurements.Host.Class() != "" {
				n, _ := slices.BinarySearchFunc(older, trail[0].Time, func(m bench.Measurements, t time.Time) int { return m.Time.Compare(t) })
				older = older[:n]
			}
		}
		for some := range slices.Chunk(older, baseline.MaxJobs+1) {
			r := join(nil, some)
			trails = append(trails, trailOf(&r))
			add = append(add, branchFile{path: foldedPath(pathOf(suite, r)), record: r})
		}
		jobs = len(baseline.Merge(trails...))
		return add, nil
	})
	return jobs, err
}

// join makes the record that has what was imported before its own jobs; where
// there is none, one of which the newest job is what was measured.
func join(before *baseline.Record, past []bench.Measurements) baseline.Record {
	var jobs []baseline.Job
	for _, m := range past {
		jobs = append(jobs, baseline.Job{Commit: m.Commit, Time: m.Time, Quantities: quantitiesOf(m)})
	}
	var r baseline.Record
	if before != nil {
		r = *before
		// What is newer than the record did not lead to it.
		jobs = slices.DeleteFunc(jobs, func(j baseline.Job) bool { return !j.Time.Before(r.Measurements.Time) })
	} else {
		r.Measurements = past[len(past)-1]
		jobs = jobs[:len(jobs)-1]
	}
	r.Jobs = baseline.Merge(r.Jobs, jobs)
	r.Jobs = r.Jobs[max(0, len(r.Jobs)-baseline.MaxJobs):]
	return r
}

// assignment is how a data.js begins: it is a script, with one object in it.
// https://github.com/benchmark-action/github-action-benchmark/blob/master/src/write.ts
var assignment = regexp.MustCompile(`^\x{feff}?\s*window\.BENCHMARK_DATA\s*=\s*`)

// readHistory reads what a data.js has of a suite, oldest first: of the one by the
// name that it is said to have there, else of the one by our name for it, or of
// the only one.
func (w world) readHistory(data []byte, o *optionSet) ([]bench.Measurements, error) {
	name, there := o.Args[0], o.Suite
	if len(o.Args) > 1 {
		there = o.Args[1]
	}
	found := assignment.FindIndex(data)
	if found == nil {
		return nil, fmt.Errorf("%s: want a file that begins with window.BENCHMARK_DATA =, as github-action-benchmark keeps in dev/bench/data.js", name)
	}
	var history struct {
		Entries map[string][]json.RawMessage `json:"entries"`
	}
	if err := json.NewDecoder(bytes.NewReader(data[found[1]:])).Decode(&history); err != nil {
		return nil, fmt.Errorf("%s: want an object after window.BENCHMARK_DATA =: %w", name, bench.Worded(err))
	}
	names := slices.Sorted(maps.Keys(history.Entries))
	entries, ok := history.Entries[there]
	switch {
	case ok:
	case len(names) == 1 && len(o.Args) == 1:
		entries = history.Entries[names[0]]
	default:
		for i, n := range names {
			names[i] = fmt.Sprintf("%q", report.Printable(n))
		}
		return nil, fmt.Errorf("%s: say which of its suites after it (one of %s), and by --suite what it is called here", name, strings.Join(names, ", "))
	}
	var past []bench.Measurements
	var warnings []string
	for i, entry := range entries {
		m, warned, err := readEntry(entry, fmt.Sprintf("%s: entry %d", name, i+1))
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, warned...)
		m.Suite = o.Suite
		if m.Set.Len() > 0 {
			past = append(past, m)
		}
	}
	for _, text := range warnings[:min(len(warnings), maxWarnings)] {
		w.warn(errors.New(text))
	}
	if more := len(warnings) - maxWarnings; more > 0 {
		w.warn(fmt.Errorf("%d more warnings of this kind", more))
	}
	if len(past) == 0 {
		return nil, fmt.Errorf("%s: no job in it has a result", name)
	}
	slices.SortStableFunc(past, func(a, b bench.Measurements) int { return a.Time.Compare(b.Time) })
	return past, nil
}

// readEntry reads what one job measured. It is read as a history of itself, so
// that units and directions are taken as everywhere else.
func readEntry(entry json.RawMessage, name string) (m bench.Measurements, warnings []string, err error) {
	var head struct {
		Commit struct {
			ID        string    `json:"id"`
			Timestamp time.Time `json:"timestamp"`
		} `json:"commit"`
		Date float64 `json:"date"` // of the job, in milliseconds
	}
	if err := json.Unmarshal(entry, &head); err != nil {
		return m, nil, fmt.Errorf("%s: want a commit with id and timestamp, a date in milliseconds, and benches: %w", name, bench.Worded(err))
	}
	m = bench.Measurements{Commit: head.Commit.ID, Time: head.Commit.Timestamp.UTC(), Set: &bench.Set{}}
	if head.Date > 0 {
		m.Time = time.UnixMilli(int64(head.Date)).UTC()
	}
	f, err := format.ByName("github-action-benchmark")
	if err != nil {
		return m, nil, err
	}
	alone := slices.Concat([]byte(`window.BENCHMARK_DATA = {"entries":{"":[`), entry, []byte(`]}}`))
	for result, err := range f.Read(bytes.NewReader(alone), name) {
		var line *format.LineError
		switch {
		case errors.As(err, &line):
			warnings = append(warnings, err.Error())
			continue
		case err != nil:
			return m, warnings, err
		}
		if err := m.Set.Add(0, result); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: %v", name, err))
		}
	}
	return m, warnings, nil
}
