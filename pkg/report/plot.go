package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/stat"
)

// The plot of a comparison has base's values above, head's below, and how far
// apart they are in between. It is stretched to whatever room there is, while
// its lines and dots keep their width, so that one drawing serves a row of a
// table and a look from near.
//
// It is written here and not by a library of plots, whose pictures of the same
// are twelve times as large: a page has one for each of ten thousand
// comparisons.
const (
	plotWidth  = 600
	plotHeight = 60
	plotMargin = 8  // of the width, so that no dot is cut
	laneHeight = 18 // of each side
	baseLane   = 2  // where a lane begins
	headLane   = plotHeight - laneHeight - 2
	boundsLine = plotHeight / 2
	// plotGrid is how fine dots are told apart: nearer ones are drawn as one.
	plotGrid = 2
)

// A plot is a drawing and the values at the ends of its axis. The drawing is
// empty where there is nothing to draw.
type plot struct {
	SVG      template.HTML
	From, To string
}

// plotOf draws a comparison. base and head are its samples, as far as they are
// known: of others the summary is drawn.
func plotOf(c *gate.Comparison, base, head *bench.Sample) plot {
	d := drawing{}
	basePoints, headPoints := points(base), points(head)
	d.include(basePoints...)
	d.include(headPoints...)
	d.includeSummary(c.Base)
	d.includeSummary(&c.Head)
	fails, hasThreshold := thresholdAt(c)
	if hasThreshold {
		d.include(fails)
	}
	if c.Limit != nil {
		d.include(*c.Limit)
	}
	low, high, hasBounds := boundsAt(c)
	if hasBounds {
		d.includeNearly(low, high)
	}
	if !d.settle() {
		return plot{}
	}

	d.failing(c, fails, hasThreshold)
	d.side("b", baseLane, basePoints, c.Base)
	d.side("h", headLane, headPoints, &c.Head)
	if hasBounds {
		d.bounds(low, high, c.Base.Median*(1+c.Change))
	}
	if d.lines.Len() > 0 {
		d.path("i", "%s", d.lines.String())
	}
	return plot{
		SVG: template.HTML(fmt.Sprintf(`<svg class="plot" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true">%s</svg>`,
			plotWidth, plotHeight, d.b.String())),
		From: quantity(d.lo, c.Metric), To: quantity(d.hi, c.Metric),
	}
}

// enoughLaunches is the number of launches from which on each counts as one
// value, as it does in the decision.
const enoughLaunches = 5

// points returns what stands for a sample in its plot: a point a launch, or all
// values where there are few launches.
func points(s *bench.Sample) []float64 {
	if s == nil {
		return nil
	}
	if len(s.Launches) < enoughLaunches {
		return s.Values()
	}
	medians := make([]float64, 0, len(s.Launches))
	for _, values := range s.Launches {
		medians = append(medians, stat.Median(values))
	}
	return medians
}

// thresholdAt returns the value from which on head fails, by base's median.
func thresholdAt(c *gate.Comparison) (float64, bool) {
	if c.Base == nil || c.Metric.Better == bench.Unknown {
		return 0, false
	}
	at := c.Base.Median * (1 - float64(c.Metric.Better)*c.Threshold)
	return at, finite(at)
}

