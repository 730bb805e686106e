// Package bench holds what was measured: results as tools report them, and the
// samples of both sides that are made of them.
//
// It knows the names, units and directions of metrics. It never judges a
// number, and it reads and writes nothing but its own document, from bytes to
// bytes.
package bench

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
)

// A Better is the direction in which a metric improves. The zero value is
// Unknown, and an unknown direction never gates.
type Better int8

// The directions. Their values are the sign of a metric's change when it
// improves.
const (
	Lower   Better = -1
	Unknown Better = 0
	Higher  Better = +1
)

// String returns the word of the measurements document: "lower", "higher" or
// "unknown".
func (b Better) String() string {
	switch b {
	case Lower:
		return "lower"
	case Higher:
		return "higher"
	default:
		return "unknown"
	}
}

// ParseBetter is the inverse of String; the empty word means Unknown.
func ParseBetter(s string) (Better, error) {
	switch s {
	case "lower":
		return Lower, nil
	case "higher":
		return Higher, nil
	case "unknown", "":
		return Unknown, nil
	}
	return Unknown, fmt.Errorf("want lower, higher or unknown, have %q", s)
}

// A Metric is a quantity that benchmarks report, in its base unit.
type Metric struct {
	Name   string // canonical where there is a canonical name, else the tool's own in snake_case
	Unit   string // base unit: s, s/op, ops/s, B, instructions/op, …
	Better Better
}

// A SpreadKind says by which statistic a tool told how its values scattered.
type SpreadKind string

// The kinds of spread. NoSpread belongs to a statistic printed without one.
const (
	NoSpread SpreadKind = ""
	MAD      SpreadKind = "mad"    // median absolute deviation
	StdDev   SpreadKind = "stddev" // standard deviation
	CI95     SpreadKind = "ci95"   // half width of the 95 % confidence interval of the mean
	MinMax   SpreadKind = "minmax" // largest minus smallest
)

// A Spread is a printed measure of scatter, in the unit of its metric.
type Spread struct {
	Kind  SpreadKind
	Value float64
	Count int // values it was computed from, 0 where the tool does not say
}

// A Value is one number a tool reported for a metric.
type Value struct {
	Metric Metric
	V      float64
	// Statistic is set where V is a printed statistic (the median if given,
	// else the mean) and not a value that was measured.
	Statistic *Spread
}

// A Result is one benchmark as its tool reported it once. A tool that repeats
// itself within a launch gives several results of one name and launch.
type Result struct {
	Name   string // the tool's full name, parameters included; "" where it names none
	Launch int    // which start of the measured process within the run, from 0
	Values []Value
	// Machine is the class of the host, where it may be another one than that of
	// the side's other samples: shards of a suite run where there is room.
	Machine string
	// Counted says that noslower's own counters counted the values: equal ones
	// are then the same count, and not a rounded time.
	Counted bool
}

// A Key is what makes two samples comparable.
type Key struct{ Benchmark, Metric string }

// Compare orders keys by benchmark, then metric.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Benchmark, o.Benchmark), cmp.Compare(k.Metric, o.Metric))
}

// A Sample is all values of one key on one side, by launch, in the order
// measured. Values of one launch are not independent of each other; launches
// are.
type Sample struct {
	Benchmark string
	Metric    Metric
	Launches  [][]float64 // no launch is empty
	Machine   string      // class of the host, where it is not simply that of the side
	Counted   bool        // by noslower's own counters
	// Spread is set where each launch is a printed statistic and its tool told
	// how the values behind it scattered.
	Spread *Spread
}

// Key returns what the sample is matched by.
func (s *Sample) Key() Key { return Key{s.Benchmark, s.Metric.Name} }

// Values returns the values of all launches in the order measured. They are the
// sample's own, and not to be changed.
func (s *Sample) Values() []float64 {
	if len(s.Launches) == 1 {
		return s.Launches[0]
	}
	return slices.Concat(s.Launches...)
}

// Results yields the sample as results, one of each launch. The values of one are
// there only until the next.
func (s *Sample) Results() iter.Seq[Result] {
	return func(yield func(Result) bool) {
		r := Result{Name: s.Benchmark, Machine: s.Machine, Counted: s.Counted}
		for i, values := range s.Launches {
			r.Launch, r.Values = i, slices.Grow(r.Values[:0], len(values))
			for _, v := range values {
				r.Values = append(r.Values, Value{s.Metric, v, s.Spread})
			}
			if !yield(r) {
				return
			}
		}
	}
}

// A Set is what one side measured: its samples in the order first seen.
// The zero value is an empty set.
type Set struct {
	order   []*entry
	entries map[Key]*entry
	metrics map[Metric]*Metric
	latest  *entry // that a value was added to: often the next one is of it too
	room    int    // for the values of a launch: as many as the entry before has
}

type launch struct{ run, launch int }

// An entry keeps measured values and printed statistics apart until it is known
// whether there are any of the first.
type entry struct {
	key      Key
	metric   *Metric
	machine  string
	counted  bool
	measured column
	printed  *statistics // nil where there are none
	next     *entry      // that a value was added to after it: often it is again
}

// statistics are printed, each with its spread.
type statistics struct {
	column
	spreads []Spread
}

// A column is values by launch.
type column struct {
	launches [][]float64
	of       []launch       // whose they are
	place    int            // of the one that a value was added to last
	index    map[launch]int // of more launches than are searched one by one
}

func (c *column) add(at launch, v float64, room int) {
	if len(c.of) == 0 || c.of[c.place] != at {
		c.turnTo(at, room)
	}
	c.launches[c.place] = append(c.launches[c.place], v)
}

