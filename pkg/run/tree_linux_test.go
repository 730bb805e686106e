package run

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// survivors returns the pids of processes that have the given word among their
// arguments.
func survivors(t *testing.T, word string) []string {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, name := range found {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte(word)) {
			pids = append(pids, filepath.Base(filepath.Dir(name)))
		}
	}
	return pids
}

// TestNothingSurvives looks for processes after runs that try to leave some.
func TestNothingSurvives(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	before, err := children()
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		name, command string // %s is a number of seconds that no other process sleeps for
		timeout       time.Duration
		leftover      bool
	}{
		{"ends, leaving one in the background", "sleep %s & echo", 0, true},
		{"ends, leaving one that holds no pipe", "sleep %s >/dev/null 2>&1 & echo", 0, true},
		{"ends, leaving a daemon", "(setsid sleep %s &) ; echo", 0, true},
		{"ends, leaving a daemon of a daemon", "(setsid sh -c '(setsid sleep %[1]s &); sleep %[1]s' &); sleep 0.1", 0, true},
		{"ends, leaving one that ignores SIGTERM", `sh -c 'trap "" TERM; sleep %s; :' & sleep 0.1`, 0, true},
		{"hangs", "sleep %s", 100 * time.Millisecond, false},
		{"hangs with children", "sleep %[1]s & sleep %[1]s | sleep %[1]s", 100 * time.Millisecond, false},
		{"hangs with a daemon", "(setsid sleep %[1]s &); sleep %[1]s", 200 * time.Millisecond, false},
		{"hangs and ignores SIGTERM", `trap "" TERM; (setsid sleep %[1]s &); sleep %[1]s; sleep %[1]s`, 200 * time.Millisecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			word := fmt.Sprintf("86%d.%d", i, os.Getpid())
			s := sh(t, fmt.Sprintf(tt.command, word))
			s.Timeout = tt.timeout
			start := time.Now()
			r, err := once(t, s)
			if (err != nil) != (tt.timeout > 0) {
				t.Errorf("got error %v", err)
			}
			if took := time.Since(start); took > 5*time.Second+tt.timeout {
				t.Errorf("took %v, want 5s at most", took)
			}
			if pids := survivors(t, word); pids != nil {
				t.Errorf("processes %v survive", pids)
			}
			if tt.leftover != (r.Leftover > 0) {
				t.Errorf("got %d leftover processes", r.Leftover)
			}
			after, err := children()
			if err != nil {
				t.Fatal(err)
			}
			if len(after) != len(before) {
				t.Errorf("got children %v, want those from before: %v", after, before)
			}
		})
	}
}

// A process that was there before, as after exec in a wrapper script, is not of
// the run.
func TestOthersSurvive(t *testing.T) {
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		other.Process.Kill()
		other.Wait()
	}()
	if r, err := once(t, sh(t, "sleep 60 &")); err != nil || r.Leftover != 1 {
		t.Errorf("got %d leftover processes, error %v, want 1", r.Leftover, err)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(other.Process.Pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := parseStat(other.Process.Pid, stat, strconv.Itoa(os.Getpid())); !ok || c.state == 'Z' {
		t.Errorf("got %s, want it alive", stat)
	}
}

// A writer beyond our reach, here the test itself, may hold the pipe open.
func TestPipeHeldOpen(t *testing.T) {
	s := sh(t, "echo $PPID $$; sleep 0.3")
	go func() {
		for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			all, _ := children()
			for _, c := range all {
				f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", c.pid), os.O_WRONLY, 0)
				if err == nil && strings.HasPrefix(link(f), "pipe:") {
					time.AfterFunc(3*time.Second, func() { f.Close() })
					return
				}
				f.Close()
			}
		}
	}()
	start := time.Now()
	if _, err := once(t, s); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 2500*time.Millisecond {
		t.Errorf("took %v, want it not to wait for the pipe's end", took)
	}
}

func link(f *os.File) string {
	to, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return to
}

// CPU time of a daemon counts, whether it ended by itself or was killed.
func TestOrphansCount(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid here")
	}
	for _, tt := range []struct{ name, command string }{
		{"killed", "(setsid sh -c 'while :; do :; done' &); sleep 0.6"},
		{"ended", "(setsid timeout 0.4 sh -c 'while :; do :; done' &); sleep 0.7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := once(t, sh(t, tt.command))
			if err != nil {
				t.Fatal(err)
			}
			// The machine may be busy with something else.
			if cpu := r.User + r.System; cpu < 50*time.Millisecond {
				t.Errorf("got %v of CPU time, want about half a second", cpu)
			}
		})
	}
}

// Orphans that end are reaped while the run goes on, so that it does not run out
// of processes.
func TestOrphansAreReaped(t *testing.T) {
	const command = "for i in 1 2 3 4 5; do (sleep 0 &); done; sleep 0.6; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | " +
		"while read f; do grep -q \"^PPid:.$PPID\\$\" $f 2>/dev/null && echo $f; done; :"
	r, err := once(t, sh(t, command))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Output) > 0 {
		t.Errorf("not reaped:\n%s", r.Output)
	}
}

func TestMaxRSS(t *testing.T) {
	r, err := once(t, sh(t, "dd if=/dev/zero of=/dev/null bs=300M count=1 2>&1"))
	if err != nil {
		t.Fatal(err)
	}
	if r.MaxRSS < 300<<20 || r.MaxRSS > 400<<20 {
		t.Errorf("got %d MiB, want 300 and a little more", r.MaxRSS>>20)
	}
}

// What we need ourselves is not taken for what the command needs.
func TestMaxRSSIsNotOurs(t *testing.T) {
	ours := make([]byte, 40<<20)
	for i := range ours {
		ours[i] = byte(i)
	}
	for _, command := range []string{"true", "sleep 0.02"} {
		r, err := once(t, Spec{Args: strings.Fields(command)})
		if err != nil {
			t.Fatal(err)
		}
		if r.MaxRSS < 100<<10 || r.MaxRSS > 8<<20 {
			t.Errorf("got %d KiB for %s", r.MaxRSS>>10, command)
		}
	}
	if ours[1000] != 232 {
		t.Error("the memory was not in use")
	}
}

func TestParseStat(t *testing.T) {
	const tail = " 7 5 5 0 -1 4194560 0 0 0 0 1 2 0 0 20 0 1 0 4711 8192 0"
	for _, tt := range []struct {
		name, stat string
		want       child
		ok         bool
	}{
		{"a child", "9 (bench) S" + tail, child{process{9, "4711"}, 'S', 5}, true},
		{"a hostile name", "9 (a) Z 1 (b) R" + tail, child{process{9, "4711"}, 'R', 5}, true},
		{"of another parent", "9 (bench) S 8" + tail[2:], child{}, false},
		{"cut short", "9 (bench) S 7 5", child{}, false},
		{"empty", "", child{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := parseStat(9, []byte(tt.stat), "7"); got != tt.want || ok != tt.ok {
				t.Errorf("parseStat(%q) = %v, %v, want %v, %v", tt.stat, got, ok, tt.want, tt.ok)
			}
		})
	}
}
