package main

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// A chart has a job's place from left to right and its median upwards. It is
// stretched to whatever room there is, while its lines and dots keep their width;
// so its labels stand around it and not in it, and stay readable on a telephone.
//
// It is written here and not by a library of plots, as the plots of a report are:
// there may be thousands, with hundreds of dots each.
const (
	chartWidth   = 1000
	chartHeight  = 200
	chartMargin  = 12 // so that no dot is cut
	miniWidth    = 120
	miniHeight   = 24
	miniMargin   = 2
	mostInMini   = 60 // points of a miniature: the latest
	seriesColors = 4
	seriesDashes = 4   // each of them in each colour
	manyDots     = 300 // are drawn smaller, so that they can be told apart
)

// A chart is a drawing with what stands around it.
type chart struct {
	SVG, Names  template.HTML // of the releases, above their lines
	High, Low   string        // values at the ends of the axis
	First, Last string        // days
	Kinds       []string      // of changes: changeClass
}

// An axis maps values to a height.
type axis struct {
	low, high      float64 // logarithms
	height, margin float64
}

// axisOf spans the points, and never so little that noise looks like news.
func axisOf(height, margin float64, smallest float64, trends ...[]gate.Point) axis {
	a := axis{low: math.Inf(1), high: math.Inf(-1), height: height, margin: margin}
	for _, points := range trends {
		for _, p := range points {
			a.low, a.high = min(a.low, p.Center), max(a.high, p.Center)
		}
	}
	if room := 2*math.Log1p(smallest) - (a.high - a.low); room > 0 {
		a.low, a.high = a.low-room/2, a.high+room/2
	}
	if !(a.high > a.low) {
		a.low, a.high = a.low-1, a.high+1
	}
	return a
}

func (a axis) y(center float64) float64 {
	return a.margin + (a.high-center)/(a.high-a.low)*(a.height-2*a.margin)
}

// across is where the i-th of n places is.
func across(i, n int, width, margin float64) float64 {
	if n == 1 {
		return width / 2
	}
	return margin + float64(i)/float64(n-1)*(width-2*margin)
}

// seriesClass is the look of the i-th machine class of a chart.
func seriesClass(i int) string {
	return fmt.Sprintf("c%d d%d", i%seriesColors, i/seriesColors%seriesDashes)
}

// draw draws the series of one metric of a benchmark. Whatever text is in the
// drawing is escaped here.
func (s *site) draw(group []trend, places []slot) chart {
	var all [][]gate.Point
	var smallest float64
	for _, t := range group {
		all = append(all, t.points)
		smallest = max(smallest, t.watch.Smallest)
	}
	a := axisOf(chartHeight, chartMargin, smallest, all...)
	x := make([][]float64, len(group))
	for i := range group {
		x[i] = make([]float64, len(group[i].points))
	}
	for i, at := range places {
		x[at.series][at.point] = across(i, len(places), chartWidth, chartMargin)
	}
	var lines, dots, marks strings.Builder
	var kinds []string
	var released []releaseName
	for i, t := range group {
		unit := report.Printable(t.watch.Metric.Unit)
		class := seriesClass(i)
		fmt.Fprintf(&lines, `<path class="line %s" d="`, class)
		fmt.Fprintf(&dots, `<g class="dot %s">`, class)
		for k, p := range t.points {
			fmt.Fprintf(&lines, "%s%.1f %.1f", pen(k), x[i][k], a.y(p.Center))
			link := s.commit(p.Commit)
			if link.Release != "" {
				fmt.Fprintf(&marks, `<path class="release" d="M%.1f 0V%d"><title>%s</title></path>`, x[i][k], chartHeight, template.HTMLEscapeString(link.Release))
				released = append(released, releaseName{x[i][k], link.Release})
				link.Short += " " + link.Release
			}
			on := ""
			if len(group) > 1 {
				on = " on " + machineName(t.machine)
			}
			fmt.Fprintf(&dots, `<path d="M%.1f %.1fh0"><title>%s</title></path>`, x[i][k], a.y(p.Center),
				template.HTMLEscapeString(fmt.Sprintf("%s, %s: %s%s", link.Short, minute(p.Time), gate.Quantity(value(p), unit), on)))
		}
		lines.WriteString(`"/>`)
		dots.WriteString("</g>")
		for _, c := range t.changes {
			kind := changeClass(t.watch, c.Size)
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
			fmt.Fprintf(&marks, `<path class="change %s" d="M%.1f 0V%d"><title>%s</title></path>`, kind,
				(x[i][c.At-1]+x[i][c.At])/2, chartHeight, template.HTMLEscapeString(report.Printable(changeSentence(c, t.watch))))
		}
	}
	unit := report.Printable(group[0].watch.Metric.Unit)
	first, last := places[0], places[len(places)-1]
	label := fmt.Sprintf("%s of %s, %s", report.Printable(group[0].key.Metric), report.Printable(group[0].name), gate.Count(len(places), "job"))
	class := "chart"
	if len(places) > manyDots {
		class += " many"
	}
	return chart{
		SVG: template.HTML(fmt.Sprintf(`<svg class="%s" role="img" aria-label="%s" viewBox="0 0 %d %d" preserveAspectRatio="none">%s%s%s</svg>`,
			class, template.HTMLEscapeString(label), chartWidth, chartHeight, marks.String(), lines.String(), dots.String())),
		Names: releaseNames(released), Kinds: kinds,
		High: gate.Quantity(math.Exp(a.high), unit), Low: gate.Quantity(math.Exp(a.low), unit),
		First: day(group[first.series].points[first.point].Time), Last: day(group[last.series].points[last.point].Time),
	}
}

