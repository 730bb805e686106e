package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// spy looks for the token in what the kernel tells of processes: in the
// environment of all of them, and in the memory and open files of the one that
// started it.
const spy = `
grep -las ghs_to_be_spied_on /proc/[0-9]*/environ | sed 's/.*/environ/' >>found
p=$PPID
while [ "$p" -gt 1 ]; do
	if [ "$(cat /proc/$p/comm)" = noslower ]; then
		echo seen >>found
		(: </proc/$p/mem) 2>/dev/null && echo mem >>found
		(: </proc/$p/fd/1) 2>/dev/null && echo fd >>found
	fi
	p=$(sed -n 's/^PPid:\s*//p' /proc/$p/status)
done
echo BenchmarkSpy 1 1 ns/op
`

// TestHideMemory has a benchmark, which is of the same user, spy on the job's
// token. Outside a workflow, where nothing is hidden, it finds it: so it is no fault
// of the spy that it does not in one.
func TestHideMemory(t *testing.T) {
	for name, tt := range map[string]struct {
		env  string
		want string
	}{
		"in a workflow": {"GITHUB_ACTIONS=true", "seen"},
		"outside one":   {"GITHUB_ACTIONS=", "environ seen"},
	} {
		t.Run(name, func(t *testing.T) {
			forgoTracing(t)
			cmd := exec.Command("noslower", "measure", "--runs", "1", "--warmup", "0", "--command", spy)
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "GITHUB_TOKEN=ghs_to_be_spied_on", tt.env)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			data, err := os.ReadFile(filepath.Join(cmd.Dir, "found"))
			if err != nil {
				t.Fatal(err)
			}
			found := strings.Join(strings.Fields(string(data)), " ")
			if tt.env == "GITHUB_ACTIONS=" {
				// A policy of the machine may keep a child from the memory all the same.
				found = strings.TrimSuffix(strings.TrimSuffix(found, " fd"), " mem")
			}
			if found != tt.want {
				t.Errorf("the benchmark found %q, want %q", found, tt.want)
			}
		})
	}
}

// forgoTracing takes from this thread, and what it starts, the rights by which root
// reads every process, as a container does by default. The thread ends with the
// test.
func forgoTracing(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	for _, right := range []uintptr{unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN} {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0)
		switch {
		case os.Geteuid() != 0 && errors.Is(err, unix.EPERM):
			// It never had them.
		case err != nil:
			t.Skipf("as root, who may read every process: %v", err)
		}
	}
}
