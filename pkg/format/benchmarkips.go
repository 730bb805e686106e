package format

import (
	"io"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// The output of Ruby's benchmark-ips, as printed by
// https://github.com/evanphx/benchmark-ips/blob/master/lib/benchmark/ips/report.rb:
// a mean rate with its standard deviation. A long name has a line of its own.
//
//	Calculating -------------------------------------
//	            addition     24.945M (± 5.2%) i/s   (40.09 ns/i) -      7.808M in   0.313902s
//
// or what its json! writes:
//
//	[{"name": "addition", "central_tendency": 24945066.5, "ips": 24945066.5, "error": 1291060, "stddev": 1291060, …}]
//
// The table that compares them at the end is not read.
var _ = register(Format{
	Name:  "benchmark-ips",
	Tool:  "Ruby's benchmark-ips",
	How:   `lines NAME F (± F%) i/s, or a JSON array of objects with "ips" and "stddev"`,
	Seen:  []string{"benchmark-ips 2.7.2"},
	Print: "ruby bench.rb, with x.json!('results.json') and that file for all digits",
	Sniff: either(sniffIPSText, sniffDocument(ipsShape)),
	Read:  readEither(ipsShape, readIPSJSON, readIPSText),
})

var (
	ipsShape     = withKeys("[].name", "[].ips", "[].stddev")
	ipsLine      = compile(`^\s*(?:(.*?)\s+)?(\S+?)([kMBTQ]?)\s+\(±\s*(\S+)%\) i/s(?:\s|$)`)
	sniffIPSText = sniffLine(`(?:^|\s)[\d.]+[kMBTQ]?\s+\(±\s*[\d.]+%\) i/s(?:\s|$)`)
)

// ipsFactors are the letters of Ruby's large numbers.
var ipsFactors = map[string]float64{"": 1, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "Q": 1e15}

func readIPSText(r io.Reader, document string, yield func(bench.Result, error) bool) {
	before := "" // the line before
	for l, err := range lines(r, document) {
		if err != nil {
			if !passOn(err, yield) {
				return
			}
			continue
		}
		m := ipsLine.FindStringSubmatch(l.text)
		if m == nil {
			before = strings.TrimSpace(l.text)
			continue
		}
		name := m[1]
		if name == "" {
			name = before
		}
		if !yield(parseIPS(l, name, m[2:])) {
			return
		}
	}
}

func parseIPS(l line, name string, f []string) (bench.Result, error) {
	rate, err := parseNumber(f[0])
	if err != nil {
		return bench.Result{}, l.errorf("want a number before i/s, have %q", f[0])
	}
	rate *= ipsFactors[f[1]]
	var deviation *float64
	if percent, err := parseNumber(f[2]); err == nil {
		percent *= rate / 100
		deviation = &percent
	}
	return bench.Result{Name: name, Values: []bench.Value{statistic("throughput", rate, "ops/s", bench.StdDev, deviation, 0)}}, nil
}

func readIPSJSON(d *jsonDocument) error {
	return d.elements(func() error {
		var b struct {
			Name        string
			IPS, StdDev *float64
		}
		if err := d.decode(&b); err != nil {
			return err
		}
		if v, ok := d.number(b.Name, "ips", b.IPS); ok {
			d.result(bench.Result{Name: b.Name, Values: []bench.Value{statistic("throughput", v, "ops/s", bench.StdDev, b.StdDev, 0)}})
		}
		return nil
	})
}
