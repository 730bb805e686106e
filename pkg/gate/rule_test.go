package gate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// vectors is the file of inputs and answers that the rule must match; it is
// kept outside the repository.
const vectors = "../../../shared/detect/vectors.json"

type vector struct {
	Better        string      `json:"better"`
	Threshold     float64     `json:"threshold"`
	Look          int         `json:"look"`
	Interleaved   bool        `json:"interleaved"`
	Deterministic bool        `json:"deterministic"`
	PriorSD       float64     `json:"prior_sd"`
	Base          []float64   `json:"base"`
	Head          []float64   `json:"head"`
	History       [][]float64 `json:"history_log_cost"`
	Want          struct {
		Outcome    string   `json:"outcome"`
		Shift      *float64 `json:"log_slowdown"`
		Low        *float64 `json:"low"`
		High       *float64 `json:"high"`
		BetweenJob *float64 `json:"between_job_sd"`
	} `json:"want"`
}

func (v vector) evidence() evidence {
	better, _ := bench.ParseBetter(v.Better)
	e := evidence{Evidence: Evidence{Better: better, Base: v.Base, Head: v.Head, Look: v.Look, Paired: v.Interleaved, Exact: v.Deterministic, Prior: v.PriorSD}}
	for _, job := range v.History {
		e.History = append(e.History, stat.Summarize(job))
	}
	return e
}

func (v vector) judge() Answer {
	return Judge(v.evidence().Evidence, v.Threshold)
}

// TestVectors holds the rule against answers that were computed by other code.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(vectors)
	if err != nil {
		t.Skipf("the vectors are not on this machine: %v", err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) != 500 {
		t.Errorf("have %d vectors, want 500", len(file.Vectors))
	}
	words := map[ruling]string{open: "inconclusive", worse: "regressed", notWorse: "not-worse"}
	for i, v := range file.Vectors {
		e := v.evidence()
		f := e.find()
		if got, want := v.judge().Outcome, f.outcome(lossOf(v.Threshold, e.Better)); got != want {
			t.Errorf("vector %d: Judge says %v, the rule %v", i, got, want)
		}
		if got := words[f.rule(lossOf(v.Threshold, e.Better))]; got != v.Want.Outcome {
			t.Errorf("vector %d: outcome %s, want %s", i, got, v.Want.Outcome)
		}
		near(t, i, "shift", f.estimate, v.Want.Shift)
		if f.basis != byHistory {
			near(t, i, "low", f.fail.Low, v.Want.Low)
			near(t, i, "high", f.pass.High, v.Want.High)
		}
		if v.Want.BetweenJob != nil {
			near(t, i, "between-job sd", f.between, v.Want.BetweenJob)
		}
	}
}

// near checks a number where an answer gives one; nil means unbounded or none.
func near(t *testing.T, i int, what string, got float64, want *float64) {
	t.Helper()
	switch {
	case want == nil && !math.IsInf(got, 0) && !math.IsNaN(got) && got != 0:
		t.Errorf("vector %d: %s %v, want none", i, what, got)
	case want != nil && !(math.Abs(got-*want) <= 1e-9*max(1, math.Abs(*want))):
		t.Errorf("vector %d: %s %v, want %v", i, what, got, *want)
	}
}

// random returns evidence of every kind: small and large samples, ties, zeros,
// histories.
func random(r *rand.Rand) evidence {
	e := evidence{Evidence: Evidence{Better: bench.Lower, Look: r.IntN(len(failAlphas))}}
	if r.IntN(2) == 0 {
		e.Better = bench.Higher
	}
	values := func(center float64) []float64 {
		v := make([]float64, 1+r.IntN(12))
		for i := range v {
			v[i] = center * math.Exp(0.02*r.NormFloat64())
			if r.IntN(3) == 0 {
				v[i] = math.Round(v[i])
			}
		}
		return v
	}
	e.Base, e.Head = values(100), values(100*math.Exp(0.05*r.NormFloat64()))
	if r.IntN(2) == 0 {
		e.Head = e.Head[:min(len(e.Base), len(e.Head))]
		e.Base = e.Base[:len(e.Head)]
		e.Paired = r.IntN(2) == 0
	}
	if r.IntN(4) == 0 {
		e.Prior = 0.02
	}
	return e
}

