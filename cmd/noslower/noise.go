package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

func (w world) noiseCommand() *cobra.Command {
	return w.subcommand("noise [flags] [-- COMMAND…]", "noise",
		"Measure one program against itself: what this machine can show, and what to configure", cobra.ArbitraryArgs,
		func(cmd *cobra.Command, o *optionSet) error { return w.noise(cmd.Context(), o) })
}

// noise measures a program against itself, in turn, and says what that allows.
func (w world) noise(ctx context.Context, o *optionSet) error {
	if o.Output != "text" && o.Output != "json" {
		return wrongUse(fmt.Errorf("--output: want text or json, have %q", o.Output))
	}
	c, err := w.newContest(ctx, o, nil)
	if err != nil {
		return err
	}
	first := c.contestants[0]
	second := *first
	second.side.Set = &bench.Set{}
	first.name, second.name = "first", "second"
	c.contestants = append(c.contestants, &second)
	if err := c.measure(ctx, o.Warmup, gate.Looks(o.Runs.Max, o.Runs.Max), nil); err != nil {
		return undecided(err)
	}
	c.bound()
	w.warnOf(first.side)
	w.warnOf(second.side)
	noises := gate.MeasureNoise(first.side.Set, second.side.Set, o.policy())
	if o.Output == "json" {
		return undecided(w.noiseJSON(noises))
	}
	return undecided(w.noiseText(noises, o))
}

// noiseText prints a table, and the lines to configure.
func (w world) noiseText(noises []gate.Noise, o *optionSet) error {
	table := tabwriter.NewWriter(w.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "BENCHMARK\tMETRIC\tSPREAD\tHOLDS, IN TURN\tHOLDS, STORED\tFAILS AT\tRUNS FOR THAT")
	for _, n := range noises {
		name := cmp.Or(n.Benchmark, o.Suite)
		at, needed := gate.Percent(n.Threshold), "-"
		if !n.Gating {
			at = "(" + at + ")"
		}
		switch {
		case n.Needed > maxRuns:
			needed = fmt.Sprintf("> %d", maxRuns)
		case n.Needed > 0:
			needed = fmt.Sprint(n.Needed)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", report.Cell(name), report.Cell(n.Metric.Name),
			holds(n.Spread), holds(n.InTurn), holds(n.Stored), at, needed)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w.Stdout, "\nSpread is that of one run. A threshold holds if a slowdown of its size could be called with %d runs a side:\n"+
		"in turn, with base's own program beside head's (--program, --against), or against stored measurements,\n"+
		"whose noise between jobs is assumed until there is a history.\n", o.Runs.Max)
	return w.noiseAdvice(noises, o)
}

// holds words a share; beyond tenfold its digits say nothing.
func holds(share float64) string {
	switch {
	case math.IsInf(share, 1):
		return "-"
	case share > 10:
		return "> 1000 %"
	}
	return gate.Percent(share)
}

// noiseAdvice says what to configure for what gates, or, where nothing does, for
// what could.
func (w world) noiseAdvice(noises []gate.Noise, o *optionSet) error {
	var gating, others []gate.Noise
	for _, n := range noises {
		if n.Differ {
			w.noiseRemark(n, o, "the program looks slower, or faster, than itself: something drifts, or its runs are not independent")
		}
		switch {
		case n.Gating:
			gating = append(gating, n)
		case n.Metric.Better != bench.Unknown:
			others = append(others, n)
		}
	}
	for _, n := range gating {
		if !math.IsInf(n.InTurn, 1) && math.IsInf(n.Advice(), 1) {
			w.noiseRemark(n, o, "too noisy for any threshold of use: longer runs, more of them, or counts (--ops, --counters) show more")
		}
	}
	flags, enough := failFlags(gating)
	words := "To configure:"
	switch {
	case len(gating) == 0:
		flags, enough = failFlags(others)
		words = "Nothing here gates unless it is asked to, by one of these or more:"
		if len(flags) == 0 {
			words = "Nothing here gates, and nothing could at a threshold of use: longer runs, more of them, or counts (--ops, --counters) show more."
		}
	case len(flags) == 0 && enough:
		return nil // the remarks say why
	}
	if !enough {
		words, flags = fmt.Sprintf("Nothing that gates has numbers enough to say more: with --runs %d there are.", gate.EnoughRuns()), nil
	}
	if len(flags) > 0 {
		words = fmt.Sprintf("%s --runs %d %s", words, o.Runs.Max, strings.Join(flags, " "))
	}
	_, err := fmt.Fprintf(w.Stdout, "\n%s\n", words)
	return err
}

func (w world) noiseRemark(n gate.Noise, o *optionSet, words string) {
	fmt.Fprintf(w.Stdout, "\n%s %s: %s.\n", report.Printable(cmp.Or(n.Benchmark, o.Suite)), report.Printable(n.Metric.Name), words)
}

// failFlags are the flags that make thresholds of what the machine can hold, the
// worst of each metric; enough is false where no metric has the numbers to know.
func failFlags(noises []gate.Noise) (flags []string, enough bool) {
	advice := map[string]float64{}
	var order []string
	for _, n := range noises {
		if math.IsInf(n.InTurn, 1) {
			continue
		}
		if _, ok := advice[n.Metric.Name]; !ok {
			order = append(order, n.Metric.Name)
		}
		advice[n.Metric.Name] = max(advice[n.Metric.Name], n.Advice())
	}
	for _, metric := range order {
		if !math.IsInf(advice[metric], 1) {
			flags = append(flags, fmt.Sprintf("--fail %s=%s", report.Printable(metric), strings.ReplaceAll(gate.Percent(advice[metric]), " ", "")))
		}
	}
	return flags, len(order) > 0
}

// noiseJSON prints the same as a document.
func (w world) noiseJSON(noises []gate.Noise) error {
	type row struct {
		Benchmark string   `json:"benchmark"`
		Metric    string   `json:"metric"`
		Gating    bool     `json:"gating"`
		Runs      int      `json:"runs"`
		Spread    float64  `json:"spread"`
		InTurn    *float64 `json:"holds_in_turn"` // null where the numbers are too few
		Stored    *float64 `json:"holds_stored"`
		Threshold float64  `json:"threshold"`
		Needed    int      `json:"runs_needed,omitempty"`
		Advice    *float64 `json:"advice"`
		Differ    bool     `json:"differ"`
	}
	finite := func(v float64) *float64 {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return &v
	}
	rows := []row{}
	for _, n := range noises {
		rows = append(rows, row{
			n.Benchmark, n.Metric.Name, n.Gating, n.Runs, n.Spread, finite(n.InTurn), finite(n.Stored), n.Threshold, n.Needed, finite(n.Advice()), n.Differ,
		})
	}
	return w.putJSON(rows)
}
