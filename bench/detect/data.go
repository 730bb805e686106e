package main

import (
	"slices"

	"github.com/noslower/noslower/bench/known"
	"github.com/noslower/noslower/pkg/bench"
)

// A series is what was measured of one benchmark.
type series struct {
	name   string
	better bench.Better
	jobs   []job
}

// A job is the values that were measured together, in order.
type job struct {
	name   string
	values []float64
}

// group returns the rows by series and by the job that a function names, all in
// the order in which they come first. A row of no job is left out.
func group(rows []known.Row, jobOf func(known.Row) string) []series {
	var all []series
	for _, r := range rows {
		name := jobOf(r)
		if name == "" {
			continue
		}
		i := slices.IndexFunc(all, func(s series) bool { return s.name == r.Series })
		if i < 0 {
			i = len(all)
			all = append(all, series{name: r.Series, better: r.Better})
		}
		s := &all[i]
		k := slices.IndexFunc(s.jobs, func(j job) bool { return j.name == name })
		if k < 0 {
			k = len(s.jobs)
			s.jobs = append(s.jobs, job{name: name})
		}
		s.jobs[k].values = append(s.jobs[k].values, r.Value)
	}
	return all
}
