package run

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// placeholder is the word of a command that stands for its number of operations.
const placeholder = "{ops}"

// WithOps returns s with every {ops} in Args and Shell replaced by n. A number
// needs no quoting in any shell.
func (s Spec) WithOps(n uint64) Spec {
	digits := fmt.Sprint(n)
	s.Args = slices.Clone(s.Args)
	for i, a := range s.Args {
		s.Args[i] = strings.ReplaceAll(a, placeholder, digits)
	}
	s.Shell = strings.ReplaceAll(s.Shell, placeholder, digits)
	return s
}

// TakesOps tells whether there is an {ops} in s for WithOps to replace. Without
// one, runs that should differ in size would all be the same.
func (s Spec) TakesOps() bool {
	return strings.Contains(s.Shell, placeholder) ||
		slices.ContainsFunc(s.Args, func(a string) bool { return strings.Contains(a, placeholder) })
}

// A Point is what a run of Ops operations cost, in counted events.
type Point struct {
	Ops, Count uint64
}

// A Line is what one more operation costs, as told by runs of different sizes.
type Line struct {
	// PerOp is the cost of one operation, in events: the slope from the smallest
	// size to the largest. What every run costs alike, such as start-up and the
	// tear-down of an empty process, is not in it.
	PerOp float64

	// Intercept is what a run of no operation would cost by this line, in events;
	// 0 for a single size.
	Intercept float64

	// Deviation says how far it is from a line: by which share of PerOp the cost
	// of one operation between two neighbouring sizes lies off PerOp, at most. Two
	// sizes are always on a line, so that it is 0 and says nothing.
	Deviation float64

	// Checked is whether there were the three sizes that Deviation needs.
	Checked bool

	// WithSetup is whether there was a single size, so that PerOp is the count of
	// the whole run, start-up included, divided by its operations.
	WithSetup bool
}

// Slope returns the line through points, in any order, of which no two may be of
// the same size. A count of 0 is that of an absent counter, and refused, as is a
// cost that does not grow with the operations.
func Slope(points []Point) (Line, error) {
	if err := checkSizes(len(points), func(i int) uint64 { return points[i].Ops }); err != nil {
		return Line{}, err
	}
	for _, p := range points {
		if p.Count == 0 {
			return Line{}, fmt.Errorf("%d operations: want a count above 0, have 0, which is what an absent counter reads", p.Ops)
		}
	}
	if len(points) == 1 {
		return Line{PerOp: float64(points[0].Count) / float64(points[0].Ops), WithSetup: true}, nil
	}

	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b Point) int { return cmp.Compare(a.Ops, b.Ops) })
	first, last := sorted[0], sorted[len(sorted)-1]
	l := Line{PerOp: between(first, last), Checked: len(sorted) > 2}
	if l.PerOp <= 0 {
		return Line{}, fmt.Errorf("%d operations cost %d, and %d cost %d, which is no more: check that the command makes as many operations as %s says",
			first.Ops, first.Count, last.Ops, last.Count, placeholder)
	}
	l.Intercept = float64(first.Count) - l.PerOp*float64(first.Ops)
	if l.Checked {
		for i := range sorted[1:] {
			l.Deviation = max(l.Deviation, math.Abs(between(sorted[i], sorted[i+1])/l.PerOp-1))
		}
	}
	return l, nil
}

// between returns the cost of an operation between two sizes, of which b is the
// larger. The difference is taken in integers, where it is exact.
func between(a, b Point) float64 {
	ops := float64(b.Ops - a.Ops)
	if a.Count > b.Count {
		return -float64(a.Count-b.Count) / ops
	}
	return float64(b.Count-a.Count) / ops
}

// checkSizes reports sizes, of n runs, that no cost of an operation comes of.
func checkSizes(n int, ops func(i int) uint64) error {
	if n == 0 {
		return errors.New("operations: want at least one size, have none")
	}
	if n == 1 && ops(0) == 0 {
		return errors.New("operations: want at least 1, have 0")
	}
	seen := map[uint64]bool{}
	for i := range n {
		if seen[ops(i)] {
			return fmt.Errorf("operations: want sizes that differ, have %d twice", ops(i))
		}
		seen[ops(i)] = true
	}
	return nil
}

// A Spread is how far apart the counts of runs lie that should not differ.
type Spread struct {
	Runs     int
	Min, Max uint64
}

// SpreadOf returns the spread of counts.
func SpreadOf(counts []uint64) Spread {
	if len(counts) == 0 {
		return Spread{}
	}
	return Spread{len(counts), slices.Min(counts), slices.Max(counts)}
}

// Agree tells whether there were two runs or more, and all counts are the same
// to the single event.
func (s Spread) Agree() bool { return s.Runs > 1 && s.Min == s.Max && s.Min > 0 }

// Share is the distance from Min to Max as a share of Min: 0.01 is 1 %.
func (s Spread) Share() float64 {
	if s.Min == 0 {
		return 0
	}
	return float64(s.Max-s.Min) / float64(s.Min)
}

// String says in a clause how the runs agree.
func (s Spread) String() string {
	switch {
	case s.Runs < 2:
		return "one run, which shows no spread"
	case s.Agree():
		return fmt.Sprintf("%d runs agree to the instruction", s.Runs)
	default:
		return fmt.Sprintf("%d runs differ by %.2g %% (%d to %d instructions)", s.Runs, 100*s.Share(), s.Min, s.Max)
	}
}
