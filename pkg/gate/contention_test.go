package gate

import (
	"math"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
)

// crowded is 20 pairs of CPU times: waiting, which alternates between the sides,
// costs half of itself in CPU time, and head does more work.
func crowded(work, waitsLonger float64) Evidence {
	e := Evidence{Better: bench.Lower, Look: LastLook, Paired: true}
	for i := range 20 {
		rest := .004 * float64(i*7%5-2)
		for _, side := range []struct {
			times, waiting *[]float64
			waited, work   float64
		}{
			{&e.Base, &e.BaseWaiting, .04 * float64(i*3%7), 0},
			{&e.Head, &e.HeadWaiting, .04 * float64(i*5%7), work + rest},
		} {
			*side.times = append(*side.times, math.Exp(side.waited/2+side.work))
			*side.waiting = append(*side.waiting, side.waited)
		}
	}
	for i := range e.HeadWaiting {
		e.HeadWaiting[i] += waitsLonger
	}
	return e
}

func TestContention(t *testing.T) {
	mirrored := func(e Evidence) Evidence {
		e.Better = bench.Higher
		e.Base, e.Head = reciprocals(e.Base), reciprocals(e.Head)
		return e
	}
	for _, tt := range []struct {
		name         string
		e            Evidence
		blind, aware Outcome // without what is known of waiting, and with it
	}{
		{"slower under load", crowded(.035, 0), Inconclusive, Regressed},
		{"slower, where more is better", mirrored(crowded(.035, 0)), Inconclusive, Regressed},
		{"much slower", crowded(.1, 0), Regressed, Regressed},
		{"the same work", crowded(0, 0), Same, Same},
		{"less work", crowded(-.1, 0), Improved, Improved},
		{"a little slower", crowded(.01, 0), Same, Same},
		{"head waits longer by itself", crowded(.035, .2), Inconclusive, Inconclusive},
		{"head waits less by itself", crowded(.035, -.2), Inconclusive, Inconclusive},
	} {
		t.Run(tt.name, func(t *testing.T) {
			blind := tt.e
			blind.BaseWaiting, blind.HeadWaiting = nil, nil
			if got := Judge(blind, .03).Outcome; got != tt.blind {
				t.Errorf("%v where waiting is not known, want %v", got, tt.blind)
			}
			a := Judge(tt.e, .03)
			if a.Outcome != tt.aware {
				t.Errorf("%v where it is known, want %v", a.Outcome, tt.aware)
			}
			if !(a.Low <= a.Estimate && a.Estimate <= a.High) {
				t.Errorf("estimate %v is not within %v and %v", a.Estimate, a.Low, a.High)
			}
		})
	}
}

// TestContentionIsLookedAtInTurn: what a run was kept waiting says nothing of a run
// of another time.
func TestContentionIsLookedAtInTurn(t *testing.T) {
	for name, change := range map[string]func(e *Evidence){
		"not in turn":             func(e *Evidence) { e.Paired = false },
		"another number of base":  func(e *Evidence) { e.BaseWaiting = e.BaseWaiting[1:] },
		"another number of head":  func(e *Evidence) { e.HeadWaiting = e.HeadWaiting[1:] },
		"few":                     func(e *Evidence) { *e = first(*e, pairedFewest-1) },
		"waiting always the same": func(e *Evidence) { e.BaseWaiting, e.HeadWaiting = make([]float64, 20), make([]float64, 20) },
		"waiting makes faster": func(e *Evidence) {
			for i := range e.BaseWaiting {
				e.BaseWaiting[i], e.HeadWaiting[i] = -e.BaseWaiting[i], -e.HeadWaiting[i]
			}
		},
	} {
		changed := crowded(.035, 0)
		change(&changed)
		if f := (evidence{Evidence: changed}).find(); f.calm != nil {
			t.Errorf("%s: %+v, want nothing taken out", name, *f.calm)
		}
	}
	if (evidence{Evidence: crowded(.035, 0)}).find().calm == nil {
		t.Error("nothing is taken out of any of it")
	}
}

func first(e Evidence, n int) Evidence {
	e.Base, e.Head, e.BaseWaiting, e.HeadWaiting = e.Base[:n], e.Head[:n], e.BaseWaiting[:n], e.HeadWaiting[:n]
	return e
}

// TestWaiting: a run without a wall or a CPU time tells nothing of waiting.
func TestWaiting(t *testing.T) {
	for _, tt := range []struct {
		name      string
		wall, cpu []float64
		want      bool
	}{
		{"both", []float64{2, 3}, []float64{1, 1.5}, true},
		{"no CPU time", []float64{2, 3}, []float64{1, 0}, false},
		{"no wall time", []float64{0, 3}, []float64{1, 1}, false},
		{"neither", []float64{0}, []float64{0}, false},
		{"a run less", []float64{2, 3}, []float64{1}, false},
	} {
		var set bench.Set
		for metric, times := range map[string][]float64{"wall_time": tt.wall, "cpu_time": tt.cpu} {
			for i, v := range times {
				if err := set.Add(i, bench.Result{Values: []bench.Value{bench.Measure(metric, v, "s")}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := waiting(&set)
		if !tt.want && got != nil || tt.want && (len(got) != 2 || got[0] != math.Log(2) || got[1] != math.Log(2)) {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	if got := waiting(&bench.Set{}); len(got) != 0 {
		t.Errorf("nothing measured: %v", got)
	}
}

// TestDecideByContention: of measured sides, CPU times are judged by how long the
// runs were kept waiting, and the row says so.
func TestDecideByContention(t *testing.T) {
	e := crowded(.035, 0)
	side := func(times, waiting []float64) Side {
		var set bench.Set
		for i, cpu := range times {
			if err := set.Add(i, bench.Result{Values: []bench.Value{
				bench.Measure("cpu_time", cpu, "s"), bench.Measure("wall_time", cpu*math.Exp(waiting[i]), "s"), bench.Measure("user_time", cpu, "s"),
			}}); err != nil {
				t.Fatal(err)
			}
		}
		return Side{Set: &set}
	}
	base, head := side(e.Base, e.BaseWaiting), side(e.Head, e.HeadWaiting)
	p := DefaultPolicy()
	p.Look, p.Rules = LastLook, []Rule{{Metric: "cpu_time", Fail: ptr(.03)}}
	for _, inTurn := range []bool{true, false} {
		p.Interleaved = inTurn
		v, err := Decide(&base, head, "", Past{}, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range v.Comparisons {
			said := strings.Contains(strings.Join(c.Warnings, "; "), "contention")
			if want := inTurn && c.Metric.Name == "cpu_time"; said != want {
				t.Errorf("%s, in turn %v: %v, %s, warnings %q", c.Metric.Name, inTurn, c.Outcome, c.Why, c.Warnings)
			}
		}
	}
}
