package format

import (
	"io"
	"iter"

	"github.com/noslower/noslower/pkg/bench"
)

// The page of a build on https://coveralls.io. It has both sides on one line:
//
//	coverage: 87.664% (+0.04%) from 87.625%
//	69963 of 117797 branches covered (59.39%)
//	297 of 310 new or added lines in 4 files covered. (95.81%)
//	105048 of 119830 relevant lines covered (87.66%)
//
// The first percentage is of the benchmark "head", the last of "base"; the
// change between them is of percentage points and is not read. The table of
// files is not read either: it has only those that changed.
var _ = register(Format{
	Name:  "coveralls",
	Tool:  "Coveralls",
	Print: "copy the figures of a build's page on coveralls.io",
	How:   "a line coverage: P% (…) from P%",
	Sniff: sniffLine(coverallsSides.expression),
	Read:  readCoveralls,
})

var (
	coverallsSides  = compile(`^[>\s]*coverage:\s+(\S+)%\s.*\bfrom\s+(\S+)%`)
	coverallsCounts = compile(`^[>\s]*[\d,]+ of [\d,]+ (branches|new or added lines|relevant lines)\b.*\((\S+)%\)`)
)

// coverallsMetrics are the names of the shares of the head side.
var coverallsMetrics = map[string]string{
	"branches":           "branch_coverage",
	"new or added lines": "new_line_coverage",
	"relevant lines":     "line_coverage",
}

func readCoveralls(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		for l, err := range lines(r, name) {
			if err != nil {
				if !passOn(err, yield) {
					return
				}
				continue
			}
			if m := coverallsSides.FindStringSubmatch(l.text); m != nil {
				if !yield(coverage(l, "head", "coverage", m[1])) || !yield(coverage(l, "base", "coverage", m[2])) {
					return
				}
			}
			if m := coverallsCounts.FindStringSubmatch(l.text); m != nil {
				if !yield(coverage(l, "head", coverallsMetrics[m[1]], m[2])) {
					return
				}
			}
		}
	}
}

// coverage returns the result of one percentage.
func coverage(l line, side, metric, percent string) (bench.Result, error) {
	v, err := parseNumber(percent)
	if err != nil || v < 0 || v > 100 {
		return bench.Result{}, l.errorf("want a percentage from 0 to 100 as %s of %s, have %q", metric, side, percent)
	}
	value := bench.Value{Metric: bench.Metric{Name: metric, Unit: "%", Better: bench.Higher}, V: v}
	return bench.Result{Name: side, Values: []bench.Value{value}}, nil
}
