package format

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/noslower/noslower/pkg/bench"
)

// TestGoAgainstBenchfmt checks that the values of a whole and clean output are
// those that the Go project's own reader finds.
func TestGoAgainstBenchfmt(t *testing.T) {
	for _, path := range []string{"two-packages.txt", "units.txt"} {
		data, err := os.ReadFile("../../testdata/format/go/" + path)
		if err != nil {
			t.Fatal(err)
		}
		var want []*benchfmt.Result
		for in := benchfmt.NewReader(strings.NewReader(string(data)), path); in.Scan(); {
			if res, ok := in.Result().(*benchfmt.Result); ok {
				want = append(want, res.Clone())
			}
		}
		var got []bench.Result
		for res, err := range readGo(strings.NewReader(string(data)), path) {
			if err == nil { // absent counters
				res.Values = slices.Clone(res.Values)
				got = append(got, res)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d results, benchfmt has %d", path, len(got), len(want))
		}
		for i, res := range want {
			name := res.GetConfig("pkg") + "." + string(res.Name)
			if got[i].Name != name {
				t.Errorf("%s: result %d is of %q, benchfmt has %q", path, i, got[i].Name, name)
			}
			for _, v := range res.Values {
				if v.Value != 0 && !hasValue(got[i], v) {
					t.Errorf("%s: %q lacks %v %s of benchfmt, has %v", path, name, v.Value, v.Unit, got[i].Values)
				}
			}
		}
	}
}

// hasValue reports whether a result has benchfmt's value, in the base unit or,
// where benchfmt does not scale it (ms, MB as a suffix), as printed.
func hasValue(res bench.Result, want benchfmt.Value) bool {
	for _, v := range res.Values {
		factor, _ := bench.BaseUnit(want.Unit[strings.LastIndexByte(want.Unit, '-')+1:])
		if math.Abs(v.V-want.Value*factor) <= 1e-12*math.Abs(v.V) {
			return true
		}
	}
	return false
}

// TestGoLongLines checks that lines beyond the bound of benchfmt are read, and
// that what is beyond ours is told of and does not end the reading.
func TestGoLongLines(t *testing.T) {
	in := "BenchmarkA-8\t1\t5 ns/op\n" +
		strings.Repeat("x", 100<<10) + "\n" +
		"BenchmarkB-8\t1\t5 ns/op" + strings.Repeat(" ", 100<<10) + "3 B/op\n" +
		strings.Repeat("y", maxLine+1) + "\n" +
		"BenchmarkC-8\t1\t5 ns/op\n"
	var got []string
	for res, err := range readGo(strings.NewReader(in), "in") {
		if err != nil {
			res.Name = err.Error()[:len("in:4: ")]
		}
		got = append(got, res.Name)
	}
	if names := strings.Join(got, " "); names != "A-8 B-8 in:4:  C-8" {
		t.Errorf("read %s, want A-8 B-8, a warning of line 4, and C-8", names)
	}
}

// TestGoLongOutput checks the same of a line that is put together of events.
func TestGoLongOutput(t *testing.T) {
	event := `{"Action":"output","Package":"a","Output":"` + strings.Repeat("x", 100<<10) + `"}` + "\n"
	in := strings.Repeat(event, 11) + `{"Action":"output","Package":"a","Output":"\nBenchmarkA-8\t1\t5 ns/op\n"}` + "\n"
	var got []string
	for res, err := range readGo(strings.NewReader(in), "in") {
		if err != nil {
			res.Name = err.Error()[:len("in:12:")]
		}
		got = append(got, res.Name)
	}
	if names := strings.Join(got, " "); names != "in:12: A-8" {
		t.Errorf("read %s, want a warning of line 12 and A-8", names)
	}
}

func TestGoGauge(t *testing.T) {
	for unit, want := range map[string]bench.Metric{
		"ns/op":            {Name: "time_per_op", Unit: "s/op", Better: bench.Lower},
		"sec/op":           {Name: "time_per_op", Unit: "s/op", Better: bench.Lower},
		"MB/s":             {Name: "bandwidth", Unit: "B/s", Better: bench.Higher},
		"B/op":             {Name: "bytes_per_op", Unit: "B/op", Better: bench.Lower},
		"allocs/op":        {Name: "allocs_per_op", Unit: "allocs/op", Better: bench.Lower},
		"insns/op":         {Name: "instructions_per_op", Unit: "instructions/op", Better: bench.Lower},
		"cycles/op":        {Name: "cpu_cycles_per_op", Unit: "cycles/op", Better: bench.Lower},
		"ops/s":            {Name: "throughput", Unit: "ops/s", Better: bench.Higher},
		"rows/s":           {Name: "rows_per_s", Unit: "rows/s", Better: bench.Higher},
		"p99-ns":           {Name: "latency_p99", Unit: "s", Better: bench.Lower},
		"p99-latency-ns":   {Name: "latency_p99", Unit: "s", Better: bench.Lower},
		"latency-p99.9-ms": {Name: "latency_p999", Unit: "s", Better: bench.Lower},
		"p50-ns/op":        {Name: "latency_p50", Unit: "s", Better: bench.Lower},
		"latency-max-ns":   {Name: "latency_max", Unit: "s", Better: bench.Lower},
		"peak-RSS-bytes":   {Name: "peak_rss", Unit: "B", Better: bench.Lower},
		"hit-rate":         {Name: "hit_rate", Unit: "hit-rate", Better: bench.Unknown},
		"ns/GC":            {Name: "ns_per_gc", Unit: "s/GC", Better: bench.Unknown},
	} {
		if got := goGauge(unit).Value(1).Metric; got != want {
			t.Errorf("goGauge(%q) is of %v, want %v", unit, got, want)
		}
	}
}
