package run

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestAttr compares what the kernel is asked for with what perf 6.1 asks for, as
// "perf stat -vv -e instructions:u,cycles:u" prints it: size 128, config 1 and 0,
// read_format TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING, disabled, inherit,
// exclude_kernel, exclude_hv, enable_on_exec. Perf's sample_type is for samples
// alone, and its exclude_guest for machines that the command may start.
func TestAttr(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the bytes are those of a little-endian machine")
	}
	const (
		zeros = "0000000000000000"
		// type, size | config | sample period | sample type | read format | bits
		instructions = "00000000" + "80000000" + "0100000000000000" + zeros + zeros + "0300000000000000" + "6310000000000000"
		cycles       = "00000000" + "80000000" + "0000000000000000" + zeros + zeros + "0300000000000000" + "6310000000000000"
	)
	for i, want := range []string{instructions, cycles} {
		want += strings.Repeat(zeros, 10)
		a := perfEvents()[i].attr(inherited)
		got := hex.EncodeToString(unsafe.Slice((*byte)(unsafe.Pointer(a)), unsafe.Sizeof(*a)))
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", perfEvents()[i].what, got, want)
		}
	}
}

// raw is what read(2) of an event gives.
func raw(count, enabled, running uint64) []byte {
	b := make([]byte, 0, readingSize)
	for _, u := range []uint64{count, enabled, running} {
		b = binary.NativeEndian.AppendUint64(b, u)
	}
	return b
}

func TestReading(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []byte
		want uint64
		why  Reason
		text string
	}{
		{"a count", raw(1_317_299, 1_000_000, 1_000_000), 1_317_299, 0, ""},
		{"half of the time", raw(1_317_299, 1_000_000, 500_000), 0, Multiplexed, "counted for 50.0 % of the time"},
		{"all but a moment", raw(1_317_299, 1_000_000, 999_999), 0, Multiplexed, "counted for 100.0 % of the time"},
		{"never free", raw(0, 1_000_000, 0), 0, Multiplexed, "never free"},
		{"zero", raw(0, 1_000_000, 1_000_000), 0, ReadsZero, "reads 0"},
		{"no exec", raw(0, 0, 0), 0, NotCounted, "no program was started"},
		{"cut short", raw(1, 2, 3)[:16], 0, NotWorking, "want 24 bytes from the counter, have 16"},
		{"nothing", nil, 0, NotWorking, "have 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := decodeReading(tt.in)
			if err != nil {
				if tt.why != NotWorking || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("got error %v, want %q", err, tt.text)
				}
				return
			}
			got, why := r.value("cycles")
			if got != tt.want || (why == nil) != (tt.text == "") {
				t.Fatalf("got %d, %v; want %d, %q", got, why, tt.want, tt.text)
			}
			if why != nil && (why.Reason != tt.why || why.What != "cycles" || !strings.Contains(why.Error(), tt.text)) {
				t.Errorf("got %+v, want reason %d and %q", why, tt.why, tt.text)
			}
		})
	}
}

func TestExplainOpen(t *testing.T) {
	for _, tt := range []struct {
		err      error
		paranoid string
		want     Reason
		text     string
	}{
		{unix.EACCES, "4", NotPermitted, "kernel.perf_event_paranoid is 4"},
		{unix.EACCES, "", NotPermitted, "does not let this user count: set"},
		{unix.EPERM, "2", NotPermitted, "--cap-add PERFMON"},
		{unix.ENOENT, "2", NoHardware, "no such counter (ENOENT)"},
		{unix.EOPNOTSUPP, "2", NoHardware, "--counters valgrind"},
		{unix.ENODEV, "2", NoHardware, "virtual machines"},
		{unix.ENOSYS, "", NotHere, "this kernel has no"},
		{unix.EBUSY, "2", Multiplexed, "holds the counter"},
		{unix.EMFILE, "2", NotWorking, "too many open files"},
		{unix.EINVAL, "2", NotWorking, "invalid argument"},
	} {
		u := explainOpen("perf", tt.err, tt.paranoid)
		if u.Reason != tt.want || !errors.Is(u, tt.err) || !strings.HasPrefix(u.Error(), "perf: ") || !strings.Contains(u.Error(), tt.text) {
			t.Errorf("%v: got reason %d, %v; want %d, %q", tt.err, u.Reason, u, tt.want, tt.text)
		}
	}
}

// software is a harness with the clock of tasks for a counter: the kernel counts
// it where there is no hardware, and treats it alike otherwise.
func software(t *testing.T) *harness {
	t.Helper()
	h := &harness{events: []*event{{what: "instructions", kind: unix.PERF_TYPE_SOFTWARE, config: unix.PERF_COUNT_SW_TASK_CLOCK, fd: -1}}}
	e := *h.events[0]
	if e.open(0); e.err != nil {
		t.Skipf("no event can be opened here: %v", e.refused())
	}
	unix.Close(e.fd)
	t.Cleanup(h.close)
	return h
}

