package format

import (
	"io"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What bombardier prints, by
// https://github.com/codesenberg/bombardier/blob/master/template.go:
//
//	Bombarding http://127.0.0.1:8080/ with 500 request(s) using 4 connection(s)
//	Statistics        Avg      Stdev        Max
//	  Reqs/sec     19681.78    1023.20   19818.63
//	  Latency      196.60us   381.20us     4.02ms
//	  Latency Distribution
//	     50%   130.00us
//	  HTTP codes:
//	    1xx - 0, 2xx - 500, 3xx - 0, 4xx - 0, 5xx - 0
//	    others - 0
//	  Throughput:     3.44MB/s
//
// and its JSON, where latencies are in microseconds. The throughput is a mean of
// rates sampled within the run. Errors are responses 4xx and 5xx and requests
// without one ("others"). What text calls MB is 1024 times 1024 bytes.
var _ = register(Format{
	Name:  "bombardier",
	Tool:  "bombardier, as text and as JSON",
	Print: "bombardier -c 125 -d 10s -l -p r -o json http://127.0.0.1:8080/",
	How:   `a line "Statistics Avg Stdev Max" above one of Reqs/sec, or a JSON object with "spec" and "result"`,
	Seen:  []string{"bombardier 1.2.6"},
	Sniff: either(sniffBombardier, sniffDocument(bombardierShape)),
	Read:  readEither(bombardierShape, readBombardier, readBombardierText),
})

var (
	bombardierShape = withKeys("spec.numberOfConnections", "result.req2xx")
	sniffBombardier = sniffLine(`^Statistics\s+Avg\s+Stdev\s+Max\s*$`, `^\s+1xx - \d+, 2xx - \d+, 3xx - \d+`)

	bombardierTarget = compile(`^Bombarding (\S+) .*\busing (\d+) connection`)
	bombardierRates  = compile(`^Reqs/sec\s+(\S+)\s+(\S+)\s+\S+$`)
	bombardierTimes  = compile(`^Latency\s+(\S+)\s+\S+\s+(\S+)$`)
	bombardierRank   = compile(`^(\d+)%\s+(\S+)$`)
	bombardierCodes  = compile(`^1xx - (\d+), 2xx - (\d+), 3xx - (\d+), 4xx - (\d+), 5xx - (\d+)$`)
	bombardierOthers = compile(`^others - (\d+)$`)
	bombardierBytes  = compile(`^Throughput:\s+([-+]?(?:[\d.]+|NaN|Inf))([KMGTP]?)B?/s$`)
)

func readBombardierText(r io.Reader, name string, yield func(bench.Result, error) bool) {
	g := reporter{to: yield}
	target := ""
	var codes [5]float64 // responses by their class
	counted := false     // they are
	end := func() bool {
		if !counted && len(g.result.Values) > 0 {
			g.result.Values = nil
			g.problem("want a report to its end, have none of its responses")
		}
		counted = false
		return g.next()
	}
	done := eachUnquoted(r, name, yield, func(l line) bool {
		if m := bombardierTarget.FindStringSubmatch(l.text); m != nil {
			target = m[1] + " connections=" + m[2]
		} else if strings.HasPrefix(l.text, "Statistics ") {
			ok := end()
			g.at, g.result.Name, target, codes = l, target, "", [5]float64{}
			return ok
		} else if m := bombardierRates.FindStringSubmatch(l.text); m != nil {
			g.parseRate("throughput", m[1], "rps")
			if deviation, err := parseNumber(m[2]); err == nil {
				g.spread(bench.StdDev, deviation, 0)
			}
		} else if m := bombardierTimes.FindStringSubmatch(l.text); m != nil {
			g.duration("latency_mean", m[1])
			g.duration("latency_max", m[2])
		} else if m := bombardierRank.FindStringSubmatch(l.text); m != nil && percentile(m[1]) != "" {
			g.duration(percentile(m[1]), m[2])
		} else if m := bombardierCodes.FindStringSubmatch(l.text); m != nil {
			for i := range codes {
				codes[i], _ = parseNumber(m[1+i])
			}
		} else if m := bombardierOthers.FindStringSubmatch(l.text); m != nil {
			counted = true
			others, _ := parseNumber(m[1])
			g.failures(codes, others)
		} else if m := bombardierBytes.FindStringSubmatch(l.text); m != nil && m[1] != "0.00" {
			g.parse("bandwidth", m[1], binaryUnit(m[2])+"/s")
		}
		return true
	})
	if done {
		end()
	}
}

// failures adds the errors of a run of bombardier. If there is no response, the
// numbers so far are of nothing.
func (g *gatherer) failures(codes [5]float64, others float64) {
	if codes == [5]float64{} {
		g.result.Values, g.problems = nil, nil
		g.problem("want responses, have none")
	}
	g.measure("errors", codes[3]+codes[4]+others, "errors")
}

// binaryUnit is the unit of bytes of a prefix that stands for a power of 1024.
func binaryUnit(prefix string) string {
	if prefix == "" {
		return "B"
	}
	return prefix + "iB"
}

func readBombardier(d *jsonDocument) error {
	var report struct {
		Spec struct {
			Connections jsonNumber `json:"numberOfConnections"`
			Method      string     `json:"method"`
			URL         string     `json:"url"`
		} `json:"spec"`
		Result struct {
			BytesRead    jsonNumber `json:"bytesRead"`
			BytesWritten jsonNumber `json:"bytesWritten"`
			Seconds      jsonNumber `json:"timeTakenSeconds"`
			Codes1       jsonNumber `json:"req1xx"`
			Codes2       jsonNumber `json:"req2xx"`
			Codes3       jsonNumber `json:"req3xx"`
			Codes4       jsonNumber `json:"req4xx"`
			Codes5       jsonNumber `json:"req5xx"`
			Others       jsonNumber `json:"others"`
			Latency      struct {
				Mean        jsonNumber `json:"mean"`
				Max         jsonNumber `json:"max"`
				Percentiles jsonObject `json:"percentiles"`
			} `json:"latency"`
			Rate struct {
				Mean   jsonNumber `json:"mean"`
				StdDev jsonNumber `json:"stddev"`
			} `json:"rps"`
		} `json:"result"`
	}
	if err := d.decode(&report); err != nil {
		return err
	}
	spec, result := report.Spec, report.Result
	if d.isHalf() && (spec.URL == "" || spec.Method == "" || !spec.Connections.present()) {
		return nil // without its name
	}
	g := gatherer{result: bench.Result{Name: spec.URL + " connections=" + spec.Connections.text}}
	if spec.Method != "" && spec.Method != "GET" {
		g.result.Name = spec.Method + " " + g.result.Name
	}
	g.rate("throughput", result.Rate.Mean, "rps")
	if result.Rate.StdDev.present() {
		g.spread(bench.StdDev, result.Rate.StdDev.v, 0)
	}
	g.number("latency_mean", result.Latency.Mean, "us")
	g.number("latency_max", result.Latency.Max, "us")
	g.percentiles(result.Latency.Percentiles, "us")
	counts := []jsonNumber{
		result.Codes1, result.Codes2, result.Codes3, result.Codes4, result.Codes5,
		result.Others, result.BytesRead, result.BytesWritten, result.Seconds,
	}
	var codes [5]float64
	for i := range codes {
		codes[i] = counts[i].count()
	}
	if !slices.ContainsFunc(counts[:6], jsonNumber.absent) {
		g.failures(codes, result.Others.count())
	}
	bytes := result.BytesRead.count() + result.BytesWritten.count()
	if slices.ContainsFunc(counts, jsonNumber.absent) {
		g.problem("want numbers of responses, bytes and seconds, have not all of them")
	} else if i := slices.IndexFunc(counts, func(n jsonNumber) bool { return n.v < 0 }); i >= 0 {
		g.problem("want numbers of responses, bytes and seconds, have %s", counts[i].text)
	} else if bytes > 0 && result.Seconds.v > 0 {
		g.measure("bandwidth", bytes/result.Seconds.v, "B/s")
	}
	g.report(d)
	return nil
}
