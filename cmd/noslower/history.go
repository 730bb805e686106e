package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) historyCommand() *cobra.Command {
	return w.subcommand("history [flags] [RECORD…]", "history",
		"Show how each benchmark went from job to job, and where it changed its level", cobra.ArbitraryArgs,
		func(cmd *cobra.Command, o *optionSet) error { return w.history(cmd.Context(), o) })
}

func (w world) history(ctx context.Context, o *optionSet) error {
	write, ok := map[string]func([]past) error{"text": w.historyText, "json": w.historyJSON, "csv": w.historyCSV}[o.Output]
	if !ok {
		return wrongUse(fmt.Errorf("--output: want text, json or csv, have %q", o.Output))
	}
	pasts, err := w.pasts(ctx, o)
	if err != nil {
		return err
	}
	return undecided(write(pasts))
}

// A past is what records tell of one suite.
type past struct {
	suite  string
	jobs   []baseline.Job // oldest first
	trends []trend
}

// A trend is what the jobs of one machine class measured of one metric of a
// benchmark.
type trend struct {
	key     bench.Key
	name    string // of the benchmark
	watch   gate.Watch
	machine string // its class; "" where it is not known
	points  []gate.Point
	changes []gate.Change
}

// value is what a job measured: the median.
func value(p gate.Point) float64 { return math.Exp(p.Center) }

// latest and first are the values at the ends of the trend.
func (t trend) latest() float64 { return value(t.points[len(t.points)-1]) }
func (t trend) first() float64  { return value(t.points[0]) }

// whole is the change from the first job to the latest, as a share.
func (t trend) whole() float64 {
	return math.Expm1(t.points[len(t.points)-1].Center - t.points[0].Center)
}

// pasts reads what the records tell that are named, or else the baseline's, by
// suite.
func (w world) pasts(ctx context.Context, o *optionSet) ([]past, error) {
	records, err := w.records(ctx, o)
	if err != nil {
		return nil, err
	}
	bySuite := map[string][]*baseline.Record{}
	var names []string
	for _, r := range records {
		name := r.Measurements.Suite
		if o.given["suite"] && name != o.Suite {
			continue
		}
		if bySuite[name] == nil {
			names = append(names, name)
		}
		bySuite[name] = append(bySuite[name], r)
	}
	slices.Sort(names)
	var pasts []past
	for _, name := range names {
		p := o.pastOf(cmp.Or(name, o.Suite), bySuite[name])
		if len(p.trends) > 0 {
			pasts = append(pasts, p)
		}
	}
	if len(pasts) == 0 {
		return nil, undecided(errors.New("there is nothing to show: no record has jobs of what is asked for (--suite, --benchmark and --metric choose)"))
	}
	return pasts, nil
}

// records reads the records that arguments name, files or folders, or else those
// of the baseline.
func (w world) records(ctx context.Context, o *optionSet) ([]*baseline.Record, error) {
	var records []*baseline.Record
	if len(o.Args) > 0 {
		for _, where := range o.Args {
			some, err := readRecords(where)
			if err != nil {
				return nil, undecided(err)
			}
			records = append(records, some...)
		}
		return records, nil
	}
	k, err := w.openNewest(ctx, o)
	if err != nil {
		return nil, wrongUse(err)
	}
	var suite *string // the only one that is asked for
	if o.given["suite"] {
		suite = &o.Suite
	}
	records, err = keptRecords(ctx, k, suite)
	if err == nil && len(records) == 0 {
		err = fmt.Errorf("%s has no record: \"noslower gate --save-baseline\" keeps one, \"noslower import\" makes one of a past", k)
	}
	return records, undecided(err)
}

// keptRecords returns the records that are kept of a suite, or, where none is
// named, of all: of a branch of data every one, elsewhere the newest of each
// suite, which tells of those before it.
func keptRecords(ctx context.Context, k keeper, suite *string) ([]*baseline.Record, error) {
	if b, ok := k.(branch); ok {
		return b.records(ctx, suite)
	}
	var suites []string
	var err error
	if suite != nil {
		suites = []string{*suite}
	} else if suites, err = k.suites(ctx); err != nil {
		return nil, err
	}
	var records []*baseline.Record
	var none []error
	for _, name := range suites {
		f, err := k.find(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case f.record == nil:
			none = append(none, errors.New(f.none))
		default:
			records = append(records, f.record)
		}
	}
	if len(records) == 0 {
		return nil, errors.Join(none...)
	}
	return records, nil
}

