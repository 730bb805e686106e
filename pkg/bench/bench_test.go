package bench

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var (
	throughput   = Metric{"throughput", "ops/s", Higher}
	instructions = Metric{"instructions_per_op", "instructions/op", Lower}
)

func measured(m Metric, v float64) Value { return Value{Metric: m, V: v} }

func printed(m Metric, v float64, s Spread) Value { return Value{Metric: m, V: v, Statistic: &s} }

// An addition is one call of Set.Add.
type addition struct {
	run    int
	result Result
}

// one is an addition of a single value.
func one(run, launch int, name string, v Value) addition {
	return addition{run, Result{Name: name, Launch: launch, Values: []Value{v}}}
}

func TestSetSamples(t *testing.T) {
	for _, tt := range []struct {
		name string
		add  []addition
		want []Sample
	}{
		{name: "nothing", want: []Sample{}},
		{
			name: "a result without values",
			add:  []addition{{0, Result{Name: "read"}}},
			want: []Sample{},
		},
		{
			name: "several values of one launch",
			add: []addition{
				one(0, 0, "read", measured(throughput, 10)),
				one(0, 0, "read", measured(throughput, 12)),
			},
			want: []Sample{{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10, 12}}}},
		},
		{
			name: "runs and launches are launches of their own",
			add: []addition{
				one(0, 0, "read", measured(throughput, 10)),
				one(0, 1, "read", measured(throughput, 11)),
				one(1, 0, "read", measured(throughput, 12)),
				one(0, 0, "read", measured(throughput, 13)),
			},
			want: []Sample{{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10, 13}, {11}, {12}}}},
		},
		{
			name: "launches that lack a metric leave no hole",
			add: []addition{
				{0, Result{Name: "read", Values: []Value{measured(throughput, 10), measured(instructions, 500)}}},
				{1, Result{Name: "read", Values: []Value{measured(throughput, 11)}}},
				{2, Result{Name: "read", Values: []Value{measured(throughput, 12), measured(instructions, 501)}}},
			},
			want: []Sample{
				{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10}, {11}, {12}}},
				{Benchmark: "read", Metric: instructions, Launches: [][]float64{{500}, {501}}},
			},
		},
		{
			name: "in the order first seen",
			add: []addition{
				one(0, 0, "write", measured(throughput, 5)),
				one(0, 0, "read", measured(throughput, 10)),
				one(0, 0, "", measured(throughput, 7)),
				one(0, 0, "write", measured(instructions, 900)),
			},
			want: []Sample{
				{Benchmark: "write", Metric: throughput, Launches: [][]float64{{5}}},
				{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10}}},
				{Benchmark: "", Metric: throughput, Launches: [][]float64{{7}}},
				{Benchmark: "write", Metric: instructions, Launches: [][]float64{{900}}},
			},
		},
		{
			name: "values stand, statistics before and after them do not",
			add: []addition{
				one(0, 0, "read", printed(throughput, 99, Spread{MAD, 1, 2})),
				one(0, 0, "read", measured(throughput, 10)),
				one(0, 0, "read", measured(throughput, 12)),
				one(0, 0, "read", printed(throughput, 12, Spread{MAD, 1, 2})),
			},
			want: []Sample{{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10, 12}}}},
		},
		{
			name: "values of one metric, statistics of another",
			add: []addition{
				one(0, 0, "read", measured(throughput, 10)),
				one(0, 0, "read", printed(instructions, 500, Spread{StdDev, 3, 10})),
			},
			want: []Sample{
				{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10}}},
				{Benchmark: "read", Metric: instructions, Launches: [][]float64{{500}}, Spread: &Spread{StdDev, 3, 10}},
			},
		},
		{
			name: "the spread of several statistics is the middle one",
			add: []addition{
				one(0, 0, "read", printed(throughput, 10, Spread{MAD, 0.7, 5})),
				one(1, 0, "read", printed(throughput, 11, Spread{MAD, 0.1, 5})),
				one(2, 0, "read", printed(throughput, 12, Spread{MAD, 0.3, 5})),
			},
			want: []Sample{{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10}, {11}, {12}}, Spread: &Spread{MAD, 0.3, 5}}},
		},
		{
			name: "spreads of two kinds are no spread",
			add: []addition{
				one(0, 0, "read", printed(throughput, 10, Spread{MAD, 0.7, 5})),
				one(1, 0, "read", printed(throughput, 11, Spread{StdDev, 0.7, 5})),
			},
			want: []Sample{{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10}, {11}}}},
		},
		{
			name: "a statistic without a spread",
			add:  []addition{one(0, 0, "read", printed(throughput, 10, Spread{}))},
			want: []Sample{{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10}}}},
		},
		{
			name: "a direction that is learnt later",
			add: []addition{
				one(0, 0, "read", measured(Metric{"hits", "%", Unknown}, 90)),
				one(0, 0, "read", measured(Metric{"hits", "%", Higher}, 91)),
			},
			want: []Sample{{Benchmark: "read", Metric: Metric{"hits", "%", Higher}, Launches: [][]float64{{90, 91}}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s Set
			for _, a := range tt.add {
				if err := s.Add(a.run, a.result); err != nil {
					t.Fatalf("Add(%d, %v): %v", a.run, a.result, err)
				}
			}
			got := s.Samples()
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Samples() =\n%v, want\n%v", got, tt.want)
			}
			checkLookup(t, &s, tt.want)
		})
	}
}

