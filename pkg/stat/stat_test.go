package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{1, 1, 100}, 1},
	} {
		x := slices.Clone(tt.x)
		if got := Median(tt.x); got != tt.want {
			t.Errorf("Median(%v) = %v, want %v", tt.x, got, tt.want)
		}
		if !slices.Equal(x, tt.x) {
			t.Errorf("Median changed its argument from %v to %v", x, tt.x)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("Median of nothing = %v, want NaN", got)
	}
}

// TestRobustSD: outliers do not raise it, many equal values do not make it 0
// alone, and one value has none.
func TestRobustSD(t *testing.T) {
	for _, tt := range []struct {
		name      string
		x         []float64
		low, high float64
	}{
		{"one value", []float64{5}, 0, 0},
		{"constant", []float64{5, 5, 5, 5}, 0, 0},
		{"an outlier", []float64{1, 2, 3, 4, 1e9}, 1, 3},
		{"an outlier among equals", []float64{5, 5, 5, 5, 6}, 0, 0},
		{"two values", []float64{0, 2}, 1.4, 1.5},
	} {
		if got := RobustSD(tt.x); got < tt.low || got > tt.high {
			t.Errorf("%s: RobustSD(%v) = %v, want it from %v to %v", tt.name, tt.x, got, tt.low, tt.high)
		}
	}
}

// TestLargestSD: it is the largest of what RobustSD says of each.
func TestLargestSD(t *testing.T) {
	steady, wild, outlying := []float64{5, 5.1, 5.2}, []float64{1, 2, 3, 4}, []float64{5, 5, 5, 5, 1e9}
	for _, tt := range []struct {
		least   float64
		samples [][]float64
		want    float64
	}{
		{0.5, nil, 0.5},
		{0, [][]float64{{5}, {}}, 0},
		{0, [][]float64{steady, wild}, RobustSD(wild)},
		{0.01, [][]float64{steady, outlying}, RobustSD(steady)},
		{10, [][]float64{steady, wild, outlying}, 10},
	} {
		if got := LargestSD(tt.least, tt.samples...); got != tt.want {
			t.Errorf("LargestSD(%v, %v) = %v, want %v", tt.least, tt.samples, got, tt.want)
		}
	}
}

func TestSpearman(t *testing.T) {
	for _, tt := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"same order", []float64{1, 2, 3, 4}, []float64{10, 200, 3000, 40000}, 1},
		{"opposite order", []float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		{"ties", []float64{1, 1, 2, 2}, []float64{5, 5, 9, 9}, 1},
		{"one side constant", []float64{1, 1, 1, 1}, []float64{1, 2, 3, 4}, 0},
		// 1 - 6·Σd²/(n(n²-1)) with d = 0, 1, 1, 0.
		{"one exchange", []float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}, 0.8},
	} {
		if got := Spearman(tt.x, tt.y); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestQuantiles has tabulated critical values: the smallest k that is not below
// the tail, one above the value of the tables.
func TestQuantiles(t *testing.T) {
	var r Ranks
	for _, tt := range []struct {
		n, m int
		p    float64
		want int
	}{
		// Two-sided 5 %, table of Mann and Whitney: U at most 2, 23, 127.
		{5, 5, 0.025, 3}, {10, 10, 0.025, 24}, {20, 20, 0.025, 128},
		// Two-sided 1 %: 0, 16, 105.
		{5, 5, 0.005, 1}, {10, 10, 0.005, 17}, {20, 20, 0.005, 106},
		// 3 against 3 have no 5 %.
		{3, 3, 0.025, 0}, {1, 1, 0.1, 0},
	} {
		if got := r.mannWhitneyQuantile(tt.n, tt.m, tt.p); got != tt.want {
			t.Errorf("mannWhitneyQuantile(%d, %d, %v) = %d, want %d", tt.n, tt.m, tt.p, got, tt.want)
		}
	}
	for _, tt := range []struct {
		n    int
		p    float64
		want int
	}{
		// Two-sided 5 %, table of Wilcoxon: 8 at 10 pairs, 52 at 20; none at 5.
		{10, 0.025, 9}, {20, 0.025, 53}, {5, 0.025, 0},
	} {
		if got := r.signedRankQuantile(tt.n, tt.p); got != tt.want {
			t.Errorf("signedRankQuantile(%d, %v) = %d, want %d", tt.n, tt.p, got, tt.want)
		}
	}
}

// TestQuantilesOfLargeSamples: where the normal approximation takes over, it
// continues the exact quantiles.
func TestQuantilesOfLargeSamples(t *testing.T) {
	var r Ranks
	for _, p := range []float64{0.004, 0.01, 0.1} {
		exact, normal := r.mannWhitneyQuantile(140, 142, p), r.mannWhitneyQuantile(142, 142, p)
		if step := float64(normal) / float64(exact); step < 1 || step > 1.03 {
			t.Errorf("at %v: %d of 140 v 142, and %d of 142 v 142", p, exact, normal)
		}
		exact, normal = r.signedRankQuantile(200, p), r.signedRankQuantile(201, p)
		if step := float64(normal) / float64(exact); step < 1 || step > 1.02 {
			t.Errorf("at %v: %d of 200 pairs, and %d of 201", p, exact, normal)
		}
	}
}

// TestShiftsAreSelected compares the selection, from numbers in buckets and from
// numbers that are only counted, with sorting them all.
func TestShiftsAreSelected(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var r Ranks
	for i := range 500 {
		n, m := 1+rng.IntN(9), 1+rng.IntN(9)
		if i%50 == 0 {
			n, m = n+60, m+70 // more differences than are written out
		}
		x, y := values(rng, n), values(rng, m)
		var d []float64
		for _, a := range x {
			for _, b := range y {
				d = append(d, b-a)
			}
		}
		checkShift(t, r.Unpaired(x, y, shiftLevels...), d, func(p float64) int { return r.mannWhitneyQuantile(len(x), len(y), p) })
		y = values(rng, len(x))
		d = nil
		for i := range x {
			for j := i; j < len(x); j++ {
				d = append(d, ((y[i]-x[i])+(y[j]-x[j]))/2)
			}
		}
		checkShift(t, r.Paired(x, y, shiftLevels...), d, func(p float64) int { return r.signedRankQuantile(len(x), p) })
	}
}

var shiftLevels = []float64{0.8, 0.98}

func values(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Round(8*r.NormFloat64()) / 4 // with ties, and below 0 too
	}
	return v
}

