package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perfFingerprint is what perf counts: instructions in user space.
const perfFingerprint = "perf_event_open instructions:u"

// addrNoRandomize is ADDR_NO_RANDOMIZE of personality(2).
const addrNoRandomize = 0x0040000

// An event is a hardware counter that follows the command.
type event struct {
	what   string // as an Uncounted names it
	kind   uint32 // PERF_TYPE_…
	config uint64 // PERF_COUNT_…

	fd  int // -1 if it is not open
	err error
}

// perfEvents are what is counted. They are two events and no group: the kernel
// does not read a group of inherited ones before Linux 6.12.
func perfEvents() []*event {
	return []*event{
		{what: "instructions", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_INSTRUCTIONS, fd: -1},
		{what: "cycles", kind: unix.PERF_TYPE_HARDWARE, config: unix.PERF_COUNT_HW_CPU_CYCLES, fd: -1},
	}
}

// inherited says that an event is to count the programs that are started from the
// thread that opens it, from their exec on, and not that thread.
const inherited = unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec

// attr says what to count: in user space alone, and with the times by which to see
// whether it was counted all the while.
func (e *event) attr(bits uint64) *unix.PerfEventAttr {
	return &unix.PerfEventAttr{
		Type:        e.kind,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config:      e.config,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits:        bits | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
}

func (e *event) open(bits uint64) {
	e.fd, e.err = unix.PerfEventOpen(e.attr(bits), 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if e.err != nil {
		e.fd = -1
	}
}

// arm is called just before the command is started, and disarm just after, on the
// thread from which it is.
//
// Both the events and the personality are the thread's own. A child gets copies
// of them, and keeps them over exec. So nothing need stand between us and the
// command to count it; what does, the launcher, is counted with it, which is the
// same 40 or so instructions in every run. The thread itself never does exec, so
// that its events stay off; nor do other threads get them, since Go starts none
// from a thread that is locked to its goroutine.
func (h *harness) arm() (disarm func()) {
	for _, e := range h.events {
		e.open(inherited)
	}
	if !h.fixed {
		return func() {}
	}
	// Docker's rules for system calls allow to ask for the old, but not this new one.
	old, _, errno := unix.Syscall(unix.SYS_PERSONALITY, 0xffffffff, 0, 0)
	if errno != 0 {
		return func() {}
	}
	if _, _, errno := unix.Syscall(unix.SYS_PERSONALITY, old|addrNoRandomize, 0, 0); errno != 0 {
		return func() {}
	}
	h.gotFixed = true
	return func() {
		// What was allowed a moment ago is allowed still.
		_, _, _ = unix.Syscall(unix.SYS_PERSONALITY, old, 0, 0)
	}
}

func (h *harness) close() {
	for _, e := range h.events {
		if e.fd >= 0 {
			unix.Close(e.fd)
		}
	}
}

// read returns what was counted, once all processes of the command are gone: a
// process adds its counts to those of its parent's event when it ends.
func (h *harness) read() (instructions, cycles uint64, absent []*Uncounted) {
	for _, e := range h.events {
		n, why := e.value()
		switch {
		case why != nil:
			absent = append(absent, why)
		case e.what == "cycles":
			cycles = n
		default:
			instructions = n
		}
	}
	return instructions, cycles, absent
}

func (e *event) value() (uint64, *Uncounted) {
	if e.fd < 0 {
		return 0, e.refused()
	}
	b := make([]byte, readingSize)
	n, err := unix.Read(e.fd, b)
	if err != nil {
		return 0, &Uncounted{What: e.what, Reason: NotWorking, Problem: "the counter cannot be read (" + err.Error() + ")", Err: err}
	}
	r, err := decodeReading(b[:n])
	if err != nil {
		return 0, &Uncounted{What: e.what, Reason: NotWorking, Problem: err.Error(), Err: err}
	}
	return r.value(e.what)
}

// A reading is what the kernel says of an event, summed over all tasks.
type reading struct {
	count            uint64
	enabled, running time.Duration // that it should have counted, and that it did
}

const readingSize = 24

// decodeReading reads what read(2) gives for the read format of attr.
func decodeReading(b []byte) (reading, error) {
	if len(b) != readingSize {
		return reading{}, fmt.Errorf("want %d bytes from the counter, have %d", readingSize, len(b))
	}
	u := binary.NativeEndian.Uint64
	return reading{u(b), time.Duration(u(b[8:])), time.Duration(u(b[16:]))}, nil
}

// value returns the count, if it is one.
func (r reading) value(what string) (uint64, *Uncounted) {
	switch {
	case r.enabled == 0:
		return 0, &Uncounted{What: what, Reason: NotCounted, Problem: "no program was started to be counted"}
	case r.running == 0:
		return 0, &Uncounted{
			What: what, Reason: Multiplexed, Problem: "the counter was never free",
			Remedy: "end what else uses the CPU's counters, such as perf, a debugger or the NMI watchdog, or count with --counters valgrind",
		}
	case r.running < r.enabled:
		return 0, &Uncounted{
			What: what, Reason: Multiplexed,
			Problem: fmt.Sprintf("counted for %.1f %% of the time only, and what is missing is not guessed", 100*float64(r.running)/float64(r.enabled)),
			Remedy: "end what else uses the CPU's counters, such as perf, a debugger or the NMI watchdog; " +
				"where a CPU has cores of two kinds, keep the command on one kind with taskset; or count with --counters valgrind",
		}
	case r.count == 0:
		return 0, &Uncounted{
			What: what, Reason: ReadsZero, Problem: "the counter reads 0, which no program can have",
			Remedy: "this is how some virtual machines pretend to have counters: count with --counters valgrind",
		}
	default:
		return r.count, nil
	}
}

// refused says why the event could not be opened.
func (e *event) refused() *Uncounted {
	if e.err == nil {
		return &Uncounted{What: e.what, Reason: NotCounted, Problem: "no program was started to be counted"}
	}
	// Where it cannot be read, it is not told.
	paranoid, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	return explainOpen(e.what, e.err, strings.TrimSpace(string(paranoid)))
}

// explainOpen tells what an error of perf_event_open(2) means. paranoid is what
// the kernel setting perf_event_paranoid is; "" if not known.
func explainOpen(what string, err error, paranoid string) *Uncounted {
	u := &Uncounted{What: what, Reason: NotWorking, Err: err}
	const instead = "or count with --counters valgrind"
	switch {
	case errors.Is(err, unix.EACCES):
		u.Reason = NotPermitted
		u.Problem = "the kernel does not let this user count"
		if paranoid != "" {
			u.Problem += " (kernel.perf_event_paranoid is " + paranoid + ")"
		}
		u.Remedy = "set kernel.perf_event_paranoid to 2 or less with sysctl, " + instead
	case errors.Is(err, unix.EPERM):
		u.Reason = NotPermitted
		u.Problem = "perf_event_open is forbidden (EPERM), as it is in a container without the capability PERFMON"
		u.Remedy = "run it outside of the container, or the container with --cap-add PERFMON; " + instead
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		u.Reason = NoHardware
		u.Problem = fmt.Sprintf("this machine has no such counter (%s), as virtual machines often have none", unix.ErrnoName(errnoOf(err)))
		u.Remedy = "measure on a machine that has, " + instead
	case errors.Is(err, unix.ENOSYS):
		u.Reason = NotHere
		u.Problem = "this kernel has no perf_event_open (ENOSYS)"
		u.Remedy = "measure on one that has, " + instead
	case errors.Is(err, unix.EBUSY):
		u.Reason = Multiplexed
		u.Problem = "something else holds the counter (EBUSY)"
		u.Remedy = "end it, " + instead
	default: // too many open files, no memory, an attribute that this kernel does not know
		u.Problem = "perf_event_open: " + err.Error()
	}
	return u
}

func errnoOf(err error) unix.Errno {
	var errno unix.Errno
	errors.As(err, &errno)
	return errno
}

// probePerf counts a few instructions of our own. That an event can be opened does
// not mean that it counts: some virtual machines let it read 0.
func probePerf() *Uncounted {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := perfEvents()[0]
	e.what = string(CounterPerf)
	h := &harness{events: []*event{e}}
	defer h.close()
	e.open(0) // on, and for this thread
	_ = spin(100_000)
	_, why := e.value()
	return why
}

// spin executes at least n instructions, and returns a number that needs them.
//
//go:noinline
func spin(n int) (sum int) {
	for i := range n {
		sum ^= i
	}
	return sum
}
