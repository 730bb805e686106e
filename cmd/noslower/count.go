package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/run"
)

// A sizeList is how many operations the command is told to do, smallest first.
type sizeList []uint64

// mostSizes bounds how often a run is repeated to be counted.
const mostSizes = 8

// Set reads numbers of operations, parted by commas.
func (l *sizeList) Set(s string) error {
	var sizes sizeList
	for _, part := range strings.Split(s, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 63)
		switch {
		case err != nil || n == 0:
			return fmt.Errorf("want numbers of operations of 1 or more such as 10000,20000, have %q", s)
		case slices.Contains(sizes, n):
			return fmt.Errorf("want different numbers of operations such as 10000,20000, have %q", s)
		}
		sizes = append(sizes, n)
	}
	if len(sizes) > mostSizes {
		return fmt.Errorf("want at most %d numbers of operations, have %d", mostSizes, len(sizes))
	}
	slices.Sort(sizes)
	*l = sizes
	return nil
}

func (l *sizeList) String() string {
	var parts []string
	for _, n := range *l {
		parts = append(parts, strconv.FormatUint(n, 10))
	}
	return strings.Join(parts, ",")
}

// Type is the name of the value in help.
func (l *sizeList) Type() string { return "N,N…" }

// largest is the number of operations of the runs that are timed; 0 where it is
// the command's own to say.
func (l sizeList) largest() uint64 {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1]
}

// A counting counts what the runs of a contest do.
type counting struct {
	meter    run.Meter
	counters run.Counters
	sizes    sizeList
	env      []string
}

// newCounting looks for a counter; nil where none is asked for, or where auto
// finds none, which is said.
func (w world) newCounting(ctx context.Context, o *optionSet) (*counting, error) {
	want := o.Counters
	if want == "" && len(o.Ops) > 0 {
		want = run.CounterAuto
	}
	if want == "" || want == run.CounterNone {
		return nil, nil
	}
	counters := run.ProbeCounters(ctx)
	meter, err := counters.Choose(want)
	if err != nil {
		return nil, fmt.Errorf("--counters %s: %w", want, err)
	}
	for _, passed := range meter.PassedOver {
		fmt.Fprintf(w.Stderr, "not counted by %s: %v\n", passed.What, passed)
	}
	if meter.Counter == run.CounterNone {
		return nil, nil
	}
	fmt.Fprintf(w.Stderr, "instructions are counted by %s\n", meter.Fingerprint)
	return &counting{meter, counters, o.Ops, run.CountingEnv(w.Environ, o.Env)}, nil
}

// at is a command as it is counted: in a small environment, doing so many
// operations.
func (c *counting) at(spec run.Spec, ops uint64) run.Spec {
	spec.Env = c.env
	spec.Results = ""
	if ops > 0 {
		spec = spec.WithOps(ops)
	}
	return spec
}

// orOnce are the sizes, or the one that the command has itself.
func (c *counting) orOnce() []uint64 {
	if len(c.sizes) == 0 {
		return []uint64{0}
	}
	return c.sizes
}

// agreeing is the number of rounds that must give equal counts for them to be
// taken as exact, so that no more need be made.
const agreeing = 2

// A tally is what was counted of a contestant.
type tally struct {
	rounds  [][]uint64 // instructions by round and size
	warned  bool
	settled bool
}

// count counts one round of a contestant: one run of each size.
func (c *counting) count(ctx context.Context, at *contestant, step run.Step, p *progress) error {
	p.side = strings.TrimPrefix(at.name+", counted", ", ")
	var round []uint64
	var points []run.Point
	for _, ops := range c.orOnce() {
		if err := at.renew(); err != nil {
			return err
		}
		counted, err := c.meter.Count(ctx, c.at(at.spec, ops), step, p)
		if err != nil {
			return err
		}
		if counted.Instructions == 0 {
			for _, absent := range counted.Absent {
				at.side.warnings = append(at.side.warnings, absent.Error())
			}
			at.tally.settled = true
			return nil
		}
		if counted.Forked > 0 && !at.tally.warned {
			at.tally.warned = true
			at.side.warnings = append(at.side.warnings, fmt.Sprintf("%d processes were forked without another program being run: their counts have their parent's in them", counted.Forked))
		}
		round = append(round, counted.Instructions)
		points = append(points, run.Point{Ops: ops, Count: counted.Instructions})
	}
	at.tally.rounds = append(at.tally.rounds, round)
	value, err := c.value(at, points)
	if err != nil {
		at.side.warnings = append(at.side.warnings, err.Error())
		at.tally.settled = true
		return nil
	}
	c.settle(at)
	name, _ := onlyBenchmark(at.side.Set)
	return at.side.Set.Add(len(at.tally.rounds)-1, bench.Result{Name: name, Values: []bench.Value{value}, Counted: true})
}

// value is what one round says: of one more operation where the sizes are told,
// else of the whole run.
func (c *counting) value(at *contestant, points []run.Point) (bench.Value, error) {
	if len(c.sizes) == 0 {
		return bench.Measure("instructions", float64(points[0].Count), "instructions"), nil
	}
	line, err := run.Slope(points)
	if err != nil {
		return bench.Value{}, err
	}
	if len(at.tally.rounds) == 1 {
		switch {
		case line.WithSetup:
			at.side.warnings = append(at.side.warnings, "instructions_per_op has the start-up of the process in it: give --ops two sizes, and it cancels")
		case line.Checked && line.Deviation > 0.001:
			at.side.warnings = append(at.side.warnings, fmt.Sprintf("the cost of an operation depends on how many there are: between neighbouring sizes it lies up to %s off", gate.Percent(line.Deviation)))
		}
	}
	return bench.Measure("instructions_per_op", line.PerOp, "instructions/op"), nil
}