func (c *column) turnTo(at launch, room int) {
	const few = 32
	var ok bool
	if c.place, ok = c.index[at]; c.index == nil {
		c.place = slices.Index(c.of, at)
		ok = c.place >= 0
	}
	if ok {
		return
	}
	c.place = len(c.of)
	c.launches, c.of = append(c.launches, make([]float64, 0, room)), append(c.of, at)
	switch {
	case c.index != nil:
		c.index[at] = c.place
	case len(c.of) > few:
		c.index = map[launch]int{}
		for i, l := range c.of {
			c.index[l] = i
		}
	}
}

// Add puts a result of the run with this number into the set. Values that are
// no numbers, or whose unit or machine contradicts what the set has under the
// same key,
// are left out; the error names each of them, and the rest is in.
func (s *Set) Add(run int, r Result) error {
	var faults []error
	for i := range r.Values {
		v := &r.Values[i]
		if err := s.add(launch{run, r.Launch}, &r, v); err != nil {
			faults = append(faults, fmt.Errorf("benchmark %q, %s: %w", r.Name, v.Metric.Name, err))
		}
	}
	return errors.Join(faults...)
}

func (s *Set) add(at launch, r *Result, v *Value) error {
	if math.IsNaN(v.V) || math.IsInf(v.V, 0) {
		return fmt.Errorf("%v is not a value", v.V)
	}
	key := Key{r.Name, v.Metric.Name}
	e := s.latest
	if e != nil && e.key != key {
		e = e.next
	}
	if e == nil || e.key != key {
		e = s.entries[key]
	}
	if e == nil {
		s.grow(0)
		metric := s.own(v.Metric)
		e = &entry{key: Key{strings.Clone(r.Name), metric.Name}, metric: metric, machine: r.Machine, counted: r.Counted}
		s.entries[e.key] = e
		s.order = append(s.order, e)
	}
	s.turnTo(e)
	if e.metric.Unit != v.Metric.Unit {
		return fmt.Errorf("a value in %q among values in %q: they cannot be one sample", v.Metric.Unit, e.metric.Unit)
	}
	e.counted = e.counted && r.Counted
	if e.machine != r.Machine {
		return fmt.Errorf("a value of a machine of the kind %q among values of %q: they cannot be one sample", r.Machine, e.machine)
	}
	if e.metric.Better == Unknown {
		e.metric = s.own(Metric{e.metric.Name, e.metric.Unit, v.Metric.Better})
	}
	if v.Statistic == nil {
		e.measured.add(at, v.V, s.room)
		return nil
	}
	if e.printed == nil {
		e.printed = &statistics{}
	}
	e.printed.add(at, v.V, s.room)
	e.printed.spreads = append(e.printed.spreads, *v.Statistic)
	return nil
}

// grow makes room for so many samples in a set that has none.
func (s *Set) grow(samples int) {
	if s.entries == nil {
		s.entries, s.metrics = make(map[Key]*entry, samples), map[Metric]*Metric{}
		s.order = make([]*entry, 0, samples)
	}
}

// turnTo makes an entry the latest.
func (s *Set) turnTo(e *entry) {
	const mostRoom = 64 // one with very many is no measure of thousands with few
	if e == s.latest {
		return
	}
	if s.latest != nil {
		s.latest.next = e
		if c := &s.latest.measured; len(c.launches) > 0 {
			s.room = min(len(c.launches[c.place]), mostRoom)
		}
	}
	s.latest = e
}

// own returns a metric whose name and unit the set has for itself: they may have
// been cut from a large text that would be kept with them.
func (s *Set) own(m Metric) *Metric {
	if metric, ok := s.metrics[m]; ok {
		return metric
	}
	metric := &Metric{strings.Clone(m.Name), strings.Clone(m.Unit), m.Better}
	s.metrics[*metric] = metric
	return metric
}

// Len returns the number of samples.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.order)
}

// Launches returns the most launches that a sample has.
func (s *Set) Launches() int {
	most := 0
	for _, sample := range s.Samples() {
		most = max(most, len(sample.Launches))
	}
	return most
}

// Keys returns the keys in the order first seen.
func (s *Set) Keys() []Key {
	if s == nil {
		return nil
	}
	keys := make([]Key, len(s.order))
	for i, e := range s.order {
		keys[i] = e.key
	}
	return keys
}

// Samples returns the samples in the order first seen.
func (s *Set) Samples() []Sample {
	if s == nil {
		return nil
	}
	samples := make([]Sample, 0, len(s.order))
	for _, e := range s.order {
		samples = append(samples, e.sample())
	}
	return samples
}

// Lookup returns the sample of a key.
func (s *Set) Lookup(k Key) (Sample, bool) {
	if s == nil || s.entries[k] == nil {
		return Sample{}, false
	}
	return s.entries[k].sample(), true
}

// sample prefers what was measured: printed statistics stand in only where the
// tool printed no values.
func (e *entry) sample() Sample {
	if len(e.measured.launches) > 0 {
		return Sample{Benchmark: e.key.Benchmark, Metric: *e.metric, Machine: e.machine, Counted: e.counted, Launches: e.measured.launches}
	}
	return Sample{Benchmark: e.key.Benchmark, Metric: *e.metric, Machine: e.machine, Launches: e.printed.launches, Spread: typicalSpread(e.printed.spreads)}
}

// typicalSpread returns the middle one of spreads that are all of one kind, or
// nil: a median with its MAD and one with its deviation have no common scatter.
func typicalSpread(spreads []Spread) *Spread {
	if len(spreads) == 0 || spreads[0].Kind == NoSpread {
		return nil
	}
	for _, s := range spreads {
		if s.Kind != spreads[0].Kind {
			return nil
		}
	}
	sorted := slices.Clone(spreads)
	slices.SortStableFunc(sorted, func(a, b Spread) int { return cmp.Compare(a.Value, b.Value) })
	return &sorted[len(sorted)/2]
}
