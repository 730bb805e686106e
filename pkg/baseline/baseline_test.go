package baseline

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/noslower/noslower/pkg/bench"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func measurements(t testing.TB, commit string, values ...float64) bench.Measurements {
	t.Helper()
	m := bench.Measurements{Suite: "read", Commit: commit, Time: noon, Host: bench.Host{Arch: "amd64", CPU: "x", Cores: 2}, Set: &bench.Set{}}
	for run, v := range values {
		if err := m.Set.Add(run, bench.Result{Name: "get", Values: []bench.Value{bench.Measure("throughput", v, "ops/s")}}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func quantities(center float64) []Quantity {
	return []Quantity{{bench.Key{Benchmark: "get", Metric: "throughput"}, center, 1e-6, 5}}
}

func TestRoundTrip(t *testing.T) {
	r := Record{Measurements: measurements(t, "aaa", 100, 101)}
	r = r.Next(measurements(t, "bbb", 99, 98), quantities(4.6))
	limit := 3.5
	r.Origin = Origin{RepositoryID: 1, RunID: 2, Attempt: 3}
	r.Policy = []Standard{{Key: bench.Key{Benchmark: "get", Metric: "throughput"}, Gating: true, Fail: 0.05, Warn: 0.01, Limit: &limit}}
	r.Profile = &Profile{Total: 1201.5, WithSetup: true, Costs: []Cost{{Function: "get<int>()", Object: "bench", Home: "a.h", File: "b.h", Line: 7, Self: 1200}}}
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Jobs, got.Jobs); d != "" {
		t.Errorf("jobs (-want +got):\n%s", d)
	}
	if d := cmp.Diff(r.Measurements.Set.Samples(), got.Measurements.Set.Samples()); d != "" {
		t.Errorf("samples (-want +got):\n%s", d)
	}
	if d := cmp.Diff(r.Policy, got.Policy); d != "" || got.Origin != r.Origin {
		t.Errorf("origin %v; policy (-want +got):\n%s", got.Origin, d)
	}
	if d := cmp.Diff(r.Profile, got.Profile); d != "" {
		t.Errorf("profile (-want +got):\n%s", d)
	}
	if got.Jobs[0].Commit != "aaa" || got.Measurements.Commit != "bbb" {
		t.Errorf("have the job %q before %q, want aaa before bbb", got.Jobs[0].Commit, got.Measurements.Commit)
	}
}

// TestNextIsBounded: a record does not grow with the age of its branch.
func TestNextIsBounded(t *testing.T) {
	r := Record{Measurements: measurements(t, "0", 100)}
	for i := range 2 * MaxJobs {
		r = r.Next(measurements(t, "n", 100), quantities(float64(i)))
	}
	if len(r.Jobs) != MaxJobs {
		t.Errorf("have %d jobs, want %d", len(r.Jobs), MaxJobs)
	}
	if got := r.Jobs[MaxJobs-1].Quantities[0].Center; got != 2*MaxJobs-1 {
		t.Errorf("the latest job has center %v, want %v", got, 2*MaxJobs-1)
	}
}

// TestHistoryByMachine: jobs of another machine class are no history.
func TestHistoryByMachine(t *testing.T) {
	r := Record{Jobs: []Job{
		{MachineClass: "a", Quantities: quantities(1)},
		{MachineClass: "b", Quantities: quantities(2)},
		{MachineClass: "a", Quantities: quantities(3)},
	}}
	want := map[bench.Key][]Quantity{{Benchmark: "get", Metric: "throughput"}: {quantities(1)[0], quantities(3)[0]}}
	if d := cmp.Diff(want, r.History("a")); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

func TestDecodeFaults(t *testing.T) {
	const good = `{"schema":"noslower.measurements/v1","suite":"s","host":{},"samples":[]}`
	for _, tt := range []struct{ name, data, want string }{
		{"no JSON", `{"schema":`, "want a noslower.record/v1 document"},
		{"another document", good, `have "noslower.measurements/v1"`},
		{"a newer version", `{"schema":"noslower.record/v2"}`, "read it with noslower 2.0 or later"},
		{"no measurements", `{"schema":"noslower.record/v1"}`, "measurements: "},
		{"negative variance", `{"schema":"noslower.record/v1","measurements":` + good + `,"jobs":[{"time":"2026-11-30T12:00:00Z","quantities":[{"count":1,"log_variance":-1}]}]}`, "job 1, quantity 1"},
		{"no count", `{"schema":"noslower.record/v1","measurements":` + good + `,"jobs":[{"time":"2026-11-30T12:00:00Z","quantities":[{}]}]}`, "job 1, quantity 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.data))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	r := Record{Measurements: measurements(f, "aaa", 100, 101)}.Next(measurements(f, "bbb", 99), quantities(4.6))
	data, err := r.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatalf("a record that was read cannot be written: %v", err)
		}
		if _, err := Decode(again); err != nil {
			t.Fatalf("a record that was written cannot be read: %v", err)
		}
	})
}
