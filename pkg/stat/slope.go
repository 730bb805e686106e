package stat

import "math"

// Slope returns by how much y rises with x: the median of the slopes of all pairs
// of points that differ in x. It is NaN where none do. H. Theil, "A Rank-Invariant
// Method of Linear and Polynomial Regression Analysis", Proc. Kon. Ned. Akad. v.
// Wetensch. A 53 (1950), and P. K. Sen, "Estimates of the Regression Coefficient
// Based on Kendall's Tau", JASA 63 (1968). Time and memory grow with the square of
// the number of points.
func Slope(x, y []float64) float64 {
	var slopes []float64
	for i := range x {
		for j := range i {
			if x[i] != x[j] {
				slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
			}
		}
	}
	if len(slopes) == 0 {
		return math.NaN()
	}
	return Median(slopes)
}
