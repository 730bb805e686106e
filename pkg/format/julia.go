package format

import (
	"errors"
	"math"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of Julia's BenchmarkTools, as written by
// https://github.com/JuliaCI/BenchmarkTools.jl/blob/main/src/serialization.jl,
// with times in nanoseconds:
//
//	[{"Julia": "1.10.0", "BenchmarkTools": "1.0.0"}, [
//	  ["BenchmarkGroup", {"tags": [], "data": {"fib": ["BenchmarkGroup", {"data": {
//	    "20": ["Trial", {"times": [31028.0, …], "gctimes": […], "memory": 0, "allocs": 0, "params": […]}],
//	    "30": ["TrialEstimate", {"time": 31028.0, "gctime": 0.0, "memory": 0, "allocs": 0, …}]}}]}}]]]
//
// A trial has the values, an estimate is a statistic of one, of which the
// document does not say which.
var _ = register(Format{
	Name:  "julia",
	Tool:  "Julia's BenchmarkTools",
	How:   `a JSON array that begins with {"Julia": …, "BenchmarkTools": …}`,
	Print: `julia -e 'include("bench.jl"); BenchmarkTools.save(stdout, run(suite))'`,
	Sniff: sniffDocument(juliaShape),
	Read:  juliaShape.read(readJulia),
})

var juliaShape = withKeys("[].Julia", "[].BenchmarkTools")

// maxJuliaDepth bounds how deep groups are nested.
const maxJuliaDepth = 32

type juliaTrial struct {
	Times          []*float64
	Time           *float64
	Memory, Allocs jsonNumber
}

func readJulia(d *jsonDocument) error {
	d.halves = math.MaxInt // a group tells of each trial, and a trial of each metric
	versions := true
	return d.elements(func() error {
		if versions {
			versions = false
			return d.skip()
		}
		return d.elements(func() error { return readJuliaValue(d, nil) })
	})
}

// readJuliaValue reads a group or trial below these names.
func readJuliaValue(d *jsonDocument, path []string) error {
	if len(path) > maxJuliaDepth {
		return errors.New("groups that are not nested as deep")
	}
	kind := ""
	return d.elements(func() error {
		switch strings.TrimPrefix(kind, "BenchmarkTools.") {
		case "":
			return d.decode(&kind)
		case "BenchmarkGroup":
			return d.member("data", func() error {
				return d.members(func(key string) error { return readJuliaValue(d, append(path[:len(path):len(path)], key)) })
			})
		case "Trial", "TrialEstimate":
			var t juliaTrial
			if err := d.decode(&t); err != nil {
				return err
			}
			t.result(d, strings.Join(path, "/"))
			return nil
		}
		return d.skip()
	})
}

func (t *juliaTrial) result(d *jsonDocument, name string) {
	g := gatherer{result: bench.Result{Name: name}}
	switch {
	case t.Times != nil:
		g.result.Values = bench.MeasureAll("time_per_op", d.numbers(name, "times", t.Times), "ns")
	case t.Time == nil && d.isHalf():
	default:
		if v, ok := d.number(name, "time", t.Time); ok {
			g.add(statistic("time_per_op", v, "ns", bench.NoSpread, nil, 0))
		}
	}
	g.number("bytes_per_op", t.Memory, "B/op")
	g.number("allocs_per_op", t.Allocs, "allocs/op")
	g.report(d)
}