// TestMirror: a metric and its reciprocal, where better is the other way round,
// are one measurement and have one answer.
func TestMirror(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		e := random(r)
		m := e
		m.Better = -e.Better
		m.Base, m.Head = reciprocals(e.Base), reciprocals(e.Head)
		loss := 0.001 + 0.1*r.Float64()
		if a, b := e.find().outcome(loss), m.find().outcome(loss); a != b {
			t.Fatalf("%+v: %v, but its reciprocal %v", e, a, b)
		}
		x := e
		x.Base, x.Head = e.Head, e.Base
		opposite := map[Outcome]Outcome{Regressed: Improved, Improved: Regressed}
		a, b := e.find().outcome(loss), x.find().outcome(loss)
		if o, ok := opposite[a]; ok && b != o {
			t.Fatalf("%+v: %v, but %v with the sides exchanged", e, a, b)
		}
	}
}

func reciprocals(v []float64) []float64 {
	r := make([]float64, len(v))
	for i := range v {
		r[i] = 1 / v[i]
	}
	return r
}

// TestScale: the unit of a metric changes no answer.
func TestScale(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		e := random(r)
		s := e
		s.Base, s.Head = nil, nil
		factor := math.Ldexp(1, r.IntN(40)-20) // a power of two, so that no rounding is added
		for _, v := range e.Base {
			s.Base = append(s.Base, factor*v)
		}
		for _, v := range e.Head {
			s.Head = append(s.Head, factor*v)
		}
		// The bounds may differ in their last bits; at a loss this far from
		// all of them that cannot matter.
		loss := 0.001 + 0.1*r.Float64()
		if a, b := e.find().outcome(loss), s.find().outcome(loss); a != b {
			t.Fatalf("%+v: %v, but %v after scaling by %v", e, a, b, factor)
		}
	}
}

// TestNothingIsNeverSame: no value, or one that is no number, opens the answer.
func TestNothingIsNeverSame(t *testing.T) {
	good := []float64{1, 1.01, 0.99, 1, 1}
	for _, tt := range []struct {
		name       string
		base, head []float64
	}{
		{"empty base", nil, good},
		{"empty head", good, nil},
		{"nothing at all", nil, nil},
		{"NaN in base", []float64{1, math.NaN(), 1, 1, 1}, good},
		{"NaN in head", good, []float64{math.NaN()}},
		{"infinite", good, []float64{1, 1, 1, 1, math.Inf(1)}},
		{"negative", []float64{-1, -1, -1, -1, -1}, []float64{-1, -1, -1, -1, -1}},
	} {
		for _, better := range []bench.Better{bench.Lower, bench.Higher} {
			for _, exact := range []bool{false, true} {
				e := evidence{Evidence: Evidence{Better: better, Base: tt.base, Head: tt.head, Look: LastLook, Exact: exact, Prior: 0.02}}
				if got := e.find().outcome(0.05); got != Inconclusive {
					t.Errorf("%s, better %v, exact %v: %v, want inconclusive", tt.name, better, exact, got)
				}
			}
		}
	}
}

// TestRule has the cases that the method names.
func TestRule(t *testing.T) {
	five := func(v float64) []float64 { return []float64{v, v, v, v, v} }
	for _, tt := range []struct {
		name       string
		better     bench.Better
		base, head []float64
		exact      bool
		threshold  float64
		want       Outcome
	}{
		{"constant, worse by more", bench.Lower, five(100), five(101.5), false, .01, Regressed},
		{"constant, worse by less", bench.Lower, five(100), five(100.5), false, .01, Same},
		{"constant, worse by just that", bench.Lower, five(100), five(101), false, .01, Regressed},
		{"constant, better by more", bench.Lower, five(101.5), five(100), false, .01, Improved},
		{"one value each", bench.Lower, []float64{100}, []float64{101.5}, false, .01, Inconclusive},
		{"one exact value each", bench.Lower, []float64{100}, []float64{101.5}, true, .01, Regressed},
		{"one exact value each, less", bench.Lower, []float64{100}, []float64{100.5}, true, .01, Same},
		{"3 v 8, far apart", bench.Lower, []float64{100, 100.1, 100.2}, []float64{103, 103.1, 103.2, 103.3, 103.4, 103.5, 103.6, 103.7}, false, .01, Regressed},
		{"3 v 5, far apart", bench.Lower, []float64{100, 100.1, 100.2}, []float64{103, 103.1, 103.2, 103.3, 103.4}, false, .01, Inconclusive},
		{"allocations from none", bench.Lower, five(0), five(1), false, .01, Regressed},
		{"allocations from none, two launches", bench.Lower, []float64{0, 0}, []float64{1, 1}, false, .01, Inconclusive},
		{"allocations to none", bench.Lower, five(1), five(0), false, .01, Improved},
		{"allocations none on both sides", bench.Lower, five(0), five(0), false, .01, Same},
		{"zeros mixed", bench.Lower, []float64{0, 0, 0, 1, 1}, []float64{0, 1, 1, 1, 1}, false, .01, Inconclusive},
		{"throughput to zero", bench.Higher, five(1e5), five(0), false, .05, Regressed},
		{"throughput from zero", bench.Higher, five(0), five(1e5), false, .05, Improved},
		{"ties and one more", bench.Lower, five(5), []float64{5, 5, 5, 5, 6}, false, .01, Same},
		{"throughput halved", bench.Higher, []float64{100, 101, 99, 100, 102}, []float64{50, 51, 49, 50, 52}, false, .05, Regressed},
		{"throughput doubled", bench.Higher, []float64{50, 51, 49, 50, 52}, []float64{100, 101, 99, 100, 102}, false, .05, Improved},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := evidence{Evidence: Evidence{Better: tt.better, Base: tt.base, Head: tt.head, Exact: tt.exact, Look: LastLook}}
			if got := e.find().outcome(lossOf(tt.threshold, tt.better)); got != tt.want {
				t.Errorf("%v, want %v: %+v", got, tt.want, e.find())
			}
		})
	}
}

