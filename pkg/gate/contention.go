package gate

import (
	"math"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/stat"
)

// Who else runs on a machine keeps a program off the processor and empties its
// caches, so that the same work takes more of the processor's time, too. How long
// each run was kept waiting is known: the more its wall time is above its CPU time.
// Where sides were measured in turn, the difference of a pair in waiting predicts
// a part of its difference in CPU time, which is no work of head's.

const (
	// equalWaiting is the confidence with which a change must not be seen to wait
	// longer or shorter by itself: then waiting is no measure of what others did.
	equalWaiting = 0.90
	// mostAdjusted is how many pairs are looked at so: each is held against every
	// other one, and where there are more, noise is no trouble.
	mostAdjusted = 1000
)

// withoutContention returns the finding on CPU times, as logarithms of costs, less
// what waiting explains of their differences: an analysis of covariance, with the
// median of slopes in the place of least squares and signed ranks of what is left.
// It is nil where that can not be taken out, and where head is not surely slower
// with it: contention explains noise away, it does not make a regression alone.
func (e evidence) withoutContention(x, y []float64, failLevel, passLevel float64) *finding {
	n := len(x)
	if !e.Paired || n < pairedFewest || n > mostAdjusted || len(y) != n || len(e.BaseWaiting) != n || len(e.HeadWaiting) != n {
		return nil
	}
	rises, waits := stat.Differences(x, y), stat.Differences(e.BaseWaiting, e.HeadWaiting)
	measured := e.ranks.SignedRank(rises, failLevel)
	waited := e.ranks.SignedRank(waits, equalWaiting).Bounds[0]
	slope := stat.Slope(waits, rises)
	if measured.Bounds[0].Low <= 0 || waited.Low > 0 || waited.High < 0 || !(slope > 0) {
		return nil
	}
	for i := range rises {
		rises[i] -= slope * waits[i]
	}
	rest := e.ranks.SignedRank(rises, failLevel, passLevel)
	f := finding{basis: byCalm, estimate: min(measured.Estimate, rest.Estimate), fail: rest.Bounds[0], pass: rest.Bounds[1]}
	f.fail.Low = min(f.fail.Low, f.estimate)
	return &f
}

// waiting returns the logarithm of the wall time over the CPU time of each run;
// nil where they were not measured.
func waiting(s *bench.Set) []float64 {
	wall, _ := s.Lookup(bench.Key{Metric: "wall_time"})
	cpu, _ := s.Lookup(bench.Key{Metric: "cpu_time"})
	walls, cpus := launchMedians(wall), launchMedians(cpu)
	if len(walls) != len(cpus) {
		return nil
	}
	for i := range walls {
		walls[i] = math.Log(walls[i] / cpus[i])
		if math.IsNaN(walls[i]) || math.IsInf(walls[i], 0) {
			return nil
		}
	}
	return walls
}
