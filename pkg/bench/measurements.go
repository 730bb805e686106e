package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// MeasurementsSchema names the measurements document and its major version.
const MeasurementsSchema = "noslower.measurements/v1"

// A Host is where a side was measured.
type Host struct {
	OS     string `json:"os,omitempty"`
	Arch   string `json:"arch,omitempty"`
	CPU    string `json:"cpu,omitempty"` // model name
	Cores  int    `json:"cores,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	Libc   string `json:"libc,omitempty"`
	Image  string `json:"image,omitempty"` // the runner's or container's image

	Microcode  string `json:"microcode,omitempty"`
	Hypervisor string `json:"hypervisor,omitempty"` // "yes" for a guest's processor
	Governor   string `json:"governor,omitempty"`   // by which the frequency is chosen
	Counter    string `json:"counter,omitempty"`    // what counted, with its version and options
}

// Class returns the machine class: hosts of one class run at one speed, as far
// as a name can tell. It is empty where the host is not known.
func (h Host) Class() string {
	if h.Arch == "" && h.CPU == "" {
		return ""
	}
	return fmt.Sprintf("%s, %s, %d cores", h.Arch, h.CPU, h.Cores)
}

// A Measurements is what one side measured, with where, when and of what.
type Measurements struct {
	Suite, Commit, Ref string
	Time               time.Time
	Host               Host
	Set                *Set
	Warnings           []string
}

// The document's own types: a contract that outlives the types above.
type (
	measurementsDoc struct {
		Schema   string      `json:"schema"`
		Suite    string      `json:"suite"`
		Commit   string      `json:"commit,omitempty"`
		Ref      string      `json:"ref,omitempty"`
		Time     *time.Time  `json:"time,omitempty"`
		Host     Host        `json:"host"`
		Samples  []sampleDoc `json:"samples"`
		Warnings []string    `json:"warnings,omitempty"`
	}
	sampleDoc struct {
		Benchmark string      `json:"benchmark"`
		Metric    string      `json:"metric"`
		Unit      string      `json:"unit"`
		Better    string      `json:"better"`
		Counted   bool        `json:"counted,omitempty"` // by noslower's own counters
		Machine   string      `json:"machine,omitempty"` // class, where it is not the host\'s
		Launches  launchesDoc `json:"launches"`
		Spread    *spreadDoc  `json:"spread,omitempty"`
	}
	launchesDoc [][]float64
	spreadDoc   struct {
		Kind  SpreadKind `json:"kind"`
		Value float64    `json:"value"`
		Count int        `json:"count,omitempty"`
	}
)

// Encode returns the measurements document.
func (m Measurements) Encode() ([]byte, error) {
	doc := measurementsDoc{
		Schema: MeasurementsSchema, Suite: m.Suite, Commit: m.Commit, Ref: m.Ref,
		Host: m.Host, Samples: []sampleDoc{}, Warnings: m.Warnings,
	}
	if !m.Time.IsZero() {
		t := m.Time.UTC()
		doc.Time = &t
	}
	for _, s := range m.Set.Samples() {
		d := sampleDoc{
			Benchmark: s.Benchmark, Metric: s.Metric.Name, Unit: s.Metric.Unit, Better: s.Metric.Better.String(), Launches: s.Launches,
			Counted: s.Counted,
		}
		if s.Machine != m.Host.Class() {
			d.Machine = s.Machine
		}
		if s.Spread != nil {
			d.Spread = &spreadDoc{s.Spread.Kind, s.Spread.Value, s.Spread.Count}
		}
		doc.Samples = append(doc.Samples, d)
	}
	return EncodeDocument(doc, "")
}

// UnmarshalJSON implements json.Unmarshaler. Most of a document is launches: without
// reflection they are read sooner, and a null does not become a zero.
func (l *launchesDoc) UnmarshalJSON(data []byte) error {
	*l = nil
	depth := 0
	for i := 0; i < len(data); {
		end := i + 1
		switch c := data[i]; {
		case c == '[' && depth < 2:
			if depth++; depth == 2 {
				*l = append(*l, nil)
			}
		case c == ']':
			depth--
		case c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case (c == '-' || '0' <= c && c <= '9') && depth == 2:
			for data[end] != ',' && data[end] != ']' && data[end] > ' ' {
				end++
			}
			v, err := strconv.ParseFloat(string(data[i:end]), 64)
			if err != nil {
				return &json.UnmarshalTypeError{Value: KindOfJSON(string(data[i:end])), Type: reflect.TypeFor[float64]()}
			}
			last := &(*l)[len(*l)-1]
			*last = append(*last, v)
		default:
			wanted := reflect.TypeFor[float64]()
			if depth < 2 {
				wanted = reflect.TypeFor[[]float64]()
			}
			kind, _, _ := strings.Cut(KindOfJSON(string(c)), " ")
			return &json.UnmarshalTypeError{Value: kind, Type: wanted}
		}
		i = end
	}
	return nil
}

// DecodeMeasurements reads a measurements document. Every fault of it is
// reported; a document with a fault yields nothing.
func DecodeMeasurements(data []byte) (Measurements, error) {
	var doc measurementsDoc
	if err := DecodeDocument(data, MeasurementsSchema, &doc); err != nil {
		return Measurements{}, err
	}
	return doc.measurements()
}

// NextSamples decodes the samples of the next measurements document of a stream.
// The error is io.EOF where there is none, and of type *SchemaError where it is
// another document.
func NextSamples(in *json.Decoder) ([]Sample, error) {
	var doc measurementsDoc
	start := in.InputOffset()
	err := in.Decode(&doc)
	mistyped, _ := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err != nil && in.InputOffset() == start: // it is broken, or there is none
		return nil, err
	case mistyped != nil && (mistyped.Field == "" || mistyped.Field == "schema"):
		return nil, fmt.Errorf("want a %s document: %w", MeasurementsSchema, Worded(err))
	case doc.Schema != MeasurementsSchema:
		return nil, &SchemaError{doc.Schema, MeasurementsSchema}
	case err != nil:
		return nil, err
	}
	samples, faults := doc.samples()
	return samples, errors.Join(faults...)
}

func (doc *measurementsDoc) measurements() (Measurements, error) {
	samples, faults := doc.samples()
	m := Measurements{
		Suite: doc.Suite, Commit: doc.Commit, Ref: doc.Ref, Host: doc.Host,
		Set: &Set{}, Warnings: doc.Warnings,
	}
	if doc.Time != nil {
		m.Time = doc.Time.UTC()
	}
	if y := m.Time.Year(); y > 9999 {
		faults = append([]error{fmt.Errorf("time: want a year up to 9999, have %d", y)}, faults...)
	}
	m.Set.grow(len(samples))
	for i := range samples {
		for r := range samples[i].Results() {
			if err := m.Set.Add(0, r); err != nil {
				faults = append(faults, err)
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return Measurements{}, err
	}
	return m, nil
}

// samples returns those that have no fault, and the faults of the others.
func (doc *measurementsDoc) samples() (samples []Sample, faults []error) {
	samples = make([]Sample, 0, len(doc.Samples))
	seen := make(map[Key]bool, len(doc.Samples))
	for i := range doc.Samples {
		d := &doc.Samples[i]
		s, err := d.sample()
		if err == nil && seen[s.Key()] {
			err = errors.New("want one sample for each benchmark and metric, have a second")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("sample %d (benchmark %q, metric %q): %w", i+1, d.Benchmark, d.Metric, err))
			continue
		}
		seen[s.Key()] = true
		samples = append(samples, s)
	}
	return samples, faults
}

func (d *sampleDoc) sample() (Sample, error) {
	better, err := ParseBetter(d.Better)
	if err != nil {
		return Sample{}, fmt.Errorf("better: %w", err)
	}
	if d.Metric == "" {
		return Sample{}, errors.New("metric: want a name, have none")
	}
	s := Sample{
		Benchmark: d.Benchmark, Metric: Metric{d.Metric, d.Unit, better},
		Launches: d.Launches, Machine: d.Machine, Counted: d.Counted,
	}
	if d.Spread != nil {
		switch d.Spread.Kind {
		case MAD, StdDev, CI95, MinMax:
		default:
			return Sample{}, fmt.Errorf("spread: want kind mad, stddev, ci95 or minmax, have %q", d.Spread.Kind)
		}
		if d.Spread.Value < 0 || d.Spread.Count < 0 {
			return Sample{}, fmt.Errorf("spread: want a value and a count of 0 or more, have %v and %d", d.Spread.Value, d.Spread.Count)
		}
		s.Spread = &Spread{d.Spread.Kind, d.Spread.Value, d.Spread.Count}
	}
	if len(d.Launches) == 0 {
		return Sample{}, errors.New("launches: want at least one, have none")
	}
	for i, values := range d.Launches {
		if len(values) == 0 {
			return Sample{}, fmt.Errorf("launch %d: want at least one value, have none", i+1)
		}
	}
	return s, nil
}

// EncodeDocument encodes v as JSON, in one line or indented, and ends it with a
// newline. What HTML would act on stays as it is.
func EncodeDocument(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// DecodeDocument decodes a JSON document of this schema into v. A newer major
// version is refused with the release that reads it, another kind of document
// with what it is.
func DecodeDocument(data []byte, schema string, v any) error {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("want a %s document: %w", schema, Worded(err))
	}
	if head.Schema != schema {
		return &SchemaError{head.Schema, schema}
	}
	return Worded(json.Unmarshal(data, v))
}

// Worded says an error of encoding/json in words of ours: of a value of the wrong
// type, which field it is of and what is wanted there.
func Worded(err error) error {
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: want %s, have %s", cmp.Or(mistyped.Field, "the document"), WantedJSON(mistyped.Type), mistyped.Value)
	}
	const aTime = "want a time such as \"2026-11-30T12:00:00Z\", have "
	if when, ok := errors.AsType[*time.ParseError](err); ok {
		return fmt.Errorf(aTime+"%q", when.Value)
	}
	if err != nil && strings.HasPrefix(err.Error(), "Time.UnmarshalJSON:") { // which has no type of its own
		return errors.New(aTime + "no text")
	}
	return err
}

// WantedJSON words what a type wants of a JSON document.
func WantedJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	return "a finite number"
}

// KindOfJSON words what a value of JSON is, as encoding/json does.
func KindOfJSON(value string) string {
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number " + value
}

// A SchemaError says that a document is of another kind or version.
type SchemaError struct{ Have, Want string }

func (e *SchemaError) Error() string {
	kind, version, _ := strings.Cut(e.Want, "/v")
	haveKind, haveVersion, ok := strings.Cut(e.Have, "/v")
	if !ok || haveKind != kind {
		return fmt.Sprintf("want a document with \"schema\": %q, have %q", e.Want, e.Have)
	}
	n, err := strconv.ParseUint(haveVersion, 10, 16)
	if known, _ := strconv.ParseUint(version, 10, 16); err != nil || n <= known || n > math.MaxInt16 {
		return fmt.Sprintf("want version %s of %s, have %q", version, kind, haveVersion)
	}
	return fmt.Sprintf("the document is of version %d, written by a newer noslower: read it with noslower %d.0 or later", n, n)
}

// ShortCommit returns as much of a commit as names it in a sentence.
func ShortCommit(commit string) string { return commit[:min(12, len(commit))] }
