package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/bench/known"
)

// made returns a series that goes by steps: for each, so many values around a
// level.
func made(sd float64, seed uint64, steps ...struct {
	n     int
	level float64
}) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	var x []float64
	for _, s := range steps {
		for range s.n {
			x = append(x, s.level+sd*r.NormFloat64())
		}
	}
	return x
}

type step = struct {
	n     int
	level float64
}

func TestChangePoints(t *testing.T) {
	outlier := made(0.01, 5, step{50, 4})
	outlier[20] += 1
	last := made(0.01, 6, step{50, 4})
	last[49] += 1
	creep := made(0.002, 7, step{50, 4})
	for i := range creep {
		creep[i] += 0.002 * float64(i)
	}
	for _, tt := range []struct {
		name     string
		x        []float64
		smallest float64
		want     []int // within a value
	}{
		{"nothing", nil, 0, nil},
		{"constant", make([]float64, 60), 0, nil},
		{"a count that steps exactly", made(0, 1, step{20, 1}, step{10, 1.01}), 0.005, []int{20}},
		{"too few to be told from chance", made(0, 1, step{3, 1}, step{3, 2}), 0, nil},
		{"a step of four deviations", made(0.01, 2, step{25, 4}, step{25, 4.04}), 0, []int{25}},
		{"a step that is too small to matter", made(0.001, 2, step{25, 4}, step{25, 4.004}), 0.01, nil},
		{"there and back", made(0.01, 3, step{30, 4}, step{10, 4.1}, step{30, 4}), 0, []int{30, 40}},
		{"a step a window", made(0.01, 4, step{60, 4}, step{60, 4.1}, step{60, 4.2}, step{60, 4}), 0, []int{60, 120, 180}},
		{"an outlier", outlier, 0, nil},
		{"an outlier at the end", last, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ChangePoints(tt.x, ChangeSearch{P: 0.001, Smallest: tt.smallest, Seed: 1})
			near := slices.EqualFunc(got, tt.want, func(p ChangePoint, at int) bool { return max(p.At-at, at-p.At) <= 1 })
			if !near {
				t.Errorf("have %v, want changes at %v", got, tt.want)
			}
		})
	}
	t.Run("creep is a stair", func(t *testing.T) {
		got := ChangePoints(creep, ChangeSearch{P: 0.001, Seed: 1})
		if len(got) == 0 {
			t.Fatal("want changes, have none")
		}
		for _, p := range got {
			if p.To <= p.From {
				t.Errorf("want only rises, have %+v", p)
			}
		}
	})
}

// TestChangePointsOfNoise bounds the changes that are seen where there is none:
// of normal noise, and of noise with heavy tails.
func TestChangePointsOfNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, tt := range []struct {
		name  string
		noise func() float64
	}{
		{"normal", r.NormFloat64},
		{"log-normal", func() float64 { return math.Exp(r.NormFloat64()) }},
	} {
		const trials = 1000
		found := 0
		for trial := range trials {
			x := make([]float64, 50)
			for i := range x {
				x[i] = tt.noise()
			}
			if len(ChangePoints(x, ChangeSearch{P: 0.001, Seed: uint64(trial)})) > 0 {
				found++
			}
		}
		if found > 5 {
			t.Errorf("%s noise: changes in %d of %d series, want one in a thousand", tt.name, found, trials)
		}
	}
}

// TestChangePointsAgree: the answer is a function of the values, the search and
// the seed.
func TestChangePointsAgree(t *testing.T) {
	x := made(0.02, 9, step{40, 1}, step{40, 1.02}, step{40, 1.05})
	s := ChangeSearch{P: 0.001, Seed: 3}
	if a, b := ChangePoints(x, s), ChangePoints(x, s); !slices.Equal(a, b) {
		t.Errorf("twice the same search: %v and %v", a, b)
	}
}

// plainChangePoints is E-divisive as the paper has it, over the whole series
// and without a smallest size: what the windows and the sizes are measured
// against.
func plainChangePoints(x []float64, p float64) []int {
	d := divider{x: x, search: ChangeSearch{P: p}, random: rand.New(rand.NewPCG(1, 1))}
	d.split(0, len(x))
	return d.at
}

