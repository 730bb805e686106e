package format

import "github.com/noslower/noslower/pkg/bench"

// A commandReport is what a profiler says of one execution of a command.
type commandReport struct {
	command string // as the profiler prints it, "" where it does not
	values  []bench.Value
}

// maxReports bounds how many reports are held back until it is known whether
// they are all of one command.
const maxReports = 1000

// A commandNamer makes results of reports, each of a launch of its own. The
// command is the benchmark's name only where there are several: it has the
// program's path in it, which base and head seldom share. Past maxReports the
// command of those before stays without a name.
type commandNamer struct {
	yield    func(bench.Result, error) bool
	pending  []commandReport
	decided  bool
	several  bool
	first    string // command
	launches map[string]int
}

// add takes the next report, and reports whether to go on.
func (c *commandNamer) add(r commandReport) bool {
	if len(r.values) == 0 {
		return true
	}
	if c.decided {
		return c.result(r)
	}
	if c.launches == nil {
		c.launches, c.first = map[string]int{}, r.command
	}
	c.pending = append(c.pending, r)
	c.several = r.command != c.first
	return !c.several && len(c.pending) < maxReports || c.end()
}

// end yields what was held back.
func (c *commandNamer) end() bool {
	c.decided = true
	for _, r := range c.pending {
		if !c.result(r) {
			return false
		}
	}
	c.pending = nil
	return true
}

func (c *commandNamer) result(r commandReport) bool {
	res := bench.Result{Launch: c.launches[r.command], Values: r.values}
	if c.several || r.command != c.first {
		res.Name = oneBlank(r.command)
	}
	c.launches[r.command]++
	return c.yield(res, nil)
}

// addValue appends a value, under another name where the first is taken:
// instructions beside instructions:u, say.
func addValue(values []bench.Value, v bench.Value, otherwise string) []bench.Value {
	for _, o := range values {
		if o.Metric.Name == v.Metric.Name {
			v.Metric.Name = bench.SnakeCase(otherwise)
			break
		}
	}
	return append(values, v)
}
