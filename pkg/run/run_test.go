package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sh is a Spec for a shell command in an empty folder, with a PATH and no more.
func sh(t *testing.T, command string) Spec {
	t.Helper()
	return Spec{Shell: command, Dir: t.TempDir(), Env: ContainerEnv(os.Environ(), nil)}
}

// once runs s as the only run, and wants it to be over in good time.
func once(t *testing.T, s Spec) (Run, error) {
	t.Helper()
	start := time.Now()
	r, err := Once(t.Context(), s, Step{N: 1, Of: 1}, nil)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	return r, err
}

// fails runs s and wants an error of the given kind.
func fails(t *testing.T, s Spec, kind Kind) (Run, *Error) {
	t.Helper()
	r, err := once(t, s)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want an *Error", err)
	}
	if e.Kind != kind {
		t.Fatalf("got kind %d, want %d: %v", e.Kind, kind, e)
	}
	return r, e
}

func TestOutput(t *testing.T) {
	for _, tt := range []struct {
		name, command, want string
		or                  string // in the other order: two pipes tell none for certain
	}{
		{"nothing", "true", "", ""},
		{"both streams", "echo out; echo err >&2", "out\nerr\n", "err\nout\n"},
		{"no newline at the end", "printf 'a\\nb'", "a\nb", ""},
		{"binary", `printf 'a\000\377\n\r\n'`, "a\x00\xff\n\r\n", ""},
		{"closes stdout early", "echo a; exec >&-; sleep 0.05; echo b >&2", "a\nb\n", "b\na\n"},
		{"reads stdin", "cat; read x || echo end", "end\n", ""},
		{"a line is not broken", "printf a; sleep 0.05; echo log >&2; sleep 0.05; echo b", "log\nab\n", "ab\nlog\n"},
		{"nor an unfinished one", "printf a; exec >&-; sleep 0.05; echo log >&2", "a\nlog\n", "log\na"},
		{"outlived by a writer", "(trap '' TERM; sleep 0.05; echo late) & echo early", "early\nlate\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := once(t, sh(t, tt.command))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(r.Output); got != tt.want && (tt.or == "" || got != tt.or) {
				t.Errorf("%s: got output %q, want %q", tt.command, got, tt.want)
			}
		})
	}
}