// openNewest opens what --baseline names where the newest record is wanted: that
// of the very commit too, which a gate would not compare with.
func (w world) openNewest(ctx context.Context, o *optionSet) (keeper, error) {
	hub, at, err := w.situated(ctx)
	if err != nil {
		return nil, err
	}
	if hub.context != nil && at.base == "" {
		at.base = hub.context.SHA
	}
	return openKeeper(o.Baseline, hub, at, o.BaselineWorkflow)
}

// readRecords reads a record from a file, or every record of a folder and what is
// below it.
func readRecords(where string) ([]*baseline.Record, error) {
	info, err := os.Stat(where)
	if err != nil {
		return nil, fmt.Errorf("%s: there is no such file or folder", where)
	}
	paths := []string{where}
	if info.IsDir() {
		paths = nil
		err := filepath.WalkDir(where, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && (strings.HasSuffix(path, recordSuffix) || d.Name() == recordEntry) {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 || len(paths) > maxFiles {
			return nil, fmt.Errorf("%s: want from 1 to %d records in it (*%s or %s), have %d", where, maxFiles, recordSuffix, recordEntry, len(paths))
		}
	}
	var records []*baseline.Record
	for _, path := range paths {
		data, err := readBounded(path)
		if err != nil {
			return nil, err
		}
		r, err := baseline.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		records = append(records, &r)
	}
	return records, nil
}

// pastOf joins what records tell of one suite.
func (o *optionSet) pastOf(suite string, records []*baseline.Record) past {
	p := past{suite: suite}
	policy := o.policy()
	policy.Suite = suite
	metrics := map[bench.Key]bench.Metric{}
	var trails [][]baseline.Job
	for _, r := range records {
		trails = append(trails, trailOf(r))
		for _, s := range r.Measurements.Set.Samples() {
			metrics[s.Key()] = s.Metric
		}
	}
	p.jobs = baseline.Merge(trails...)
	for _, s := range baseline.Trends(p.jobs) {
		name := named(s.Key.Benchmark, suite)
		if !gate.Matches(o.Benchmark, name) || !gate.Matches(o.Metric, s.Key.Metric) {
			continue
		}
		m, ok := metrics[s.Key]
		if !ok {
			// It is no longer measured: only its name tells what it is.
			m = bench.Measure(s.Key.Metric, 0, "").Metric
		}
		p.trends = append(p.trends, trend{key: s.Key, name: name, watch: policy.Watch(s.Key.Benchmark, m), machine: s.MachineClass, points: pointsOf(s)})
	}
	p.search()
	return p
}

// search finds the changes of all trends, as many at a time as there are
// processors: of thousands of trends it takes most of the time.
func (p past) search() {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(p.trends); i = int(next.Add(1)) - 1 {
				t := &p.trends[i]
				t.changes = gate.Changes(t.points, t.watch.Smallest)
			}
		})
	}
	workers.Wait()
}

// sparkWidth is how many jobs a sparkline shows: the latest.
const sparkWidth = 40

// sparkline draws the latest points of a trend in a line of text.
func sparkline(t trend) string {
	var logs []float64
	for _, p := range t.points[max(0, len(t.points)-sparkWidth):] {
		logs = append(logs, p.Center)
	}
	return report.Sparkline(logs, t.watch.Smallest)
}

// historyText prints a table a suite, and the changes of level below it.
func (w world) historyText(pasts []past) error {
	for i, p := range pasts {
		if i > 0 {
			fmt.Fprintln(w.Stdout)
		}
		fmt.Fprintf(w.Stdout, "%s: %s, %s to %s\n\n", report.Printable(p.suite), gate.Count(len(p.jobs), "job"),
			orDash(instant(p.jobs[0].Time)), orDash(instant(p.jobs[len(p.jobs)-1].Time)))
		machines := p.machines()
		table := tabwriter.NewWriter(w.Stdout, 0, 0, 2, ' ', 0)
		heading := "BENCHMARK\tMETRIC\tTREND\tFIRST\tLATEST\tCHANGE\tJOBS"
		if len(machines) > 1 {
			heading += "\tMACHINE"
		}
		fmt.Fprintln(table, heading)
		for _, t := range p.trends {
			unit := report.Printable(t.watch.Metric.Unit)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%d", report.Cell(t.name), report.Cell(t.key.Metric),
				sparkline(t), gate.Quantity(t.first(), unit), gate.Quantity(t.latest(), unit), gate.SignedPercent(t.whole()), len(t.points))
			if len(machines) > 1 {
				fmt.Fprintf(table, "\t%s", machineName(t.machine))
			}
			fmt.Fprintln(table)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		heading = "\nchanges of level:\n"
		for _, t := range p.trends {
			for _, c := range t.changes {
				on := ""
				if len(machines) > 1 {
					on = " (" + machineName(t.machine) + ")"
				}
				fmt.Fprintf(w.Stdout, "%s  %s %s: %s%s\n", heading, report.Printable(t.name), report.Printable(t.key.Metric), report.Printable(changeSentence(c, t.watch)), on)
				heading = ""
			}
		}
	}
	return nil
}

