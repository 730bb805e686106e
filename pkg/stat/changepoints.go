package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A ChangePoint is where a series of jobs changes its level.
type ChangePoint struct {
	At       int     // index of the first value of the new level
	From, To float64 // medians of the values between the neighbouring change points, before and after
}

// A ChangeSearch says which changes of level are looked for.
type ChangeSearch struct {
	// P is the largest share of the orders of the values in which chance alone
	// makes as clear a change: 0.001 is one in a thousand. A search of a window
	// without any change finds one that often.
	P float64
	// Smallest is the smallest change of level that counts, in the unit of the
	// values: of logarithms, 0.01 is 1 %.
	Smallest float64
	Seed     uint64 // of the orders that are tried
}

const (
	// changeWindow is how many values are looked at together, so that the time
	// grows with the length of a series and not with its square. It is the
	// default of Apache Otava (otava/analysis.py).
	changeWindow = 50
	// fewestOfLevel is how many values make a level: fewer are outliers.
	fewestOfLevel = 3
	// changeOverNoise is how large a change must be beside the noise between
	// successive values, as a standard deviation. What is smaller is drift as
	// often as it is a change: same-commit series of real machines have it.
	changeOverNoise = 1.5
)

// ChangePoints returns where a series changes its level, in order, by the
// hierarchical divisive estimation ("E-divisive") of D. S. Matteson and N. A.
// James, "A Nonparametric Approach for Multiple Change Point Analysis of
// Multivariate Data", JASA 109 (2014), 334–345: the split that sets the
// distances between both sides farthest above those within them, at exponent 1,
// is a change point if few orders of the same values have as good a one; then
// both sides are split in turn. Nothing is assumed of the shape of the noise, and
// an outlier is no level.
//
// As is practice in the field (M. Fleming et al., "Hunter: Using Change Point
// Detection to Hunt for Performance Regressions", ICPE 2023), a long series is
// looked at in overlapping windows, and points that turn out too small beside
// their neighbours are dropped, the weakest first.
func ChangePoints(x []float64, s ChangeSearch) []ChangePoint {
	d := divider{x: x, search: s, random: rand.New(rand.NewPCG(s.Seed, uint64(len(x))))}
	for start := 0; start < len(x); {
		end := min(len(x), start+changeWindow)
		before := len(d.at)
		d.split(start, end)
		if end == len(x) {
			break
		}
		slices.Sort(d.at[before:])
		if start += changeWindow / 2; len(d.at) > before {
			// A level that began here goes on in the next window.
			start = max(d.at[len(d.at)-1], end-changeWindow/2)
		}
	}
	slices.Sort(d.at)
	d.at = slices.Compact(d.at)
	return d.weigh()
}

// A divider searches one series.
type divider struct {
	x      []float64
	search ChangeSearch
	random *rand.Rand
	at     []int // change points found

	order   []float64 // values of the window, in the order that is tried
	sums    []float64 // distances between all values from one index to another
	inverse []float64 // 1/i
}

// split notes the change points between two indices. What cannot be as large as
// is asked for is not tried for chance, which takes nearly all of the time.
func (d *divider) split(from, to int) {
	x := d.x[from:to]
	at, end, q := d.best(x)
	if at == 0 || math.Abs(Median(x[at:end])-Median(x[:at])) < d.search.Smallest/2 || d.byChance(x, q) {
		return
	}
	d.at = append(d.at, from+at)
	d.split(from, from+at)
	d.split(from+at, to)
}

// best returns the best split of values and its statistic, Q of the paper: the
// right side ends anywhere, so that a level that ends again is seen too. The
// split is 0 where there is none.
func (d *divider) best(x []float64) (at, end int, q float64) {
	n := len(x)
	if n < 2*fewestOfLevel {
		return 0, 0, 0
	}
	within := d.within(x)
	row := n + 1
	for i := len(d.inverse); i <= n; i++ {
		d.inverse = append(d.inverse, 1/float64(i))
	}
	for t := fewestOfLevel; t <= n-fewestOfLevel; t++ {
		m, left := float64(t), within[t] // from 0 to t
		spread := left * d.inverse[t-1]
		for e := t + fewestOfLevel; e <= n; e++ {
			// With m values on the left and k on the right,
			// mk/(m+k) · (2·between/mk − 2·left/m(m−1) − 2·right/k(k−1)).
			k := e - t
			right := within[t*row+e]
			between := within[e] - left - right
			if v := 2 * d.inverse[e] * (between - spread*float64(k) - right*m*d.inverse[k-1]); v > q {
				at, end, q = t, e, v
			}
		}
	}
	return at, end, q
}

// within returns, at from·(n+1)+to, the sum of the distances between all pairs
// of the n values from one index up to another.
func (d *divider) within(x []float64) []float64 {
	n := len(x)
	row := n + 1
	if need := row * row; len(d.sums) < need {
		d.sums = make([]float64, need)
	}
	for i := range n {
		d.sums[i*row+i], d.sums[i*row+i+1] = 0, 0
	}
	for to := 1; to < n; to++ {
		var added float64
		for from := to - 1; from >= 0; from-- {
			added += math.Abs(x[from] - x[to])
			d.sums[from*row+to+1] = d.sums[from*row+to] + added
		}
	}
	return d.sums
}

// byChance reports whether more than the share P of the orders of these values
// has as good a split. Orders are tried until that is certain: for most series
// without a change that is after a few (J. Besag and P. Clifford, "Sequential
// Monte Carlo p-values", Biometrika 78 (1991), 301–304).
func (d *divider) byChance(x []float64, q float64) bool {
	orders := int(math.Ceil(1/d.search.P)) - 1
	allowed := int(d.search.P*float64(orders+1)) - 1
	d.order = append(d.order[:0], x...)
	for range orders {
		d.random.Shuffle(len(d.order), func(i, j int) { d.order[i], d.order[j] = d.order[j], d.order[i] })
		// The same values in another order add up to what rounding makes of it.
		if _, _, as := d.best(d.order); as >= q*(1-1e-9) {
			if allowed--; allowed < 0 {
				return true
			}
		}
	}
	return false
}

// weigh places each change point anew between its neighbours and drops those that
// are too small, the weakest first.
func (d *divider) weigh() []ChangePoint {
	for {
		points, noise := d.levels()
		weakest, share := -1, 1.0
		for i, p := range points {
			size := math.Abs(p.To - p.From)
			if wanted := max(d.search.Smallest, changeOverNoise*noise[i]); size < wanted && size/wanted < share {
				weakest, share = i, size/wanted
			}
		}
		if weakest < 0 {
			return points
		}
		d.at = slices.Delete(d.at, weakest, weakest+1)
	}
}

// levels returns the change points with the levels on both sides, and the noise
// of one value around each.
func (d *divider) levels() (points []ChangePoint, noise []float64) {
	for i := range d.at {
		from, to := 0, len(d.x)
		if i > 0 {
			from = d.at[i-1]
		}
		if i+1 < len(d.at) {
			to = d.at[i+1]
		}
		at := d.at[i]
		points = append(points, ChangePoint{At: at, From: Median(d.x[from:at]), To: Median(d.x[at:to])})
		var steps []float64
		for k := max(from, at-changeWindow) + 1; k < min(to, at+changeWindow); k++ {
			if k != at {
				steps = append(steps, math.Abs(d.x[k]-d.x[k-1]))
			}
		}
		noise = append(noise, madScale*Median(steps)/math.Sqrt2)
	}
	return points, noise
}
