package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/bench/known"
	"github.com/noslower/noslower/pkg/bench"
)

// mostRuns is how many values a side of a trial has: the last look.
const mostRuns = 20

// A trial is one comparison of which the truth is known.
type trial struct {
	name       string
	better     bench.Better
	base, head []float64   // in the order measured
	history    [][]float64 // jobs before base, oldest first
	together   bool        // base and head were measured in turn
	// How long each run was kept waiting: the logarithm of its wall time over its
	// CPU time. It is nil of what are no CPU times.
	baseWaiting, headWaiting []float64
	exact                    bool // counts of a program that does the same every time
}

// first returns the trial with the first n values of each side.
func (t trial) first(n int) trial {
	for _, side := range []*[]float64{&t.base, &t.head, &t.baseWaiting, &t.headWaiting} {
		*side = (*side)[:min(n, len(*side))]
	}
	return t
}

// slowed returns the trial with head worse by exactly step.
func (t trial) slowed(step float64) trial {
	t.head = slices.Clone(t.head)
	for i := range t.head {
		if t.better == bench.Higher {
			t.head[i] /= 1 + step
		} else {
			t.head[i] *= 1 + step
		}
	}
	return t
}

// trials are those of one kind, by the step by which head is slower: 0 is the
// same program.
type trials map[float64][]trial

// inject adds to trials of the same program exactly slowed ones.
func (ts trials) inject() trials {
	for _, step := range steps {
		for _, t := range ts[0] {
			ts[step] = append(ts[step], t.slowed(step))
		}
	}
	return ts
}

// days compares each day that go_benchseries has of one toolchain with the day
// before, if there are as many still earlier days as asked for.
func days(earlier int) func(dir string) (trials, error) {
	return func(dir string) (trials, error) {
		rows, err := known.Read(dir, "go_benchseries")
		if err != nil {
			return nil, err
		}
		// The order that the file gives is that within a day.
		slices.SortStableFunc(rows, func(a, b known.Row) int { return strings.Compare(a.Run, b.Run) })
		ts := trials{}
		for _, s := range group(rows, func(r known.Row) string {
			if r.Label != "base-fixed-toolchain" {
				return ""
			}
			return r.Run
		}) {
			var before [][]float64
			for i, head := range s.jobs[1:] {
				base := s.jobs[i]
				if i >= earlier {
					t := trial{name: s.name + " " + head.name, better: s.better, base: base.values, head: head.values, history: slices.Clip(before)}
					ts[0] = append(ts[0], t.first(mostRuns))
				}
				before = append(before, base.values)
			}
		}
		return ts.inject(), nil
	}
}

// executions compares each 20 executions that laaber_go_instability has of a
// commit with the 20 before them.
func executions(dir string) (trials, error) {
	rows, err := known.Read(dir, "laaber_go_instability")
	if err != nil {
		return nil, err
	}
	ts := trials{}
	for _, s := range group(rows, func(r known.Row) string { return r.Label }) {
		v := s.jobs[0].values
		for i := mostRuns; i+mostRuns <= len(v); i += mostRuns {
			ts[0] = append(ts[0], trial{name: s.name + " " + strconv.Itoa(i), better: s.better, base: v[i-mostRuns : i], head: v[i : i+mostRuns]})
		}
	}
	return ts.inject(), nil
}

// nights compares single values that sandmark_nightly has of one commit with
// those of the night before, where there are 20 nights still before.
func nights(metric string) func(dir string) (trials, error) {
	return func(dir string) (trials, error) {
		rows, err := known.Read(dir, "sandmark_nightly")
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(rows, func(a, b known.Row) int { return strings.Compare(a.Run, b.Run) })
		ts := trials{}
		for _, s := range group(rows, func(r known.Row) string {
			if r.Metric != metric {
				return ""
			}
			return r.Run
		}) {
			var before [][]float64
			for i, head := range s.jobs[1:] {
				if i >= 20 {
					ts[0] = append(ts[0], trial{name: s.name + " " + head.name, better: s.better, base: s.jobs[i].values, head: head.values, history: slices.Clip(before)})
				}
				before = append(before, s.jobs[i].values)
			}
		}
		return ts.inject(), nil
	}
}

// drifting makes sides of the same program from noise of 1 %, in which
// successive values have a correlation.
func drifting(correlation float64) func(string) (trials, error) {
	return func(string) (trials, error) {
		const pairs = 3000
		rng := rand.New(rand.NewPCG(1, 2))
		side := func() []float64 {
			v := make([]float64, mostRuns)
			z := rng.NormFloat64()
			for i := range v {
				v[i] = math.Exp(.01 * z)
				z = correlation*z + math.Sqrt(1-correlation*correlation)*rng.NormFloat64()
			}
			return v
		}
		ts := trials{}
		for i := range pairs {
			ts[0] = append(ts[0], trial{name: strconv.Itoa(i), better: bench.Lower, base: side(), head: side()})
		}
		return ts.inject(), nil
	}
}

