// Package stat compares samples of numbers: how far one lies above another,
// and between which bounds.
//
// It knows no benchmark, no direction and no threshold, and draws no
// conclusion. Methods whose answer depends on the logarithm of a value take
// logarithms.
package stat

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"
)

// An Interval is a two-sided confidence interval. An end without a bound is
// infinite.
type Interval struct {
	Low, High float64
	Level     float64 // of both ends together: 0.98 leaves 1 % beyond each
}

// OneSided returns the confidence of each end alone.
func (i Interval) OneSided() float64 { return (1 + i.Level) / 2 }

// Widen returns the interval with each end moved away from a point within it by
// an independent error: the distance and the error add as their squares.
func (i Interval) Widen(about, by float64) Interval {
	return Interval{about - math.Hypot(about-i.Low, by), about + math.Hypot(i.High-about, by), i.Level}
}

// Stretch returns the interval with each end factor times as far from a point
// within it.
func (i Interval) Stretch(about, factor float64) Interval {
	return Interval{about + factor*(i.Low-about), about + factor*(i.High-about), i.Level}
}

// Negate returns the interval of the negated quantity.
func (i Interval) Negate() Interval { return Interval{-i.High, -i.Low, i.Level} }

// Median returns the middle value, or the mean of the two middle ones; NaN of
// nothing.
func Median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return math.NaN()
	}
	s := sorted(x)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

func sorted(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

// madScale makes the median absolute deviation an estimate of the standard
// deviation of normal values: 1/Φ⁻¹(3/4). P. J. Rousseeuw and C. Croux,
// "Alternatives to the Median Absolute Deviation", JASA 88 (1993).
const madScale = 1.4826

// RobustSD returns the smaller of the scaled median absolute deviation and the
// ordinary standard deviation: outliers do not raise it, and many equal values
// with a few others do not either. It is 0 for fewer than two values.
func RobustSD(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	return min(madScale*mad(x), stat.StdDev(x, nil))
}

// LargestSD returns the largest RobustSD of samples, or least where none is larger.
// It takes no medians of a sample whose ordinary deviation is not larger.
func LargestSD(least float64, samples ...[]float64) float64 {
	for _, x := range samples {
		if len(x) > 1 && stat.StdDev(x, nil) > least {
			least = max(least, RobustSD(x))
		}
	}
	return least
}

// SDOfMAD returns the standard deviation of normal values with this median
// absolute deviation.
func SDOfMAD(mad float64) float64 { return madScale * mad }

func mad(x []float64) float64 {
	m := Median(x)
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = math.Abs(v - m)
	}
	return Median(d)
}

// Spearman returns the rank correlation of pairs, ties sharing the mean of
// their ranks; 0 where one side is constant.
func Spearman(x, y []float64) float64 {
	r := stat.Correlation(ranks(x), ranks(y), nil)
	if math.IsNaN(r) {
		return 0
	}
	return r
}

func ranks(x []float64) []float64 {
	s := sorted(x)
	r := make([]float64, len(x))
	for i, v := range x {
		first, _ := slices.BinarySearch(s, v)
		beyond := first + 1
		if beyond < len(s) && s[beyond] == v {
			beyond += sort.Search(len(s)-beyond, func(k int) bool { return s[beyond+k] > v })
		}
		r[i] = float64(first+beyond-1) / 2
	}
	return r
}
