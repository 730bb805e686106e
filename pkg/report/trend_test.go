package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

func TestSparkline(t *testing.T) {
	for _, tt := range []struct {
		name     string
		logs     []float64
		smallest float64
		want     string
	}{
		{"nothing", nil, 0.01, ""},
		{"one", []float64{1}, 0.01, "▅"},
		{"rising", []float64{0, 1, 2, 3, 4, 5, 6, 7}, 0.01, "▁▂▃▄▅▆▇█"},
		{"noise is flat", []float64{1, 1.001, 0.999, 1}, 0.05, "▅▅▄▅"},
		{"all the same, and nothing is too small", []float64{2, 2}, 0, "▁▁"},
	} {
		if got := Sparkline(tt.logs, tt.smallest); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// withPast is a verdict over a benchmark that was slower in each of its jobs.
func withPast(name string, past ...float64) gate.Verdict {
	c := gate.Comparison{
		Benchmark: name, Metric: bench.Metric{Name: "time_per_op", Unit: "s/op", Better: bench.Lower}, Gating: true, Outcome: gate.Regressed,
		Base: &gate.Summary{Median: 1.1e-6}, Head: gate.Summary{Median: 1.2e-6}, Change: 0.09, Slowdown: &gate.Slowdown{Estimate: 1.09, Low: 1.08, High: 1.1},
		Threshold: 0.05, Why: "9 % worse",
	}
	for _, v := range past {
		c.Past = append(c.Past, math.Log(v))
	}
	return gate.Verdict{Suite: "read", Outcome: gate.Regressed, Status: gate.StatusFail, Comparisons: []gate.Comparison{c}}
}

func TestMarkdownTrends(t *testing.T) {
	markdownOf := func(v gate.Verdict) string {
		var b bytes.Buffer
		if err := writeMarkdown(&b, v, Options{Limit: 60_000}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := markdownOf(withPast("Encode", 1e-6, 1e-6, 1.1e-6))
	for _, want := range []string{
		"`time_per_op`<br>▁▁▅█ |", "The trend of `Encode` `time_per_op`, 3 jobs and head: 1 µs to 1.2 µs, ▁▁▅█\n\n```mermaid\n%%{init: ", "\"plotColorPalette\": \"#2f81f7\"", "}%%\nxychart-beta\n",
		"  y-axis \"% of the first job\" 98.000 --> 122.000\n  line [100.000, 100.000, 110.000, 120.000]\n```\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %q:\n%s", want, got)
		}
	}
	if got := markdownOf(withPast("Encode", 1e-6, 1e-6)); strings.ContainsAny(got, "▁█") || strings.Contains(got, "mermaid") {
		t.Errorf("two jobs are no trend:\n%s", got)
	}
	hostile := markdownOf(withPast("```\n</details>\nline [1]", 1e-6, 1e-6, 1e-6))
	if strings.Count(hostile, "\n```") != 2 || strings.Count(hostile, "\nline [1]") > 0 {
		t.Errorf("a name breaks out:\n%s", hostile)
	}
	if got := markdownOf(withPast("Encode", 1e-300, 1e-300, 1e-300)); strings.Contains(got, "mermaid") || strings.Contains(got, "Inf") {
		t.Errorf("a chart of what cannot be drawn:\n%s", got)
	}
}

// TestPageTrends: each comparison has the jobs before it as a line that ends in
// head, where they are enough to be one.
func TestPageTrends(t *testing.T) {
	pageOf := func(v gate.Verdict) string {
		var b bytes.Buffer
		if err := writeHTML(&b, v, Options{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := pageOf(withPast("Encode", 1e-6, 1e-6, 1.1e-6))
	for _, want := range []string{
		`viewBox="0 0 18 24"`, `<path class="p" d="M3 21l4 0 4 -9 4 -9 "/><path class="h" d="M15 3h0"/>`,
		"trend: 3 jobs and head: 1 µs to 1.2 µs", "the jobs before, and head</li>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %q:\n%s", want, got)
		}
	}
	crept := withPast("Encode", 1e-6, 1e-6, 1.1e-6)
	crept.Comparisons[0].Crept = &gate.Crept{Since: "<v1.1>", Jobs: 3, Change: 0.5, Threshold: 0.1}
	got = pageOf(crept)
	for _, want := range []string{
		`<path class="a" d="M0 21H18"/><path class="p" d="M3 `, "anchor: &lt;v1.1&gt; at 800 ns", "the level that head crept from</li>",
		"Encode time_per_op since &lt;v1.1&gt;: &#43;50\u00a0% (fails at 10\u00a0%)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it has no %q:\n%s", want, got)
		}
	}
	if got := pageOf(withPast("Encode", 1e-6, 1e-6)); strings.Contains(got, `class="plot past"`) || strings.Contains(got, "the jobs before, and head</li>") {
		t.Errorf("two jobs are no trend:\n%s", got)
	}
}