// checkLookup compares what is found by key with the samples in their order.
func checkLookup(t *testing.T, s *Set, want []Sample) {
	t.Helper()
	if s.Len() != len(want) {
		t.Errorf("Len() = %d, want %d", s.Len(), len(want))
	}
	var keys []Key
	for _, sample := range want {
		keys = append(keys, sample.Key())
		if got, ok := s.Lookup(sample.Key()); !ok || !reflect.DeepEqual(got, sample) {
			t.Errorf("Lookup(%v) = %v, %v, want %v", sample.Key(), got, ok, sample)
		}
	}
	if got := s.Keys(); !slices.Equal(got, keys) {
		t.Errorf("Keys() = %v, want %v", got, keys)
	}
}

func TestSetAddFaults(t *testing.T) {
	var s Set
	faulty := Result{Name: "read", Values: []Value{
		measured(throughput, math.NaN()),
		measured(throughput, 10),
		measured(throughput, math.Inf(1)),
		measured(instructions, math.Inf(-1)),
		measured(Metric{"throughput", "B/s", Higher}, 11),
		measured(throughput, 12),
	}}
	err := s.Add(0, faulty)
	if err == nil {
		t.Fatalf("Add(0, %v): want an error", faulty)
	}
	for _, want := range []string{
		`benchmark "read", throughput: NaN is not a value`,
		`benchmark "read", throughput: +Inf is not a value`,
		`benchmark "read", instructions_per_op: -Inf is not a value`,
		`benchmark "read", throughput: a value in "B/s" among values in "ops/s"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Add(0, …) = %v, want in it: %s", err, want)
		}
	}
	want := []Sample{{Benchmark: "read", Metric: throughput, Launches: [][]float64{{10, 12}}}}
	if got := s.Samples(); !reflect.DeepEqual(got, want) {
		t.Errorf("Samples() = %v, want the rest of the result: %v", got, want)
	}
}

func TestNilSet(t *testing.T) {
	var s *Set
	if got, ok := s.Lookup(Key{"read", "throughput"}); ok {
		t.Errorf("Lookup in a nil set = %v, want none", got)
	}
	if s.Len() != 0 || s.Keys() != nil || s.Samples() != nil {
		t.Errorf("a nil set has %d, %v, %v, want nothing", s.Len(), s.Keys(), s.Samples())
	}
}

func TestSampleValues(t *testing.T) {
	s := Sample{Benchmark: "read", Metric: throughput, Launches: [][]float64{{3, 1}, {2}}}
	if got, want := s.Values(), []float64{3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("Values() = %v, want %v", got, want)
	}
}

func TestKeyCompare(t *testing.T) {
	sorted := []Key{{"", "b"}, {"a", "a"}, {"a", "b"}, {"b", "a"}}
	for i, k := range sorted {
		for j, o := range sorted {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := k.Compare(o); got != want {
				t.Errorf("%v.Compare(%v) = %d, want %d", k, o, got, want)
			}
		}
	}
}

func TestBetter(t *testing.T) {
	for _, tt := range []struct {
		word string
		want Better
	}{
		{"lower", Lower}, {"higher", Higher}, {"unknown", Unknown}, {"", Unknown},
	} {
		got, err := ParseBetter(tt.word)
		if err != nil || got != tt.want {
			t.Errorf("ParseBetter(%q) = %v, %v, want %v", tt.word, got, err, tt.want)
		}
		if tt.word != "" && got.String() != tt.word {
			t.Errorf("ParseBetter(%q).String() = %q", tt.word, got)
		}
	}
	if got, err := ParseBetter("Lower"); err == nil || got != Unknown {
		t.Errorf(`ParseBetter("Lower") = %v, %v, want unknown and an error`, got, err)
	}
}

func TestMeasure(t *testing.T) {
	for _, tt := range []struct {
		name string
		v    float64
		unit string
		want Value
	}{
		{"throughput", 1060, "krps", measured(throughput, 1.06e6)},
		{"throughput", 5, "runs/sec", measured(throughput, 5)},
		{"latency_mean", 55, "ms", measured(Metric{"latency_mean", "s", Lower}, 0.055)},
		{"latency_p999", 2, "us", measured(Metric{"latency_p999", "s", Lower}, 2e-6)},
		{"bandwidth", 3, "MB/s", measured(Metric{"bandwidth", "B/s", Higher}, 3e6)},
		{"time_per_op", 2, "s", measured(Metric{"time_per_op", "s/op", Lower}, 2)},
		{"time_per_op", 250, "ns/op", measured(Metric{"time_per_op", "s/op", Lower}, 250e-9)},
		{"Sys CPU per req", 13, "µs/req", measured(Metric{"sys_cpu_per_req", "s/op", Lower}, 13e-6)},
		{"HTTPCode readOps", 1, "", measured(Metric{"http_code_read_ops", "", Unknown}, 1)},
		{"hit %", 99, "%", measured(Metric{"hit_pct", "%", Unknown}, 99)},
		// A canonical name in a unit of another kind is another metric: no
		// threshold of the first may judge it by its direction.
		{"throughput", 4, "B", measured(Metric{"throughput", "B", Lower}, 4)},
	} {
		got := Measure(tt.name, tt.v, tt.unit)
		if got.Metric != tt.want.Metric || math.Abs(got.V-tt.want.V) > 1e-12*tt.want.V || got.Statistic != nil {
			t.Errorf("Measure(%q, %v, %q) = %v, want %v", tt.name, tt.v, tt.unit, got, tt.want)
		}
	}
}

// TestSetManyLaunches: values find their launch again, be there few or many.
func TestSetManyLaunches(t *testing.T) {
	const launches = 100
	var s Set
	for pass := range 3 {
		for i := range launches {
			if err := s.Add(i/2, Result{Name: "a", Launch: i % 2, Values: []Value{Measure("score", float64(1000*pass+i), "")}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	sample, _ := s.Lookup(Key{"a", "score"})
	for i, got := range sample.Launches {
		if want := []float64{float64(i), float64(1000 + i), float64(2000 + i)}; !slices.Equal(got, want) {
			t.Errorf("launch %d: %v, want %v", i, got, want)
		}
	}
	if len(sample.Launches) != launches {
		t.Errorf("%d launches, want %d", len(sample.Launches), launches)
	}
}
