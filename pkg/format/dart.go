package format

import (
	"github.com/noslower/noslower/pkg/bench"
)

// The scores of Dart's benchmark_harness, as printed by
// https://github.com/dart-lang/tools/blob/main/pkgs/benchmark_harness/lib/src/score_emitter.dart:
//
//	Template(RunTime): 0.1568472448997197 us.
//	Template(CodeSize): 1234 bytes
var _ = register(Format{
	Name:  "dart",
	Tool:  "Dart's benchmark_harness",
	How:   "lines NAME(RunTime): F us.",
	Print: "dart run benchmark/bench.dart",
	Sniff: sniffLine(`^\S.*\(RunTime\): [\d.e+-]+ [num]?s\.?$`),
	Read:  byLine(parseDart),
})

var dartLine = compile(`^(\S.*)\(([A-Z]\w*)\):\s+(-?(?:\d\S*|NaN|Infinity))(?:\s+(\w+)\.?)?$`)

func parseDart(l line) (bench.Result, error) {
	m := dartLine.FindStringSubmatch(l.text)
	if m == nil {
		return bench.Result{}, nil
	}
	v, err := parseNumber(m[3])
	if err != nil {
		return bench.Result{}, l.errorf("want a number as %s, have %q", m[2], m[3])
	}
	metric := m[2]
	if metric == "RunTime" {
		metric = "time_per_op"
	}
	return bench.Result{Name: m[1], Values: []bench.Value{bench.Measure(metric, v, m[4])}}, nil
}