// boundsAt returns the values between which head is, by base's median and the
// bounds of the slowdown; an end that there is none of is infinite.
func boundsAt(c *gate.Comparison) (low, high float64, ok bool) {
	if c.Base == nil || c.Slowdown == nil || !(c.Base.Median > 0) || !finite(c.Base.Median*(1+c.Change)) {
		return 0, 0, false
	}
	low, high = c.Base.Median*c.Slowdown.Low, c.Base.Median*c.Slowdown.High
	if c.Metric.Better == bench.Higher {
		low, high = c.Base.Median/c.Slowdown.High, c.Base.Median/c.Slowdown.Low
	}
	if low <= 0 {
		low = math.Inf(-1)
	}
	return low, high, low <= high
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A drawing is an SVG in the making: first everything is included that the axis
// is to show, then it is drawn.
type drawing struct {
	lo, hi float64
	some   bool
	b      strings.Builder
	lines  strings.Builder // medians and bounds, which are one path
}

// include widens the axis to values.
func (d *drawing) include(values ...float64) {
	for _, v := range values {
		switch {
		case !finite(v):
		case !d.some:
			d.lo, d.hi, d.some = v, v, true
		default:
			d.lo, d.hi = min(d.lo, v), max(d.hi, v)
		}
	}
}

func (d *drawing) includeSummary(s *gate.Summary) {
	if s != nil {
		d.include(s.Median, s.Min, s.Max)
	}
}

// includeNearly widens the axis to bounds, but by no more than it has: wide
// bounds must not crush the values to a line.
func (d *drawing) includeNearly(low, high float64) {
	room := d.hi - d.lo
	d.include(max(low, d.lo-room), min(high, d.hi+room))
}

// settle fixes the axis, and reports whether there is one.
func (d *drawing) settle() bool {
	if !d.some {
		return false
	}
	if d.lo == d.hi {
		room := max(math.Abs(d.lo)/100, math.SmallestNonzeroFloat64)
		if d.lo == 0 {
			room = 1
		}
		d.lo, d.hi = d.lo-room, d.hi+room
	}
	return d.hi > d.lo && finite(d.hi-d.lo)
}

// x is where a value stands on the axis.
func (d *drawing) x(v float64) int {
	at := plotMargin + (v-d.lo)/(d.hi-d.lo)*(plotWidth-2*plotMargin)
	return int(math.Round(min(max(at, 0), plotWidth)))
}

// path draws a line. Its classes have the colours.
func (d *drawing) path(class, format string, args ...any) {
	fmt.Fprintf(&d.b, `<path class="%s" d="%s"/>`, class, fmt.Sprintf(format, args...))
}

// failing draws the threshold and the limit, and tints what is beyond the first
// of them.
func (d *drawing) failing(c *gate.Comparison, threshold float64, hasThreshold bool) {
	var lines []int
	if hasThreshold {
		lines = append(lines, d.x(threshold))
	}
	if c.Limit != nil && finite(*c.Limit) {
		lines = append(lines, d.x(*c.Limit))
	}
	if len(lines) == 0 || c.Metric.Better == bench.Unknown {
		return
	}
	from, end := slices.Min(lines), plotWidth
	if c.Metric.Better == bench.Higher {
		from, end = slices.Max(lines), 0
	}
	d.path("z", "M%d 0H%dV%dH%dZ", from, end, plotHeight, from)
	if hasThreshold {
		d.path("t", "M%d 0V%d", lines[0], plotHeight)
	}
	if c.Limit != nil && finite(*c.Limit) {
		d.path("l", "M%d 0V%d", lines[len(lines)-1], plotHeight)
	}
}

// side draws the points of a side, in the order measured from above, and its
// median. Of a side whose values are not known the range is drawn.
func (d *drawing) side(class string, lane int, points []float64, s *gate.Summary) {
	if s == nil {
		return
	}
	if len(points) == 0 && finite(s.Min) && finite(s.Max) {
		d.path(class, "M%d %dH%d", d.x(s.Min), lane+laneHeight/2, d.x(s.Max))
	}
	var dots strings.Builder
	seen := map[[2]int]bool{}
	for i, v := range points {
		if !finite(v) {
			continue
		}
		y := lane + int((float64(i)+0.5)/float64(len(points))*laneHeight)
		at := [2]int{d.x(v) / plotGrid * plotGrid, y / plotGrid * plotGrid}
		if !seen[at] {
			seen[at] = true
			fmt.Fprintf(&dots, "M%d %dh0", at[0], at[1])
		}
	}
	if dots.Len() > 0 {
		d.path(class, "%s", dots.String())
	}
	if finite(s.Median) {
		fmt.Fprintf(&d.lines, "M%d %dv%d", d.x(s.Median), lane, laneHeight)
	}
}

// bounds draws how far head may be from base's median, with an end where there
// is a bound and without where there is none, and the estimate.
func (d *drawing) bounds(low, high, estimate float64) {
	fmt.Fprintf(&d.lines, "M%d %dH%d", d.x(low), boundsLine, d.x(high))
	for _, v := range []float64{low, estimate, high} {
		if finite(v) {
			fmt.Fprintf(&d.lines, "M%d %dv6", d.x(v), boundsLine-3)
		}
	}
}