// machines are the machine classes of a past, in the order of its trends.
func (p past) machines() []string {
	var list []string
	for _, t := range p.trends {
		if !slices.Contains(list, t.machine) {
			list = append(list, t.machine)
		}
	}
	return list
}

func machineName(class string) string {
	if class == "" {
		return "unknown machine"
	}
	return report.Printable(class)
}

// historySchema names the document of a history and its major version.
const historySchema = "noslower.history/v1"

// The document's own types: a contract that outlives the types above.
type (
	historyDoc struct {
		Schema string         `json:"schema"`
		Suites []suitePastDoc `json:"suites"`
	}
	suitePastDoc struct {
		Suite  string     `json:"suite"`
		Trends []trendDoc `json:"trends"`
	}
	trendDoc struct {
		Benchmark string      `json:"benchmark"`
		Metric    string      `json:"metric"`
		Unit      string      `json:"unit"`
		Better    string      `json:"better"`
		Gating    bool        `json:"gating"`
		Machine   string      `json:"machine,omitempty"`
		Points    []pointDoc  `json:"points"`
		Changes   []changeDoc `json:"changes"`
	}
	jobDoc struct {
		Commit string    `json:"commit,omitempty"`
		Time   time.Time `json:"time"`
	}
	pointDoc struct {
		jobDoc
		Median float64 `json:"median"`
		Values int     `json:"values"`
	}
	changeDoc struct {
		Before jobDoc  `json:"before"` // the last job of the old level
		After  jobDoc  `json:"after"`  // the first of the new one
		Change float64 `json:"change"` // of the metric, as a share
		Worse  bool    `json:"worse"`
	}
)

func (w world) historyJSON(pasts []past) error {
	doc := historyDoc{Schema: historySchema}
	of := func(p gate.Point) jobDoc { return jobDoc{p.Commit, p.Time.UTC()} }
	for _, p := range pasts {
		s := suitePastDoc{Suite: p.suite}
		for _, t := range p.trends {
			d := trendDoc{
				Benchmark: t.key.Benchmark, Metric: t.key.Metric, Unit: t.watch.Metric.Unit, Better: t.watch.Metric.Better.String(),
				Gating: t.watch.Gating, Machine: t.machine, Points: []pointDoc{}, Changes: []changeDoc{},
			}
			for _, at := range t.points {
				d.Points = append(d.Points, pointDoc{of(at), value(at), at.Count})
			}
			for _, c := range t.changes {
				d.Changes = append(d.Changes, changeDoc{of(c.From), of(c.To), c.Size, t.watch.Worse(c.Size)})
			}
			s.Trends = append(s.Trends, d)
		}
		doc.Suites = append(doc.Suites, s)
	}
	return w.putJSON(doc)
}

func (w world) historyCSV(pasts []past) error {
	text := report.CellText
	out := csv.NewWriter(w.Stdout)
	rows := [][]string{{"suite", "benchmark", "metric", "unit", "better", "machine", "commit", "time", "median", "values", "change"}}
	for _, p := range pasts {
		for _, t := range p.trends {
			sizes := map[int]string{}
			for _, c := range t.changes {
				sizes[c.At] = strconv.FormatFloat(c.Size, 'g', 6, 64)
			}
			for i, at := range t.points {
				rows = append(rows, []string{
					text(p.suite), text(t.name), text(t.key.Metric), text(t.watch.Metric.Unit), t.watch.Metric.Better.String(), text(t.machine),
					text(at.Commit), instant(at.Time), strconv.FormatFloat(value(at), 'g', 10, 64), strconv.Itoa(at.Count), sizes[i],
				})
			}
		}
	}
	return out.WriteAll(rows)
}
