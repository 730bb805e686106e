package run

const perfFingerprint = ""

// An event is a hardware counter, of which macOS lets a program have none.
type event struct{}

func perfEvents() []*event { return nil }

// arm does nothing: macOS has no call that keeps addresses from being random.
func (h *harness) arm() (disarm func()) { return func() {} }

func (h *harness) close() {}

func (h *harness) read() (instructions, cycles uint64, absent []*Uncounted) {
	return 0, 0, []*Uncounted{probePerf()}
}

func probePerf() *Uncounted {
	return &Uncounted{
		What: string(CounterPerf), Reason: NotHere, Problem: "only Linux has it",
		Remedy: "measure on Linux, or without instructions",
	}
}
