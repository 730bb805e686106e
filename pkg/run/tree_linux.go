package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// rssSlack is added to our own peak memory: the kernel counts pages by CPU and
// sums up now and then.
const rssSlack = 1 << 20

// A platform is what a tree needs to know on Linux. Orphans come to us, as a
// subreaper, and so every process of a run is sooner or later a child of ours,
// whose pid cannot pass to another process until we reap it.
type platform struct {
	before  map[process]bool // children of ours that are not of this run
	orphans Usage            // of those that we reaped
	floor   int64            // our own peak memory when the command was started
	ended   chan struct{}    // closed when the command has ended
	dead    bool             // sweep knows that it has
}

func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// newTree makes us the one whom orphans are handed to, and leaves it so.
func newTree() (*tree, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("prctl PR_SET_CHILD_SUBREAPER: %w", err)
	}
	t := &tree{died: make(chan os.Signal, 1), told: map[process]syscall.Signal{}}
	// A wrapper that does exec leaves us children that we never started.
	before, err := children()
	if err != nil {
		return nil, err
	}
	t.before = map[process]bool{}
	for _, c := range before {
		t.before[c.process] = true
	}
	t.ended = make(chan struct{})
	resetPeak()
	signal.Notify(t.died, unix.SIGCHLD)
	return t, nil
}

func (t *tree) close() { signal.Stop(t.died) }

func (t *tree) started(p *os.Process) {
	t.main = p
	t.floor = peak() + rssSlack
}

// await blocks until the command has ended, and does not reap it: its pid, which
// is its group's too, stays taken while we send signals to it.
func (t *tree) await() {
	for {
		err := unix.Waitid(unix.P_PID, t.main.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	close(t.ended)
}

// sweep reaps the orphans that have died, and returns the living children of the
// run with their process groups.
func (t *tree) sweep() map[process]int {
	for {
		living, died := t.look()
		if len(living) > 0 || !died {
			return living
		}
		// What died may have left an orphan that had been looked at before, when it
		// was not ours: only a look at which nothing died shows that none is left.
	}
}

// look is one look of sweep, and tells whether it found any dead that were not
// known.
func (t *tree) look() (living map[process]int, died bool) {
	living = map[process]int{}
	all, err := children()
	if err != nil {
		return living, false
	}
	for _, c := range all {
		switch {
		case t.before[c.process]:
		case c.state != 'Z':
			living[c.process] = c.group
		case c.pid == t.main.Pid:
			died = died || !t.dead
			t.dead = true
		default:
			var status unix.WaitStatus
			var ru unix.Rusage
			if pid, err := unix.Wait4(c.pid, &status, unix.WNOHANG, &ru); err == nil && pid == c.pid {
				t.orphans.add(usage(ru.Utime.Nano(), ru.Stime.Nano(), ru.Maxrss))
				died = true
			}
		}
	}
	return living, died
}

// collect reaps the command, and sums up what it and its orphans used.
func (t *tree) collect() (*os.ProcessState, Usage, error) {
	select {
	case <-t.ended:
	default: // cannot be killed; said by whoever tried
		return nil, t.orphans, fmt.Errorf("process %d does not end", t.main.Pid)
	}
	state, err := t.main.Wait()
	if err != nil {
		return nil, t.orphans, err
	}
	u := t.orphans
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		u.add(usage(ru.Utime.Nano(), ru.Stime.Nano(), ru.Maxrss))
	}
	if u.MaxRSS <= t.floor {
		u.MaxRSS = 0
	}
	return state, u, nil
}

// usage is that of wait4(2), which includes that of all descendants whom their
// parents have waited for.
func usage(user, system, maxrss int64) Usage {
	return Usage{User: time.Duration(user), System: time.Duration(system), MaxRSS: maxrss << 10}
}

func (u *Usage) add(v Usage) {
	u.User += v.User
	u.System += v.System
	u.MaxRSS = max(u.MaxRSS, v.MaxRSS)
}

// A child is a child process of ours as /proc tells it.
type child struct {
	process
	state byte // 'Z' is dead and not reaped
	group int
}

// children returns our child processes.
func children() ([]child, error) {
	// Not /proc/self/task/*/children, which may leave some out while others end.
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	self := strconv.Itoa(os.Getpid())
	var all []child
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // ended since
		}
		if c, ok := parseStat(pid, stat, self); ok {
			all = append(all, c)
		}
	}
	return all, nil
}

// parseStat reads a /proc/<pid>/stat, see proc_pid_stat(5), and tells whether it
// is of a child of the given parent.
func parseStat(pid int, stat []byte, parent string) (child, bool) {
	// pid (comm) state ppid pgrp …; comm may hold anything.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 20 || f[1] != parent {
		return child{}, false
	}
	group, err := strconv.Atoi(f[2])
	if err != nil {
		return child{}, false
	}
	return child{process{pid, f[19]}, f[0][0], group}, true
}

// resetPeak lowers our own peak memory to what we use now. Without it a run after
// a large output would hide the peaks of smaller programs; where it is not
// permitted, it does.
func resetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peak returns our own peak resident memory in bytes, 0 if it is not known.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := bytes.Cut(status, []byte("VmHWM:"))
	line, _, _ := bytes.Cut(after, []byte("kB"))
	kib, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
