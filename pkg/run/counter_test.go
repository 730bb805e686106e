package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCounterSet(t *testing.T) {
	for _, name := range []string{"auto", "perf", "valgrind", "none"} {
		var c Counter
		if err := c.Set(name); err != nil || string(c) != name {
			t.Errorf("Set(%q): got %q, %v", name, c, err)
		}
	}
	c := CounterAuto
	if err := c.Set("Perf"); err == nil || !strings.Contains(err.Error(), `want auto, perf, valgrind or none, have "Perf"`) {
		t.Errorf("got error %v", err)
	}
	if c != CounterAuto {
		t.Errorf("a name that is none made it %q", c)
	}
}

func TestChoose(t *testing.T) {
	noPerf, noValgrind := &Uncounted{What: "perf", Reason: NoHardware}, &Uncounted{What: "valgrind", Reason: NotHere}
	v := valgrind{"/usr/bin/valgrind", "3.19.0"}
	both := Counters{valgrind: v}
	onlyValgrind := Counters{Perf: noPerf, valgrind: v}
	onlyPerf := Counters{Valgrind: noValgrind}
	neither := Counters{Perf: noPerf, Valgrind: noValgrind}
	for _, tt := range []struct {
		name   string
		have   Counters
		want   Counter
		got    Counter
		passed []*Uncounted
		err    *Uncounted
	}{
		{"auto prefers perf", both, CounterAuto, CounterPerf, nil, nil},
		{"auto takes valgrind", onlyValgrind, CounterAuto, CounterValgrind, []*Uncounted{noPerf}, nil},
		{"auto takes perf", onlyPerf, CounterAuto, CounterPerf, nil, nil},
		{"auto finds nothing", neither, CounterAuto, CounterNone, []*Uncounted{noPerf, noValgrind}, nil},
		{"perf", both, CounterPerf, CounterPerf, nil, nil},
		{"no perf", onlyValgrind, CounterPerf, "", nil, noPerf},
		{"valgrind", both, CounterValgrind, CounterValgrind, nil, nil},
		{"no valgrind", onlyPerf, CounterValgrind, "", nil, noValgrind},
		{"none", both, CounterNone, CounterNone, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := tt.have.Choose(tt.want)
			if tt.err != nil {
				if !errors.Is(err, tt.err) {
					t.Errorf("got error %v, want %v", err, tt.err)
				}
				return
			}
			if err != nil || m.Counter != tt.got || !slices.Equal(m.PassedOver, tt.passed) {
				t.Errorf("got %+v, %v; want %q passing over %v", m, err, tt.got, tt.passed)
			}
			if (m.Fingerprint == "") != (m.Counter == CounterNone) {
				t.Errorf("%s has the fingerprint %q", m.Counter, m.Fingerprint)
			}
		})
	}
	m, err := both.Choose(CounterValgrind)
	if want := "valgrind 3.19.0 --tool=cachegrind --cache-sim=no --trace-children=yes"; err != nil || m.Fingerprint != want {
		t.Errorf("got fingerprint %q, %v; want %q", m.Fingerprint, err, want)
	}
	if _, err := (Meter{Counter: CounterNone}).Count(t.Context(), sh(t, "true"), Step{N: 1, Of: 1}, nil); err == nil {
		t.Error("counting with none: got no error")
	}
}

func TestUnsteady(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		s          Spec
	}{
		{"Go", "Go program", Spec{Args: []string{build(t, "garbage.go", "go", "build")}}},
		{"threads", "starts threads", Spec{Shell: build(t, "threads.c", "gcc", "-pthread") + " {ops} | cat"}},
		{"C", "", Spec{Args: []string{build(t, "knob.c", "gcc")}}},
		{"Java", "JVM", Spec{Args: []string{"/opt/jdk/bin/java", "-jar", "bench.jar"}}},
		{"Python", "Python", Spec{Shell: " python3.12 bench.py"}},
		{"no program", "", Spec{Args: []string{"./nosuch"}}},
		{"no program of ours", "", Spec{Args: []string{"counter_test.go"}, Env: []string{"PATH=."}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.s.Unsteady()
			if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%v: got %q, want %q", tt.s, got, tt.want)
			}
		})
	}
}

