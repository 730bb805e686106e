package stat

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// A correlation of ranks with those of the values before is no chance from this
// many standard errors (1/√n) on. Values without any order reach it in 1 of 700
// samples of 20 and 1 of 6000 of 12, and next to never in smaller ones.
const beyondChance = 2.5

// mostDrift bounds the correlation where a sample is nothing but a slope.
const mostDrift = 0.95

// Drift returns how much values resemble those measured just before them: the
// correlation ρ of successive ones, by their ranks, and 0 where it may be
// chance. It is the rank version of J. von Neumann's ratio by R. Bartels, "The
// Rank Version of von Neumann's Ratio Test for Randomness", JASA 77 (1982), less
// the bias found by M. G. Kendall, "Note on Bias in the Estimation of
// Autocorrelation", Biometrika 41 (1954).
func Drift(x []float64) float64 {
	r := ranks(x)
	n := float64(len(r))
	mean := stat.Mean(r, nil)
	var with, square float64
	for i, v := range r {
		square += (v - mean) * (v - mean)
		if i > 0 {
			with += (v - mean) * (r[i-1] - mean)
		}
	}
	rho := with / square // NaN where all are equal
	if !(rho*math.Sqrt(n) >= beyondChance) {
		return 0
	}
	return min(mostDrift, rho+(1+3*rho)/n)
}

// Inflation returns the factor by which the standard error of the mean of many
// values is larger than that of independent ones, where successive values have
// the correlation ρ: √((1+ρ)/(1−ρ)). M. S. Bartlett, "On the Theoretical
// Specification and Sampling Properties of Autocorrelated Time-Series", Suppl.
// J. R. Statist. Soc. 8 (1946).
func Inflation(rho float64) float64 { return math.Sqrt((1 + rho) / (1 - rho)) }
