package run

import (
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestDiagnose(t *testing.T) {
	const libs = "; if LD_LIBRARY_PATH has to point to it, let it through with --env LD_LIBRARY_PATH"
	older := "build it statically or on a system as old as this one, or " + elsewhere
	executable := "make it executable with chmod +x, which artifacts do not keep"
	for _, tt := range []struct {
		name   string
		status int
		signal syscall.Signal
		out    string
		want   diagnosis
	}{
		{"glibc too old", 1, 0, "./bench: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./bench)\n",
			diagnosis{problem: "./bench needs GLIBC_2.38, which is newer than what is here", remedy: older}},
		{"libstdc++ too old, through make", 2, 0, "./bench: /lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./bench)\nmake: *** [Makefile:3: bench] Error 1\n",
			diagnosis{problem: "./bench needs GLIBCXX_3.4.32, which is newer than what is here", remedy: older}},
		{"C++ ABI, not said by whom", 1, 0, "x: version 'CXXABI_1.3.15' not found\n",
			diagnosis{problem: "it needs CXXABI_1.3.15, which is newer than what is here", remedy: older}},
		{"library", 127, 0, "./bench: error while loading shared libraries: libboost_program_options.so.1.83.0: cannot open shared object file: No such file or directory\n",
			diagnosis{problem: "the library libboost_program_options.so.1.83.0 cannot be loaded", remedy: notHere + libs}},
		{"library, musl", 127, 0, "Error loading shared library libstdc++.so.6: No such file or directory (needed by ./bench)\n",
			diagnosis{problem: "the library libstdc++.so.6 cannot be loaded", remedy: notHere + libs}},
		{"symbol", 127, 0, "./bench: symbol lookup error: ./bench: undefined symbol: ucal_open_74\n",
			diagnosis{problem: "the libraries here have no symbol ucal_open_74", remedy: notHere}},
		{"symbol, musl", 127, 0, "Error relocating ./bench: __sprintf_chk: symbol not found\n",
			diagnosis{problem: "the libraries here have no symbol __sprintf_chk", remedy: notHere}},

		{"not found, dash", 127, 0, "sh: 1: bench: not found\n", missing("bench")},
		{"not found, dash, exec", 127, 0, "sh: 1: exec: ./build/bench: not found\n", missing("./build/bench")},
		{"not found, bash", 127, 0, "bash: line 1: bench: command not found\n", missing("bench")},
		{"no file, bash", 127, 0, "bash: line 1: ./bench: No such file or directory\n", missing("./bench")},
		{"no loader, bash", 127, 0, "bash: line 1: ./bench: cannot execute: required file not found\n", missing("./bench")},
		{"not found, busybox", 127, 0, "sh: bench: not found\n", missing("bench")},
		{"not found, on a PATH that may not be read", 127, 0, "sh: 1: bench: Permission denied\n", missing("bench")},
		{"not found, env", 127, 0, "env: ‘bench’: No such file or directory\n", missing("bench")},
		{"the last one", 127, 0, "sh: 1: a: not found\nline\nsh: 2: b: not found\n", missing("b")},
		{"not found, in words of its own", 127, 0, "nope\n", diagnosis{problem: "a program was not found", remedy: "its last lines say which"}},
		{"not found is no reason with another status", 1, 0, "key: not found\n", diagnosis{}},

		{"format", 126, 0, "sh: 1: ./bench: Exec format error\n",
			diagnosis{problem: "./bench is not a program for this machine (" + runtime.GOARCH + ")", remedy: "build it for this machine; a script needs a first line such as #!/bin/sh", program: "./bench"}},
		{"format, bash", 126, 0, "bash: line 1: ./bench: cannot execute binary file: Exec format error\n",
			diagnosis{problem: "./bench is not a program for this machine (" + runtime.GOARCH + ")", remedy: "build it for this machine; a script needs a first line such as #!/bin/sh", program: "./bench"}},
		{"permission", 126, 0, "sh: 1: ./bench: Permission denied\n",
			diagnosis{problem: "./bench may not be executed", remedy: executable, program: "./bench"}},
		{"cannot execute", 126, 0, "",
			diagnosis{problem: "a program was found but cannot be executed", remedy: "its last lines say which"}},

		{"another CPU", -1, syscall.SIGILL, "",
			diagnosis{problem: "an instruction that this CPU does not have", remedy: "build it for the CPU it runs on, without -march=native on another machine"}},
		{"out of memory", 137, syscall.SIGKILL, "Killed\n",
			diagnosis{
				problem: "somebody killed it, often the kernel: when memory runs out, or when a limit of CPU time (ulimit -t) is reached",
				remedy:  "give it less to do, or a machine with more memory",
			}},
		{"out of CPU time", -1, syscall.SIGXCPU, "",
			diagnosis{
				problem: "its limit of CPU time is reached",
				remedy:  "give it less to do, or raise the limit (ulimit -t, in the command or where noslower is started)",
			}},
		{"any other", 1, 0, "FAIL\n", diagnosis{}},
		{"far from the end", 1, 0, "version `GLIBC_2.38' not found\n" + strings.Repeat("line\n", 10000), diagnosis{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := diagnose(tt.status, tt.signal, []byte(tt.out)); got != tt.want {
				t.Errorf("diagnose(%d, %d, %q)\ngot  %q\nwant %q", tt.status, tt.signal, tt.out, got, tt.want)
			}
		})
	}
}

// TestCannotRun tries programs that cannot be run, by shell and as they are.
func TestCannotRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("data", "\x7fnothing that runs\n", 0o755)
	write("script", "#!/no/such/interpreter -x\n", 0o755)
	write("crlf", "#!/bin/sh\r\necho\r\n", 0o755)
	write("marked", "#!/bin/sh\n", 0o644)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		write("foreign", foreignELF(t), 0o755)
		compile(t, dir, "loaderless", "-Wl,--dynamic-linker=/lib/ld-nowhere.so.1")
		compile(t, dir, "libless", "-Wl,--no-as-needed", "-L"+dir, "-lnowhere")
	}

	for _, tt := range []struct{ program, want string }{
		{"nosuch", "nosuch was not found"},
		{"./nosuch", "./nosuch was not found"},
		{"./script", "the interpreter /no/such/interpreter of DIR/script is not here"},
		{"./crlf", "DIR/crlf has lines that end in CR LF, so that its interpreter is not found"},
		{"./marked", "./marked may not be executed"},
		{"./folder", "DIR/folder is a directory"},
		{"./data", "./data is not a program for this machine"},
		{"./foreign", "DIR/foreign is built for "},
		{"./loaderless", "DIR/loaderless needs the loader /lib/ld-nowhere.so.1, which is not here"},
		{"./libless", "the library libnowhere.so cannot be loaded"},
	} {
		t.Run(tt.program, func(t *testing.T) {
			if filepath.Base(tt.program) != "nosuch" {
				if _, err := os.Stat(filepath.Join(dir, tt.program)); err != nil {
					t.Skip(err)
				}
			}
			if os.Getuid() != 0 && tt.program == "./marked" {
				t.Log("not run by root")
			}
			want := strings.ReplaceAll(tt.want, "DIR", dir)
			kind := NotStarted
			if tt.program == "./libless" {
				kind = Failed
			}
			env := ContainerEnv(os.Environ(), nil)
			_, e := fails(t, Spec{Args: []string{tt.program}, Dir: dir, Env: env}, kind)
			if !strings.HasPrefix(e.Problem, want) && !strings.Contains(e.Problem, ": "+want) || e.Remedy == "" {
				t.Errorf("as a list: got %s\nwant %s: and what to do", e, want)
			}
			_, e = fails(t, Spec{Shell: "true; " + tt.program, Dir: dir, Env: env}, Failed)
			if shell, _ := filepath.EvalSymlinks("/bin/sh"); tt.program == "./data" && e.Status == 127 {
				t.Skipf("%s runs what is no program as a script", shell)
			}
			if !strings.Contains(e.Problem, ": "+want) || e.Remedy == "" {
				t.Errorf("by a shell: got %s\nwant %s: and what to do", e, want)
			}
		})
	}
}

