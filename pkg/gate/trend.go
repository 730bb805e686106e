package gate

import (
	"math"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// A Point is what one job measured of one quantity. Its logarithms are of the
// metric itself, not of its cost.
type Point struct {
	Commit string
	Time   time.Time
	stat.Job
}

// A Trend has, by key, what the jobs of one machine class measured, oldest
// first.
type Trend map[bench.Key][]Point

// A Change is where a quantity changed its level.
type Change struct {
	At   int     // index of the first point of the new level
	From Point   // the last job of the old level
	To   Point   // the first job of the new one
	Size float64 // of the metric itself, as a share: 0.02 where it rose by 2 %
}

// changeP is the share of searches that find a change by chance alone. It is
// the default of Apache Otava.
const changeP = 0.001

// changeSeed makes a search a function of its points.
const changeSeed = 1

// Changes returns where points change their level by a share of the metric or
// more, in order.
func Changes(points []Point, smallest float64) []Change {
	x := make([]float64, len(points))
	for i, p := range points {
		x[i] = p.Center
	}
	var changes []Change
	for _, c := range stat.ChangePoints(x, stat.ChangeSearch{P: changeP, Smallest: math.Log1p(smallest), Seed: changeSeed}) {
		changes = append(changes, Change{At: c.At, From: points[c.At-1], To: points[c.At], Size: math.Expm1(c.To - c.From)})
	}
	return changes
}

// A Watch is how a metric's trend is looked at.
type Watch struct {
	Metric   bench.Metric // with the direction that is configured
	Gating   bool
	Smallest float64 // smallest change of level to tell of, as a share
}

// Watch returns how the policy looks at the trend of a metric of a benchmark. A
// change is told of from the warning on, or where there is none from half of what
// fails: many that are each too small to fail add up.
func (p Policy) Watch(benchmark string, m bench.Metric) Watch {
	s := p.standardFor(benchmark, m, false)
	smallest := s.fail / 2
	if s.warn > 0 {
		smallest = s.warn
	}
	return Watch{s.metric, s.gate, smallest}
}

// Worse reports whether a change of the metric by this share is for the worse.
func (w Watch) Worse(size float64) bool {
	return w.Metric.Better == bench.Lower && size > 0 || w.Metric.Better == bench.Higher && size < 0
}

// Matches reports whether a glob of * and ?, as the policy's, matches the whole of
// a name; the empty glob matches every name.
func Matches(glob, name string) bool { return matches(glob, name) }

// centers are the logarithms of what the latest jobs measured of a key: as many as a
// row has room for.
func (t Trend) centers(k bench.Key) []float64 {
	const most = 51
	var logs []float64
	for _, p := range t[k][max(0, len(t[k])-most):] {
		logs = append(logs, p.Center)
	}
	return logs
}
