package run

import (
	"os"
	"syscall"
	"time"
)

// A process is one that lived when it was looked at.
type process struct {
	pid   int
	start string // tells it from a later one of the same pid
}

// A tree is the processes of one run: the command, its process group, and, where
// the system hands us orphans, everything that ever descended from it.
type tree struct {
	died chan os.Signal             // hears when a child may have died
	told map[process]syscall.Signal // the last signal that each was sent to stop

	main *os.Process
	platform
}

// end lets the processes of t end by themselves for the time of patience, then
// asks them to, and kills them after the time of grace.
func (t *tree) end(patience, grace time.Duration) {
	_ = t.gone(0, patience) ||
		t.gone(syscall.SIGTERM, grace) ||
		t.gone(syscall.SIGKILL, killLimit)
}

// gone sends sig, unless 0, to all processes of t and tells whether they are gone
// within the limit.
func (t *tree) gone(sig syscall.Signal, limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	grouped := false
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		living := t.sweep()
		if len(living) == 0 {
			return true
		}
		if sig != 0 {
			for p, group := range living {
				switch {
				case group == t.main.Pid && (!grouped || sig == syscall.SIGKILL):
					// All of the group at once: it includes those whose parent lives, whom
					// sweep does not see. That it is empty is what is wanted.
					_ = syscall.Kill(-group, sig)
					grouped = true
				case group != t.main.Pid && t.told[p] != sig:
					// Once is enough: some programs take a second SIGTERM for a hurry.
					// It may have ended meanwhile, which is as good.
					_ = syscall.Kill(p.pid, sig)
				}
				t.told[p] = sig
			}
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}
