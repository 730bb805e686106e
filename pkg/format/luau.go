package format

import (
	"io"
	"iter"

	"github.com/noslower/noslower/pkg/bench"
)

// The results of Luau's benchmark runner, as printed by
// https://github.com/luau-lang/luau/blob/master/bench/bench.py: a mean with its
// standard deviation, of one program on one virtual machine.
//
//	SUCCESS: base64                                  :   15.041ms +/-  0.636% on luau
//
// The table after them, which has the same means, is not read. Where a program
// runs on several machines, the name says on which but for the first.
var _ = register(Format{
	Name:  "luau",
	Tool:  "Luau's bench.py",
	How:   "lines SUCCESS: NAME : Fms +/- F% on VM",
	Print: "python3 bench/bench.py --vm ./luau",
	Sniff: sniffLine(luauLine.expression),
	Read:  readLuau,
})

var (
	luauLine   = compile(`^SUCCESS: (.+?)\s*:\s*([-\w.]+?)(ms|us|s) \+/-\s*([-\w.]+)% on (.+?)\s*$`)
	luauFailed = compile(`^(?:FAILED|FAILURE): `)
)

func readLuau(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		first := map[string]string{} // the first machine of a program
		for l, err := range lines(r, name) {
			if err != nil {
				if !passOn(err, yield) {
					return
				}
				continue
			}
			if luauFailed.MatchString(l.text) && !yield(bench.Result{}, l.errorf("want a program that succeeds, have a failure: its result is missing")) {
				return
			}
			m := luauLine.FindStringSubmatch(l.text)
			if m == nil {
				continue
			}
			res, err := parseLuau(l, m)
			if machine, ok := first[m[1]]; !ok {
				first[m[1]] = m[5]
			} else if machine != m[5] {
				res.Name += " on " + m[5]
			}
			if !yield(res, err) {
				return
			}
		}
	}
}

func parseLuau(l line, m []string) (bench.Result, error) {
	mean, err := parseNumber(m[2])
	if err != nil || mean < 0 {
		return bench.Result{}, l.errorf("want a time of 0 or more, have %q", m[2]+m[3])
	}
	var deviation *float64
	if percent, err := parseNumber(m[4]); err == nil {
		percent *= mean / 100
		deviation = &percent
	}
	return bench.Result{Name: m[1], Values: []bench.Value{statistic("time_per_op", mean, m[3], bench.StdDev, deviation, 0)}}, nil
}
