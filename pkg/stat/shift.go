package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A Shift is how far the values of one sample lie above those of another.
type Shift struct {
	Estimate float64
	// Range is the difference of the extremes: 0 where every value of one
	// sample lies equally far above every value of the other.
	Range float64

	between func(level float64) Interval
}

// Bounds returns the confidence interval of the shift at a two-sided level.
// Where the numbers are too few for a bound, it is infinite.
func (s Shift) Bounds(level float64) Interval { return s.between(level) }

// Unpaired returns the shift of y above x by J. L. Hodges and E. L. Lehmann,
// "Estimates of Location Based on Rank Tests", Ann. Math. Statist. 34 (1963):
// the median of all differences y−x, bounded by the exact quantiles of the
// Mann-Whitney statistic. Ties are not corrected for: the exact quantiles are
// conservative with them. Neither sample may be empty.
func (r *Ranks) Unpaired(x, y []float64) Shift {
	x, y = sorted(x), sorted(y)
	n, m := len(x), len(y)
	d := order{n: n * m, low: y[0] - x[n-1], high: y[m-1] - x[0], split: func(v float64) (upTo int, last, next float64) {
		// Both are sorted, so the differences up to v end at a staircase.
		last, next = math.Inf(-1), math.Inf(1)
		j := 0
		for _, a := range x {
			for j < m && y[j]-a <= v {
				j++
			}
			upTo += j
			if j > 0 && y[j-1]-a > last {
				last = y[j-1] - a
			}
			if j < m && y[j]-a < next {
				next = y[j] - a
			}
		}
		return upTo, last, next
	}}
	return d.shift(func(p float64) int { return r.mannWhitneyQuantile(n, m, p) })
}

// Paired returns the shift of y above x, whose values belong together in pairs,
// by F. Wilcoxon's signed ranks: the median of the Walsh averages of the
// differences y_i−x_i, bounded by the exact quantiles of the signed-rank
// statistic. The samples are of one length and not empty.
func (r *Ranks) Paired(x, y []float64) Shift {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	slices.Sort(d)
	n := len(d)
	walsh := order{n: n * (n + 1) / 2, low: d[0], high: d[n-1], split: func(v float64) (upTo int, last, next float64) {
		last, next = math.Inf(-1), math.Inf(1)
		j := n - 1
		for i := range d {
			for j >= i && (d[i]+d[j])/2 > v {
				j--
			}
			if j < i {
				// Every average from here on is above v, and this the smallest.
				next = min(next, d[i])
				break
			}
			upTo += j - i + 1
			last = max(last, (d[i]+d[j])/2)
			if j+1 < n {
				next = min(next, (d[i]+d[j+1])/2)
			}
		}
		return upTo, last, next
	}}
	return walsh.shift(func(p float64) int { return r.signedRankQuantile(n, p) })
}

// Normal returns the bounds, by two-sided level, of a normal quantity that was
// estimated with this standard error.
func Normal(estimate, standardError float64) func(level float64) Interval {
	return func(level float64) Interval {
		z := distuv.UnitNormal.Quantile((1 + level) / 2)
		return Interval{estimate - z*standardError, estimate + z*standardError, level}
	}
}

// An order selects from a multiset of n numbers that is too large to be written
// out, but easily counted.
type order struct {
	n         int
	low, high float64 // the smallest and the largest
	// split returns how many are at most v, the last of them, and the next one
	// after it.
	split func(v float64) (upTo int, last, next float64)
}

func (o order) shift(quantile func(p float64) int) Shift {
	return Shift{
		Estimate: o.median(),
		Range:    o.high - o.low,
		between: func(level float64) Interval {
			i := Interval{math.Inf(-1), math.Inf(1), level}
			if k := quantile((1 - level) / 2); k > 0 {
				i.Low, i.High = o.smallest(k), o.smallest(o.n+1-k)
			}
			return i
		},
	}
}

func (o order) median() float64 {
	if o.n%2 == 1 {
		return o.smallest(o.n/2 + 1)
	}
	return (o.smallest(o.n/2) + o.smallest(o.n/2+1)) / 2
}

// smallest returns the k-th smallest number, from 1, by bisection. Each bound is
// one of the numbers, so that it ends when there is none left between them.
func (o order) smallest(k int) float64 {
	low, high := o.low, o.high
	for low < high {
		middle := low + (high-low)/2
		if !(middle < high) { // next to each other, or too far apart
			middle = low
		}
		upTo, last, next := o.split(middle)
		if upTo >= k {
			high = last
		} else {
			low = next
		}
	}
	return low
}
