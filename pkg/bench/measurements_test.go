package bench

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// full returns measurements that have something in every field.
func full(t *testing.T) Measurements {
	t.Helper()
	set := &Set{}
	for _, a := range []addition{
		{0, Result{Name: "write/<8 & 9>", Values: []Value{measured(throughput, 10.5), measured(instructions, 39417)}}},
		{0, Result{Name: "write/<8 & 9>", Values: []Value{measured(throughput, 11)}}},
		{1, Result{Name: "write/<8 & 9>", Values: []Value{measured(throughput, 12)}}},
		one(0, 0, "", printed(Metric{"latency_mean", "s", Lower}, 0.25, Spread{StdDev, 0.01, 30})),
		one(1, 0, "", printed(Metric{"latency_mean", "s", Lower}, 0.26, Spread{StdDev, 0.01, 30})),
		one(0, 0, "scan", measured(Metric{"quality", "", Unknown}, 0)),
	} {
		if err := set.Add(a.run, a.result); err != nil {
			t.Fatal(err)
		}
	}
	return Measurements{
		Suite: "default", Commit: "08329dc41c", Ref: "refs/heads/main",
		Time:     time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		Host:     Host{OS: "linux", Arch: "amd64", CPU: "Xeon", Cores: 2, Kernel: "6.8.0", Libc: "glibc 2.39", Image: "ubuntu-24.04"},
		Set:      set,
		Warnings: []string{"2 lines were not read"},
	}
}

func TestMeasurementsRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    Measurements
	}{
		{"everything", full(t)},
		{"nothing", Measurements{Set: &Set{}}},
		{"no set", Measurements{Suite: "read"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := tt.m.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := DecodeMeasurements(data)
			if err != nil {
				t.Fatalf("DecodeMeasurements(%s): %v", data, err)
			}
			if want := tt.m; !sameMeasurements(got, want) {
				t.Errorf("DecodeMeasurements(%s) =\n%+v, want\n%+v", data, got, want)
			}
			again, err := got.Encode()
			if err != nil || string(again) != string(data) {
				t.Errorf("Encode() of what was decoded = %s, %v, want %s", again, err, data)
			}
		})
	}
}

// sameMeasurements compares what a document holds: the samples, not how they
// came into the set.
func sameMeasurements(a, b Measurements) bool {
	samples := func(s *Set) []Sample { return append([]Sample{}, s.Samples()...) }
	if !a.Time.Equal(b.Time) || !reflect.DeepEqual(samples(a.Set), samples(b.Set)) {
		return false
	}
	a.Time, b.Time, a.Set, b.Set = time.Time{}, time.Time{}, nil, nil
	return reflect.DeepEqual(a, b)
}

