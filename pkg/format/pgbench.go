package format

import (
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What pgbench prints (https://www.postgresql.org/docs/current/pgbench.html), of
// all versions:
//
//	transaction type: <builtin: TPC-B (sort of)>
//	scaling factor: 1
//	query mode: simple
//	number of clients: 2
//	number of threads: 2
//	number of transactions actually processed: 7838
//	number of failed transactions: 0 (0.000%)
//	latency average = 0.509 ms
//	tps = 3925.640220 (without initial connection time)
//	SQL script 1: a.sql
//	 - 11 transactions (68.8% of total, tps = 302.730075)
//	 - latency average = 0.625 ms
//
// Before version 14 there are two rates: that without connecting is taken. The
// one of a run that connects for each transaction (-C) includes it. The benchmark
// is named by the script and how it was run; each of several scripts is one too.
// Errors are failed transactions and clients that gave up. Latencies by statement
// and lines of progress are not read.
var _ = register(Format{
	Name:  "pgbench",
	Tool:  "pgbench",
	Print: "pgbench -c 4 -j 2 -T 60 postgres",
	How:   `a line "tps = N (without initial connection time)" or (excluding connections establishing)`,
	Seen:  []string{"pgbench 15.18"},
	Sniff: sniffLine(`^[>\s]*tps = \S+ \((?:without|including|excluding) `),
	Read:  readPgbench,
})

var (
	pgbenchField   = compile(`^(transaction type|scaling factor|query mode|number of clients|number of threads|number of failed transactions): (.*)$`)
	pgbenchBuiltin = compile(`^<builtin: (.*)>$`)
	pgbenchScript  = compile(`^SQL script \d+: (.*)$`)
	pgbenchLatency = compile(`^latency average(?: =|:) (\S+) ms(?: \(including failures\))?$`)
	pgbenchRate    = compile(`^tps = (\S+) \((.*?)\)?$`)
	pgbenchPart    = compile(`^\d+ transactions \(.*\btps = (\S+)\)$`)
	pgbenchGivenUp = compile(`\bclient \d+ .*\baborted\b`)
	pgbenchAborted = compile(`\bRun was aborted\b`)
)

// pgbenchParameters are the parts of a benchmark's name after the script.
var pgbenchParameters = map[string]string{
	"scaling factor": "scale", "query mode": "mode", "number of clients": "clients", "number of threads": "threads",
}

func readPgbench(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		p := pgbenchReader{reporter: reporter{to: yield}}
		if eachUnquoted(r, name, yield, p.line) {
			p.next()
		}
	}
}

// A pgbenchReader gathers what is said of a run, or of a script in it.
type pgbenchReader struct {
	reporter
	whole  string  // the name of the run
	errors float64 // of the run
}

func (p *pgbenchReader) line(l line) bool {
	text := strings.TrimPrefix(l.text, "- ")
	if m := pgbenchField.FindStringSubmatch(text); m != nil {
		return p.field(l, m[1], m[2])
	}
	if m := pgbenchScript.FindStringSubmatch(text); m != nil {
		ok := p.flush()
		p.at, p.result.Name = l, p.whole+"/"+pgbenchName(m[1])
		return ok
	}
	if m := pgbenchLatency.FindStringSubmatch(text); m != nil {
		p.parse("latency_mean", m[1], "ms")
	} else if m := pgbenchRate.FindStringSubmatch(text); m != nil && m[2] != "including connections establishing" {
		p.at = l
		p.parseRate("throughput", m[1], "tps")
		p.measure("errors", p.errors, "errors")
		p.errors = 0
	} else if m := pgbenchPart.FindStringSubmatch(text); m != nil {
		p.parseRate("throughput", m[1], "tps")
	} else if pgbenchGivenUp.MatchString(text) {
		p.errors++
	} else if pgbenchAborted.MatchString(text) {
		return p.to(bench.Result{}, l.errorf("want a run that is whole, have one that was aborted: its results are of a part of its work"))
	}
	return true
}

// field takes a line of a name and a value.
func (p *pgbenchReader) field(l line, name, value string) bool {
	switch {
	case name == "transaction type":
		ok := p.next()
		p.whole = pgbenchName(value)
		p.at, p.result.Name = l, p.whole
		return ok
	case name == "number of failed transactions":
		count, _, _ := strings.Cut(value, " ")
		n, err := parseNumber(count)
		switch {
		case err != nil:
			p.problem("want a number of failed transactions, have %q", value)
		case p.result.Name != p.whole:
			p.measure("errors", n, "errors")
		default:
			p.errors += n
		}
	case name != "query mode" || value != "simple":
		p.whole += " " + pgbenchParameters[name] + "=" + value
		p.result.Name = p.whole
	}
	return true
}

// pgbenchName is a script's name.
func pgbenchName(printed string) string {
	if m := pgbenchBuiltin.FindStringSubmatch(printed); m != nil {
		return m[1]
	}
	return printed
}
