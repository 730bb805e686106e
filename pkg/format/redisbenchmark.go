package format

import (
	"encoding/csv"
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// What redis-benchmark prints
// (https://github.com/redis/redis/blob/unstable/src/redis-benchmark.c), of
// version 6.2 and of those before,
//
//	====== SET ======
//	  throughput summary: 55555.56 requests per second
//	  latency summary (msec):
//	          avg       min       p50       p95       p99       max
//	        0.537     0.120     0.407     1.103     2.551     2.799
//
//	====== SET ======
//	112359.55 requests per second
//
// with -q, and with --csv:
//
//	SET: 83333.34 requests per second, p50=0.295 msec
//
//	"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms","max_latency_ms"
//	"SET","86956.52","0.300","0.104","0.287","0.431","0.503","0.575"
//
// Each test is a benchmark.
var _ = register(Format{
	Name:  "redis-benchmark",
	Tool:  "redis-benchmark, also with -q and --csv",
	Print: "redis-benchmark -t set,get -n 1000000 --csv",
	How:   `a line "throughput summary: N requests per second" or of -q, or a table "test","rps"`,
	Seen:  []string{"redis-benchmark 7.0.15"},
	Sniff: func(in *Input) bool { return sniffRedis(in) || sniffOldRedis(in) && sniffRedisTest(in) },
	Read:  readRedis,
})

var (
	sniffRedis = sniffLine(
		`^[>\s]*throughput summary: [\d.]+ requests per second\s*$`,
		`^[>\s]*\S.*: [\d.]+ requests per second, p50=[\d.]+ msec\s*$`,
		`^[>\s]*[A-Z][A-Z_]+(?: \([^)]*\))?: [\d.]+ requests per second\s*$`,
		`^"test","rps"`,
		`^"[A-Z][A-Z_]+(?: \([^"]*\))?","\d+\.\d\d"$`,
	)
	sniffOldRedis  = sniffLine(`^[>\s]*[\d.]+ requests per second\s*$`)
	sniffRedisTest = sniffLine(`^[>\s]*====== .* ======\s*$`)

	redisTest  = compile(`^======\s+(.*?)\s+======$`)
	redisRate  = compile(`^(?:throughput summary: )?([\d.]+|-?(?:nan|inf)) requests per second$`)
	redisQuiet = compile(`^(.*?): (\S+) requests per second(?:, p50=(\S+) msec)?$`)
	redisTable = compile(`^avg\s+min\s+p50\b`)
	redisRow   = compile(`^[\d.]`)
)

func readRedis(r io.Reader, name string) iter.Seq2[bench.Result, error] {
	return func(yield func(bench.Result, error) bool) {
		var g gatherer
		var header []string  // of the CSV
		var columns []string // of the row that comes next
		done := eachUnquoted(r, name, yield, func(l line) bool {
			if columns != nil && redisRow.MatchString(l.text) {
				if cells := strings.Fields(l.text); len(cells) == len(columns) {
					for i, c := range columns {
						g.redisLatency(c, cells[i])
					}
				}
				columns = nil
				return true
			}
			if m := redisTest.FindStringSubmatch(l.text); m != nil {
				ok := g.yield(yield)
				g.at, g.result.Name, columns = l, m[1], nil
				return ok
			}
			if m := redisRate.FindStringSubmatch(l.text); m != nil {
				g.parseRate("throughput", m[1], "rps")
			} else if redisTable.MatchString(l.text) {
				columns = strings.Fields(l.text)
			} else if m := redisQuiet.FindStringSubmatch(l.text); m != nil {
				ok := g.yield(yield)
				g.at, g.result.Name = l, m[1]
				g.parseRate("throughput", m[2], "rps")
				if m[3] != "" {
					g.parse("latency_p50", m[3], "ms")
				}
				return ok
			} else if strings.HasPrefix(l.text, `"`) {
				ok := g.yield(yield)
				header = g.redisCSV(l, header)
				return ok
			}
			return true
		})
		if done {
			g.yield(yield)
		}
	}
}

// redisCSV takes a line of a CSV table and returns the header of the lines that
// follow. Before version 6.2 there is none.
func (g *gatherer) redisCSV(l line, header []string) []string {
	cells, err := csv.NewReader(strings.NewReader(l.text)).Read()
	if err != nil || len(cells) < 2 {
		return header
	}
	if cells[0] == "test" {
		return cells
	}
	if header == nil {
		header = []string{"test", "rps"}
	}
	if len(cells) != len(header) {
		g.at = l
		g.problem("want %d columns, have %d", len(header), len(cells))
		return header
	}
	g.at, g.result.Name = l, cells[0]
	for i, c := range header[1:] {
		if c == "rps" {
			g.parseRate("throughput", cells[i+1], "rps")
		} else if kind, ok := strings.CutSuffix(c, "_latency_ms"); ok {
			g.redisLatency(kind, cells[i+1])
		}
	}
	return header
}

// redisLatency adds a latency in milliseconds by what is before it in a table.
func (g *gatherer) redisLatency(kind, printed string) {
	switch kind {
	case "min":
	case "avg":
		g.parse("latency_mean", printed, "ms")
	default:
		g.parse("latency_"+kind, printed, "ms")
	}
}
