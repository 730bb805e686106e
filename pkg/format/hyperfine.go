package format

import (
	"maps"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The JSON of hyperfine, as exported by
// https://github.com/sharkdp/hyperfine/blob/master/src/export/json.rs:
//
//	{"results": [{"command": "sleep 0.01", "mean": 0.0124, "stddev": 0.001, "median": 0.0121, "user": 0.0009, "system": 0.0003,
//	  "times": [0.0116, …], "memory_usage_byte": [1687552, …], "exit_codes": [0, …], "parameters": {"n": "1"}}]}
//
// Each time is of a process of its own, and so a launch. The times of the
// processor are means of all. A command that exits with another status than 0,
// or by a signal, which is null, is an error.
var _ = register(Format{
	Name:  "hyperfine",
	Tool:  "hyperfine",
	How:   `a JSON object with "results" that have "command" and "times", or "mean"`,
	Seen:  []string{"hyperfine 1.15.0"},
	Print: "hyperfine --export-json /dev/stdout --style none './program'",
	Sniff: sniffDocument(hyperfineShape),
	Read:  hyperfineShape.read(readHyperfine),
})

var hyperfineShape = withKeys("results[].command", "results[].mean", "results[].user", "results[].system")

type hyperfineResult struct {
	Command                            string
	Mean, StdDev, Median, User, System *float64
	Times                              []*float64
	Memory                             []*float64 `json:"memory_usage_byte"`
	ExitCodes                          []*float64 `json:"exit_codes"`
	Parameters                         map[string]string
}

func readHyperfine(d *jsonDocument) error {
	seen := map[string]string{} // the first one's parameters, by name
	return d.member("results", func() error {
		return d.elements(func() error {
			var r hyperfineResult
			if err := d.decode(&r); err != nil {
				return err
			}
			name, parameters := r.name(), r.parameters(func(string) bool { return true })
			if others, ok := seen[name]; !ok {
				seen[name] = parameters
			} else if others != parameters {
				name = r.Command + parameters // of which the command has the words by chance
			}
			r.results(d, name)
			return nil
		})
	})
}

func (r *hyperfineResult) results(d *jsonDocument, name string) {
	timeOf, memoryOf, errorsOf := bench.NewGauge("time_per_op", "s"), bench.NewGauge("max_rss", "B"), bench.NewGauge(bench.Errors, "errors")
	room := make([]bench.Value, 0, 3) // for those of each launch in turn
	for i, v := range r.Times {
		time, ok := d.number(name, "time", v)
		if !ok {
			continue
		}
		res := bench.Result{Name: name, Launch: i, Values: append(room, timeOf.Value(time))}
		if i < len(r.Memory) && r.Memory[i] != nil && *r.Memory[i] > 0 {
			res.Values = append(res.Values, memoryOf.Value(*r.Memory[i]))
		}
		if i < len(r.ExitCodes) {
			failed := 0.0
			if code := r.ExitCodes[i]; code == nil || *code != 0 {
				failed = 1
			}
			res.Values = append(res.Values, errorsOf.Value(failed))
		}
		d.result(res)
	}
	var means []bench.Value
	if center := r.center(); len(r.Times) == 0 {
		if v, ok := d.number(name, "median", center); ok {
			means = append(means, statistic("time_per_op", v, "s", bench.StdDev, r.StdDev, 0))
		}
	}
	if v, ok := d.number(name, "user", r.User); ok {
		means = append(means, statistic("user_time", v, "s", bench.NoSpread, nil, len(r.Times)))
	}
	if v, ok := d.number(name, "system", r.System); ok {
		means = append(means, statistic("system_time", v, "s", bench.NoSpread, nil, len(r.Times)))
	}
	d.result(bench.Result{Name: name, Values: means})
}

func (r *hyperfineResult) center() *float64 {
	if r.Median != nil {
		return r.Median
	}
	return r.Mean
}

// name returns the command, which shows its parameters unless --command-name
// hides them.
func (r *hyperfineResult) name() string {
	return r.Command + r.parameters(func(value string) bool { return !strings.Contains(r.Command, value) })
}

// parameters returns those whose values are wanted, as they follow a name.
func (r *hyperfineResult) parameters(wanted func(value string) bool) string {
	text := ""
	for _, key := range slices.Sorted(maps.Keys(r.Parameters)) {
		if wanted(r.Parameters[key]) {
			text += " " + key + "=" + r.Parameters[key]
		}
	}
	return text
}
