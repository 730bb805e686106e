package run

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
)

// A diagnosis says why a program could not run, and what to do.
type diagnosis struct {
	problem, remedy string
	program         string // whose file may tell more; may be empty
}

const (
	elsewhere = "measure where it was built and hand the file over with --measurements"
	notHere   = "build it statically or for this system, or " + elsewhere
)

// What dynamic loaders and shells say, glibc's and musl's, dash, bash and
// busybox. They are not translated, or only where the user asked for it.
var (
	// ld.so: ./bench: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by ./bench)
	versionMissing = regexp.MustCompile("version [`'\"]?((?:GLIBC|GLIBCXX|CXXABI|GCC|OPENSSL)_[\\w.]+)['\"]? not found(?: \\(required by ([^)\n]+)\\))?")
	// ld.so: ./bench: error while loading shared libraries: libx.so.1: cannot open shared object file: …
	libraryMissing = regexp.MustCompile(`error while loading shared libraries: ([^\s:]+): (cannot open shared object file|[^\n]*)`)
	// musl: Error loading shared library libx.so.1: No such file or directory (needed by ./bench)
	muslMissing = regexp.MustCompile(`Error loading shared library ([^\s:]+): [^\n(]*(?:\(needed by ([^)\n]+)\))?`)
	// ld.so: ./bench: symbol lookup error: ./bench: undefined symbol: x
	// musl: Error relocating ./bench: x: symbol not found
	symbolMissing = regexp.MustCompile(`symbol lookup error: [^\n]*undefined symbol: (\w+)|Error relocating [^\n]*: (\w+): symbol not found`)
	// sh: 1: ./bench: Exec format error
	wrongFormat = regexp.MustCompile(`(?m)([^\s:]+): (?:cannot execute binary file: )?(?i:exec format error)`)
	// sh: 1: bench: not found; bash: line 1: bench: command not found;
	// bash: ./bench: cannot execute: required file not found; env: 'x': No such file or directory
	programMissing = regexp.MustCompile(`(?m)^[^\n]*?(?:^|[\s:])[‘'"]?([^\s:'"‘’]+)[’'"]?: (?:command not found|not found|No such file or directory|Permission denied|cannot execute: required file not found)\s*$`)
	// sh: 1: ./bench: Permission denied
	denied = regexp.MustCompile(`(?m)([^\s:]+): (?:cannot execute: )?(?:Permission denied|Is a directory)\s*$`)
)

// diagnose recognises, by exit status (-1 if none), signal (0 if none) and what
// was printed, a command that was not able to run here. The zero diagnosis is
// that of any other failure.
func diagnose(status int, signal syscall.Signal, out []byte) diagnosis {
	// Whoever could not start the last command says so last.
	out = out[max(0, len(out)-16<<10):]
	group := func(re *regexp.Regexp) []string {
		all := re.FindAllSubmatch(out, -1)
		if len(all) == 0 {
			return nil
		}
		var s []string
		for _, m := range all[len(all)-1] {
			s = append(s, string(m))
		}
		return s
	}

	// The loader's words count with any status: a script or make may be between.
	if m := group(versionMissing); m != nil {
		d := diagnosis{
			problem: fmt.Sprintf("it needs %s, which is newer than what is here", m[1]),
			remedy:  "build it statically or on a system as old as this one, or " + elsewhere,
		}
		if m[2] != "" {
			d.problem = fmt.Sprintf("%s needs %s, which is newer than what is here", m[2], m[1])
		}
		return d
	}
	for _, re := range []*regexp.Regexp{libraryMissing, muslMissing} {
		if m := group(re); m != nil {
			return diagnosis{
				problem: fmt.Sprintf("the library %s cannot be loaded", m[1]),
				remedy:  notHere + "; if LD_LIBRARY_PATH has to point to it, let it through with --env LD_LIBRARY_PATH",
			}
		}
	}
	if m := group(symbolMissing); m != nil {
		return diagnosis{
			problem: fmt.Sprintf("the libraries here have no symbol %s", m[1]+m[2]),
			remedy:  notHere,
		}
	}

	switch {
	case status == 126:
		if m := group(wrongFormat); m != nil {
			return diagnosis{
				problem: fmt.Sprintf("%s is not a program for this machine (%s)", m[1], runtime.GOARCH),
				remedy:  "build it for this machine; a script needs a first line such as #!/bin/sh",
				program: m[1],
			}
		}
		if m := group(denied); m != nil {
			return diagnosis{
				problem: m[1] + " may not be executed",
				remedy:  "make it executable with chmod +x, which artifacts do not keep",
				program: m[1],
			}
		}
		return diagnosis{problem: "a program was found but cannot be executed", remedy: "its last lines say which"}
	case status == 127:
		if m := group(programMissing); m != nil {
			return missing(m[1])
		}
		return diagnosis{problem: "a program was not found", remedy: "its last lines say which"}
	case signal == syscall.SIGILL:
		return diagnosis{
			problem: "an instruction that this CPU does not have",
			remedy:  "build it for the CPU it runs on, without -march=native on another machine",
		}
	case signal == syscall.SIGKILL:
		return diagnosis{
			problem: "somebody killed it, often the kernel: when memory runs out, or when a limit of CPU time (ulimit -t) is reached",
			remedy:  "give it less to do, or a machine with more memory",
		}
	case signal == syscall.SIGXCPU:
		return diagnosis{
			problem: "its limit of CPU time is reached",
			remedy:  "give it less to do, or raise the limit (ulimit -t, in the command or where noslower is started)",
		}
	}
	return diagnosis{}
}