// TestEventsFollow counts with an event of the kernel's own, in nanoseconds, what
// a command does, what its children do, and what these leave behind.
func TestEventsFollow(t *testing.T) {
	const work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
	for _, tt := range []struct{ name, command string }{
		{"the command", work},
		{"a program in its place", "exec sh -c '" + work + "'"},
		{"a fork", "(" + work + "); :"},
		{"a child", "sh -c '" + work + "'; :"},
		{"an orphan", "(sh -c '" + work + "' &); sleep 0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := software(t)
			r, err := sh(t, tt.command).within(t.Context(), h, Step{N: 1, Of: 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			ns, _, absent := h.read()
			if len(absent) > 0 {
				t.Fatal(absent[0])
			}
			// The clock is by the scheduler, the CPU time in part by ticks, and before
			// exec.
			got, cpu := time.Duration(ns), r.User+r.System
			if got < cpu/2 || got > 2*cpu+20*time.Millisecond || got < time.Millisecond {
				t.Errorf("counted %v, and the CPU time was %v", got, cpu)
			}
		})
	}
}

// TestEventsLeaveUsAlone: work of our own, before or during the run and on the
// thread from which it is started, is not counted.
func TestEventsLeaveUsAlone(t *testing.T) {
	h := software(t)
	r, err := sh(t, "sleep 0.05").within(t.Context(), h, Step{N: 1, Of: 1}, busyObserver{})
	if err != nil {
		t.Fatal(err)
	}
	_ = spin(200_000_000)
	ns, _, absent := h.read()
	if len(absent) > 0 {
		t.Fatal(absent[0])
	}
	if got, most := time.Duration(ns), 2*(r.User+r.System)+20*time.Millisecond; got > most {
		t.Errorf("counted %v, want at most %v, that of the command", got, most)
	}
}

type busyObserver struct{ nobody }

func (busyObserver) Started(Step) { _ = spin(100_000_000) }

// TestNotStartedIsNotCounted: neither a command that was not started, whose
// launcher was, nor an event that is not open has a value.
func TestNotStartedIsNotCounted(t *testing.T) {
	s := Spec{Args: []string{"./nosuch"}, Dir: t.TempDir()}
	c, err := Meter{Counter: CounterPerf}.Count(t.Context(), s, Step{N: 1, Of: 1}, nil)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Kind != NotStarted || c.Instructions != 0 {
		t.Errorf("got %d instructions, error %v, want none and NotStarted", c.Instructions, err)
	}
	_, _, absent := (&harness{events: perfEvents()}).read()
	if len(absent) != 2 || absent[0].Reason != NotCounted {
		t.Errorf("events that are not open: got %v, want NotCounted", absent)
	}
}

// TestFixedAddresses starts a program twice: where the system allows it, all of
// its parts are at the same addresses, and ours stay random.
func TestFixedAddresses(t *testing.T) {
	maps := func(fixed bool) (string, bool) {
		h := &harness{fixed: fixed}
		s := Spec{Args: []string{"cat", "/proc/self/maps"}, Env: ContainerEnv(os.Environ(), nil)}
		r, err := s.within(t.Context(), h, Step{N: 1, Of: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Output), h.gotFixed
	}
	a, fixed := maps(true)
	if b, _ := maps(true); fixed && a != b {
		t.Errorf("got different addresses:\n%s\nand\n%s", a, b)
	}
	if !fixed {
		t.Log("not allowed here")
	}
	if b, fixed := maps(false); fixed || a == b {
		t.Errorf("not asked for, and yet fixed:\n%s", b)
	}
}

// TestProbePerf: whatever there is here, the answer is one that can be acted on.
func TestProbePerf(t *testing.T) {
	u := probePerf()
	if u == nil {
		t.Log("this machine has counters")
		return
	}
	t.Log(u)
	if u.What != "perf" || u.Problem == "" || u.Remedy == "" || u.Reason == NotCounted {
		t.Errorf("got %+v", u)
	}
}

// TestPerfCount counts by hardware, or says why there is no value.
func TestPerfCount(t *testing.T) {
	c, err := Meter{Counter: CounterPerf}.Count(t.Context(), sh(t, "echo measured"), Step{N: 1, Of: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Timed == nil || c.Timed.Wall == 0 || string(c.Timed.Output) != "measured\n" {
		t.Errorf("got run %+v, want one with times and output", c.Timed)
	}
	if probePerf() == nil {
		if c.Instructions < 10_000 {
			t.Errorf("got %d instructions", c.Instructions)
		}
		return
	}
	if c.Instructions != 0 || c.Cycles != 0 || len(c.Absent) != 2 {
		t.Errorf("got %+v, want two reasons and no value", c.Counts)
	}
}