// compile makes a C program, or nothing if there is no compiler. The library
// nowhere is there to link with, and not to run with.
func compile(t *testing.T, dir, name string, flags ...string) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Log(err)
		return
	}
	source := filepath.Join(t.TempDir(), "main.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(dir, "libnowhere.so")
	defer os.Remove(lib)
	for _, args := range [][]string{
		{"-shared", "-Wl,-soname,libnowhere.so", "-o", lib, source},
		append([]string{"-o", filepath.Join(dir, name), source}, flags...),
	} {
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Logf("gcc %q: %v\n%s", args, err, out)
		}
	}
}

// foreignELF is this test itself, relabelled for a machine it is not for.
func foreignELF(t *testing.T) string {
	t.Helper()
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 64) // its header, without programs and sections
	if _, err := f.Read(b); err != nil {
		t.Fatal(err)
	}
	machine := elf.EM_S390
	if runtime.GOARCH == "s390x" {
		machine = elf.EM_X86_64
	}
	b[18], b[19] = byte(machine), byte(machine>>8)
	if b[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		b[18], b[19] = b[19], b[18]
	}
	clear(b[32:48]) // where programs and sections are
	clear(b[56:64]) // and how many
	return string(b)
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&exec.Error{Name: "x", Err: exec.ErrNotFound}, "x was not found"},
		{&os.PathError{Op: "fork/exec", Path: "x", Err: syscall.ENOEXEC}, "x is not a program for this machine (" + runtime.GOARCH + ")"},
		{&os.PathError{Op: "fork/exec", Path: "x", Err: syscall.EACCES}, "x may not be executed"},
		{errors.New("fork/exec x: argument list too long"), "fork/exec x: argument list too long"},
	} {
		if got := refused("x", tt.err).problem; got != tt.want {
			t.Errorf("refused(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
}
