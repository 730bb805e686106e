package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

const (
	sparkJobs     = 20  // jobs of a sparkline in a table, head's the last
	fewestForPast = 3   // jobs that make a trend worth a drawing
	mostTrends    = 3   // trends that are drawn large
	flatShare     = 0.5 // of a threshold: what moves by less is drawn flat
)

// Sparkline draws logarithms of values, oldest first, in a line of text. What
// differs by less than twice the smallest share stays near the middle: noise drawn
// at full height would look like news.
func Sparkline(logs []float64, smallest float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, at := range heights(logs, smallest) {
		b.WriteRune(blocks[min(len(blocks)-1, int(at*float64(len(blocks))))])
	}
	return b.String()
}

// heights are where logarithms stand between the least of them, 0, and the
// greatest, 1.
func heights(logs []float64, smallest float64) []float64 {
	low, high := span(logs)
	if room := 2*math.Log1p(smallest) - (high - low); room > 0 {
		low, high = low-room/2, high+room/2
	}
	at := make([]float64, len(logs))
	for i, v := range logs {
		if high > low {
			at[i] = (v - low) / (high - low)
		}
	}
	return at
}

func span(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// trendOf has the logarithms of the medians of the jobs before head and of head;
// nothing where they are too few to be a trend.
func trendOf(c *gate.Comparison) []float64 {
	if len(c.Past) < fewestForPast || !(c.Head.Median > 0) {
		return nil
	}
	return append(c.Past[:len(c.Past):len(c.Past)], math.Log(c.Head.Median))
}

// flat is the share of a comparison that its trend draws as noise.
func flat(c *gate.Comparison) float64 {
	if c.Crept != nil {
		return flatShare * c.Crept.Threshold
	}
	return flatShare * c.Threshold
}

// anchorOf is the level since which head crept; false where it did not.
func anchorOf(c *gate.Comparison) (level float64, ok bool) {
	if c.Crept == nil {
		return 0, false
	}
	level = c.Head.Median / (1 + c.Crept.Change)
	return level, level > 0 && finite(level)
}

// sparkOf is the trend of a comparison for its row; "" where there is none.
func sparkOf(c *gate.Comparison) string {
	logs := trendOf(c)
	return Sparkline(logs[max(0, len(logs)-sparkJobs):], flat(c))
}

// trendWords tell of a trend; "" where there is none.
func trendWords(c *gate.Comparison) string {
	logs := trendOf(c)
	if logs == nil {
		return ""
	}
	return fmt.Sprintf("%s and head: %s to %s", gate.Count(len(c.Past), "job"), quantity(math.Exp(logs[0]), c.Metric), headOf(c))
}

// The drawing of a trend on the page is stretched as a plot is, and as small, for
// there are as many.
const (
	trendStep   = 4 // from job to job
	trendHeight = 24
	trendMargin = 3 // so that no end is cut
)

// trendPlot draws the trend of a comparison: a line through the jobs, a dot for
// head, and the level that it crept from. It is empty where there is none.
func trendPlot(c *gate.Comparison) template.HTML {
	logs := trendOf(c)
	if logs == nil {
		return ""
	}
	var line strings.Builder
	end := trendMargin + trendStep*(len(logs)-1)
	drawn := logs
	anchor, crept := anchorOf(c)
	if crept {
		drawn = append(logs, math.Log(anchor))
	}
	at := heights(drawn, flat(c))
	height := func(i int) int { return trendHeight - trendMargin - int(math.Round(at[i]*(trendHeight-2*trendMargin))) }
	mark := ""
	if crept {
		mark = fmt.Sprintf(`<path class="a" d="M0 %dH%d"/>`, height(len(logs)), end+trendMargin)
	}
	y := 0
	for i := range logs {
		before := y
		y = height(i)
		if i == 0 {
			fmt.Fprintf(&line, "M%d %dl", trendMargin, y)
			continue
		}
		fmt.Fprintf(&line, "%d %d ", trendStep, y-before)
	}
	return template.HTML(fmt.Sprintf(`<svg class="plot past" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true">%s<path class="p" d="%s"/><path class="h" d="M%d %dh0"/></svg>`,
		end+trendMargin, trendHeight, mark, line.String(), end, y))
}

// trends draws the trends of the worst comparisons, folded: each as a sentence
// that stands alone where Mermaid is not drawn, and as a chart where it is.
func (m markdown) trends() section {
	gating, _ := ranked(m.verdict.Comparisons)
	s := section{
		open: "\n<details><summary>Trends of what is worst</summary>\n", close: "\n</details>\n",
		priority: 6, left: func(n int) string { return fmt.Sprintf("\nand %s\n", gate.Count(n, "more trend")) },
	}
	for _, c := range gating {
		logs := trendOf(c)
		if len(s.lines) == mostTrends || logs == nil || c.Outcome != gate.Regressed && !c.Warned {
			continue
		}
		s.lines = append(s.lines, fmt.Sprintf("\nThe trend of %s %s, %s, %s\n\n%s",
			marked.name(nameOf(m.verdict, c.Benchmark)), marked.name(c.Metric.Name), marked.prose(trendWords(c)), Sparkline(logs, flat(c)), mermaid(logs)))
	}
	if len(s.lines) == 0 {
		return section{}
	}
	return s
}

// mermaidLook has a blue of 3.7 : 1 against white and 5 : 1 against GitHub's dark.
const mermaidLook = `%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "#2f81f7"}}}}%%`

// mermaid is a chart of values as shares of the first. Nothing in it comes from
// outside but numbers: names stand in the sentence before it.
// Its colour is given, as the default theme's is all but white on white.
// https://mermaid.js.org/syntax/xyChart.html
func mermaid(logs []float64) string {
	var values []float64
	var list []string
	for _, v := range logs {
		share := 100 * math.Exp(v-logs[0])
		if !(share < 1e9) {
			return "" // no number that a chart could show
		}
		values = append(values, share)
		list = append(list, fmt.Sprintf("%.3f", share))
	}
	low, high := span(values)
	room := max((high-low)/10, 0.01*high)
	return fmt.Sprintf("```mermaid\n%s\nxychart-beta\n  x-axis \"job\" 1 --> %d\n  y-axis \"%% of the first job\" %.3f --> %.3f\n  line [%s]\n```\n",
		mermaidLook, len(logs), max(0, low-room), high+room, strings.Join(list, ", "))
}
