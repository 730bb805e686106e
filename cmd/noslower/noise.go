package main

import (
	"cmp"
	"context"
	"encoding/json"
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
		if n.Needed > 0 {
			needed = fmt.Sprint(n.Needed)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", report.Printable(name), report.Printable(n.Metric.Name),
			gate.Percent(n.Spread), holds(n.InTurn), holds(n.Stored), at, needed)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w.Stdout, "\nSpread is that of one run. A threshold holds if a slowdown of its size could be called with %d runs a side:\n"+
		"in turn, with base's own program beside head's (--program, --against), or against stored measurements,\n"+
		"whose noise between jobs is assumed until there is a history.\n", o.Runs.Max)
	return w.noiseAdvice(noises, o)
}

func holds(share float64) string {
	if math.IsInf(share, 1) {
		return "-"
	}
	return gate.Percent(share)
}

// noiseAdvice says what to configure for what gates, the worst of each metric.
func (w world) noiseAdvice(noises []gate.Noise, o *optionSet) error {
	advice := map[string]float64{}
	var order []string
	for _, n := range noises {
		if n.Differ {
			fmt.Fprintf(w.Stdout, "\n%s %s: the program looks slower, or faster, than itself: something drifts, or its runs are not independent.\n",
				report.Printable(cmp.Or(n.Benchmark, o.Suite)), report.Printable(n.Metric.Name))
		}
		if !n.Gating || math.IsInf(n.InTurn, 1) {
			continue
		}
		if _, ok := advice[n.Metric.Name]; !ok {
			order = append(order, n.Metric.Name)
		}
		advice[n.Metric.Name] = max(advice[n.Metric.Name], n.Advice())
	}
	if len(order) == 0 {
		fmt.Fprintln(w.Stdout, "\nNothing that gates has numbers enough to say more.")
		return nil
	}
	var flags []string
	for _, metric := range order {
		flags = append(flags, fmt.Sprintf("--fail %s=%s", report.Printable(metric), strings.ReplaceAll(gate.Percent(advice[metric]), " ", "")))
	}
	_, err := fmt.Fprintf(w.Stdout, "\nTo configure: --runs %d %s\n", o.Runs.Max, strings.Join(flags, " "))
	return err
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
	e := json.NewEncoder(w.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}