// crowded makes CPU times of the same program, measured in turn on a machine that
// others use: they keep each run waiting, which costs it a fifth of that in CPU
// time as well. Head waits longer than base by a share of the wall time, as a
// change to what it waits for itself would make it.
func crowded(longer float64) func(string) (trials, error) {
	return func(string) (trials, error) {
		const pairs = 2000
		rng := rand.New(rand.NewPCG(3, 4))
		ts := trials{}
		for n := range pairs {
			t := trial{name: strconv.Itoa(n), better: bench.Lower, together: true}
			level := 0.0
			for range mostRuns {
				level = .7*level + .03*rng.NormFloat64()
				crowd := .15 * math.Abs(rng.NormFloat64())
				run := func() (cpu, waiting float64) {
					waiting = crowd + .15*math.Abs(rng.NormFloat64())
					return math.Exp(level + .2*waiting + .02*rng.NormFloat64()), waiting
				}
				base, waited := run()
				t.base, t.baseWaiting = append(t.base, base), append(t.baseWaiting, waited)
				head, waited := run()
				t.head, t.headWaiting = append(t.head, head), append(t.headWaiting, waited+longer)
			}
			ts[0] = append(ts[0], t)
		}
		return ts.inject(), nil
	}
}

// A local is a kind of measurement in local_vm: 60 repetitions of each variant
// of a program, of which A0, A1, … are the same and S5 does 5 % more.
type local struct {
	series   string // what its series begin with
	metric   string
	together bool // each repetition has all variants; else one variant came after the other
}

// read compares variants over each 20 successive repetitions. These overlap, so
// that the trials are many but not independent.
func (l local) read(dir string) (trials, error) {
	rows, err := known.Read(dir, "local_vm")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b known.Row) int { return cmp.Compare(a.Order, b.Order) })
	all, waits := group(rows, l.variant), group(waiting(rows), l.variant)
	ts := trials{}
	for n, s := range all {
		for b, base := range s.jobs {
			for h, head := range s.jobs {
				step, ok := l.pair(base.name, head.name)
				if !ok {
					continue
				}
				for i := 0; i+mostRuns <= len(base.values); i++ {
					t := trial{
						name: s.name + " " + head.name + " " + strconv.Itoa(i), better: s.better,
						base: base.values[i : i+mostRuns], head: head.values[i : i+mostRuns], together: l.together,
					}
					if len(waits) > 0 {
						t.baseWaiting, t.headWaiting = waits[n].jobs[b].values[i:i+mostRuns], waits[n].jobs[h].values[i:i+mostRuns]
					}
					ts[step] = append(ts[step], t)
				}
			}
		}
	}
	return ts, nil
}

// variant names the variant of a row; "" where the row is not asked for.
func (l local) variant(r known.Row) string {
	if !strings.HasPrefix(r.Series, l.series) || r.Metric != l.metric {
		return ""
	}
	variant, _, _ := strings.Cut(r.Run, "/")
	// In a duet base|S5|core0 ran at once with test|S5|core1, or the cores were
	// exchanged.
	if f := strings.Split(variant, "|"); len(f) == 3 {
		variant = f[0] + "|" + f[1]
	}
	return variant
}

// waiting returns the rows of CPU time with how long each run was kept waiting in
// the place of its value: the operations of a run over its wall time, and over its
// CPU time, are known.
func waiting(rows []known.Row) []known.Row {
	type run struct{ series, name string }
	wall := map[run]float64{}
	for _, r := range rows {
		if r.Metric == "throughput_wall" {
			wall[run{r.Series, r.Run}] = r.Value
		}
	}
	var waits []known.Row
	for _, r := range rows {
		if w, ok := wall[run{r.Series, r.Run}]; ok && r.Metric == "throughput_cpu" {
			r.Value = math.Log(r.Value / w)
			waits = append(waits, r)
		}
	}
	return waits
}

// pair says whether two variants are compared, and by how much head is slower.
func (l local) pair(base, head string) (step float64, ok bool) {
	if in, duet := strings.CutPrefix(base, "base|"); duet {
		base, head, ok = "A0", strings.TrimPrefix(head, "test|"), head == "test|"+in
		if !ok {
			return 0, false
		}
	}
	switch {
	case base[0] != 'A' || base == head:
		return 0, false
	case head[0] == 'A':
		return 0, true
	}
	percent, err := strconv.ParseFloat(head[1:], 64)
	return percent / 100, err == nil
}

// counts compares single runs under cachegrind: each of base with each of head.
func counts(dir string) (trials, error) {
	rows, err := known.Read(dir, "local_vm")
	if err != nil {
		return nil, err
	}
	all := group(rows, func(r known.Row) string {
		if r.Metric != "instructions_per_op" {
			return ""
		}
		return r.Label
	})
	ts := trials{}
	for _, s := range all {
		base := s.jobs[slices.IndexFunc(s.jobs, func(j job) bool { return j.name == "slow=0" })]
		for _, head := range s.jobs {
			percent, err := strconv.ParseFloat(strings.TrimPrefix(head.name, "slow="), 64)
			if err != nil {
				return nil, err
			}
			for i, b := range base.values {
				for k, h := range head.values {
					if percent == 0 && i == k {
						continue
					}
					ts[percent/100] = append(ts[percent/100], trial{name: s.name + " " + head.name, better: s.better, base: []float64{b}, head: []float64{h}, exact: true})
				}
			}
		}
	}
	return ts, nil
}