// settle ends the counting of a contestant whose counts agree: more runs would
// give the same. Where they do not, it is said once, with the likely cause.
func (c *counting) settle(at *contestant) {
	rounds := at.tally.rounds
	if len(rounds) < agreeing {
		return
	}
	if len(rounds) == agreeing && slices.Equal(rounds[0], rounds[1]) {
		at.tally.settled = true
		return
	}
	if len(rounds) == agreeing {
		var largest []uint64
		for _, r := range rounds {
			largest = append(largest, r[len(r)-1])
		}
		text := fmt.Sprintf("equal runs do not count alike: %s", run.SpreadOf(largest))
		if why := at.spec.Unsteady(); why != "" {
			text += ": " + why
		}
		at.side.warnings = append(at.side.warnings, text)
	}
}

// onlyBenchmark is the one benchmark that the output has, so that what is
// measured of the process is its; "" where none has a name. only is false where
// there are several.
func onlyBenchmark(set *bench.Set) (name string, only bool) {
	found := false
	for _, k := range set.Keys() {
		if k.Benchmark == "" {
			continue
		}
		if found && k.Benchmark != name {
			return "", false
		}
		name, found = k.Benchmark, true
	}
	return name, true
}

// mostFunctions is how many functions a report names.
const mostFunctions = 10

// profiles reports whether the instructions of an operation can be told by function.
func (c *contest) profiles() bool { return c.counting != nil && len(c.counting.sizes) > 0 }

// costsOf profiles a side's program once at each size.
func (c *contest) costsOf(ctx context.Context, at *contestant) (run.CostsPerOp, error) {
	c.progress.side = strings.TrimPrefix(at.name+", profile", ", ")
	var profiles []run.SizedProfile
	for _, ops := range c.counting.sizes {
		if err := at.renew(); err != nil {
			return run.CostsPerOp{}, err
		}
		profile, err := c.counting.counters.Profile(ctx, c.counting.at(at.spec, ops), run.Step{N: 1, Of: 1}, c.progress)
		if err != nil {
			return run.CostsPerOp{}, err
		}
		profiles = append(profiles, run.SizedProfile{Ops: ops, Profile: profile})
	}
	return run.PerOp(profiles)
}

// blame profiles both sides once and says in which functions the instructions of
// an operation moved.
func (c *contest) blame(ctx context.Context) (*gate.Moved, error) {
	if !c.profiles() || len(c.contestants) != 2 {
		return nil, nil
	}
	var costs []run.CostsPerOp
	for _, at := range c.contestants {
		perOp, err := c.costsOf(ctx, at)
		if err != nil {
			return nil, err
		}
		costs = append(costs, perOp)
	}
	return c.moved(costs[0], costs[1]), nil
}

// moved says in which functions head's instructions of an operation are others than
// base's.
func (c *contest) moved(base, head run.CostsPerOp) *gate.Moved {
	diff := run.Diff(base, head)
	_, at := c.sides()
	name, _ := onlyBenchmark(at.Set)
	moved := &gate.Moved{Benchmark: name, Base: diff.Base, Head: diff.Head}
	for i, f := range diff.Functions {
		if i == mostFunctions || math.Abs(f.Change()) < leastCost {
			break
		}
		moved.Functions = append(moved.Functions, gate.MovedFunction{
			Name: f.Function, File: f.File, Line: f.Line, Base: f.Base, Head: f.Head, New: f.New, Vanished: f.Vanished,
		})
	}
	if change := diff.Change(); change != 0 {
		moved.Explained = diff.Explained(len(moved.Functions)) / change
	}
	return moved
}

// leastCost is what a place costs at least to be told of, in instructions/op.
const leastCost = 0.0005

// storedProfile makes a profile something to keep. What costs nothing to speak of is
// left out.
func storedProfile(costs run.CostsPerOp) (*baseline.Profile, error) {
	p := &baseline.Profile{Total: costs.Total, WithSetup: costs.WithSetup}
	for _, c := range costs.Costs {
		if math.Abs(c.Self) >= leastCost {
			p.Costs = append(p.Costs, baseline.Cost{Function: c.Function, Object: c.Object, Home: c.Home, File: c.File, Line: c.Line, Self: c.Self})
		}
	}
	if n := len(p.Costs); n > baseline.MaxCosts {
		return nil, fmt.Errorf("it has %d places, and %d are kept at most", n, baseline.MaxCosts)
	}
	return p, nil
}

// costsOfStored is the other way round.
func costsOfStored(p baseline.Profile) run.CostsPerOp {
	costs := run.CostsPerOp{Total: p.Total, WithSetup: p.WithSetup}
	for _, c := range p.Costs {
		place := run.Place{Function: c.Function, Object: c.Object, Home: c.Home, File: c.File}
		costs.Costs = append(costs.Costs, run.CostPerOp{Place: place, Line: c.Line, Self: c.Self})
	}
	return costs
}