// shared returns the series of a source, by the name that a row's series has, ""
// where it is of none: the median of each run, as a logarithm, in the order in
// which runs come first. The test is skipped where the measurements are not at
// hand.
func shared(t testing.TB, source string, name func(known.Row) string) map[string][]float64 {
	t.Helper()
	type place struct{ series, run string }
	var order []place
	values := map[place][]float64{}
	for _, r := range known.Rows(t, source) {
		at := place{name(r), r.Run}
		if at.series == "" || r.Value <= 0 {
			continue
		}
		if values[at] == nil {
			order = append(order, at)
		}
		values[at] = append(values[at], math.Log(r.Value))
	}
	series := map[string][]float64{}
	for _, at := range order {
		series[at.series] = append(series[at.series], Median(values[at]))
	}
	return series
}

// TestDocumentedChangePoints: Apache Otava's tests have a series of TigerBeetle's
// throughput, with changes that they document at 15 and 71.
func TestDocumentedChangePoints(t *testing.T) {
	x := shared(t, "otava_tests", func(r known.Row) string { return r.Series + "/" + r.Metric })["tigerbeetle/throughput"]
	got := ChangePoints(x, ChangeSearch{P: 0.001, Seed: 1})
	for _, want := range []int{15, 71} {
		if !slices.ContainsFunc(got, func(p ChangePoint) bool { return max(p.At-want, want-p.At) <= 1 }) {
			t.Errorf("want a change at %d, have %v", want, got)
		}
	}
	t.Logf("%d changes in %d jobs: %v", len(got), len(x), got)
}

// sameProgram are the sources of which every change is false.
var sameProgram = []string{"sandmark_nightly", "laaber_go_instability"}

// falseChanges counts the changes that are called in a source's series of one and
// the same program: by E-divisive alone, and by the search.
func falseChanges(t testing.TB, source string) (series, jobs, plain, ours int) {
	all := shared(t, source, func(r known.Row) string {
		if r.Label != "same-commit" {
			return ""
		}
		// Some series of sandmark-nightly go on with another commit of the compiler.
		_, commit, _ := strings.Cut(r.Run, "/")
		return r.Series + "/" + r.Metric + "/" + commit
	})
	for _, x := range all {
		jobs += len(x)
		plain += len(plainChangePoints(x, 0.001))
		ours += len(ChangePoints(x, ChangeSearch{P: 0.001, Smallest: 0.02, Seed: 1}))
	}
	return len(all), jobs, plain, ours
}

// TestFalseChangePoints: what is called where the program is one and the same is
// at most a third of what E-divisive alone calls.
func TestFalseChangePoints(t *testing.T) {
	for _, source := range sameProgram {
		series, jobs, plain, ours := falseChanges(t, source)
		t.Logf("%s: %d series, %d jobs: %d changes by E-divisive alone, %d by the search", source, series, jobs, plain, ours)
		if 3*ours > plain {
			t.Errorf("%s: %d changes called, want at most a third of %d", source, ours, plain)
		}
	}
}

// BenchmarkFalseChangePoints has the figures of docs/trends.md.
func BenchmarkFalseChangePoints(b *testing.B) {
	for _, source := range sameProgram {
		b.Run(source, func(b *testing.B) {
			for b.Loop() {
				series, jobs, plain, ours := falseChanges(b, source)
				b.ReportMetric(float64(series), "series")
				b.ReportMetric(float64(jobs), "jobs")
				b.ReportMetric(float64(plain), "false-by-E-divisive")
				b.ReportMetric(float64(ours), "false")
			}
		})
	}
}

// BenchmarkChangePoints is a series that changes its level with every 500 jobs,
// searched in windows and, as far as one would wait for it, by E-divisive alone.
func BenchmarkChangePoints(b *testing.B) {
	made := func(jobs int) []float64 {
		x := made(0.01, 10, step{jobs, 1})
		for i := range x {
			x[i] += float64(i/500) * 0.05
		}
		return x
	}
	for _, jobs := range []int{50, 1000, 2000, 5000, 10_000} {
		x := made(jobs)
		b.Run(fmt.Sprintf("windows/%d", jobs), func(b *testing.B) {
			for b.Loop() {
				ChangePoints(x, ChangeSearch{P: 0.001, Smallest: 0.01, Seed: 1})
			}
		})
	}
	for _, jobs := range []int{50, 1000, 2000} {
		x := made(jobs)
		b.Run(fmt.Sprintf("plain/%d", jobs), func(b *testing.B) {
			for b.Loop() {
				plainChangePoints(x, 0.001)
			}
		})
	}
}
