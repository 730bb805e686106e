package baseline

import (
	"cmp"
	"slices"
	"time"

	"github.com/noslower/noslower/pkg/bench"
)

// A Series is what the jobs of one machine class measured of one quantity.
type Series struct {
	Key          bench.Key
	MachineClass string
	Points       []Point // oldest first
}

// A Point is what one job measured of it.
type Point struct {
	Commit string
	Time   time.Time
	Quantity
}

// Trail returns the jobs that r tells of, with its own measurements, summarized
// by quantities, as the last.
func (r Record) Trail(quantities []Quantity) []Job {
	return append(slices.Clone(r.Jobs), Job{
		Commit: r.Measurements.Commit, Time: r.Measurements.Time,
		MachineClass: r.Measurements.Host.Class(), Quantities: quantities,
	})
}

// Trends returns what jobs measured, by quantity and machine class: quantities in
// the order of the latest job and then of those before it, the classes of a
// quantity together.
func Trends(jobs []Job) []Series {
	type place struct {
		key   bench.Key
		class string
	}
	var all []*Series
	at := map[place]*Series{}
	rank := map[bench.Key]int{}
	for _, j := range slices.Backward(jobs) {
		for _, q := range j.Quantities {
			p := place{q.Key, j.MachineClass}
			if at[p] == nil {
				at[p] = &Series{Key: q.Key, MachineClass: j.MachineClass}
				all = append(all, at[p])
			}
			if _, ok := rank[q.Key]; !ok {
				rank[q.Key] = len(rank)
			}
			at[p].Points = append(at[p].Points, Point{j.Commit, j.Time, q})
		}
	}
	slices.SortStableFunc(all, func(a, b *Series) int { return cmp.Compare(rank[a.Key], rank[b.Key]) })
	series := make([]Series, len(all))
	for i, s := range all {
		slices.Reverse(s.Points)
		series[i] = *s
	}
	return series
}

// Merge joins what several records tell of the jobs of one suite, oldest first.
// A job that several tell of is there once.
func Merge(trails ...[]Job) []Job {
	type name struct {
		commit, class string
		time          int64
	}
	seen := map[name]bool{}
	var jobs []Job
	for _, trail := range trails {
		for _, j := range trail {
			n := name{j.Commit, j.MachineClass, j.Time.UnixNano()}
			if !seen[n] {
				seen[n] = true
				jobs = append(jobs, j)
			}
		}
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return a.Time.Compare(b.Time) })
	return jobs
}

// A Change is a change of level that somebody has been told of: each is told
// once.
type Change struct {
	Key          bench.Key
	MachineClass string
	Commit       string // of the first job of the new level
	Time         time.Time
	Rose         bool // or fell
}

// sameChange is how many jobs apart a change may be found from one job to the
// next and still be the same: as jobs are added, its place becomes clearer.
const sameChange = 3

// Told reports whether somebody has been told of the change of a series at an
// index, in this direction.
func (r Record) Told(s Series, at int, rose bool) bool {
	return slices.ContainsFunc(r.Changes, func(c Change) bool {
		if c.Key != s.Key || c.MachineClass != s.MachineClass || c.Rose != rose {
			return false
		}
		was := slices.IndexFunc(s.Points, func(p Point) bool { return p.Commit == c.Commit && p.Time.Equal(c.Time) })
		return was >= 0 && max(was-at, at-was) <= sameChange
	})
}

// known returns the changes whose job is still among the jobs.
func known(changes []Change, jobs []Job) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return !slices.ContainsFunc(jobs, func(j Job) bool { return j.Commit == c.Commit && j.Time.Equal(c.Time) })
	})
}
