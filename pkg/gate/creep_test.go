package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// weekly is ScyllaDB's write path over five weeks, in instructions per
// operation: each step is small, the sum is not.
var weekly = []float64{43691.18, 44227.70, 44966.65, 44452.87, 44523.41}

// trendOf makes a trend of single values, the jobs' commits named by their number
// from 1.
func trendOf(k bench.Key, values ...float64) Trend {
	var points []Point
	for i, v := range values {
		points = append(points, Point{Commit: fmt.Sprintf("c%d", i+1), Job: stat.Summarize([]float64{math.Log(v)})})
	}
	return Trend{k: points}
}

// against decides head against the last of earlier values, with creep.
func against(t *testing.T, metric string, past, head []float64, creep *Creep) Verdict {
	t.Helper()
	key := "write/" + metric
	p := DefaultPolicy()
	p.Rules = []Rule{{Metric: metric, Fail: ptr(0.02)}}
	p.Creep = creep
	var base []float64
	for range 5 {
		base = append(base, past[len(past)-1])
	}
	side := sideOf(t, data{key: head})
	side.Commit = "head"
	trend := trendOf(bench.Key{Benchmark: "write", Metric: metric}, past...)
	v, err := Decide(ptr(sideOf(t, data{key: base})), side, "", Past{Trend: trend}, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func five(v float64) []float64 { return []float64{v, v, v, v, v} }

// TestCreepOfWeeks: no week is beyond 2 % of the one before it, and the fifth is
// beyond 1.5 % of the best.
func TestCreepOfWeeks(t *testing.T) {
	for i := 1; i < len(weekly); i++ {
		if v := against(t, "instructions_per_op", weekly[:i], five(weekly[i]), nil); v.Status != StatusPass {
			t.Errorf("week %d against week %d: %v, want a pass at 2 %%", i+1, i, v.Reasons)
		}
	}
	v := against(t, "instructions_per_op", weekly[:4], five(weekly[4]), &Creep{Fail: 0.015})
	c := v.Comparisons[0]
	if v.Status != StatusFail || c.Crept == nil || c.Outcome != Regressed {
		t.Fatalf("status %v, %+v, want a failure for creep", v.Status, c)
	}
	const want = "creep since c1: +1.9 % over 4 jobs"
	if !strings.HasPrefix(c.Why, want) || !strings.Contains(v.Reasons[0], want) {
		t.Errorf("why %q, reasons %q, want both to say %q", c.Why, v.Reasons, want)
	}
}

func TestCreep(t *testing.T) {
	stair := func(from, step float64, jobs int) []float64 {
		var values []float64
		for i := range jobs {
			values = append(values, from*(1+step*float64(i)))
		}
		return values
	}
	jump := append(stair(1000, 0, 20), stair(1040, 0, 20)...)
	for _, tt := range []struct {
		name    string
		metric  string
		past    []float64
		head    float64
		creep   Creep
		want    Outcome
		warned  bool
		why     string // beginning of the sentence; "" where creep has nothing to say
		warning string
	}{
		{"nothing changed", "instructions_per_op", stair(1000, 0, 20), 1000, Creep{Fail: 0.01}, Same, false, "", ""},
		{"many small steps", "instructions_per_op", stair(1000, 0.001, 40), 1040, Creep{Fail: 0.03, Warn: 0.01}, Regressed, false, "creep since c5: +3.79 %", ""},
		{"beyond the warning alone", "instructions_per_op", stair(1000, 0.001, 20), 1020, Creep{Fail: 0.03, Warn: 0.01}, Same, true, "creep since c5: +1.8 %", ""},
		{"a rate that falls", "throughput", stair(1000, -0.001, 40), 960, Creep{Fail: 0.03}, Regressed, false, "creep since c5: -3.8", ""},
		{"a rate that rises", "throughput", stair(1000, 0.001, 40), 1040, Creep{Fail: 0.03}, Same, false, "", ""},
		{"one commit did most of it", "instructions_per_op", jump, 1041, Creep{Fail: 0.03}, Regressed, false, "creep since c5: +4.1 % over 36 jobs; most of it between c20 and c21", ""},
		{"this change adds nothing", "instructions_per_op", jump, 1040, Creep{Fail: 0.03}, Same, false, "", "this change adds nothing to it"},
		{"this change takes something back", "instructions_per_op", jump, 1035, Creep{Fail: 0.03}, Same, false, "", "this change adds nothing to it"},
		{"creep since a release", "instructions_per_op", stair(1000, 0.001, 40), 1040, Creep{Commit: "c11", Name: "v1.2", Fail: 0.025}, Regressed, false, "creep since v1.2: +2.97 % over 30 jobs", ""},
		{"a release that is not among the jobs", "instructions_per_op", stair(1000, 0.001, 40), 1040, Creep{Commit: "d11", Name: "v1.2", Fail: 0.025}, Same, false, "", ""},
		{"one lucky job", "instructions_per_op", append(append(stair(1000, 0, 20), 950), stair(1000, 0, 20)...), 1001, Creep{Fail: 0.03}, Same, false, "", ""},
		{"a count that one job alone moves", "instructions_per_op", stair(1000, 0, 20), 1019, Creep{Fail: 0.015}, Regressed, false, "creep since c5: +1.9 %", ""},
		{"a time in many small steps", "time_per_op", stair(1000, 0.001, 40), 1040, Creep{Fail: 0.03}, Regressed, false, "creep since c5: +3.79 %", ""},
		{"a time of one slow job", "time_per_op", stair(1000, 0, 20), 1019, Creep{Fail: 0.015}, Same, false, "", ""},
		{"a time of one slow job after others", "time_per_op", append(stair(1000, 0, 20), 1018, 1018, 1000, 1018), 1019, Creep{Fail: 0.015}, Same, false, "", ""},
		{"a time that has been slow for three jobs", "time_per_op", append(stair(1000, 0, 6), 1100, 1100, 1100), 1101, Creep{Fail: 0.03}, Regressed, false, "creep since c3: +10.1 % over 7 jobs", ""},
		{"times too few for a level", "time_per_op", []float64{1000, 1200}, 1201, Creep{Fail: 0.03}, Same, false, "", ""},
		{"a rate that jumped and stayed there", "throughput", append(stair(1000, 0, 20), stair(960, 0, 20)...), 959, Creep{Fail: 0.03}, Regressed, false, "creep since c5: -4.1 % over 36 jobs; most of it between c20 and c21", ""},
		{"a time that crept since a release", "time_per_op", stair(1000, 0.001, 40), 1040, Creep{Commit: "c11", Name: "v1.2", Fail: 0.025}, Regressed, false, "creep since v1.2: +2.97 % over 30 jobs", ""},
		{"a time of few jobs since a release", "time_per_op", []float64{100, 120, 140}, 141.5, Creep{Commit: "c1", Name: "v1.2", Fail: 0.1}, Regressed, false, "creep since v1.2: +41.5 % over 3 jobs", ""},
		{"a time since the release before", "time_per_op", append(stair(1000, 0, 20), 1000), 1019, Creep{Commit: "c21", Name: "v1.2", Fail: 0.015}, Same, false, "", ""},
		{"a time one job of which fell back since a release", "time_per_op", append(stair(1000, 0, 20), 1018, 1002, 1018), 1019, Creep{Commit: "c20", Name: "v1.2", Fail: 0.015}, Same, false, "", ""},
		{"a drop of everything", "throughput", stair(1000, 0, 20), 999, Creep{Fail: 2}, Same, false, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := against(t, tt.metric, tt.past, five(tt.head), &tt.creep).Comparisons[0]
			if c.Outcome != tt.want || c.Warned != tt.warned || (c.Crept != nil) != (tt.why != "") || !strings.HasPrefix(c.Why, tt.why) {
				t.Errorf("%v, warned %v, crept %+v: %s, want %v, warned %v: %s", c.Outcome, c.Warned, c.Crept, c.Why, tt.want, tt.warned, tt.why)
			}
			if !strings.Contains(strings.Join(c.Warnings, "\n"), tt.warning) {
				t.Errorf("warnings %q, want one with %q", c.Warnings, tt.warning)
			}
		})
	}
}

// TestCreepOfNoise: jobs of one and the same program give next to no alarm, however
// noisy the machine, and whether or not it has slow hours: one job in twenty is slower
// by 5 % on average.
func TestCreepOfNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	const trials = 500
	for _, slow := range []float64{0, 0.05} {
		for _, sd := range []float64{0.0005, 0.005, 0.01, 0.02} {
			level := func() float64 {
				x := sd * r.NormFloat64()
				if r.Float64() < slow {
					x += 0.05 * r.ExpFloat64()
				}
				return x
			}
			for _, jobs := range []int{4, 8, 20, 50} {
				alarms := 0
				for range trials {
					var past []float64
					for range jobs {
						past = append(past, 1000*math.Exp(level()))
					}
					var head []float64
					here := level()
					for range 5 {
						head = append(head, 1000*math.Exp(here+sd/3*r.NormFloat64()))
					}
					v := against(t, "time_per_op", past, head, &Creep{Fail: 0.015})
					if c := v.Comparisons[0]; c.Crept != nil {
						alarms++
					}
				}
				if alarms > trials/500 {
					t.Errorf("slow %v, noise of %v %% between %d jobs: %d alarms in %d histories", slow, 100*sd, jobs, alarms, trials)
				}
			}
		}
	}
}