// A releaseName stands above the line of a release.
type releaseName struct {
	x    float64
	name string
}

const (
	mostReleaseName = 12 // columns
	// What a column of a name takes of a chart's width, on a screen and on a
	// telephone.
	columnWide, columnNarrow = 8, 24
)

// releaseNames draws names as far as there is room, the latest first. They are a
// drawing of their own, since the chart's would stretch the letters. Those that a
// telephone has no room for are marked.
func releaseNames(released []releaseName) template.HTML {
	slices.SortStableFunc(released, func(a, b releaseName) int { return cmp.Compare(b.x, a.x) })
	var b strings.Builder
	wide, narrow := math.Inf(1), math.Inf(1) // where there are names from on
	for _, r := range released {
		name := report.Cut(r.name, mostReleaseName)
		columns := float64(utf8.RuneCountInString(name) + 1)
		anchor, before, behind := "middle", columns/2, columns/2
		switch {
		case r.x < chartWidth/6:
			anchor, before, behind = "start", 0, columns
		case r.x > chartWidth*5/6:
			anchor, before, behind = "end", columns, 0
		}
		if r.x+behind*columnWide > wide {
			continue
		}
		wide = r.x - before*columnWide
		class := ""
		if r.x+behind*columnNarrow > narrow {
			class = ` class="roomy"`
		} else {
			narrow = r.x - before*columnNarrow
		}
		fmt.Fprintf(&b, `<text%s x="%.2f%%" y="80%%" text-anchor="%s">%s</text>`, class, r.x*100/chartWidth, anchor, template.HTMLEscapeString(name))
	}
	if b.Len() == 0 {
		return ""
	}
	return template.HTML(`<svg class="names" aria-hidden="true">` + b.String() + `</svg>`)
}

// pen begins a line at its first point and goes on at every other.
func pen(k int) string {
	if k == 0 {
		return "M"
	}
	return "L"
}

// miniature draws the latest points of a trend for a row of a table.
func miniature(t trend) template.HTML {
	points := t.points[max(0, len(t.points)-mostInMini):]
	a := axisOf(miniHeight, miniMargin, t.watch.Smallest, points)
	var b strings.Builder
	for k, p := range points {
		fmt.Fprintf(&b, "%s%.0f %.1f", pen(k), across(k, len(points), miniWidth, miniMargin), a.y(p.Center))
	}
	if len(points) == 1 {
		b.WriteString("h1")
	}
	return template.HTML(fmt.Sprintf(`<svg class="mini" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true"><path class="line c0" d="%s"/></svg>`,
		miniWidth, miniHeight, b.String()))
}