func TestStreamsApart(t *testing.T) {
	r, err := once(t, sh(t, "for i in 1 2 3; do echo out $i; echo err $i >&2; done"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.Stdout()), "out 1\nout 2\nout 3\n"; got != want {
		t.Errorf("got stdout %q, want %q", got, want)
	}
	if got, want := string(r.Stderr()), "err 1\nerr 2\nerr 3\n"; got != want {
		t.Errorf("got stderr %q, want %q", got, want)
	}
}

func TestManyLines(t *testing.T) {
	const n = 100_000
	r, err := once(t, sh(t, fmt.Sprintf("seq %d; seq %d >&2", n, n)))
	if err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(r.Output, []byte("\n")); got != 2*n {
		t.Errorf("got %d lines, want %d", got, 2*n)
	}
	if got := bytes.Count(r.Stdout(), []byte("\n")); got != n {
		t.Errorf("got %d lines of stdout, want %d", got, n)
	}
}

func TestListIsNoShell(t *testing.T) {
	r, err := once(t, Spec{Args: []string{"echo", "$HOME", "a  b;", "*"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(r.Output), "$HOME a  b; *\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEnvIsWhatIsGiven(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	for _, env := range [][]string{nil, {"A=1"}} {
		r, err := once(t, Spec{Args: []string{"env"}, Env: env})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Fields(string(r.Output)), env; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("Env %q: got %q", env, got)
		}
	}
}

func TestUsage(t *testing.T) {
	r, err := once(t, sh(t, "sleep 0.2; dd if=/dev/zero of=/dev/null bs=1M count=3000 2>&1"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Wall < 200*time.Millisecond || r.Wall > 10*time.Second {
		t.Errorf("got wall time %v, want a little more than 200ms", r.Wall)
	}
	if cpu := r.User + r.System; cpu < time.Millisecond || cpu > 10*time.Second {
		t.Errorf("got CPU time %v, want a share of a second", cpu)
	}
}

func TestFailed(t *testing.T) {
	for _, tt := range []struct {
		command string
		status  int
		signal  syscall.Signal
		tail    string
		want    string
	}{
		{"exit 3", 3, 0, "",
			"exit status 3, and nothing was printed: run it by hand; a variable that it needs is let through with --env NAME"},
		{"echo a >&2; exit 1", 1, 0, "a", "exit status 1: its last lines say more"},
		{"seq 100; exit 1", 1, 0, "81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100",
			"exit status 1: its last lines say more"},
		{"echo a; kill -SEGV $$", -1, syscall.SIGSEGV, "a", "killed by SIGSEGV: its last lines say more"},
		{"echo a; exit 139", 139, 0, "a", "exit status 139 (128 + SIGSEGV): its last lines say more"},
		{"echo a; exit 255", 255, 0, "a", "exit status 255: its last lines say more"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			_, e := fails(t, sh(t, tt.command), Failed)
			if e.Status != tt.status || e.Signal != tt.signal {
				t.Errorf("got status %d, signal %d, want %d, %d", e.Status, e.Signal, tt.status, tt.signal)
			}
			if want := fmt.Sprintf("run 1 of %q: %s", tt.command, tt.want); e.Error() != want {
				t.Errorf("got  %s\nwant %s", e, want)
			}
			if got := strings.Join(e.Tail, " "); got != tt.tail {
				t.Errorf("got tail %q, want %q", got, tt.tail)
			}
		})
	}
}

func TestFailedKeepsWhatThereIs(t *testing.T) {
	r, _ := fails(t, sh(t, "echo a; sleep 0.05; exit 1"), Failed)
	if string(r.Output) != "a\n" || r.Wall < 50*time.Millisecond {
		t.Errorf("got output %q, wall time %v", r.Output, r.Wall)
	}
}

func TestTimeout(t *testing.T) {
	s := sh(t, "echo begun; sleep 60")
	s.Timeout = 500 * time.Millisecond
	r, e := fails(t, s, TimedOut)
	if want := `run 1 of "echo begun; sleep 60": still running after 500ms (--timeout sets the limit)`; e.Error() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
	if string(r.Output) != "begun\n" || len(e.Tail) != 1 || r.Wall < s.Timeout {
		t.Errorf("got output %q, tail %q, wall time %v", r.Output, e.Tail, r.Wall)
	}
	if !errors.Is(e, context.DeadlineExceeded) {
		t.Error("want the cause to be context.DeadlineExceeded")
	}
}

func TestInterrupted(t *testing.T) {
	why := errors.New("SIGTERM")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	s := sh(t, "sleep 60")
	r, err := Once(ctx, s, Step{N: 2, Of: 3}, nil)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Interrupted || !errors.Is(err, why) {
		t.Fatalf("got %v, want Interrupted by %v", err, why)
	}
	if want := `run 2 of 3 of "sleep 60": interrupted after `; !strings.HasPrefix(e.Error(), want) {
		t.Errorf("got %s, want %s…", e, want)
	}
	if r.Wall > 10*time.Second {
		t.Errorf("took %v", r.Wall)
	}
	// A run that is not to begin does not.
	s.Shell = "echo > begun"
	if _, err := Once(ctx, s, Step{N: 3, Of: 3}, nil); !errors.As(err, &e) || e.Kind != Interrupted {
		t.Errorf("got %v, want Interrupted", err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "begun")); err == nil {
		t.Error("the command was run all the same")
	}
}

func TestTooMuchOutput(t *testing.T) {
	for _, command := range []string{
		"yes",                     // does not end
		"yes x | tr -d '\\n'",     // nor does its line
		"yes >&2",                 // not stdout alone counts
		"head -c 70000 /dev/zero", // has ended when it is noticed
	} {
		t.Run(command, func(t *testing.T) {
			s := sh(t, command)
			s.MaxOutput = 64 << 10
			r, e := fails(t, s, TooMuchOutput)
			want := fmt.Sprintf("run 1 of %q: printed more than 64 KiB: print less, or send logs to a file; results can come from files with --results", command)
			if e.Error() != want {
				t.Errorf("got  %s\nwant %s", e, want)
			}
			if len(r.Output) != int(s.MaxOutput) {
				t.Errorf("kept %d bytes, want %d", len(r.Output), s.MaxOutput)
			}
		})
	}
	s := sh(t, "head -c 65536 /dev/zero")
	s.MaxOutput = 64 << 10
	if r, err := once(t, s); err != nil || len(r.Output) != 64<<10 {
		t.Errorf("just as much as is allowed: got %d bytes, error %v", len(r.Output), err)
	}
}

// A diary writes down what an Observer hears.
type diary struct{ strings.Builder }

func (d *diary) Started(s Step)              { fmt.Fprintf(d, "%v started\n", s) }
func (d *diary) Running(Step, time.Duration) {}
func (d *diary) Finished(r Run, err error) {
	fmt.Fprintf(d, "%v finished: %q %v\n", r.Step, r.Output, err)
}
func count(t *testing.T, command string) Spec { return sh(t, "echo x >>n; wc -l <n; "+command) }

func TestRepeat(t *testing.T) {
	var d diary
	var got []string
	for r, err := range repeat(t.Context(), count(t, ":"), 1, 2, &d) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&d, "%v handed on\n", r.Step)
		got = append(got, strings.TrimSpace(string(r.Output)))
	}
	if strings.Join(got, " ") != "2 3" {
		t.Errorf("got %q, want the second and the third", got)
	}
	want := `warm-up 1 of 1 started
warm-up 1 of 1 finished: "1\n" <nil>
run 1 of 2 started
run 1 of 2 finished: "2\n" <nil>
run 1 of 2 handed on
run 2 of 2 started
run 2 of 2 finished: "3\n" <nil>
run 2 of 2 handed on
`
	if d.String() != want {
		t.Errorf("got\n%s\nwant\n%s", d.String(), want)
	}
}

// TestNoRunIsLost ends a repetition of five in its third run, in every way.
func TestNoRunIsLost(t *testing.T) {
	for _, tt := range []struct {
		name, third string
		kind        Kind
	}{
		{"fails", "exit 1", Failed},
		{"crashes", "kill -KILL $$", Failed},
		{"hangs", "sleep 60", TimedOut},
		{"floods", "yes", TooMuchOutput},
		{"interrupted", "touch now; sleep 60", Interrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := count(t, "test $(wc -l <n) -lt 3 || { "+tt.third+"; }")
			s.MaxOutput = 1 << 20
			if tt.kind == TimedOut {
				s.Timeout = time.Second
			}
			if tt.kind == Interrupted {
				go func() {
					for ctx.Err() == nil {
						if isFile(filepath.Join(s.Dir, "now")) {
							cancel()
						}
						time.Sleep(10 * time.Millisecond)
					}
				}()
			}
			var finished []string
			var last error
			for r, err := range repeat(ctx, s, 0, 5, nil) {
				if err != nil {
					last = err
					continue
				}
				finished = append(finished, strings.TrimSpace(string(r.Output)))
			}
			if strings.Join(finished, " ") != "1 2" {
				t.Errorf("got runs %q, want the first two", finished)
			}
			var e *Error
			if !errors.As(last, &e) || e.Kind != tt.kind || e.Step != (Step{N: 3, Of: 5}) {
				t.Errorf("got %v, want kind %d of run 3 of 5", last, tt.kind)
			}
		})
	}
}