func checkShift(t *testing.T, s Shift, all []float64, quantile func(float64) int) {
	t.Helper()
	slices.Sort(all)
	if want := Median(all); s.Estimate != want {
		t.Fatalf("estimate %v, want %v of %v", s.Estimate, want, all)
	}
	if want := all[len(all)-1] - all[0]; s.Range != want {
		t.Fatalf("range %v, want %v", s.Range, want)
	}
	for i, level := range shiftLevels {
		want := Interval{math.Inf(-1), math.Inf(1), level}
		if k := quantile((1 - level) / 2); k > 0 {
			want.Low, want.High = all[k-1], all[len(all)-k]
		}
		if got := s.Bounds[i]; got != want {
			t.Fatalf("bounds at %v: %v, want %v of %v", level, got, want, all)
		}
	}
}

// TestLargeSamples: a hundred thousand values a side are no ten billion
// differences in memory.
func TestLargeSamples(t *testing.T) {
	const n = 100_000
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = float64(i), float64(i)+10
	}
	s := new(Ranks).Unpaired(x, y, 0.98)
	if s.Estimate != 10 {
		t.Errorf("estimate %v, want 10", s.Estimate)
	}
	if b := s.Bounds[0]; !(b.Low < 10 && b.Low > -1000 && b.High > 10 && b.High < 1000) {
		t.Errorf("bounds %v around 10", b)
	}
}

// TestTailBetweenJobs: it is the noise where that is normal, more where it has
// long tails, and no more for a change of level.
func TestTailBetweenJobs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	jobs := func(noise func(i int) float64) []Job {
		var jobs []Job
		for i := range 2000 {
			jobs = append(jobs, Job{Center: noise(i)})
		}
		return jobs
	}
	for _, tt := range []struct {
		name     string
		noise    func(i int) float64
		low, top float64
	}{
		{"none", func(int) float64 { return 1 }, 0, 0},
		{"normal", func(int) float64 { return 0.01 * r.NormFloat64() }, 0.0095, 0.0105},
		{"normal, with a step", func(i int) float64 { return 0.01*r.NormFloat64() + float64(i/1000) }, 0.0095, 0.0105},
		{"every tenth far off", func(i int) float64 { return 0.01*r.NormFloat64() + 0.1*float64(i%10/9) }, 0.03, 0.05},
	} {
		if got := TailBetweenJobs(jobs(tt.noise)); got < tt.low || got > tt.top {
			t.Errorf("%s: %v, want from %v to %v", tt.name, got, tt.low, tt.top)
		}
	}
	if got := TailBetweenJobs(nil); got != 0 {
		t.Errorf("of no job: %v", got)
	}
}

