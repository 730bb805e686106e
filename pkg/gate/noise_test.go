package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
)

// TestMeasureNoise: a noisy metric cannot hold its threshold and a quiet one
// can, and what is advised for it then holds.
func TestMeasureNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noisy := func(center, sd float64) []float64 {
		v := make([]float64, 10)
		for i := range v {
			v[i] = center * math.Exp(sd*r.NormFloat64())
		}
		return v
	}
	first := sideOf(t, data{"/throughput": noisy(1e5, 0.10), "/instructions_per_op": noisy(4e4, 0.0005), "/latency_p99": {1, 1}, "/allocs_per_op": {0, 0, 0, 0, 0}})
	second := sideOf(t, data{"/throughput": noisy(1e5, 0.10), "/instructions_per_op": noisy(4e4, 0.0005), "/latency_p99": {1, 1}, "/allocs_per_op": {0, 0, 0, 0, 0}})
	byName := map[string]Noise{}
	for _, n := range MeasureNoise(first.Set, second.Set, DefaultPolicy()) {
		byName[n.Metric.Name] = n
	}
	if n := byName["throughput"]; !(n.Spread > 0.05 && n.Spread < 0.2) || n.InTurn < 0.05 || n.Stored <= n.InTurn || n.Needed <= 10 || n.Advice() < n.InTurn || n.Advice() > 10*n.InTurn {
		t.Errorf("throughput with a spread of 10 %%: %+v, advised %v", n, n.Advice())
	}
	if n := byName["instructions_per_op"]; !(n.Spread > 0.0002 && n.Spread < 0.001) || n.InTurn > 0.01 || n.Needed != 5 || n.Advice() != 0.01 {
		t.Errorf("instructions with a spread of 0.05 %%: %+v, advised %v", n, n.Advice())
	}
	if n := byName["latency_p99"]; !math.IsInf(n.InTurn, 1) || n.Needed != 0 {
		t.Errorf("two values: %+v", n)
	}
	if n := byName["allocs_per_op"]; !math.IsInf(n.InTurn, 1) || n.Spread != 0 {
		t.Errorf("zeros: %+v", n)
	}
}

// TestAdvice: what is advised is what the metric has where that holds, a small
// threshold for a count that is always the same, and none where none is of use.
func TestAdvice(t *testing.T) {
	count, elapsed := bench.Measure("instructions_per_op", 1, "instructions/op").Metric, bench.Measure("time_per_op", 1, "s/op").Metric
	for _, tt := range []struct {
		name string
		n    Noise
		want float64
	}{
		{"holds what it has", Noise{Metric: elapsed, Threshold: 0.05, InTurn: 0.02, Stored: 0.1}, 0.05},
		{"holds the next above", Noise{Metric: elapsed, Threshold: 0.05, InTurn: 0.07, Stored: 0.1}, 0.1},
		{"of no use", Noise{Metric: elapsed, Threshold: 0.05, InTurn: 0.6, Stored: 0.9}, math.Inf(1)},
		{"too few", Noise{Metric: elapsed, Threshold: 0.05, InTurn: math.Inf(1), Stored: math.Inf(1)}, math.Inf(1)},
		{"asked for, and held", Noise{Metric: elapsed, Threshold: 0.8, InTurn: 0.6, Stored: 0.9}, 0.8},
		{"an exact count", Noise{Metric: count, Threshold: 0.01, Exact: true, Stored: 0.0011}, 0.002},
		{"an exact count, no noise between jobs", Noise{Metric: count, Threshold: 0.01, Exact: true}, 0.001},
		{"an exact count, a smaller threshold", Noise{Metric: count, Threshold: 0.0005, Exact: true}, 0.0005},
		{"an exact time, which looks cached", Noise{Metric: elapsed, Threshold: 0.05, Exact: true}, 0.05},
	} {
		if got := tt.n.Advice(); got != tt.want {
			t.Errorf("%s: Advice() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestNiceAbove(t *testing.T) {
	for share, want := range map[float64]float64{0.05: 0.05, 0.051: 0.1, 0.011: 0.02, 0.002: 0.002, 0.9: 1, 0: 0} {
		if got := niceAbove(share); math.Abs(got-want) > 1e-12 {
			t.Errorf("niceAbove(%v) = %v, want %v", share, got, want)
		}
	}
}

// TestPointToCPUTime: beside a wall-clock metric that stayed open, the time to
// trust is named, once.
func TestPointToCPUTime(t *testing.T) {
	side := func(metric, unit string, values, cpu []float64) Side {
		s := &bench.Set{}
		for i := range values {
			if err := s.Add(i, bench.Result{Values: []bench.Value{bench.Measure(metric, values[i], unit), bench.Measure("cpu_time", cpu[i], "s")}}); err != nil {
				t.Fatal(err)
			}
		}
		return Side{Set: s, Runs: len(values)}
	}
	p := DefaultPolicy()
	p.Interleaved = true
	for _, tt := range []struct {
		name, metric, unit string
		values             []float64
		want               int
	}{
		{"open", "throughput", "ops/s", wild, 1},
		{"decided", "throughput", "ops/s", steady, 0},
		{"another time of the processor is open", "user_time", "s", wild, 0},
	} {
		p.Rules = []Rule{{Metric: tt.metric, Fail: ptr(.05)}}
		base := side(tt.metric, tt.unit, tt.values, []float64{1, 1.001, 0.999, 1, 1.001})
		v, err := Decide(&base, side(tt.metric, tt.unit, tt.values, []float64{1, 1.001, 1, 0.999, 1}), "", Past{}, p)
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Warnings) != tt.want {
			t.Errorf("%s: warnings %q, want %d", tt.name, v.Warnings, tt.want)
		}
	}
}