func TestChanges(t *testing.T) {
	var values []float64
	for i := range 40 {
		v := 1000 + float64(i%3)
		if i >= 25 {
			v *= 1.03
		}
		values = append(values, v)
	}
	points := trendOf(bench.Key{}, values...)[bench.Key{}]
	got := Changes(points, 0.01)
	if len(got) != 1 || got[0].At != 25 || got[0].From.Commit != "c25" || got[0].To.Commit != "c26" || math.Abs(got[0].Size-0.03) > 0.002 {
		t.Errorf("have %+v, want a rise of 3 %% at 25, from c25 to c26", got)
	}
	if got := Changes(points, 0.05); len(got) > 0 {
		t.Errorf("have %+v, want nothing of 5 %% or more", got)
	}
}

func TestWatch(t *testing.T) {
	p := DefaultPolicy()
	p.Rules = []Rule{{Metric: "instructions_per_op", Warn: ptr(0.002)}}
	for _, tt := range []struct {
		metric      string
		gating      bool
		smallest    float64
		worseIfMore bool
	}{
		{"instructions_per_op", true, 0.002, true},
		{"throughput", true, 0.025, false},
		{"latency_p99", false, 0.025, true},
		{"allocs_per_op", false, 0.005, true},
	} {
		w := p.Watch("read", bench.Measure(tt.metric, 1, units[tt.metric]).Metric)
		if w.Gating != tt.gating || w.Smallest != tt.smallest || w.Worse(0.1) != tt.worseIfMore || w.Worse(-0.1) == tt.worseIfMore {
			t.Errorf("%s: %+v, more is worse: %v; want gating %v from %v on, %v", tt.metric, w, w.Worse(0.1), tt.gating, tt.smallest, tt.worseIfMore)
		}
	}
}
