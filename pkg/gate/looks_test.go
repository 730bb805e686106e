package gate

import (
	"github.com/noslower/noslower/pkg/bench"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestLooks(t *testing.T) {
	for _, tt := range []struct {
		least, most int
		want        []Look
	}{
		{10, 10, []Look{{10, 3}}},
		{5, 5, []Look{{5, 3}}},
		{5, 20, []Look{{5, 0}, {8, 1}, {12, 2}, {20, 3}}},
		{6, 15, []Look{{8, 1}, {12, 2}, {15, 3}}},
		{2, 4, []Look{{4, 3}}},
		{5, 40, []Look{{5, 0}, {8, 1}, {12, 2}, {20, 3}, {40, 3}}},
	} {
		if got := Looks(tt.least, tt.most); !slices.Equal(got, tt.want) {
			t.Errorf("Looks(%d, %d) = %v, want %v", tt.least, tt.most, got, tt.want)
		}
	}
}

// TestConfirm: what regresses twice fails; what regresses once is open, and
// fails nothing.
func TestConfirm(t *testing.T) {
	base := sideOf(t, data{"read/throughput": steady, "write/throughput": steady, "old/throughput": steady})
	both := sideOf(t, data{"read/throughput": slow, "write/throughput": slow})
	one := sideOf(t, data{"read/throughput": slow, "write/throughput": steady})
	p := DefaultPolicy()
	p.Interleaved = true
	decide := func(head Side) Verdict {
		v, err := Decide(&base, head, "", Past{}, p)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := decide(both)
	if len(first.Reasons) != 2 {
		t.Fatalf("reasons %q, want two", first.Reasons)
	}
	v := Confirm(first, decide(one), p)
	if v.Outcome != Regressed || v.Status != StatusFail || len(v.Reasons) != 1 || !strings.HasPrefix(v.Reasons[0], "read: ") {
		t.Errorf("regressed with status %d for %q, want read alone", v.Status, v.Reasons)
	}
	if !strings.Contains(strings.Join(v.Warnings, "\n"), "old: base has throughput of it") {
		t.Errorf("warnings %q: the missing benchmark is not told", v.Warnings)
	}
	for _, c := range v.Comparisons {
		switch {
		case c.Benchmark == "write" && (c.Outcome != Inconclusive || !strings.Contains(c.Why, "regressed once, and not")):
			t.Errorf("write: %v, %s", c.Outcome, c.Why)
		case c.Benchmark == "write" && math.IsInf(c.Detectable, 1):
			t.Error("write: it is not said what the second time could have shown")
		case c.Benchmark == "read" && !strings.Contains(strings.Join(c.Warnings, "\n"), "confirmed"):
			t.Errorf("read: warnings %q", c.Warnings)
		}
	}
	all := sideOf(t, data{"read/throughput": steady, "write/throughput": steady})
	if v := Confirm(first, decide(all), p); v.Outcome != Inconclusive || v.Status != StatusPass || len(v.Reasons) > 0 {
		t.Errorf("nothing regressed again: %v with status %d for %q", v.Outcome, v.Status, v.Reasons)
	}
}

// TestDecided: more runs are made while something that gates is open.
func TestDecided(t *testing.T) {
	for _, tt := range []struct {
		name       string
		base, head data
		want       bool
	}{
		{"decided", data{"/throughput": steady, "/latency_p99": wild}, data{"/throughput": steady, "/latency_p99": steady}, true},
		{"open", data{"/throughput": wild}, data{"/throughput": steady}, false},
		{"one open of two", data{"read/throughput": wild, "write/throughput": steady}, data{"read/throughput": steady, "write/throughput": steady}, false},
		{"regressed, while the noise between jobs is only assumed", data{"/throughput": steady}, data{"/throughput": slow}, false},
		{"nothing gates", data{"/latency_p99": steady}, data{"/latency_p99": steady}, false},
	} {
		base := sideOf(t, tt.base)
		v, err := Decide(&base, sideOf(t, tt.head), "", Past{}, DefaultPolicy())
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Decided(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestConfirms: to be sure takes an answer to each regression, and to nothing else.
func TestConfirms(t *testing.T) {
	comparison := func(benchmark string, o Outcome, gates bool) Comparison {
		return Comparison{Benchmark: benchmark, Metric: bench.Metric{Name: "throughput"}, Outcome: o, Gating: gates}
	}
	first := Verdict{Comparisons: []Comparison{
		comparison("slow", Regressed, true), comparison("open", Inconclusive, true), comparison("told", Regressed, false),
	}}
	for _, tt := range []struct {
		name  string
		again []Comparison
		want  bool
	}{
		{"it regressed again", []Comparison{comparison("slow", Regressed, true)}, true},
		{"it did not", []Comparison{comparison("slow", Same, true)}, true},
		{"it is open", []Comparison{comparison("slow", Inconclusive, true)}, false},
		{"it is gone", nil, true},
		{"what had not regressed is open", []Comparison{comparison("slow", Same, true), comparison("open", Inconclusive, true)}, true},
		{"what does not gate is open", []Comparison{comparison("slow", Same, true), comparison("told", Inconclusive, false)}, true},
	} {
		again := Verdict{Comparisons: tt.again}
		if got := again.Confirms(first); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestUnconfirmed: what regressed, and was not measured again, says so.
func TestUnconfirmed(t *testing.T) {
	v := Verdict{Comparisons: []Comparison{
		{Outcome: Regressed, Gating: true}, {Outcome: Regressed}, {Outcome: Same, Gating: true},
		{Outcome: Regressed, Gating: true, byLimit: "beyond it"},
		{Outcome: Regressed, Gating: true, Crept: &Crept{}},
	}}
	v.Unconfirmed()
	for i, c := range v.Comparisons {
		if said := len(c.Warnings) > 0; said != (i == 0) {
			t.Errorf("%d: warnings %q", i, c.Warnings)
		}
	}
}