func missing(program string) diagnosis {
	return diagnosis{
		problem: program + " was not found",
		remedy: "build or install it in an earlier step; in a container only what its image and the workspace hold is there, " +
			"and " + elsewhere + " works too",
		program: program,
	}
}

// refused is the diagnosis of an error of exec(3) for the given program.
func refused(program string, err error) diagnosis {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, syscall.ENOENT):
		return missing(program)
	case errors.Is(err, syscall.ENOEXEC):
		return diagnosis{
			problem: fmt.Sprintf("%s is not a program for this machine (%s)", program, runtime.GOARCH),
			remedy:  "build it for this machine; a script needs a first line such as #!/bin/sh",
		}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return diagnosis{
			problem: program + " may not be executed",
			remedy:  "make it executable with chmod +x, which artifacts do not keep",
		}
	default:
		return diagnosis{problem: err.Error()}
	}
}

// machines are the names that Go has for the machines of ELF files.
var machines = map[elf.Machine]string{
	elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
	elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_RISCV: "riscv64", elf.EM_LOONGARCH: "loong64",
}

// inspect looks into a program's file for the reason why it did not start, and
// tells whether there is one to see.
func inspect(path string) (diagnosis, bool) {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return diagnosis{}, false
	case fi.IsDir():
		return diagnosis{problem: path + " is a directory", remedy: "name the program in it"}, true
	case !fi.Mode().IsRegular():
		return diagnosis{}, false
	}
	f, err := os.Open(path)
	if err != nil {
		return diagnosis{}, false
	}
	defer f.Close()

	first, err := bufio.NewReaderSize(io.LimitReader(f, 256), 256).ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return diagnosis{}, false
	}
	if line, ok := bytes.CutPrefix(first, []byte("#!")); ok {
		return inspectScript(path, string(line))
	}
	if !bytes.HasPrefix(first, []byte(elf.ELFMAG)) || runtime.GOOS != "linux" {
		return diagnosis{}, false
	}
	return inspectELF(path, f)
}

// inspectScript looks at the first line of a script, after its "#!".
func inspectScript(path, line string) (diagnosis, bool) {
	if strings.HasSuffix(line, "\r\n") {
		return diagnosis{
			problem: path + " has lines that end in CR LF, so that its interpreter is not found",
			remedy:  "check it out with LF line ends (git: eol=lf)",
		}, true
	}
	f := strings.Fields(line)
	if len(f) == 0 || isFile(f[0]) {
		return diagnosis{}, false
	}
	return diagnosis{
		problem: fmt.Sprintf("the interpreter %s of %s is not here", f[0], path),
		remedy:  "install it in an earlier step, or name one that is here in the script's first line",
	}, true
}

func inspectELF(path string, r io.ReaderAt) (diagnosis, bool) {
	file, err := elf.NewFile(r)
	if err != nil {
		return diagnosis{}, false
	}
	if arch, known := machines[file.Machine]; known && arch != runtime.GOARCH {
		return diagnosis{
			problem: fmt.Sprintf("%s is built for %s, and this machine is %s", path, arch, runtime.GOARCH),
			remedy:  "build it for this machine, or " + elsewhere,
		}, true
	}
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz > 4096 {
			continue
		}
		b, err := io.ReadAll(p.Open())
		loader := strings.TrimRight(string(b), "\x00")
		if err == nil && !isFile(loader) {
			return diagnosis{
				problem: fmt.Sprintf("%s needs the loader %s, which is not here", path, loader),
				remedy:  notHere,
			}, true
		}
	}
	return diagnosis{}, false
}
