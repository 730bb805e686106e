package format

import (
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
	command                            string
	mean, stddev, median, user, system *float64
	times, memory, exitCodes           []*float64           // by launch
	parameters                         []hyperfineParameter // by key
}

type hyperfineParameter struct{ key, value string }

func readHyperfine(d *jsonDocument) error {
	seen := map[string]string{} // the first one's parameters, by name
	return d.member("results", func() error {
		return d.objects(func(o jsonObject) error {
			r, err := hyperfineResultOf(o)
			if err != nil {
				return err
			}
			name, parameters := r.name(), r.told(func(string) bool { return true })
			if others, ok := seen[name]; !ok {
				seen[name] = parameters
			} else if others != parameters {
				name = r.command + parameters // of which the command has the words by chance
			}
			r.results(d, name)
			return nil
		})
	})
}

func hyperfineResultOf(o jsonObject) (r hyperfineResult, err error) {
	if r.command, err = o.string("command", "command"); err != nil {
		return r, err
	}
	for _, member := range []struct {
		key    string
		number **float64
	}{{"mean", &r.mean}, {"stddev", &r.stddev}, {"median", &r.median}, {"user", &r.user}, {"system", &r.system}} {
		if *member.number, err = o.float(member.key, member.key); err != nil {
			return r, err
		}
	}
	for _, member := range []struct {
		key     string
		numbers *[]*float64
	}{{"times", &r.times}, {"memory_usage_byte", &r.memory}, {"exit_codes", &r.exitCodes}} {
		if *member.numbers, err = numbersOf(o.get(member.key), member.key); err != nil {
			return r, err
		}
	}
	parameters, err := o.object("parameters")
	if err != nil {
		return r, err
	}
	for _, p := range parameters.byKey() {
		value, err := parameters.string(p.key, "parameters."+p.key)
		if err != nil {
			return r, err
		}
		r.parameters = append(r.parameters, hyperfineParameter{p.key, value})
	}
	return r, nil
}

func (r *hyperfineResult) results(d *jsonDocument, name string) {
	timeOf, memoryOf, errorsOf := bench.NewGauge("time_per_op", "s"), bench.NewGauge("max_rss", "B"), bench.NewGauge(bench.Errors, "errors")
	room := make([]bench.Value, 0, 3) // for those of each launch in turn
	for i, v := range r.times {
		time, ok := d.number(name, "time", v)
		if !ok {
			continue
		}
		res := bench.Result{Name: name, Launch: i, Values: append(room, timeOf.Value(time))}
		if i < len(r.memory) && r.memory[i] != nil && *r.memory[i] > 0 {
			res.Values = append(res.Values, memoryOf.Value(*r.memory[i]))
		}
		if i < len(r.exitCodes) {
			failed := 0.0
			if code := r.exitCodes[i]; code == nil || *code != 0 {
				failed = 1
			}
			res.Values = append(res.Values, errorsOf.Value(failed))
		}
		d.result(res)
	}
	var means []bench.Value
	if center := r.center(); len(r.times) == 0 {
		if v, ok := d.number(name, "median", center); ok {
			means = append(means, statistic("time_per_op", v, "s", bench.StdDev, r.stddev, 0))
		}
	}
	if v, ok := d.number(name, "user", r.user); ok {
		means = append(means, statistic("user_time", v, "s", bench.NoSpread, nil, len(r.times)))
	}
	if v, ok := d.number(name, "system", r.system); ok {
		means = append(means, statistic("system_time", v, "s", bench.NoSpread, nil, len(r.times)))
	}
	d.result(bench.Result{Name: name, Values: means})
}

func (r *hyperfineResult) center() *float64 {
	if r.median != nil {
		return r.median
	}
	return r.mean
}

// name returns the command, which shows its parameters unless --command-name
// hides them.
func (r *hyperfineResult) name() string {
	return r.command + r.told(func(value string) bool { return !strings.Contains(r.command, value) })
}

// told returns the parameters whose values are wanted, as they follow a name.
func (r *hyperfineResult) told(wanted func(value string) bool) string {
	text := ""
	for _, p := range r.parameters {
		if wanted(p.value) {
			text += " " + p.key + "=" + p.value
		}
	}
	return text
}
