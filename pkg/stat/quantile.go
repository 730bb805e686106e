package stat

import (
	"math"
	"slices"

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

// Ranks compare samples by ranks, one after the other. They keep the
// distributions that were needed so far, since comparisons by the thousand have
// the same numbers of values, and room for differences. The zero value has none
// yet, and a nil one keeps none.
type Ranks struct {
	mannWhitney map[[2]int]distribution
	signedRank  map[int]distribution
	differences written
}

// A distribution has the shares of an integer from 0 on, each with those before
// it.
type distribution []float64

// quantile returns the smallest integer up to which the share is p.
func (d distribution) quantile(p float64) int {
	k, _ := slices.BinarySearch(d, p-tolerance)
	return min(k, len(d)-1)
}

// mannWhitneyQuantile returns the smallest k with P(U <= k) >= p, U being the
// Mann-Whitney statistic of samples of n and m values without a difference or
// ties. 0 means that no bound is to be had at p: U is 0 too often already.
func (r *Ranks) mannWhitneyQuantile(n, m int, p float64) int {
	if n > m {
		n, m = m, n
	}
	if n*m > maxExactDifferences {
		mean, sd := float64(n)*float64(m)/2, math.Sqrt(float64(n)*float64(m)*float64(n+m+1)/12)
		return normalQuantile(mean, sd, p)
	}
	return kept(&r.mannWhitney, [2]int{n, m}, func() distribution { return mannWhitney(n, m) }).quantile(p)
}

// signedRankQuantile returns the smallest k with P(W <= k) >= p, W being
// Wilcoxon's signed-rank statistic of n pairs without a difference or ties; 0
// where no bound is to be had at p.
func (r *Ranks) signedRankQuantile(n int, p float64) int {
	if n > maxExactPairs {
		mean, sd := float64(n*(n+1)/2)/2, math.Sqrt(float64(n)*float64(n+1)*float64(2*n+1)/24)
		return normalQuantile(mean, sd, p)
	}
	return kept(&r.signedRank, n, func() distribution { return signedRank(n) }).quantile(p)
}

// kept returns the distribution of a key, which is made where there is none.
func kept[K comparable](in *map[K]distribution, key K, make func() distribution) distribution {
	d, ok := (*in)[key]
	if !ok {
		if *in == nil {
			*in = map[K]distribution{}
		}
		d = make()
		(*in)[key] = d
	}
	return d
}

// mannWhitney returns the distribution of U. It is counted exactly by the
// recurrence of H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two
// Random Variables is Stochastically Larger than the Other", Ann. Math. Statist.
// 18 (1947), as a product of Gaussian binomials.
func mannWhitney(n, m int) distribution {
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
	return shares(ways)
}

// signedRank returns the distribution of W.
func signedRank(n int) distribution {
	largest := n * (n + 1) / 2
	ways := make([]float64, largest+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for u := largest; u >= i; u-- {
			ways[u] += ways[u-i]
		}
	}
	return shares(ways)
}

// shares returns the distribution of what has so many ways to come about.
func shares(ways []float64) distribution {
	var total float64
	for _, w := range ways {
		total += w
	}
	d := make(distribution, len(ways))
	var sum float64
	for k, w := range ways {
		sum += w
		d[k] = sum / total
	}
	return d
}

func normalQuantile(mean, sd, p float64) int {
	return int(math.Ceil(mean + sd*distuv.UnitNormal.Quantile(p) - 0.5))
}

// Bounded reports whether samples of n and m values have bounds at a two-sided
// level.
func Bounded(n, m int, level float64) bool {
	return n > 0 && m > 0 && new(Ranks).mannWhitneyQuantile(n, m, (1-level)/2) > 0
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
