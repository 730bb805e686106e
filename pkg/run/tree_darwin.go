package run

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// A platform is what a tree needs to know on macOS, which hands orphans to
// nobody but launchd: one that leaves the process group is out of reach.
type platform struct {
	ended chan struct{} // closed when the command has ended
	state *os.ProcessState
	err   error
}

func dieWithParent(*syscall.SysProcAttr) {}

func newTree() (*tree, error) {
	t := &tree{died: make(chan os.Signal, 1), told: map[process]syscall.Signal{}}
	t.ended = make(chan struct{})
	signal.Notify(t.died, unix.SIGCHLD)
	return t, nil
}

func (t *tree) close() { signal.Stop(t.died) }

func (t *tree) start(cmd *exec.Cmd) error {
	err := cmd.Start()
	t.main = cmd.Process
	return err
}

// await blocks until the command has ended.
func (t *tree) await() {
	t.state, t.err = t.main.Wait()
	close(t.ended)
}

// reap has nothing to do: launchd reaps orphans.
func (t *tree) reap() {}

// sweep returns the leader for the whole group while any of it lives.
func (t *tree) sweep() map[process]int {
	if syscall.Kill(-t.main.Pid, 0) != nil {
		return nil
	}
	return map[process]int{{pid: t.main.Pid}: t.main.Pid}
}

// collect sums up what the command and its descendants used.
func (t *tree) collect() (*os.ProcessState, Usage, error) {
	select {
	case <-t.ended:
	default: // cannot be killed; said by whoever tried
		return nil, Usage{}, fmt.Errorf("process %d does not end", t.main.Pid)
	}
	if t.err != nil {
		return nil, Usage{}, t.err
	}
	u := Usage{User: t.state.UserTime(), System: t.state.SystemTime()}
	if ru, ok := t.state.SysUsage().(*syscall.Rusage); ok {
		u.MaxRSS = ru.Maxrss
	}
	return t.state, u, nil
}