func TestBetweenJobs(t *testing.T) {
	jobs := func(within float64, centers ...float64) []Job {
		var list []Job
		for _, c := range centers {
			list = append(list, Job{Center: c, Variance: within, Count: 5})
		}
		return list
	}
	for _, tt := range []struct {
		name      string
		jobs      []Job
		ok        bool
		low, high float64
	}{
		{"too few", jobs(0, 1, 2, 3, 4, 5), false, 0, 0},
		{"all alike", jobs(0, 1, 1, 1, 1, 1, 1), true, 0, 0},
		{"a level shift is no noise", jobs(0, 1, 1, 1, 9, 9, 9, 9), true, 0, 0},
		{"one outlier is little", jobs(0, 1, 1.01, 1, 1.01, 1, 9, 1.01, 1, 1.01, 1), true, 0.005, 0.02},
		{"noise of 1", jobs(0, 0, 1.4, 0, 1.4, 0, 1.4, 0), true, 1, 2},
		{"no more than within the jobs", jobs(10, 0, 1.4, 0, 1.4, 0, 1.4, 0), true, 0, 0},
		{"only the last 20 count", append(jobs(0, 0, 50, 0, 50, 0, 50, 0, 50), jobs(0, slices.Repeat([]float64{1}, 20)...)...), true, 0, 0},
	} {
		sd, ok := BetweenJobs(tt.jobs)
		if ok != tt.ok || sd < tt.low || sd > tt.high {
			t.Errorf("%s: %v, %v; want %v and from %v to %v", tt.name, sd, ok, tt.ok, tt.low, tt.high)
		}
	}
}

func TestWiden(t *testing.T) {
	i := Interval{-3, 5, 0.98}
	if got, want := i.Widen(1, 3), (Interval{1 - 5, 1 + 5, 0.98}); got != want {
		t.Errorf("Widen = %v, want %v: 4 and 3 add to 5", got, want)
	}
	if got := i.Widen(1, 0); got != i {
		t.Errorf("Widen by nothing = %v, want %v", got, i)
	}
	unbounded := Interval{math.Inf(-1), math.Inf(1), 0.98}
	if got := unbounded.Widen(0, 3); got != unbounded {
		t.Errorf("Widen of no bounds = %v", got)
	}
	if got, want := i.Negate(), (Interval{-5, 3, 0.98}); got != want {
		t.Errorf("Negate = %v, want %v", got, want)
	}
	if got := i.OneSided(); math.Abs(got-0.99) > 1e-15 {
		t.Errorf("OneSided = %v, want 0.99", got)
	}
}

func TestNormal(t *testing.T) {
	got := Normal(1, 2)(0.95)
	if math.Abs(got.Low-(1-3.92)) > 1e-3 || math.Abs(got.High-(1+3.92)) > 1e-3 {
		t.Errorf("95 %% around 1 with an error of 2: %v", got)
	}
}

// TestDrift: values of no order have none, a walk and a slope have, few values
// and equal ones say nothing, and an outlier is no drift.
func TestDrift(t *testing.T) {
	slope := make([]float64, 20)
	for i := range slope {
		slope[i] = math.Exp(float64(i))
	}
	halves := append(slices.Repeat([]float64{1, 1.01}, 10), slices.Repeat([]float64{2, 2.01}, 10)...)
	for _, tt := range []struct {
		name      string
		x         []float64
		low, high float64
	}{
		{"nothing", nil, 0, 0},
		{"equal", slices.Repeat([]float64{5}, 20), 0, 0},
		{"a slope", slope, 0.9, mostDrift},
		{"a short slope", slope[:8], 0, 0},
		{"two levels", halves, 0.6, mostDrift},
		{"in turn", slices.Repeat([]float64{1, 2}, 10), 0, 0},
		{"outliers", append(slices.Repeat([]float64{3, 1, 2, 4}, 5), 1000, 1001), 0, 0},
	} {
		if got := Drift(tt.x); !(got >= tt.low && got <= tt.high) {
			t.Errorf("%s: Drift(%v) = %v, want it from %v to %v", tt.name, tt.x, got, tt.low, tt.high)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	found := map[float64]int{}
	for _, rho := range []float64{0, 0.8} {
		for range 1000 {
			x := make([]float64, 20)
			z := r.NormFloat64()
			for i := range x {
				x[i] = z
				z = rho*z + math.Sqrt(1-rho*rho)*r.NormFloat64()
			}
			if Drift(x) > 0 {
				found[rho]++
			}
		}
	}
	if found[0] > 5 || found[0.8] < 450 {
		t.Errorf("found in %d of 1000 samples of 20 without drift, and in %d with 0.8", found[0], found[0.8])
	}
}

func TestInflation(t *testing.T) {
	if got := Inflation(0); got != 1 {
		t.Errorf("Inflation(0) = %v", got)
	}
	if got := Inflation(0.8); math.Abs(got-3) > 1e-12 {
		t.Errorf("Inflation(0.8) = %v, want 3", got)
	}
}

func TestStretch(t *testing.T) {
	i := Interval{-3, 5, 0.98}
	if got, want := i.Stretch(1, 2), (Interval{-7, 9, 0.98}); got != want {
		t.Errorf("Stretch = %v, want %v", got, want)
	}
	unbounded := Interval{math.Inf(-1), math.Inf(1), 0.98}
	if got := unbounded.Stretch(0, 3); got != unbounded {
		t.Errorf("Stretch of no bounds = %v", got)
	}
}
