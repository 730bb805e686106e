package bench

import (
	"math"
	"testing"
)

func TestMeasureNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    float64
		unit string
		want Metric
		v1   float64
	}{
		{"time_per_op", 250, "ns/op", Metric{"time_per_op", "s/op", Lower}, 250e-9},
		{"time_per_op", 250, "µs", Metric{"time_per_op", "s/op", Lower}, 250e-6},
		{"throughput", 1.5, "krps", Metric{"throughput", "ops/s", Higher}, 1500},
		{"throughput", 42, "", Metric{"throughput", "ops/s", Higher}, 42},
		{"instructions_per_op", 39417, "insns/op", Metric{"instructions_per_op", "instructions/op", Lower}, 39417},
		{"logallocs_per_op", 16.4, "logallocs/op", Metric{"logallocs_per_op", "allocs/op", Lower}, 16.4},
		{"latency_p99", 10.5, "ms", Metric{"latency_p99", "s", Lower}, 0.0105},
		{"latency_p999", 10.5, "ms", Metric{"latency_p999", "s", Lower}, 0.0105},
		{"bandwidth", 2, "MiB/s", Metric{"bandwidth", "B/s", Higher}, 2 << 20},
		{"errors", 3, "errors", Metric{"errors", "errors", Lower}, 3},
		{"writes per op", 2, "writes/op", Metric{"writes_per_op", "writes/op", Lower}, 2},
		{"Hit Rate", 99.5, "%", Metric{"hit_rate", "%", Unknown}, 99.5},
		// A canonical name in a unit of another kind is another metric.
		{"throughput", 7, "rows/s", Metric{"throughput", "rows/s", Higher}, 7},
		{"errors", 0.1, "%", Metric{"errors", "%", Unknown}, 0.1},
	} {
		got := Measure(tt.name, tt.v, tt.unit)
		if got.Metric != tt.want || math.Abs(got.V-tt.v1) > 1e-12*math.Abs(tt.v1) {
			t.Errorf("Measure(%q, %v, %q) = %v %v, want %v %v", tt.name, tt.v, tt.unit, got.Metric, got.V, tt.want, tt.v1)
		}
	}
}

func TestBaseUnit(t *testing.T) {
	for _, tt := range []struct {
		printed string
		factor  float64
		base    string
	}{
		{"", 1, ""},
		{"s", 1, "s"},
		{"ms", 1e-3, "s"},
		{"µs", 1e-6, "s"}, // U+00B5
		{"μs", 1e-6, "s"}, // U+03BC
		{" usec ", 1e-6, "s"},
		{"min", 60, "s"},
		{"ns/op", 1e-9, "s/op"},
		{"ms/iter", 1e-3, "s/op"},
		{"MB/s", 1e6, "B/s"},
		{"MiB/sec", 1 << 20, "B/s"},
		{"B/ms", 1e3, "B/s"},
		{"Mbit/s", 125e3, "B/s"},
		{"Mibit/s", 1 << 17, "B/s"},
		{"ops/s", 1, "ops/s"},
		{"op/s", 1, "ops/s"},
		{"req/sec", 1, "ops/s"},
		{"tps", 1, "ops/s"},
		{"kIOPS", 1e3, "ops/s"},
		{"Mops", 1e6, "ops/s"},
		{"insns/op", 1, "instructions/op"},
		{"cycles/op", 1, "cycles/op"},
		{"k", 1e3, ""},
		{"rows/s", 1, "rows/s"},
		{"widgets", 1, "widgets"},
		{"us/req", 1e-6, "s/op"},
		{"/", 1, "/"},
	} {
		factor, base := BaseUnit(tt.printed)
		if math.Abs(factor-tt.factor) > 1e-12*tt.factor || base != tt.base {
			t.Errorf("BaseUnit(%q) = %v, %q, want %v, %q", tt.printed, factor, base, tt.factor, tt.base)
		}
		if again, same := BaseUnit(base); again != 1 || same != base {
			t.Errorf("BaseUnit(%q) = %v, %q, want it to be its own base", base, again, same)
		}
	}
}

func TestBetterByUnit(t *testing.T) {
	for unit, want := range map[string]Better{
		"ops/s": Higher, "B/s": Higher, "rows/s": Higher,
		"s": Lower, "B": Lower, "s/op": Lower, "widgets/op": Lower,
		"": Unknown, "%": Unknown, "allocs": Unknown, "s/GC": Unknown,
	} {
		if got := BetterByUnit(unit); got != want {
			t.Errorf("BetterByUnit(%q) = %v, want %v", unit, got, want)
		}
	}
}

func TestSnakeCase(t *testing.T) {
	for name, want := range map[string]string{
		"throughput":          "throughput",
		"median tps":          "median_tps",
		"Bandwidth (MB/sec)":  "bandwidth_mb_sec",
		"readOps":             "read_ops",
		"IOPS":                "iops",
		"HTTPCode":            "http_code",
		"p99.9":               "p99_9",
		"hit-rate":            "hit_rate",
		"%":                   "pct",
		"cpu%":                "cpu_pct",
		"  spaces  ":          "spaces",
		"Größe µs":            "größe_us",
		"already_snake_case":  "already_snake_case",
		"instructions_per_op": "instructions_per_op",
		"-":                   "",
	} {
		if got := SnakeCase(name); got != want {
			t.Errorf("SnakeCase(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestIsCount(t *testing.T) {
	for _, tt := range []struct {
		metric Metric
		want   bool
	}{
		{Metric{"instructions_per_op", "instructions/op", Lower}, true},
		{Metric{"bytes_per_op", "B/op", Lower}, true},
		{Metric{"max_rss", "B", Lower}, false},
		{Metric{"cpu_cycles_per_op", "cycles/op", Lower}, false},
		{Metric{"throughput", "ops/s", Higher}, false},
	} {
		if got := tt.metric.IsCount(); got != tt.want {
			t.Errorf("%v.IsCount() = %v, want %v", tt.metric, got, tt.want)
		}
	}
}

// TestMeasureAll checks that many numbers become what each alone would.
func TestMeasureAll(t *testing.T) {
	for _, name := range []string{"time_per_op", "p99 Latency", "hit_", "%"} {
		got := MeasureAll(name, []float64{250, 0, 1e9}, "ns")
		for i, v := range []float64{250, 0, 1e9} {
			if want := Measure(name, v, "ns"); got[i] != want {
				t.Errorf("MeasureAll(%q, …)[%d] = %v, want %v", name, i, got[i], want)
			}
		}
	}
}

// TestMayBeNegative checks of which metrics a number below 0 is one.
func TestMayBeNegative(t *testing.T) {
	for _, tt := range []struct {
		metric Metric
		want   bool
	}{
		{Metric{"time_per_op", "s/op", Lower}, false},
		{Metric{"gc_alloc_rate", "B/s", Unknown}, false},
		{Metric{"heap", "B", Unknown}, false},
		{Metric{"stalled", "cycles", Unknown}, false},
		{Metric{"frames", "fps", Higher}, false},
		{Metric{"drift", "", Unknown}, true},
		{Metric{"share", "%", Unknown}, true},
	} {
		if got := tt.metric.MayBeNegative(); got != tt.want {
			t.Errorf("%v.MayBeNegative() = %v, want %v", tt.metric, got, tt.want)
		}
	}
}
