package format

import (
	"io"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What mitata prints (https://github.com/evanwashere/mitata/blob/master/src/main.mjs),
// of version 1, where the second line has the extremes and the 99th percentile,
//
//	fib(10)                      890.41 ns/iter 748.57 ns █
//	                      (681.13 ns … 6.10 µs)   5.10 µs █
//	• group
//	noop                         164.73 ps/iter  78.37 ps █
//
// of the versions before, which have all on one,
//
//	fib(10)       890.41 ns/iter   (681.13 ns … 6.10 µs) 748.57 ns   5.10 µs   5.20 µs
//
// and its JSON, where times are in nanoseconds:
//
//	{"layout": [{"name": null}, {"name": "group"}],
//	 "benchmarks": [{"group": 0, "runs": [{"name": "fib(10)", "stats": {"avg": 712.8, "p50": 694.4, "samples": […], …}}]}]}
//
// A group's name stands before that of its benchmarks. Text has means; JSON has
// medians, which are taken. Its samples are not: there may be millions, and they
// are sorted and without the slowest. A benchmark that threw has no numbers.
var _ = register(Format{
	Name:  "mitata",
	Tool:  "mitata, as text and as JSON",
	Print: `node -e 'import("./bench.mjs").then(({run}) => run({format: "json"}))'`,
	How:   `lines NAME N ns/iter N ns, or a JSON object with "layout" and "benchmarks"`,
	Seen:  []string{"mitata 0.1.14", "mitata 1.0.34"},
	Sniff: either(sniffMitata, sniffDocument(mitataShape)),
	Read:  readEither(mitataShape, readMitata, readMitataText),
})

const mitataTime = `[\d.,]+ (?:ps|ns|µs|μs|us|ms|s|m|h)`

var (
	mitataShape = withKeys("layout[].name", "benchmarks[].alias", "benchmarks[].runs")
	sniffMitata = sniffLine(`^.*\S\s+`+mitataTime+`/iter\s+(?:\(\s*)?`+mitataTime+`\b`, `^.*\S\s+`+mitataTime+`/iter\s+`+mitataTime+`$`)

	mitataMean   = compile(`^(.*?\S)\s+(` + mitataTime + `)/iter(?:\s+(.*))?$`)
	mitataRange  = compile(`^\(\s*` + mitataTime + `\s*…\s*(` + mitataTime + `)\s*\)(?:\s+(` + mitataTime + `))?(?:\s+(` + mitataTime + `)\s+` + mitataTime + `)?`)
	mitataThrown = compile(`^(\S.*?)\s{2,}error: (.*)$`)
)

func readMitataText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	group := ""
	heading := false // a line of dashes ends a group, if it does not underline its name
	var g gatherer
	done := eachUnquoted(r, name, yield, func(l line) bool {
		if m := mitataRange.FindStringSubmatch(l.text); m != nil && g.result.Name != "" {
			g.duration("latency_max", m[1])
			if m[2] != "" {
				g.duration("latency_p99", m[2])
			}
			return g.yield(yield)
		}
		if name, is := strings.CutPrefix(l.text, "• "); is {
			group, heading = name+"/", true
		} else if isRule(l.text) && l.text != "" {
			if !heading {
				group = ""
			}
			heading = false
		} else if m := mitataMean.FindStringSubmatch(l.text); m != nil {
			if !g.yield(yield) {
				return false
			}
			heading = false
			g.at, g.result.Name = l, group+m[1]
			g.duration("time_per_op", m[2])
			g.statistics()
			if m := mitataRange.FindStringSubmatch(m[3]); m != nil {
				g.duration("latency_max", m[1])
				if m[3] != "" { // the median's neighbour comes first
					g.duration("latency_p99", m[3])
				}
			}
		} else if m := mitataThrown.FindStringSubmatch(l.text); m != nil {
			if !g.yield(yield) {
				return false
			}
			g.at = l
			g.problem("want a benchmark that does not throw, have the error %q in %q", m[2], group+m[1])
		}
		return true
	})
	if done {
		g.yield(yield)
	}
}

type mitataStatistics struct {
	Median jsonNumber `json:"p50"`
	P99    jsonNumber `json:"p99"`
	P999   jsonNumber `json:"p999"`
	Max    jsonNumber `json:"max"`
	Heap   struct {
		Mean jsonNumber `json:"avg"`
	} `json:"heap"`
	Counters struct {
		Cycles       mitataCounter `json:"cycles"`
		Instructions mitataCounter `json:"instructions"`
	} `json:"counters"`
}

type mitataCounter struct {
	Mean jsonNumber `json:"avg"`
}

type mitataBenchmark struct {
	Alias string `json:"alias"`
	Group int    `json:"group"`
	Runs  []struct {
		Name  string            `json:"name"`
		Args  jsonObject        `json:"args"`
		Stats *mitataStatistics `json:"stats"`
		Error *struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"runs"`
}

func readMitata(d *jsonDocument) error {
	var groups []struct {
		Name string `json:"name"`
	}
	return d.members(func(key string) error {
		switch key {
		case "layout":
			return d.decode(&groups)
		case "benchmarks":
			return d.elements(func() error {
				var b mitataBenchmark
				if err := d.decode(&b); err != nil {
					return err
				}
				group := ""
				if b.Group >= 0 && b.Group < len(groups) && groups[b.Group].Name != "" {
					group = groups[b.Group].Name + "/"
				}
				b.report(d, group)
				return nil
			})
		}
		return d.skip()
	})
}

// untold returns those arguments of a run that its name does not tell apart: a name
// has the values of the arguments that the alias has a $ and the key of, and every
// object is one text there.
func (b *mitataBenchmark) untold(args jsonObject) string {
	told := ""
	for _, arg := range args.byKey() {
		if !strings.Contains(b.Alias, "$"+arg.key) || arg.value[0] == '{' {
			told += " " + arg.key + "=" + oneBlank(arg.value)
		}
	}
	return told
}

func (b *mitataBenchmark) report(d *jsonDocument, group string) {
	for _, run := range b.Runs {
		g := gatherer{result: bench.Result{Name: group + run.Name + b.untold(run.Args)}}
		if run.Error != nil || run.Stats == nil {
			g.problem("want a benchmark that does not throw, have an error")
			g.report(d)
			continue
		}
		s := run.Stats
		g.rate("time_per_op", s.Median, "ns")
		g.number("bytes_per_op", s.Heap.Mean, "B/op")
		g.number("instructions_per_op", s.Counters.Instructions.Mean, "instructions/op")
		g.number("cpu_cycles_per_op", s.Counters.Cycles.Mean, "cycles/op")
		g.statistics()
		g.number("latency_p99", s.P99, "ns")
		g.number("latency_p999", s.P999, "ns")
		g.number("latency_max", s.Max, "ns")
		g.report(d)
	}
}
