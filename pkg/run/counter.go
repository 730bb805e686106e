package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Counter is a way to count the instructions of a command.
type Counter string

// The counters. Auto is CounterPerf where it works, else CounterValgrind where it
// does, else CounterNone.
const (
	CounterAuto     Counter = "auto"
	CounterPerf     Counter = "perf"     // the CPU's own, by perf_event_open(2)
	CounterValgrind Counter = "valgrind" // a simulated CPU, many times slower
	CounterNone     Counter = "none"
)

// String is the counter's name.
func (c *Counter) String() string { return string(*c) }

// Type is what a flag of it is called in help.
func (c *Counter) Type() string { return "COUNTER" }

// Set makes c the counter of that name, so that it can be a flag.
func (c *Counter) Set(name string) error {
	known := []Counter{CounterAuto, CounterPerf, CounterValgrind, CounterNone}
	if !slices.Contains(known, Counter(name)) {
		return fmt.Errorf("want auto, perf, valgrind or none, have %q", name)
	}
	*c = Counter(name)
	return nil
}

// A Reason is a kind of cause why something could not be counted.
type Reason int8

const (
	NotCounted   Reason = iota // not asked for, or the command never got that far
	NotPermitted               // the kernel or a container forbids it
	NoHardware                 // this CPU or virtual machine does not have the counter
	NotHere                    // not for this system, or not installed
	NotWorking                 // it is here, but what it says cannot be used
	Multiplexed                // counted for a part of the time only
	ReadsZero                  // counted nothing, which no program does
	Incomplete                 // some of the command's processes left no count
)

// An Uncounted says why something was not counted. Where it stands, there is no
// value: not zero, and no estimate.
type Uncounted struct {
	What    string // perf, valgrind, instructions or cycles
	Reason  Reason
	Problem string // what is wrong
	Remedy  string // what to do about it; may be empty
	Err     error  // the cause, if there is one to tell; may be nil
}

// Error is one line: what, what is wrong, and what to do.
func (u *Uncounted) Error() string {
	s := u.What + ": " + u.Problem
	if u.Remedy != "" {
		s += ": " + u.Remedy
	}
	return s
}

// Unwrap returns the cause.
func (u *Uncounted) Unwrap() error { return u.Err }

// Counters says which counters work here.
type Counters struct {
	Perf     *Uncounted // why the CPU does not count instructions for us; nil if it does
	Valgrind *Uncounted // why valgrind does not; nil if it does

	valgrind valgrind
}

// ProbeCounters tries out the counters, each by counting something with it.
// Valgrind is that of our own PATH.
func ProbeCounters(ctx context.Context) Counters {
	c := Counters{Perf: probePerf()}
	c.valgrind, c.Valgrind = probeValgrind(ctx)
	return c
}

// A Meter counts the instructions of runs. Counters.Choose makes one.
type Meter struct {
	Counter Counter // CounterPerf, CounterValgrind or CounterNone

	// Fingerprint is what counted, with its version and what it was told to do:
	// counts of different ones are not to be compared. "" is CounterNone's.
	Fingerprint string

	// PassedOver says why CounterAuto did not take what it prefers to Counter.
	PassedOver []*Uncounted

	valgrind valgrind
}

// Choose returns a meter of the kind that is wanted. That CounterAuto finds
// nothing is no error; that a counter asked for by its name does not work is
// one, and an *Uncounted.
func (c Counters) Choose(want Counter) (Meter, error) {
	perf := Meter{Counter: CounterPerf, Fingerprint: perfFingerprint}
	valgrind := Meter{Counter: CounterValgrind, Fingerprint: c.valgrind.fingerprint(), valgrind: c.valgrind}
	switch want {
	case CounterPerf:
		if c.Perf != nil {
			return Meter{}, c.Perf
		}
		return perf, nil
	case CounterValgrind:
		if c.Valgrind != nil {
			return Meter{}, c.Valgrind
		}
		return valgrind, nil
	case CounterNone:
		return Meter{Counter: CounterNone}, nil
	default:
		switch {
		case c.Perf == nil:
			return perf, nil
		case c.Valgrind == nil:
			valgrind.PassedOver = []*Uncounted{c.Perf}
			return valgrind, nil
		default:
			return Meter{Counter: CounterNone, PassedOver: []*Uncounted{c.Perf, c.Valgrind}}, nil
		}
	}
}

// Counts are what a run executed in user space, in the command and all processes
// that descend from it.
type Counts struct {
	Instructions uint64 // 0 is no value: Absent says why
	Cycles       uint64 // of the CPU; 0 is no value, and always so under valgrind

	// Absent says why instructions, or with CounterPerf cycles, have no value.
	Absent []*Uncounted

	// Forked is how many processes went on in the program of their parent, as fork
	// alone makes them. Valgrind charges each with what its parent had counted
	// until then, so that Instructions is too large by that, if always by the same.
	// With CounterPerf it is 0, and they are counted as they should be.
	Forked int

	// AddressesFixed is whether the addresses of the program's parts were kept from
	// being random. Where the system forbids that, what depends on addresses, such
	// as the order of a table of pointers, differs from run to run.
	AddressesFixed bool
}

// A Counted is a finished run that was counted.
type Counted struct {
	Step
	Counts

	// Timed is the run as Once tells it. It is nil under valgrind, where no time
	// means anything: neither what the run took nor what it printed.
	Timed *Run
}

// Count runs the command once, as Once does with the same errors, and counts what
// it executes. That there is no value is no error: see Counts.
//
// What makes counts differ that should not is up to both of us. Addresses are kept
// from being random where the system allows it. Give CountingEnv for Spec.Env: a
// variable more is about 450 instructions more in glibc's loader. Run two programs
// that are to be compared by paths of equal length: that of a C program changes
// its count by up to 15. A Slope has neither in it.
//
// Under valgrind every program takes about half a second to start, and up to 100
// times as long as without (a tight loop 3 times), which Spec.Timeout has to allow
// for, and threads take turns on one CPU. What a process does before it becomes
// another program by exec is not counted, and one that is killed by SIGKILL leaves
// no count. obs hears times, for its progress alone.
func (m Meter) Count(ctx context.Context, s Spec, step Step, obs Observer) (Counted, error) {
	c := Counted{Step: step}
	if err := s.Validate(); err != nil {
		return c, err
	}
	switch m.Counter {
	case CounterPerf:
		h := &harness{fixed: true, events: perfEvents()}
		defer h.close()
		r, err := s.within(ctx, h, step, obs)
		c.Timed = &r
		c.AddressesFixed = h.gotFixed
		if err == nil {
			c.Instructions, c.Cycles, c.Absent = h.read()
		}
		return c, err
	case CounterValgrind:
		var err error
		c.Counts, err = m.valgrind.count(ctx, s, step, obs)
		return c, err
	default:
		return c, errors.New("counters: there is none to count with")
	}
}

// Profile runs the command once under callgrind, and says where its instructions
// are spent. Such a run takes longer than one of Count, and its counts are a
// little smaller: what they are used for is to be told apart by function.
func (c Counters) Profile(ctx context.Context, s Spec, step Step, obs Observer) (Profile, error) {
	if err := s.Validate(); err != nil {
		return Profile{}, err
	}
	if c.Valgrind != nil {
		return Profile{}, c.Valgrind
	}
	return c.valgrind.profile(ctx, s, step, obs)
}

// A harness is what a counting run adds to a plain one.
type harness struct {
	under  []string // a program and its arguments, which run the command
	fixed  bool     // addresses are not to be random
	events []*event // to open when the command starts

	gotFixed bool
}