func TestWarmupFails(t *testing.T) {
	n := 0
	for _, err := range repeat(t.Context(), sh(t, "exit 1"), 1, 5, nil) {
		n++
		if err == nil || !strings.HasPrefix(err.Error(), `warm-up 1 of 1 of "exit 1": exit status 1`) {
			t.Errorf("got %v", err)
		}
	}
	if n != 1 {
		t.Errorf("got %d runs, want none but the failed one", n)
	}
}

func TestRepeatStopsWithItsReader(t *testing.T) {
	s := count(t, ":")
	for range repeat(t.Context(), s, 0, 5, nil) {
		break
	}
	if b, err := os.ReadFile(filepath.Join(s.Dir, "n")); err != nil || string(b) != "x\n" {
		t.Errorf("got %q, %v, want one run", b, err)
	}
}

func TestWrongSpec(t *testing.T) {
	for _, tt := range []struct {
		name         string
		s            Spec
		warmup, runs int
		want         []string
	}{
		{"no command", Spec{}, 0, 1, []string{"command: want a command to run, have none"}},
		{"two commands", Spec{Args: []string{"a"}, Shell: "b"}, 0, 1, []string{`command: want a list or a string, have both ["a"] and "b"`}},
		{"empty program", Spec{Args: []string{""}}, 0, 1, []string{`command: want a program as its first word, have ""`}},
		{"several faults", Spec{Timeout: -1, MaxOutput: -1, Results: "[", Shell: "a"}, 0, 1, []string{
			"timeout: want a duration above 0, have -1ns",
			"output bound: want a number of bytes above 0, have -1",
			`results: want a glob such as out/**/*.json, have "["`}},
		{"results elsewhere", Spec{Shell: "a", Results: "out/../../*"}, 0, 1, []string{`results: want a glob below the working directory, have "out/../../*"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, err := range repeat(t.Context(), tt.s, tt.warmup, tt.runs, nil) {
				if want := strings.Join(tt.want, "\n"); err == nil || err.Error() != want {
					t.Errorf("got  %v\nwant %s", err, want)
				}
			}
		})
	}
}

func TestNoDirectory(t *testing.T) {
	s := sh(t, "true")
	s.Dir = filepath.Join(s.Dir, "none")
	_, e := fails(t, s, NotStarted)
	want := fmt.Sprintf(`run 1 of "true": no working directory %q: create it first, or name another with --working-directory`, s.Dir)
	if e.Error() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("ä", 400)
	for _, tt := range []struct {
		name, out string
		want      []string
	}{
		{"nothing", "", nil},
		{"only blank", "\n \n\r\n", nil},
		{"one line", "a", []string{"a"}},
		{"blank lines between", "a\n\nb\n\n", []string{"a", "", "b"}},
		{"blank line before", "\n\na", []string{"", "a"}},
		{"carriage returns", "10%\r50%\r100%\r\n", []string{"100%"}},
		{"colour", "\x1b[1;31merror\x1b[0m: x", []string{"error: x"}},
		{"control and invalid bytes", "a\x00b\x07\xff", []string{"a\uFFFDb\uFFFD\uFFFD"}},
		{"long", long, []string{strings.Repeat("ä", 299) + "…"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tail([]byte(tt.out))
			if len(got) != len(tt.want) || strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("tail(%q) = %q, want %q", tt.out, got, tt.want)
			}
		})
	}
}
