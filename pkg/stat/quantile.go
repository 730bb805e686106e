package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// tolerance absorbs the rounding of exact probabilities, so that a quantile at
// a probability that is attained is that one and not the next.
const tolerance = 1e-12

// Beyond these sizes the normal approximations of the rank statistics are
// within a rank of the exact quantiles at every level used, and the exact ones
// would cost seconds.
const (
	maxExactDifferences = 20_000
	maxExactPairs       = 200
)

// mannWhitneyQuantile returns the smallest k with P(U <= k) >= p, U being the
// Mann-Whitney statistic of samples of n and m values without a difference or
// ties. 0 means that no bound is to be had at p: U is 0 too often already.
//
// The distribution is counted exactly by the recurrence of H. B. Mann and D. R.
// Whitney, "On a Test of Whether one of Two Random Variables is Stochastically
// Larger than the Other", Ann. Math. Statist. 18 (1947), as a product of
// Gaussian binomials.
func mannWhitneyQuantile(n, m int, p float64) int {
	if n > m {
		n, m = m, n
	}
	if n*m > maxExactDifferences {
		mean, sd := float64(n)*float64(m)/2, math.Sqrt(float64(n)*float64(m)*float64(n+m+1)/12)
		return normalQuantile(mean, sd, p)
	}
	ways := make([]float64, n*m+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for u := n * m; u >= m+i; u-- {
			ways[u] -= ways[u-m-i]
		}
		for u := i; u <= n*m; u++ {
			ways[u] += ways[u-i]
		}
	}
	return quantile(ways, p)
}

// signedRankQuantile returns the smallest k with P(W <= k) >= p, W being
// Wilcoxon's signed-rank statistic of n pairs without a difference or ties; 0
// where no bound is to be had at p.
func signedRankQuantile(n int, p float64) int {
	largest := n * (n + 1) / 2
	if n > maxExactPairs {
		mean, sd := float64(largest)/2, math.Sqrt(float64(n)*float64(n+1)*float64(2*n+1)/24)
		return normalQuantile(mean, sd, p)
	}
	ways := make([]float64, largest+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for u := largest; u >= i; u-- {
			ways[u] += ways[u-i]
		}
	}
	return quantile(ways, p)
}

// quantile returns the smallest index up to which the share of ways is p.
func quantile(ways []float64, p float64) int {
	var total float64
	for _, w := range ways {
		total += w
	}
	var sum float64
	for k, w := range ways {
		sum += w
		if sum/total >= p-tolerance {
			return k
		}
	}
	return len(ways) - 1
}

func normalQuantile(mean, sd, p float64) int {
	return int(math.Ceil(mean + sd*distuv.UnitNormal.Quantile(p) - 0.5))
}

// Bounded reports whether samples of n and m values have bounds at a two-sided
// level.
func Bounded(n, m int, level float64) bool {
	return n > 0 && m > 0 && mannWhitneyQuantile(n, m, (1-level)/2) > 0
}

// FewestFor returns the smallest m of at most 1000 so that samples of n and m
// values have bounds at a two-sided level; 0 where no m does it.
func FewestFor(n int, level float64) int {
	for m := 1; m <= 1000; m++ {
		if Bounded(n, m, level) {
			return m
		}
	}
	return 0
}
