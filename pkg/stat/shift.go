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
func Unpaired(x, y []float64) Shift {
	x, y = slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))
	n, m := len(x), len(y)
	d := order{n: n * m, low: y[0] - x[n-1], high: y[m-1] - x[0], upTo: func(v float64) int {
		// Both are sorted, so the differences up to v end at a staircase.
		count, j := 0, 0
		for i := range x {
			for j < m && y[j]-x[i] <= v {
				j++
			}
			count += j
		}
		return count
	}}
	return d.shift(func(p float64) int { return mannWhitneyQuantile(n, m, p) })
}

// Paired returns the shift of y above x, whose values belong together in pairs,
// by F. Wilcoxon's signed ranks: the median of the Walsh averages of the
// differences y_i−x_i, bounded by the exact quantiles of the signed-rank
// statistic. The samples are of one length and not empty.
func Paired(x, y []float64) Shift {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	slices.Sort(d)
	n := len(d)
	walsh := order{n: n * (n + 1) / 2, low: d[0], high: d[n-1], upTo: func(v float64) int {
		count, j := 0, n-1
		for i := range d {
			for j >= i && (d[i]+d[j])/2 > v {
				j--
			}
			if j < i {
				break
			}
			count += j - i + 1
		}
		return count
	}}
	return walsh.shift(func(p float64) int { return signedRankQuantile(n, p) })
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
	low, high float64             // the smallest and the largest
	upTo      func(v float64) int // how many are at most v
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

// smallest returns the k-th smallest number, from 1, by bisection over all
// floating-point numbers between the extremes: at most 64 counts.
func (o order) smallest(k int) float64 {
	low, high := rank(o.low), rank(o.high)
	for low < high {
		mid := low + (high-low)/2
		if o.upTo(unrank(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return unrank(low)
}

// rank numbers the floating-point numbers in their order.
func rank(v float64) uint64 {
	b := math.Float64bits(v)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func unrank(r uint64) float64 {
	if r>>63 == 1 {
		return math.Float64frombits(r &^ (1 << 63))
	}
	return math.Float64frombits(^r)
}
