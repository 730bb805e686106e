package baseline

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/noslower/noslower/pkg/bench"
)

func jobOf(commit, class string, hour int, quantities ...Quantity) Job {
	return Job{Commit: commit, Time: noon.Add(time.Duration(hour) * time.Hour), MachineClass: class, Quantities: quantities}
}

func quantity(benchmark string, center float64) Quantity {
	return Quantity{Key: bench.Key{Benchmark: benchmark, Metric: "throughput"}, Center: center, Count: 5}
}

func TestTrends(t *testing.T) {
	type row struct {
		benchmark, class string
		commits          string
	}
	var got []row
	for _, s := range Trends([]Job{
		jobOf("a", "x", 0, quantity("gone", 1), quantity("get", 1)),
		jobOf("b", "y", 1, quantity("get", 2)),
		jobOf("c", "x", 2, quantity("put", 3), quantity("get", 3)),
	}) {
		r := row{s.Key.Benchmark, s.MachineClass, ""}
		for _, p := range s.Points {
			r.commits += p.Commit
		}
		got = append(got, r)
	}
	want := []row{{"put", "x", "c"}, {"get", "x", "ac"}, {"get", "y", "b"}, {"gone", "x", "a"}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(row{})); d != "" {
		t.Errorf("series (-want +got):\n%s", d)
	}
}

func TestMerge(t *testing.T) {
	a, b, c := jobOf("a", "x", 0), jobOf("b", "x", 1), jobOf("c", "x", 2)
	again := jobOf("a", "x", 3) // the same commit, measured again
	got := Merge([]Job{b, c}, []Job{a, b, again})
	var commits string
	for _, j := range got {
		commits += j.Commit
	}
	if commits != "abca" {
		t.Errorf("have %q, want abca", commits)
	}
}

// TestTold: what was told of is known for as long as its job is, wherever near it
// is found again.
func TestTold(t *testing.T) {
	key := bench.Key{Benchmark: "get", Metric: "throughput"}
	r := Record{Measurements: measurements(t, "m0", 100)}
	for i := range 12 {
		m := measurements(t, "m", 100)
		m.Time = noon.Add(time.Duration(i+1) * time.Hour)
		r = r.Next(m, quantities(4.6))
	}
	class := r.Measurements.Host.Class()
	trail := r.Trail(quantities(4.6))
	s := Trends(trail)[0]
	r.Changes = []Change{{key, class, s.Points[6].Commit, s.Points[6].Time, true}}
	for _, tt := range []struct {
		at   int
		rose bool
		want bool
	}{{6, true, true}, {8, true, true}, {4, true, true}, {11, true, false}, {6, false, false}} {
		if got := r.Told(s, tt.at, tt.rose); got != tt.want {
			t.Errorf("Told(at %d, rose %v) = %v, want %v", tt.at, tt.rose, got, tt.want)
		}
	}
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := Decode(data)
	if err != nil || !slices.Equal(decoded.Changes, r.Changes) {
		t.Errorf("changes %v after a round trip, want %v (%v)", decoded.Changes, r.Changes, err)
	}
	if next := r.Next(measurements(t, "n", 100), quantities(4.6)); len(next.Changes) != 1 {
		t.Errorf("the next record has changes %v, want those of before", next.Changes)
	}
	for range MaxJobs {
		r = r.Next(measurements(t, "n", 100), quantities(4.6))
	}
	if len(r.Changes) > 0 {
		t.Errorf("have changes %v, whose jobs are forgotten", r.Changes)
	}
}