// TestFewest has the smallest numbers from which a regression can be called.
func TestFewest(t *testing.T) {
	last, first := 1-failAlphas[LastLook], 1-failAlphas[0]
	for _, tt := range []struct {
		n, m  int
		level float64
		want  bool
	}{
		{4, 5, last, true}, {4, 4, last, false}, {3, 7, last, true}, {3, 6, last, false}, {2, 13, last, true}, {2, 12, last, false},
		{5, 5, first, true}, {4, 7, first, true}, {4, 6, first, false}, {3, 10, first, true}, {3, 9, first, false}, {1, 1, last, false},
	} {
		if got := stat.Bounded(tt.n, tt.m, tt.level); got != tt.want {
			t.Errorf("Bounded(%d, %d, %v) = %v, want %v", tt.n, tt.m, tt.level, got, tt.want)
		}
	}
}

// TestDrift: what looks sure by values that drift within their job is open, and
// is not where both sides were measured in turn, or the values have no order.
func TestDrift(t *testing.T) {
	var drifting, mixed, head []float64
	for i := range 20 {
		drifting = append(drifting, 100+0.1*float64(i))
		mixed = append(mixed, 100+0.1*float64(7*i%20))
		head = append(head, 102.5+0.1*float64(7*i%20))
	}
	inTurn := make([]float64, len(drifting))
	for i, v := range drifting {
		inTurn[i] = v + 2.5 + 0.01*float64(i%3)
	}
	for _, tt := range []struct {
		name       string
		base, head []float64
		paired     bool
		want       Outcome
	}{
		{"base drifts", drifting, head, false, Inconclusive},
		{"head drifts", mixed, inTurn, false, Inconclusive},
		{"neither does", mixed, head, false, Regressed},
		{"both do, in turn", drifting, inTurn, true, Regressed},
	} {
		got := Judge(Evidence{Better: bench.Lower, Base: tt.base, Head: tt.head, Look: LastLook, Paired: tt.paired}, .02)
		if got.Outcome != tt.want {
			t.Errorf("%s: %v, want %v: %+v", tt.name, got.Outcome, tt.want, got)
		}
	}
}

// TestNeeded: bounds narrow with the root of the runs, by as much as is between the
// estimate and what would decide.
func TestNeeded(t *testing.T) {
	bounds := func(estimate, low, high, between float64) finding {
		return finding{estimate: estimate, fail: stat.Interval{Low: low}, pass: stat.Interval{High: high}, between: between}
	}
	for _, tt := range []struct {
		name string
		f    finding
		want float64
	}{
		{"twice as wide as the room below the threshold", bounds(.03, -.02, .07, 0), 40},
		{"four times as wide as the room above its half", bounds(.06, -.08, .2, 0), 160},
		{"just too wide", bounds(.03, -.02, .0501, 0), 11},
		{"more of it between jobs than there is room", bounds(.03, -.02, .07, .021/(driftPass*math.Sqrt2)), math.Inf(1)},
		{"half of the room between jobs", bounds(.03, -.02, .07, .01/(driftPass*math.Sqrt2)), 50},
		{"unbounded", bounds(.03, math.Inf(-1), math.Inf(1), 0), 0},
		{"by what was printed", finding{basis: byPrinted, estimate: .03, pass: stat.Interval{High: .07}}, 0},
	} {
		// A run more or less is rounding.
		if got := tt.f.needed(.05, 10); !(got >= tt.want-1 && got <= tt.want+1) && got != tt.want {
			t.Errorf("%s: %v runs, want %v", tt.name, got, tt.want)
		}
	}
}
