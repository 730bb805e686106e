package format

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What people print of tinybench (https://github.com/tinylibs/tinybench): the
// table,
//
//	console.table(bench.table())
//
//	│ (index) │ Task name     │ Latency avg (ns)  │ Latency med (ns) │ Throughput avg (ops/s) │ Throughput med (ops/s) │ Samples │
//	│ 0       │ 'faster task' │ '86.73 ± 0.90%'   │ '80.00 ± 1.00'   │ '12169652 ± 0.04%'     │ '12500000 ± 154321'    │ 576507  │
//
// the same as JSON, or the tasks:
//
//	console.log(JSON.stringify(bench.tasks.map(({name, result}) => ({name, result}))))
//
//	[{"name": "faster task", "result": {"latency": {"mean": …, "p50": …, "mad": …, "p99": …, "samplesCount": …}, "throughput": {…}}}]
//
// where times are in milliseconds. Before version 3 the numbers of the latency
// stand in the result itself. Medians come with their MAD; where there is no
// median, means with their deviation, or in the table with the 95 % confidence
// interval. A task that threw has no numbers.
var _ = register(Format{
	Name:  "tinybench",
	Tool:  "tinybench: its table, or its tasks as JSON",
	Print: `node -e 'import("./bench.mjs").then(({bench}) => bench.run().then(() => console.table(bench.table())))'`,
	How:   `a table with the column Task name, or a JSON array of objects with "name" and "result"`,
	Seen:  []string{"tinybench 2.9.0", "tinybench 6.2.5"},
	Sniff: either(sniffTinybench, sniffDocument(tinybenchShape)),
	Read:  readEither(tinybenchShape, readTinybench, readTinybenchTable),
})

var (
	tinybenchShape = withKeys("[].name", "[].result.latency").orElse(withKeys("[].name", "[].result.hz")).
			orElse(withKeys("[].name", "[].result.state")).orElse(withKeys("[].Task name"))
	sniffTinybench = sniffLine(`^\s*[│|].*[│|]\s*Task [nN]ame\s*[│|]`)
	tinybenchCell  = compile(`^([\d.,]+)(?:\s*(?:±|\+/-)\s*([\d.,]+)(%?))?$`)
)

func readTinybenchTable(r io.Reader, name string, yield func(bench.Result, error) bool) {
	var columns []string
	eachUnquoted(r, name, yield, func(l line) bool {
		if !strings.ContainsAny(l.text, "│|") {
			return true
		}
		cells := tinybenchCells(l.text)
		if slices.ContainsFunc(cells, func(c string) bool { return strings.EqualFold(c, "Task name") }) {
			columns = cells
			return true
		}
		if columns == nil || len(cells) != len(columns) {
			return true
		}
		row := map[string]string{}
		for i, c := range columns {
			row[c] = cells[i]
		}
		g := tinybenchRow(row)
		g.at = l
		return g.yield(yield)
	})
}

// tinybenchCells splits a row as console.table draws it: strings in quotes.
func tinybenchCells(text string) []string {
	cells := tableCells(strings.ReplaceAll(text, "│", "|"))
	for i, c := range cells {
		if len(c) > 1 && strings.ContainsAny(c[:1], `'"`+"`") && c[len(c)-1] == c[0] {
			cells[i] = c[1 : len(c)-1]
		}
	}
	return cells
}

// tinybenchRow reads a row by its column, of the table or of its JSON.
func tinybenchRow(row map[string]string) *gatherer {
	g := &gatherer{result: bench.Result{Name: row["Task name"]}}
	if row["Task Name"] != "" { // before version 3
		g.result.Name = row["Task Name"]
		if rate := row["ops/sec"]; rate != "" && rate != "NaN" {
			g.parseRate("throughput", rate, "ops/s")
		}
		if time := row["Average Time (ns)"]; time != "" && time != "NaN" {
			g.parse("time_per_op", time, "ns")
			g.statistics()
		}
	}
	if fault := row["Error"]; fault != "" && fault != "undefined" {
		g.problem("want a task that does not throw, have the error %q", shorten(fault, 100))
		return g
	}
	for _, side := range []struct{ metric, median, mean, unit string }{
		{"time_per_op", "Latency med (ns)", "Latency avg (ns)", "ns"},
		{"time_per_op", "Latency median (ns)", "Latency average (ns)", "ns"},
		{"throughput", "Throughput med (ops/s)", "Throughput avg (ops/s)", "ops/s"},
		{"throughput", "Throughput median (ops/s)", "Throughput average (ops/s)", "ops/s"},
	} {
		cell, kind := row[side.median], bench.MAD
		if cell == "" {
			cell, kind = row[side.mean], bench.CI95
		}
		if cell == "" {
			continue
		}
		m := tinybenchCell.FindStringSubmatch(cell)
		if m == nil {
			g.problem("want a number as %s, have %q", side.metric, cell)
			continue
		}
		before := len(g.result.Values)
		if g.parseRate(side.metric, m[1], side.unit); len(g.result.Values) == before {
			continue
		}
		value := &g.result.Values[before]
		value.Statistic = &bench.Spread{}
		if s, err := parseNumber(m[2]); err == nil {
			spread := bench.Measure(side.metric, s, side.unit).V
			if m[3] == "%" {
				spread = value.V * s / 100
			}
			*value.Statistic = bench.Spread{Kind: kind, Value: spread}
		}
		if n, err := parseNumber(row["Samples"]); err == nil && n >= 0 && n < 1e15 {
			value.Statistic.Count = int(n)
		}
	}
	return g
}

func readTinybench(d *jsonDocument) error {
	return d.objects(func(task jsonObject) error {
		if name := task.get("Task name"); name == "" || name == "null" {
			return readTinybenchTask(d, task)
		}
		cells := map[string]string{}
		for _, cell := range task {
			if cell.value[0] == '"' {
				cells[cell.key] = unquoteJSON(cell.value)
			} else if v, err := parseFloat(cell.value); err == nil {
				cells[cell.key] = strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		tinybenchRow(cells).report(d)
		return nil
	})
}

func readTinybenchTask(d *jsonDocument, task jsonObject) error {
	name, nameErr := task.string("name", "name")
	result, resultErr := task.object("result")
	state, stateErr := result.string("state", "result.state")
	latency, latencyErr := result.object("latency")
	throughput, throughputErr := result.object("throughput")
	if err := cmp.Or(nameErr, resultErr, stateErr, latencyErr, throughputErr); err != nil {
		return err
	}
	g := gatherer{result: bench.Result{Name: name}}
	switch {
	case state == "errored" || result.get("error") != "":
		g.problem("want a task that does not throw, have an error")
	case latency.number("mean").present():
		addTinybench(&g, latency, "time_per_op", "ms")
		addTinybench(&g, throughput, "throughput", "ops/s")
		addTinybenchTail(&g, latency)
	default: // before version 3
		addTinybench(&g, result, "time_per_op", "ms")
		g.rate("throughput", result.number("hz"), "ops/s")
		addTinybenchTail(&g, result)
	}
	g.report(d)
	return nil
}

// addTinybench adds what tinybench knows of latencies, in milliseconds, or of
// rates: the median if there is one, else the mean.
func addTinybench(g *gatherer, of jsonObject, metric, unit string) {
	kind, v, spread := bench.MAD, of.number("p50"), of.number("mad")
	if !v.present() {
		kind, v, spread = bench.StdDev, of.number("mean"), of.number("sd")
	}
	before := len(g.result.Values)
	if g.rate(metric, v, unit); len(g.result.Values) == before {
		return
	}
	var samples []json.RawMessage // sorted, of which the number counts
	if list := of.get("samples"); list != "" {
		_ = json.Unmarshal([]byte(list), &samples) // none where it is no list
	}
	count := max(len(samples), int(min(of.number("samplesCount").count(), 1e15)))
	g.spread(kind, bench.Measure(metric, spread.count(), unit).V, count)
}

func addTinybenchTail(g *gatherer, latency jsonObject) {
	g.number("latency_p99", latency.number("p99"), "ms")
	g.number("latency_p999", latency.number("p999"), "ms")
	g.number("latency_max", latency.number("max"), "ms")
}
