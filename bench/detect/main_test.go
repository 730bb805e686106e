package main

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

const data = "../../../shared/detect"

// TestMeasurements judges noslower's rule on the measurements.
func TestMeasurements(t *testing.T) {
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the measurements are not on this machine: %v", err)
	}
	parts, err := load(data, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("bars", func(t *testing.T) { testBars(t, parts) })
	t.Run("documentation", func(t *testing.T) { testDocumentation(t, parts) })
}

// testBars holds the rule to what it reached.
func testBars(t *testing.T, parts []part) {
	unbounded := math.Inf(1)
	for _, tt := range []struct {
		part, rule  string
		threshold   float64
		falseAlarms float64 // per cent, at most
		runs        float64 // on the same program, at most
		step        float64
		caught      float64 // per cent of that step, at least
	}{
		{"One toolchain", "noslower, base stops with head", .01, .25, 7.5, .02, 90},
		{"One toolchain", "noslower, nothing between jobs", .01, .25, 7.0, .02, 90},
		{"The same, six days", "noslower, history", .01, .25, 7.5, .02, 83},
		{"One toolchain", "noslower, nothing between jobs", .02, .17, 6.0, .04, 98},
		{"One toolchain", "noslower, nothing between jobs", .05, .1, 5.1, .1, 99.8},
		{"One commit", "noslower, nothing between jobs", .01, 0, 6.5, .02, 93},
		// Of the three programs only the noisiest has this measurement.
		{"Contended, in turn, processor time", "noslower", .02, 0, 10.5, .03, 75},
		{"Contended, in turn, processor time", "noslower", .02, 0, 10.5, .05, 95},
		{"Contended, at once, processor time", "noslower", .02, 0, 10, .05, 95},
		{"Contended, blocks, processor time", "noslower, 2 % assumed", .05, 1.5, unbounded, .1, 60},
		{"Contended, blocks, processor time", "noslower, 2 % assumed, red only at the end", .05, .2, unbounded, .1, 40},
		{"Contended, blocks, wall time", "noslower, 2 % assumed, red only at the end", .05, 1.6, unbounded, .1, 15},
		{"Instructions", "noslower", .0005, 0, 1, .005, 100},
		{"Made up: others' load", "noslower", .02, .25, unbounded, .03, 60},
		{"Made up: the same, head waits 5 % less", "noslower", .02, 1, unbounded, .03, 40},
		{"Made up: drift", "noslower, nothing between jobs", .01, 7, unbounded, .05, 90},
	} {
		p, r := find(t, parts, tt.part, tt.rule, tt.threshold)
		same, slow := r.score(p.trials[0], p.threshold), r.score(p.trials[tt.step], p.threshold)
		// To the digits of the table: 3 of 1188 are 0.25 %.
		if got := math.Round(100*same.percent(same.regressed)) / 100; got > tt.falseAlarms {
			t.Errorf("%s, %s: %v %% false alarms, want at most %v", p.name, r.name, got, tt.falseAlarms)
		}
		if got := same.spent(); got > tt.runs {
			t.Errorf("%s, %s: %.2f runs, want at most %v", p.name, r.name, got, tt.runs)
		}
		if got := slow.percent(slow.regressed); !(got >= tt.caught) {
			t.Errorf("%s, %s: caught %.1f %% at +%v %%, want at least %v", p.name, r.name, got, 100*tt.step, tt.caught)
		}
	}
}

func find(t *testing.T, parts []part, name, ruleName string, threshold float64) (part, rule) {
	t.Helper()
	for _, p := range parts {
		for _, r := range p.rules {
			if strings.HasPrefix(p.name, name) && p.threshold == threshold && r.name == ruleName {
				return p, r
			}
		}
	}
	t.Fatalf("there is no %q in %q at %v", ruleName, name, threshold)
	return part{}, rule{}
}

// testDocumentation: noslower's rows in the documentation are those that the
// program prints today. The first parts stand for all: the race detector makes
// the others take minutes.
func testDocumentation(t *testing.T, parts []part) {
	doc, err := os.ReadFile("../../docs/detection.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	write(&table, parts[:2])
	for line := range strings.Lines(table.String()) {
		if !strings.Contains(string(doc), line) {
			t.Errorf("docs/detection.md lacks %s(\"make bench-detect\" prints the table)", line)
		}
	}
}

// TestPeers has one trial for each peer that it must alarm on, and what it must
// not alarm on.
func TestPeers(t *testing.T) {
	day := func(center float64) []float64 {
		v := make([]float64, mostRuns)
		for i := range v {
			v[i] = center * (1 + .001*float64(7*i%5))
		}
		return v
	}
	history := [][]float64{day(100), day(100.1), day(99.9), day(100), day(100.1), day(99.9), day(100)}
	for _, tt := range []struct {
		peer string
		step float64 // it alarms at
		none float64 // and does not at
	}{
		{"github-action-benchmark, 200 % (default)", 1.01, .99},
		{"github-action-benchmark, 105 %", .06, .04},
		{"Bencher, t-test .99", .005, .001},
		{"Bencher, percentage at T", .011, .009},
		{"benchstat, n = 10", .01, 0},
		{"benchstat, n = 10, at T", .011, .009},
		{"benchstat, n = 20, at T", .011, .009},
		{"perfgate at T", .011, .009},
		{"perfgate paired, at T", .011, .009},
		{"CodSpeed, 10 % (default)", .11, .09},
		{"rustc-perf", .02, .001},
	} {
		for _, better := range []bench.Better{bench.Lower, bench.Higher} {
			found := false
			for _, p := range peers {
				if p.name != tt.peer {
					continue
				}
				found = true
				same := trial{better: better, base: day(100), head: day(100), history: history}
				// A drop of the metric is a little less than the slowdown.
				if got, _ := p.judge(same.slowed(tt.step*1.02), .01); got != gate.Regressed {
					t.Errorf("%s, better %v: %v at +%g %%", p.name, better, got, 100*tt.step)
				}
				if got, _ := p.judge(same.slowed(tt.none), .01); got == gate.Regressed {
					t.Errorf("%s, better %v: %v at +%g %%", p.name, better, got, 100*tt.none)
				}
			}
			if !found {
				t.Errorf("there is no peer %q", tt.peer)
			}
		}
	}
}