func TestCountingEnv(t *testing.T) {
	environ := []string{"SHELL=/bin/sh", "TZ=Asia/Tokyo", "PATH=/bin", "LANG=de_DE.UTF-8", "GITHUB_TOKEN=secret", "LD_LIBRARY_PATH=/lib", "A=1", "HOME=/root"}
	for _, tt := range []struct{ allow, want []string }{
		{nil, []string{"HOME=/root", "LC_ALL=C", "LD_LIBRARY_PATH=/lib", "PATH=/bin", "PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0", "PYTHONHASHSEED=0", "TZ=UTC0"}},
		{[]string{"A", "TZ"}, []string{"A=1", "HOME=/root", "LC_ALL=C", "LD_LIBRARY_PATH=/lib", "PATH=/bin", "PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0", "PYTHONHASHSEED=0", "TZ=Asia/Tokyo"}},
		{[]string{"LC_ALL"}, []string{"HOME=/root", "LD_LIBRARY_PATH=/lib", "PATH=/bin", "PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0", "PYTHONHASHSEED=0", "TZ=UTC0"}},
	} {
		if got := CountingEnv(environ, tt.allow); !slices.Equal(got, tt.want) {
			t.Errorf("CountingEnv(…, %q):\n got %q\nwant %q", tt.allow, got, tt.want)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for in, want := range map[string]string{
		"valgrind-3.19.0\n":     "3.19.0",
		"valgrind-3.26.0.GIT\n": "3.26.0.GIT",
		"":                      "",
		"valgrind-\n":           "",
		"bash: no":              "",
	} {
		if got, err := parseVersion([]byte(in)); got != want || (err == nil) != (want != "") {
			t.Errorf("parseVersion(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestParseCount(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     uint64
		err      string
	}{
		{"without caches", "cmd: ./bench 1000\nevents: Ir\nfl=a.c\nfn=main\n3 17\nsummary: 1317299\n", 1317299, ""},
		{"with caches", "desc: I1 cache: 32768 B\ncmd: ./bench\nevents: Ir I1mr ILmr\nfl=a.c\nfn=main\n3 17 0 0\nsummary: 17 1 2", 17, ""},
		{"of other events", "events: Bc Ir\nsummary: 5 17\n", 17, ""},
		{"cut short", "cmd: ./bench\nevents: Ir\nfl=a.c\n", 0, "no count"},
		{"empty", "", 0, "no count"},
		{"fewer numbers than events", "events: Bc Ir\nsummary: 5\n", 0, "no count"},
		{"no number", "events: Ir\nsummary: many\n", 0, `have " many\n"`},
		{"too large", "events: Ir\nsummary: 18446744073709551616\n", 0, "want a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseCount(strings.NewReader(tt.in))
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %d, %v; want %d, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

// TestProcesses reads logs as valgrind 3.19 writes them.
func TestProcesses(t *testing.T) {
	const (
		started = "==10== Cachegrind, a cache and branch-prediction profiler\n==10== Command: ./f x\n==10== Parent PID: 9\n" +
			"--10-- Reading syms from /tmp/f\n--10-- Reading syms from /usr/libexec/valgrind/cachegrind-amd64-linux\n"
		forked = "==11== Cachegrind, a cache and branch-prediction profiler\n==11== Command: ./f x\n==11== Parent PID: 10\n" +
			"--11-- Reading syms from /usr/lib/x86_64-linux-gnu/libm.so.6\n"
		other = "==10== Started otherwise\n"
	)
	for _, tt := range []struct {
		name string
		logs map[string]string
		want map[string]bool
	}{
		{"a fork", map[string]string{"10": started, "11": forked}, map[string]bool{"10": false, "11": true}},
		{"two programs", map[string]string{"10": started, "11": started}, map[string]bool{"10": false, "11": false}},
		{"a valgrind that says it otherwise", map[string]string{"10": other, "11": other}, map[string]bool{"10": false, "11": false}},
		{"nothing", nil, map[string]bool{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for pid, log := range tt.logs {
				if err := os.WriteFile(filepath.Join(dir, logFile+pid), []byte(log), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := processes(dir)
			if err != nil || len(got) != len(tt.want) {
				t.Fatalf("got %v, %v; want %v", got, err, tt.want)
			}
			for pid, forked := range tt.want {
				if got[pid] != forked {
					t.Errorf("process %s: got forked %v, want %v", pid, got[pid], forked)
				}
			}
		})
	}
}

func TestValgrindDiagnose(t *testing.T) {
	v := valgrind{version: "3.19.0"}
	const unhandled = "vex amd64->IR: unhandled instruction bytes: 0x62 0xF1 0x7D 0x48\n"
	for _, tt := range []struct{ name, said, problem, remedy string }{
		{"AVX-512", unhandled + "==1== Process terminating with default action of signal 4 (SIGILL)", "does not know (0x62 0xF1 0x7D 0x48)", "-march=x86-64-v3"},
		{"AVX-512 in Go", "SIGILL: illegal instruction\nPC=0x1\n" + unhandled, "does not know (0x62", "newer valgrind"},
		{"a program that tries instructions out", unhandled + "==1== Valgrind will now raise a SIGILL signal", "", ""},
		{"ARM", "disInstr(arm64): unhandled instruction 0xD5380000\n==1== Process terminating with default action of signal 4 (SIGILL)", "(0xD5380000)", "newer valgrind"},
		{"32 bits", "valgrind: failed to start tool 'cachegrind' for platform 'x86-linux': No such file or directory", "programs for x86-linux", "install valgrind for"},
		{"old", "valgrind: Unknown option: --cache-sim=no", "does not know --cache-sim=no", "3.15 or newer"},
		{"no symbols", "valgrind:  Fatal error at startup: a function redirection\nvalgrind:  which is mandatory", "no symbols", "libc6-dbg"},
		{"no room", "valgrind: mmap(0x58000000, 4096) failed in UME with error 22 (Invalid argument).", "no room", "position-independent"},
		{"a fault of valgrind's", "valgrind: m_scheduler.c:1 (f): Assertion 'x' failed.\nvalgrind: the 'impossible' happened:\n", "itself failed (the 'impossible' happened:)", "newer valgrind"},
		{"a fault of the command's", "usage: bench OPERATIONS", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := v.diagnose([]byte(tt.said))
			if !strings.Contains(d.problem, tt.problem) || !strings.Contains(d.remedy, tt.remedy) || (d.problem == "") != (tt.problem == "") {
				t.Errorf("got %+v, want %q and %q", d, tt.problem, tt.remedy)
			}
		})
	}
}
