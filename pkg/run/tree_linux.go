package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A platform is what a tree needs to know on Linux. Orphans come to us, as a
// subreaper, and so every process of a run is sooner or later a child of ours,
// whose pid and group cannot pass to another process until we reap it.
type platform struct {
	before  map[process]bool // children of ours that are not of this run
	orphans Usage            // of those that we reaped
	clean   bool             // the command is not charged with our own peak memory
	ended   chan struct{}    // closed when the command has ended, and these are known:
	state   *os.ProcessState
	err     error
}

func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// newTree makes us the one whom orphans are handed to, and leaves it so.
func newTree() (*tree, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("prctl PR_SET_CHILD_SUBREAPER: %w", err)
	}
	t := &tree{died: make(chan os.Signal, 1), told: map[process]syscall.Signal{}}
	// A wrapper that does exec leaves us children that we never started.
	t.before = map[process]bool{}
	if _, err := anyDead(); !errors.Is(err, unix.ECHILD) {
		before, err := children()
		if err != nil {
			return nil, err
		}
		for _, c := range before {
			t.before[c.process] = true
		}
	}
	t.ended = make(chan struct{})
	signal.Notify(t.died, unix.SIGCHLD)
	return t, nil
}

func (t *tree) close() { signal.Stop(t.died) }

// start starts the command.
func (t *tree) start(cmd *exec.Cmd) (err error) {
	t.main, t.clean, err = launch(cmd)
	return err
}

// await blocks until the command has ended.
func (t *tree) await() {
	t.state, t.err = t.main.Wait()
	close(t.ended)
}

// reap reaps the orphans that have died.
func (t *tree) reap() {
	if dead, err := anyDead(); err == nil && dead {
		t.sweep()
	}
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

// look is one look of sweep, and tells whether it found any dead.
func (t *tree) look() (living map[process]int, died bool) {
	living = map[process]int{}
	if _, err := anyDead(); errors.Is(err, unix.ECHILD) {
		return living, false // as after most runs, which saves to look through /proc
	}
	all, err := children()
	if err != nil {
		return living, false
	}
	for _, c := range all {
		switch {
		case t.before[c.process]:
		case c.state != 'Z' || c.pid == t.main.Pid: // await reaps it, until when it lives
			living[c.process] = c.group
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

// anyDead tells whether a child of ours has died and is not reaped. Its error is
// ECHILD if we have no child at all.
func anyDead() (bool, error) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return info.Signo != 0, err
		}
	}
}

// collect sums up what the command and its orphans used.
func (t *tree) collect() (*os.ProcessState, Usage, error) {
	select {
	case <-t.ended:
	default: // cannot be killed; said by whoever tried
		return nil, t.orphans, fmt.Errorf("process %d does not end", t.main.Pid)
	}
	if t.err != nil {
		return nil, t.orphans, t.err
	}
	u := t.orphans
	if ru, ok := t.state.SysUsage().(*syscall.Rusage); ok {
		u.add(usage(ru.Utime.Nano(), ru.Stime.Nano(), ru.Maxrss))
	}
	if !t.clean {
		u.MaxRSS = 0
	}
	return t.state, u, nil
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
