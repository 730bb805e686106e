package format

import (
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The output of Gungraun, which was Iai-Callgrind, and of Iai before it, as
// printed by
// https://github.com/gungraun/gungraun/blob/main/gungraun-runner/src/runner/format.rs
// and https://github.com/bheisler/iai: counts of one execution, with those of
// the run before after a bar or as a change.
//
//	bench::fibonacci_group::bench_fibonacci short:10
//	  Instructions:                1734|1650            (+5.09090%) [+1.04844x]
//	  L1 Hits:                     2359|2275            (+3.69230%) [+1.03560x]
//	  ======= DHAT ============================================================
//	  Total bytes:                29499|N/A             (*********)
//
//	iai_benchmark_short
//	  Instructions:                1243 (+1.139138%)
//	  L1 Accesses:                 1580 (+0.701083%)
//
// or, with --output-format=json, documents of version 6:
//
//	{"module_path":"bench::fibonacci_group::bench_fibonacci","id":"short","details":"10","profiles":[{"tool":"Callgrind",
//	  "summaries":{"total":{"summary":{"Callgrind":{"Ir":{"metrics":{"Both":[{"Int":1734},{"Int":1650}]}}}}}}}],"version":"6", …}
//
// The execution is the operation, so that the counts are those of one.
var _ = register(Format{
	Name:  "gungraun",
	Tool:  "Gungraun, Iai-Callgrind, Iai",
	How:   "an indented line Instructions: N|N below a benchmark's name, or its JSON",
	Print: "cargo bench, or cargo bench -- --output-format=json",
	Sniff: either(sniffGungraunText, sniffDocument(gungraunShape)),
	Read:  readEither(gungraunShape, readGungraunJSON, readGungraunText),
})

var (
	gungraunShape     = withKeys("module_path", "function_name", "profiles")
	sniffGungraunText = sniffLine(`^\s+(?:Instructions|Estimated Cycles|RAM (?:Hits|Accesses)|Total blocks):\s+\d+(?:\|\S+)?(?:\s+[(\[]|\s*$)`)
	gungraunLine      = compile(`^\s+([A-Z][\w+ -]*?):\s+([\d.]+|N/A)(?:\|[\d.]+|\|N/A)?(?:\s+[(\[].*)?\s*$`)
	gungraunName      = compile(`^\w+(?:::\w+)+(?:\s|$)`)
)

// gungraunMetrics are the metrics of the lines, and of the kinds of events.
var gungraunMetrics = map[string][2]string{
	"Instructions":     {"instructions_per_op", "instructions/op"},
	"Estimated Cycles": {"estimated_cycles_per_op", "cycles/op"},
	"Total bytes":      {"bytes_per_op", "B/op"},
	"Total blocks":     {"allocs_per_op", "allocs/op"},
	"At t-gmax bytes":  {"peak_bytes", "B"},
}

// gungraunEvents are the lines of the kinds of events, where they differ by more
// than how they are written.
var gungraunEvents = map[string]string{
	"Ir": "Instructions", "EstimatedCycles": "Estimated Cycles",
	"L1hits": "L1 Hits", "L2hits": "L2 Hits", "LLhits": "LL Hits", "RamHits": "RAM Hits", "TotalRW": "Total read+write",
	"TotalBytes": "Total bytes", "TotalBlocks": "Total blocks", "AtTGmaxBytes": "At t-gmax bytes",
}

func measureGungraun(what string, v float64) bench.Value {
	if m, ok := gungraunMetrics[what]; ok {
		return bench.Measure(m[0], v, m[1])
	}
	return bench.Measure(what, v, "")
}

func readGungraunText(r io.Reader, document string, yield func(bench.Result, error) bool) {
	t := gungraunText{yield: yield}
	if eachLine(r, document, yield, t.line) {
		t.end()
	}
}

// A gungraunText is the benchmark that is being read.
type gungraunText struct {
	yield   func(bench.Result, error) bool
	current bench.Result
	at      line     // of its name
	before  []string // lines since the last count, which may be the next name
	skip    bool     // to the next name: what follows compares
	filter  filter
}

func (t *gungraunText) line(l line) bool {
	m := gungraunLine.FindStringSubmatch(l.text)
	switch {
	case m == nil && strings.TrimSpace(l.text) == "":
		t.before = nil
		return true
	case m == nil && strings.HasPrefix(l.text, "  "):
		t.skip = t.skip || strings.HasPrefix(l.text, "  Comparison with ")
		return true
	case m == nil:
		t.before = append(t.before, l.text)
		return true
	}
	if len(t.before) > 0 {
		if !t.end() {
			return false
		}
		t.current, t.at, t.skip = bench.Result{Name: gungraunTitle(t.before)}, l, false
		t.before = nil
	}
	if t.skip || m[2] == "N/A" {
		return true
	}
	v, err := parseNumber(m[2])
	if err != nil {
		return t.yield(bench.Result{}, l.errorf("want a count as %s, have %q", m[1], m[2]))
	}
	t.current.Values = append(t.current.Values, measureGungraun(m[1], v))
	return true
}

// end yields the benchmark that was read.
func (t *gungraunText) end() bool {
	res := t.current
	t.current = bench.Result{}
	return t.filter.yield(t.at, res, t.yield)
}

// gungraunTitle returns the name that stands in the last of these lines: a name
// with a module's path may go over several, any other has one.
func gungraunTitle(before []string) string {
	for i, text := range slices.Backward(before) {
		if gungraunName.MatchString(text) {
			return oneBlank(strings.Join(before[i:], " "))
		}
	}
	return strings.TrimSpace(before[len(before)-1])
}

type gungraunDocument struct {
	ModulePath string `json:"module_path"`
	ID         string
	Details    string
	Profiles   []struct {
		Summaries struct {
			Total struct {
				Summary map[string]map[string]struct {
					Metrics struct {
						Left *gungraunCount
						Both []gungraunCount
					}
				}
			}
		}
	}
}

type gungraunCount struct{ Int, Float *float64 }

func readGungraunJSON(d *jsonDocument) error {
	d.halves = math.MaxInt // a profile tells of each event
	var doc gungraunDocument
	if err := d.decode(&doc); err != nil {
		return err
	}
	if d.isHalf() && doc.ModulePath == "" {
		return nil // without its name
	}
	res := bench.Result{Name: doc.ModulePath}
	if doc.ID != "" {
		res.Name += " " + doc.ID
	}
	if doc.Details != "" {
		res.Name += ":" + doc.Details
	}
	for _, profile := range doc.Profiles {
		for _, tool := range slices.Sorted(maps.Keys(profile.Summaries.Total.Summary)) {
			events := profile.Summaries.Total.Summary[tool]
			for _, event := range slices.Sorted(maps.Keys(events)) {
				m := events[event].Metrics
				if m.Left == nil && len(m.Both) > 0 {
					m.Left = &m.Both[0]
				}
				if m.Left == nil {
					continue // of the run before alone
				}
				v := m.Left.Int
				if v == nil {
					v = m.Left.Float
				}
				if v, ok := d.number(res.Name, event, v); ok {
					what := event
					if line, ok := gungraunEvents[event]; ok {
						what = line
					}
					res.Values = append(res.Values, measureGungraun(what, v))
				}
			}
		}
	}
	d.result(res)
	return nil
}
