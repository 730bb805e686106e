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
	// Bounds are the confidence intervals at the two-sided levels asked for.
	// Where the numbers are too few for a bound, it is infinite.
	Bounds []Interval
}

// mostWritten is how many differences are written out. Of more of them there
// would soon be more than memory: they are only counted.
const mostWritten = 4096

// Unpaired returns the shift of y above x by J. L. Hodges and E. L. Lehmann,
// "Estimates of Location Based on Rank Tests", Ann. Math. Statist. 34 (1963):
// the median of all differences y−x, bounded by the exact quantiles of the
// Mann-Whitney statistic. Ties are not corrected for: the exact quantiles are
// conservative with them. Neither sample may be empty.
func (r *Ranks) Unpaired(x, y []float64, levels ...float64) Shift {
	if r == nil {
		r = new(Ranks)
	}
	n, m := len(x), len(y)
	low, high := slices.Min(y)-slices.Max(x), slices.Max(y)-slices.Min(x)
	quantile := func(p float64) int { return r.mannWhitneyQuantile(n, m, p) }
	if n*m <= mostWritten {
		r.differences.write(x, y, low, high)
		return shiftOf(n*m, low, high, r.differences.smallest, quantile, levels)
	}
	x, y = sorted(x), sorted(y)
	d := counted{n: n * m, low: low, high: high, split: func(v float64) (upTo int, last, next float64) {
		// Both are sorted, so the differences up to v end at a staircase.
		last, next = math.Inf(-1), math.Inf(1)
		j := 0
		for _, a := range x {
			for j < m && y[j]-a <= v {
				j++
			}
			upTo += j
			if j > 0 {
				last = max(last, y[j-1]-a)
			}
			if j < m {
				next = min(next, y[j]-a)
			}
		}
		return upTo, last, next
	}}
	return shiftOf(n*m, low, high, d.smallest, quantile, levels)
}

// Paired returns the shift of y above x, whose values belong together in pairs,
// by the differences y_i−x_i. The samples are of one length and not empty.
func (r *Ranks) Paired(x, y []float64, levels ...float64) Shift {
	return r.SignedRank(Differences(x, y), levels...)
}

// Differences returns the differences y_i−x_i of samples of one length.
func Differences(x, y []float64) []float64 {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = y[i] - x[i]
	}
	return d
}

// SignedRank returns the shift of differences from 0 by F. Wilcoxon's signed ranks:
// the median of their Walsh averages, bounded by the exact quantiles of the
// signed-rank statistic. There must be one at least.
func (r *Ranks) SignedRank(differences []float64, levels ...float64) Shift {
	if r == nil {
		r = new(Ranks)
	}
	d := sorted(differences)
	n := len(d)
	walsh := counted{n: n * (n + 1) / 2, low: d[0], high: d[n-1], split: func(v float64) (upTo int, last, next float64) {
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
	quantile := func(p float64) int { return r.signedRankQuantile(n, p) }
	return shiftOf(walsh.n, walsh.low, walsh.high, walsh.smallest, quantile, levels)
}

// shiftOf returns the shift by the n numbers between low and high, of which
// smallest returns the k-th, from 1.
func shiftOf(n int, low, high float64, smallest func(k int) float64, quantile func(p float64) int, levels []float64) Shift {
	s := Shift{Estimate: smallest(n/2 + 1), Range: high - low}
	if n%2 == 0 {
		s.Estimate = (smallest(n/2) + s.Estimate) / 2
	}
	for _, level := range levels {
		i := Interval{math.Inf(-1), math.Inf(1), level}
		if k := quantile((1 - level) / 2); k > 0 {
			i.Low, i.High = smallest(k), smallest(n+1-k)
		}
		s.Bounds = append(s.Bounds, i)
	}
	return s
}

// Normal returns the bounds, by two-sided level, of a normal quantity that was
// estimated with this standard error.
func Normal(estimate, standardError float64) func(level float64) Interval {
	return func(level float64) Interval {
		z := distuv.UnitNormal.Quantile((1 + level) / 2)
		return Interval{estimate - z*standardError, estimate + z*standardError, level}
	}
}

// A written multiset is in buckets by size, each of which is sorted when a
// number of it is asked for: of hundreds, half a dozen are.
type written struct {
	numbers []float64
	starts  []int // of the buckets, and the end of the last one
}

// write takes the differences y−x, which are between low and high, in place of
// the numbers there are.
func (w *written) write(x, y []float64, low, high float64) {
	const perBucket = 4
	n := len(x) * len(y)
	buckets := n/perBucket + 1
	scale := float64(buckets-1) / (high - low)
	if !(scale < math.Inf(1)) {
		scale = 0 // all are equal
	}
	w.numbers = slices.Grow(w.numbers[:0], n)[:n]
	w.starts = slices.Grow(w.starts[:0], buckets+1)[:buckets+1]
	clear(w.starts)
	for _, a := range x {
		for _, b := range y {
			w.starts[int((b-a-low)*scale)]++
		}
	}
	for i := 1; i <= buckets; i++ {
		w.starts[i] += w.starts[i-1] // where the bucket ends, until it is filled
	}
	for _, a := range x {
		for _, b := range y {
			start := &w.starts[int((b-a-low)*scale)]
			*start--
			w.numbers[*start] = b - a
		}
	}
}

// smallest returns the k-th smallest number, from 1.
func (w *written) smallest(k int) float64 {
	next, _ := slices.BinarySearch(w.starts, k)
	slices.Sort(w.numbers[w.starts[next-1]:w.starts[next]])
	return w.numbers[k-1]
}

// A counted multiset of n numbers is too large to be written out, but easily
// counted.
type counted struct {
	n         int
	low, high float64 // the smallest and the largest
	// split returns how many are at most v, the last of them, and the next one
	// after it.
	split func(v float64) (upTo int, last, next float64)
}

// smallest returns the k-th smallest number, from 1, by bisection. Each bound is
// one of the numbers, so that it ends when there is none left between them.
func (c counted) smallest(k int) float64 {
	low, high := c.low, c.high
	for low < high {
		middle := low + (high-low)/2
		if !(middle < high) { // next to each other, or too far apart
			middle = low
		}
		upTo, last, next := c.split(middle)
		if upTo >= k {
			high = last
		} else {
			low = next
		}
	}
	return low
}