// TestMeasurementsDocument fixes the names of the document: baselines of older
// builds are read by them.
func TestMeasurementsDocument(t *testing.T) {
	data, err := full(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"schema":"noslower.measurements/v1","suite":"default","commit":"08329dc41c","ref":"refs/heads/main",` +
		`"time":"2026-11-30T12:00:00Z",` +
		`"host":{"os":"linux","arch":"amd64","cpu":"Xeon","cores":2,"kernel":"6.8.0","libc":"glibc 2.39","image":"ubuntu-24.04"},` +
		`"samples":[` +
		`{"benchmark":"write/<8 & 9>","metric":"throughput","unit":"ops/s","better":"higher","launches":[[10.5,11],[12]]},` +
		`{"benchmark":"write/<8 & 9>","metric":"instructions_per_op","unit":"instructions/op","better":"lower","launches":[[39417]]},` +
		`{"benchmark":"","metric":"latency_mean","unit":"s","better":"lower","launches":[[0.25],[0.26]],"spread":{"kind":"stddev","value":0.01,"count":30}},` +
		`{"benchmark":"scan","metric":"quality","unit":"","better":"unknown","launches":[[0]]}],` +
		`"warnings":["2 lines were not read"]}` + "\n"
	if string(data) != want {
		t.Errorf("Encode() =\n%s, want\n%s", data, want)
	}
	empty, err := Measurements{}.Encode()
	if err != nil || !strings.Contains(string(empty), `"samples":[]`) {
		t.Errorf("Encode() of nothing = %s, %v, want an empty list of samples", empty, err)
	}
}

// document returns a measurements document with these samples.
func document(samples ...string) string {
	return `{"schema":"noslower.measurements/v1","suite":"s","host":{},"samples":[` + strings.Join(samples, ",") + `]}`
}

func TestDecodeMeasurementsReads(t *testing.T) {
	for _, tt := range []struct {
		name, doc string
		want      Sample
	}{
		{
			"a field of a later minor version",
			document(`{"benchmark":"a","metric":"throughput","unit":"ops/s","better":"higher","launches":[[1]],"colour":"red"}`),
			Sample{Benchmark: "a", Metric: throughput, Launches: [][]float64{{1}}},
		},
		{
			"no benchmark, no direction",
			document(`{"metric":"size","unit":"B","launches":[[1,2],[3]]}`),
			Sample{Metric: Metric{"size", "B", Unknown}, Launches: [][]float64{{1, 2}, {3}}},
		},
		{
			"a spread",
			document(`{"benchmark":"a","metric":"throughput","unit":"ops/s","better":"higher","launches":[[5]],"spread":{"kind":"mad","value":0.5}}`),
			Sample{Benchmark: "a", Metric: throughput, Launches: [][]float64{{5}}, Spread: &Spread{MAD, 0.5, 0}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := DecodeMeasurements([]byte(tt.doc))
			if err != nil {
				t.Fatalf("DecodeMeasurements(%s): %v", tt.doc, err)
			}
			if got := m.Set.Samples(); !reflect.DeepEqual(got, []Sample{tt.want}) {
				t.Errorf("DecodeMeasurements(%s) = %v, want %v", tt.doc, got, tt.want)
			}
		})
	}
}

func TestDecodeMeasurementsFaults(t *testing.T) {
	const good = `{"benchmark":"a","metric":"throughput","unit":"ops/s","better":"higher","launches":[[1]]}`
	for _, tt := range []struct {
		name, doc string
		want      []string // every one is in the error
	}{
		{"nothing", ``, []string{"want a noslower.measurements/v1 document: unexpected end of JSON input"}},
		{"no JSON", `throughput 5`, []string{"want a noslower.measurements/v1 document: invalid character"}},
		{"no object", `[1]`, []string{"want a noslower.measurements/v1 document: the document: want an object, have array"}},
		{"a schema that is a number", `{"schema":5}`, []string{"want a noslower.measurements/v1 document: schema: want text, have number"}},
		{"cut off", document(good)[:70], []string{"want a noslower.measurements/v1 document"}},
		{"two documents", document(good) + document(good), []string{"want a noslower.measurements/v1 document"}},
		{"null", `null`, []string{`want a document with "schema": "noslower.measurements/v1", have ""`}},
		{"no schema", `{"samples":[]}`, []string{`want a document with "schema": "noslower.measurements/v1", have ""`}},
		{"a verdict", `{"schema":"noslower.verdict/v1"}`, []string{`want a document with "schema": "noslower.measurements/v1", have "noslower.verdict/v1"`}},
		{"a newer version", `{"schema":"noslower.measurements/v2","samples":"x"}`, []string{"of version 2, written by a newer noslower", "read it with noslower 2.0 or later"}},
		{"a far newer version", `{"schema":"noslower.measurements/v12"}`, []string{"read it with noslower 12.0 or later"}},
		{"an older version", `{"schema":"noslower.measurements/v0"}`, []string{`want version 1 of noslower.measurements, have "0"`}},
		{"no version", `{"schema":"noslower.measurements/vnext"}`, []string{`want version 1 of noslower.measurements, have "next"`}},
		{"a version of nonsense", `{"schema":"noslower.measurements/v99999999"}`, []string{`want version 1 of noslower.measurements, have "99999999"`}},
		{"samples of another type", `{"schema":"noslower.measurements/v1","samples":{}}`, []string{"samples: want a list, have object"}},
		{"a name of another type", document(`{"benchmark":3}`), []string{"samples.benchmark: want text, have number"}},
		{"a schema of another type", `{"schema":1}`, []string{"schema: want text, have number"}},
		{"a time of nonsense", `{"schema":"noslower.measurements/v1","time":"yesterday"}`, []string{`want a time such as "2026-11-30T12:00:00Z", have "yesterday"`}},
		{"a time of another type", `{"schema":"noslower.measurements/v1","time":3}`, []string{`want a time such as "2026-11-30T12:00:00Z", have no text`}},
		{"a value of another type", document(`{"metric":"m","launches":[["fast"]]}`), []string{"samples.launches: want a finite number, have string"}},
		{"a value beyond what a number holds", document(`{"metric":"m","launches":[[1e999]]}`), []string{"1e999"}},
		{"a direction of nonsense", document(`{"benchmark":"a","metric":"m","better":"faster","launches":[[1]]}`), []string{`sample 1 (benchmark "a", metric "m"): better: want lower, higher or unknown, have "faster"`}},
		{"no metric", document(`{"benchmark":"a","launches":[[1]]}`), []string{`sample 1 (benchmark "a", metric ""): metric: want a name, have none`}},
		{"no launches", document(`{"benchmark":"a","metric":"m"}`), []string{"launches: want at least one, have none"}},
		{"an empty launch", document(`{"benchmark":"a","metric":"m","launches":[[1],[]]}`), []string{"launch 2: want at least one value, have none"}},
		{"a sample twice", document(good, good), []string{`sample 2 (benchmark "a", metric "throughput"): want one sample for each benchmark and metric, have a second`}},
		{"a spread below 0", document(`{"benchmark":"a","metric":"m","launches":[[1]],"spread":{"kind":"mad","value":-1}}`), []string{"spread: want a value and a count of 0 or more, have -1"}},
		{
			"every fault is named", document(good, `{"benchmark":"b","metric":"m"}`, `{"benchmark":"c","launches":[[1]]}`, good),
			[]string{`sample 2 (benchmark "b"`, `sample 3 (benchmark "c"`, "sample 4"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := DecodeMeasurements([]byte(tt.doc))
			if err == nil {
				t.Fatalf("DecodeMeasurements(%s) = %v, want an error", tt.doc, m)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("DecodeMeasurements(%s): %v, want in it: %s", tt.doc, err, want)
				}
			}
			if m.Set != nil {
				t.Errorf("DecodeMeasurements(%s) = %v beside its error, want nothing", tt.doc, m)
			}
		})
	}
}

func TestHostClass(t *testing.T) {
	for _, tt := range []struct {
		host Host
		want string
	}{
		{Host{}, ""},
		{Host{OS: "linux", Kernel: "6.8.0"}, ""},
		{Host{OS: "linux", Arch: "amd64", CPU: "Xeon", Cores: 2, Kernel: "6.8.0"}, "amd64, Xeon, 2 cores"},
	} {
		if got := tt.host.Class(); got != tt.want {
			t.Errorf("%+v.Class() = %q, want %q", tt.host, got, tt.want)
		}
	}
}

// FuzzDecodeMeasurements checks that a document is refused or means the same
// after it was written and read again.
func FuzzDecodeMeasurements(f *testing.F) {
	f.Add([]byte(document()))
	f.Add([]byte(document(`{"benchmark":"a","metric":"throughput","unit":"ops/s","better":"higher","launches":[[1,2e3],[-0.5]]}`)))
	f.Add([]byte(document(`{"metric":"m","launches":[[5]],"spread":{"kind":"mad","value":0.5,"count":3}}`, `{"metric":"n","launches":[[]]}`)))
	f.Add([]byte(`{"schema":"noslower.measurements/v1","time":"2026-11-30T12:00:00+01:00","host":{"cores":2},"warnings":["w"]}`))
	f.Add([]byte(`{"schema":"noslower.measurements/v2"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := DecodeMeasurements(data)
		if err != nil {
			return
		}
		for _, s := range m.Set.Samples() {
			for _, launch := range s.Launches {
				if len(launch) == 0 {
					t.Errorf("%v has an empty launch", s)
				}
			}
		}
		written, err := m.Encode()
		if err != nil {
			t.Fatalf("Encode() of %s: %v", data, err)
		}
		if !json.Valid(written) {
			t.Fatalf("Encode() of %s = %s, want JSON", data, written)
		}
		again, err := DecodeMeasurements(written)
		if err != nil {
			t.Fatalf("DecodeMeasurements(%s): %v", written, err)
		}
		if len(m.Warnings) == 0 {
			m.Warnings = nil // an empty list is not written
		}
		if !sameMeasurements(m, again) {
			t.Errorf("%+v became %+v", m, again)
		}
	})
}
