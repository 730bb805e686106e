package run

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// probed is what works here, found out once.
var probed = sync.OnceValue(func() Counters { return ProbeCounters(context.Background()) })

// under returns a meter that counts with valgrind.
func under(t *testing.T) Meter {
	t.Helper()
	m, err := probed().Choose(CounterValgrind)
	if err != nil {
		t.Skip(err)
	}
	return m
}

// build compiles a source of testdata/count with the given tool, and returns the
// program.
func build(t *testing.T, source string, tool ...string) string {
	t.Helper()
	if _, err := exec.LookPath(tool[0]); err != nil {
		t.Skipf("no %s here", tool[0])
	}
	program := filepath.Join(t.TempDir(), "program")
	args := append(slices.Clone(tool[1:]), "-o", program, filepath.Join("..", "..", "testdata", "count", source))
	if out, err := exec.CommandContext(t.Context(), tool[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", tool[0], args, err, out)
	}
	return program
}

// counting is a Spec for a program in the environment of counting runs.
func counting(t *testing.T, args ...string) Spec {
	t.Helper()
	return Spec{Args: args, Dir: t.TempDir(), Env: CountingEnv(os.Environ(), nil), Timeout: time.Minute}
}

func counted(t *testing.T, m Meter, s Spec) Counted {
	t.Helper()
	c, err := m.Count(t.Context(), s, Step{N: 1, Of: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Absent) > 0 || c.Instructions == 0 {
		t.Fatalf("no instructions: %v", c.Absent)
	}
	if c.Timed != nil {
		t.Error("a run under valgrind has times")
	}
	return c
}

// sizes are the numbers of operations by which the slope is known.
var sizes = []uint64{1000, 2000}

// TestKnob finds one instruction an operation, in C and in C++, by the slope of two
// sizes, and the function that it is in.
func TestKnob(t *testing.T) {
	for _, tt := range []struct {
		source   string
		compiler []string
		function string
		file     string
		line     int
	}{
		{"knob.c", []string{"gcc", "-O2", "-g"}, "lookup", "knob.c", 26},
		{"knob.cc", []string{"g++", "-O2", "-g"}, "bench::Store<unsigned int>::read(unsigned int) const", "knob_inline.h", 15},
	} {
		t.Run(tt.source, func(t *testing.T) {
			m := under(t)
			var lines [2]Line
			var costs [2]CostsPerOp
			for knob := range 2 {
				program := build(t, tt.source, append(tt.compiler, "-DKNOB="+string(rune('0'+knob)))...)
				s := counting(t, program, "{ops}")
				if !s.TakesOps() {
					t.Fatal("the command takes no operations")
				}
				var points []Point
				var profiles []SizedProfile
				for _, n := range sizes {
					points = append(points, Point{n, counted(t, m, s.WithOps(n)).Instructions})
					p, err := probed().Profile(t.Context(), s.WithOps(n), Step{N: 1, Of: 1}, nil)
					if err != nil {
						t.Fatal(err)
					}
					if sum := selfOf(p); sum != p.Total || sum == 0 {
						t.Errorf("%d operations: the functions have %d instructions together, and there are %d", n, sum, p.Total)
					}
					profiles = append(profiles, SizedProfile{n, p})
				}
				var err error
				if lines[knob], err = Slope(points); err != nil {
					t.Fatal(err)
				}
				if costs[knob], err = PerOp(profiles); err != nil {
					t.Fatal(err)
				}
			}
			if lines[0].PerOp < 1100 || lines[0].PerOp > 1300 {
				t.Errorf("got %v instructions an operation, want about 1200", lines[0].PerOp)
			}
			if more := lines[1].PerOp - lines[0].PerOp; math.Abs(more-1) > 0.001 {
				t.Errorf("got %+.4f instructions an operation, want +1.000 ± 0.001", more)
			}

			d := Diff(costs[0], costs[1])
			if len(d.Functions) == 0 {
				t.Fatal("no function moved")
			}
			f := d.Functions[0]
			if f.Function != tt.function || math.Abs(f.Change()-1) > 0.001 || f.New || f.Vanished {
				t.Errorf("got %+v, want +1 in %s", f, tt.function)
			}
			if filepath.Base(f.File) != tt.file || f.Line != tt.line {
				t.Errorf("got %s:%d, want %s:%d", f.File, f.Line, tt.file, tt.line)
			}
			if math.Abs(d.Change()-1) > 0.001 || math.Abs(d.Explained(1)-d.Change()) > 0.001 {
				t.Errorf("one function explains %+.4f of %+.4f", d.Explained(1), d.Change())
			}
		})
	}
}

func selfOf(p Profile) (sum uint64) {
	for _, c := range p.Costs {
		sum += c.Self
	}
	return sum
}

// TestRepeatable counts a program again in the same way, where all runs agree, and
// then by a longer path in another environment: what differs is in the start-up,
// which the slope is without.
func TestRepeatable(t *testing.T) {
	m := under(t)
	program := build(t, "knob.c", "gcc", "-O2", "-g")
	s := counting(t, program, "{ops}")
	slope := func(s Spec) (small, large uint64, perOp float64) {
		small, large = counted(t, m, s.WithOps(1000)).Instructions, counted(t, m, s.WithOps(2000)).Instructions
		l, err := Slope([]Point{{1000, small}, {2000, large}})
		if err != nil {
			t.Fatal(err)
		}
		return small, large, l.PerOp
	}
	small, large, perOp := slope(s)
	if again, _, _ := slope(s); !SpreadOf([]uint64{small, again}).Agree() {
		t.Errorf("the same run again: got %d, want %d", again, small)
	}
	if one := counted(t, m, s.WithOps(2000)).Instructions; one != large {
		t.Errorf("the same run again: got %d, want %d", one, large)
	}

	longer := filepath.Join(t.TempDir(), "bench")
	if err := os.Link(program, longer); err != nil {
		t.Fatal(err)
	}
	s.Args[0], s.Env = longer, append(s.Env, "ONE=1", "MORE=2")
	other, _, same := slope(s)
	if other == small {
		t.Errorf("got %d instructions, want a difference in the start-up", other)
	}
	if same != perOp {
		t.Errorf("got %v instructions an operation, want %v", same, perOp)
	}
}

// TestGoVaries: a collector that runs beside the program makes counts differ, and
// the spread says so.
func TestGoVaries(t *testing.T) {
	m := under(t)
	program := build(t, "garbage.go", "go", "build")
	var counts []uint64
	for range 5 {
		counts = append(counts, counted(t, m, counting(t, program, "2000")).Instructions)
		if spread := SpreadOf(counts); len(counts) > 1 && !spread.Agree() {
			t.Log(spread)
			if !strings.Contains(spread.String(), "differ by") || spread.Share() <= 0 {
				t.Errorf("got %q, %v", spread, spread.Share())
			}
			return
		}
	}
	t.Errorf("5 runs agree on %d instructions", counts[0])
}

// TestWholeTree: what a command's processes do is counted, whoever they are.
func TestWholeTree(t *testing.T) {
	m := under(t)
	program := build(t, "knob.c", "gcc", "-O2", "-g")
	one := counted(t, m, counting(t, program, "2000")).Instructions
	for _, tt := range []struct {
		name, command string
		times         uint64
		forked        int
	}{
		{"children, one beside the shell", "$0 2000 & $0 2000; wait", 2, 0},
		{"a program in the place of another", "exec $0 2000", 1, 0},
		{"a fork of the shell", "($0 2000; :); :", 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := counted(t, m, counting(t, "sh", "-c", tt.command, program))
			if least := tt.times * one; c.Instructions < least || c.Instructions > least+one {
				t.Errorf("got %d instructions, want %d and the shell's", c.Instructions, least)
			}
			if c.Forked != tt.forked {
				t.Errorf("got %d forked, want %d", c.Forked, tt.forked)
			}
		})
	}
}

// TestProfileOfTree: the functions of all processes are in one profile.
func TestProfileOfTree(t *testing.T) {
	under(t)
	program := build(t, "knob.c", "gcc", "-O2", "-g")
	p, err := probed().Profile(t.Context(), counting(t, "sh", "-c", "$0 100; $0 200; :", program), Step{N: 1, Of: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]uint64{}
	for _, c := range p.Costs {
		if c.Object == "program" && c.Function == "mix" || c.Object == "dash" || c.Object == "bash" || c.Object == "sh" {
			found[c.Function] += c.Self
		}
	}
	if mix := found["mix"]; mix < 300*1100 || mix > 300*1300 {
		t.Errorf("got %d instructions in mix, want 300 times about 1200", mix)
	}
	if len(found) < 2 {
		t.Error("nothing of the shell")
	}
	if selfOf(p) != p.Total {
		t.Errorf("the functions have %d instructions together, and there are %d", selfOf(p), p.Total)
	}
}

// TestProbeValgrind: one that is not there, and ones that do not work.
func TestProbeValgrind(t *testing.T) {
	for _, tt := range []struct {
		name, script string // "" is none
		want         Reason
		text         string
	}{
		{"not installed", "", NotHere, "it is not installed"},
		{"of no version", "#!/bin/sh\necho hello\n", NotWorking, `have "hello\n"`},
		{"broken", "#!/bin/sh\necho broken >&2; exit 1\n", NotWorking, "exit status 1"},
		{"without the tool", "#!/bin/sh\n[ $1 = --version ] && echo valgrind-3.0 && exit\n" +
			"echo \"valgrind: failed to start tool 'cachegrind' for platform 'amd64-linux'\" >&2; exit 1\n", NotWorking, "cannot run programs for amd64-linux"},
		{"that counts nothing", "#!/bin/sh\n[ $1 = --version ] && echo valgrind-3.0\n:\n", NotWorking, "no count"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.script != "" {
				if err := os.WriteFile(filepath.Join(dir, "valgrind"), []byte(tt.script), 0o700); err != nil {
					t.Fatal(err)
				}
				dir += ":" + os.Getenv("PATH")
			}
			t.Setenv("PATH", dir)
			c := ProbeCounters(t.Context())
			if u := c.Valgrind; u == nil || u.Reason != tt.want || !strings.Contains(u.Error(), tt.text) {
				t.Fatalf("got %v, want reason %d and %q", u, tt.want, tt.text)
			}
			if _, err := c.Profile(t.Context(), counting(t, "true"), Step{N: 1, Of: 1}, nil); !errors.Is(err, c.Valgrind) {
				t.Errorf("a profile without valgrind: got %v", err)
			}
		})
	}
}

// TestKilledIsIncomplete: where a process could not say what it did, there is no
// sum.
func TestKilledIsIncomplete(t *testing.T) {
	m := under(t)
	c, err := m.Count(t.Context(), counting(t, "sh", "-c", "sleep 60 & sleep 1; kill -9 $!; wait; :"), Step{N: 1, Of: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Instructions != 0 || len(c.Absent) != 1 || c.Absent[0].Reason != Incomplete {
		t.Errorf("got %+v, want Incomplete", c.Counts)
	}
}

// TestValgrindPassesOn: status, output and working directory are the command's
// own, and what valgrind writes is in neither.
func TestValgrindPassesOn(t *testing.T) {
	m := under(t)
	t.Setenv("VALGRIND_OPTS", "--tool=nosuch")
	dir := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(dir, "100%[p]"))
	if err := os.Mkdir(os.Getenv("TMPDIR"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := counting(t, "sh", "-c", "echo out; echo err >&2; exit 7")
	o := &recorder{}
	_, err := m.Count(t.Context(), s, Step{N: 2, Of: 3}, o)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Failed || e.Status != 7 || e.Command != s.String() || e.Step.N != 2 {
		t.Fatalf("got %#v, want exit status 7 of the command", err)
	}
	if got := string(o.run.Output); got != "out\nerr\n" && got != "err\nout\n" {
		t.Errorf("got output %q", got)
	}
	for _, d := range []string{s.Dir, os.Getenv("TMPDIR")} {
		if left, err := os.ReadDir(d); err != nil || len(left) > 0 {
			t.Errorf("got %v left in %s, %v", left, d, err)
		}
	}
	if c := counted(t, m, counting(t, "true")); c.Instructions < 1000 {
		t.Errorf("got %d instructions", c.Instructions)
	}
}

type recorder struct {
	nobody
	run Run
}

func (r *recorder) Finished(run Run, _ error) { r.run = run }

// TestValgrindRefuses: what cannot be run is said in the words of a plain run,
// and what valgrind cannot do in words of its own.
func TestValgrindRefuses(t *testing.T) {
	m := under(t)
	dir := t.TempDir()
	text, foreign := filepath.Join(dir, "text"), filepath.Join(dir, "foreign")
	program, err := os.ReadFile(build(t, "knob.c", "gcc"))
	if err != nil {
		t.Fatal(err)
	}
	program[18], program[19] = 0xf3, 0 // the machine in its header: RISC-V
	for name, data := range map[string][]byte{text: []byte("#!/bin/sh\n"), foreign: program} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the instruction that is not known is one of amd64")
	}
	if err := os.Chmod(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		kind Kind
		want string
	}{
		{"no such program", []string{"nosuch"}, NotStarted, "nosuch was not found"},
		{"no such file", []string{"./nosuch"}, NotStarted, "./nosuch was not found"},
		{"not executable", []string{text}, NotStarted, "may not be executed"},
		{"another machine", []string{foreign}, NotStarted, "is built for riscv64"},
		{"a bad instruction", []string{build(t, "avx512.c", "gcc")}, Failed, "an instruction that valgrind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := counting(t, tt.args...)
			_, err := m.Count(t.Context(), s, Step{N: 1, Of: 1}, nil)
			if err == nil && tt.kind == Failed {
				t.Skip("this CPU and this valgrind know the instruction")
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Problem, tt.want) || e.Remedy == "" {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if tt.kind != NotStarted {
				return
			}
			if _, plain := Once(t.Context(), s, Step{N: 1, Of: 1}, nil); plain == nil || plain.Error() != err.Error() {
				t.Errorf("without valgrind: got %v, want the same", plain)
			}
		})
	}
	s := counting(t, "sleep", "60")
	s.Timeout = 500 * time.Millisecond
	if _, err := m.Count(t.Context(), s, Step{N: 1, Of: 1}, nil); err == nil || !strings.Contains(err.Error(), "count fewer operations") {
		t.Errorf("got %v", err)
	}
}
