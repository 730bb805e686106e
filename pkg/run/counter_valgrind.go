package run

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A valgrind is an installed one.
type valgrind struct {
	path    string
	version string // such as 3.19.0
}

// quietly are options besides those that say what is counted: the user's own
// files and variables with options are left aside, no debugger is waited for, and
// the log says, among much else, which processes were not started by exec.
var quietly = []string{"--command-line-only=yes", "--vgdb=no", "-v"}

var (
	countOptions   = []string{"--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"}
	profileOptions = []string{"--tool=callgrind", "--cache-sim=no", "--trace-children=yes", "--demangle=no"}
)

const (
	countFile   = "cachegrind.out."
	profileFile = "callgrind.out."
	logFile     = "log."
)

// fingerprint is what counts, without the places that differ from run to run.
func (v valgrind) fingerprint() string {
	return strings.Join(slices.Concat([]string{"valgrind", v.version}, countOptions), " ")
}

// probeTimeout is how long the counting of a program that does nothing may take.
const probeTimeout = time.Minute

// probeValgrind looks for valgrind, and counts "true" with it: an installation can
// lack the tool, or not be able to run anything on this CPU.
func probeValgrind(ctx context.Context) (valgrind, *Uncounted) {
	u := &Uncounted{What: string(CounterValgrind)}
	path, err := exec.LookPath("valgrind")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		u.Reason, u.Problem, u.Err = NotHere, "it is not installed", err
		u.Remedy = "install the package valgrind, of which the image of the action has one"
		return valgrind{}, u
	}
	v := valgrind{path: path}
	env := CountingEnv(os.Environ(), nil)
	r, err := Once(ctx, Spec{Args: []string{path, "--version"}, Env: env, Timeout: probeTimeout}, Step{N: 1, Of: 1}, nil)
	if err == nil {
		v.version, err = parseVersion(r.Stdout())
	}
	if err == nil {
		var c Counts
		c, err = v.count(ctx, Spec{Args: []string{"true"}, Env: env, Timeout: probeTimeout}, Step{N: 1, Of: 1}, nil)
		if len(c.Absent) > 0 {
			err = c.Absent[0]
		}
	}
	if err != nil {
		u.Reason, u.Problem, u.Err = NotWorking, err.Error(), err
		return valgrind{}, u
	}
	return v, nil
}

// parseVersion reads what --version prints: valgrind-3.19.0.
func parseVersion(out []byte) (string, error) {
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "valgrind-")
	if !ok || version == "" || strings.ContainsAny(version, " \n") {
		return "", fmt.Errorf("want a version such as valgrind-3.19.0, have %s", quote(string(out)))
	}
	return version, nil
}

// count runs the command under cachegrind.
func (v valgrind) count(ctx context.Context, s Spec, step Step, obs Observer) (Counts, error) {
	var c Counts
	err := v.run(ctx, s, step, obs, countOptions, countFile, func(h *harness, dir string) error {
		c.AddressesFixed = h.gotFixed
		logs, err := processes(dir)
		if err != nil {
			return err
		}
		lost := 0
		for pid, forked := range logs {
			n, err := readCount(filepath.Join(dir, countFile+pid))
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNoCount) {
				lost++
				continue
			}
			if err != nil {
				return err
			}
			if forked {
				c.Forked++
			}
			if err := add(&c.Instructions, n); err != nil {
				return err
			}
		}
		switch {
		case len(logs) == 0 || lost == 0 && c.Instructions == 0:
			c.Absent = []*Uncounted{{What: "instructions", Reason: NotWorking, Problem: fmt.Sprintf("valgrind %s left no count", v.version)}}
		case lost > 0:
			c.Instructions = 0
			c.Absent = []*Uncounted{{
				What: "instructions", Reason: Incomplete,
				Problem: fmt.Sprintf("%d of %d processes left no count", lost, len(logs)),
				Remedy:  "let the command wait for all of its processes, and end none of them with SIGKILL",
			}}
		}
		return nil
	})
	return c, err
}

// profile runs the command under callgrind.
func (v valgrind) profile(ctx context.Context, s Spec, step Step, obs Observer) (Profile, error) {
	var all []Profile
	err := v.run(ctx, s, step, obs, profileOptions, profileFile, func(_ *harness, dir string) error {
		// With numbers behind the pid where a process wrote several.
		files, err := filepath.Glob(filepath.Join(quoteGlob(dir), profileFile+"*"))
		if err != nil {
			return err
		}
		for _, name := range files {
			p, err := readProfileFile(name)
			if err != nil {
				return err
			}
			all = append(all, p)
		}
		return nil
	})
	if err != nil {
		return Profile{}, err
	}
	return mergeProfiles(all)
}

func readProfileFile(name string) (Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return Profile{}, err
	}
	defer f.Close()
	return readProfile(f, filepath.Base(name))
}

// quoteGlob returns a pattern for filepath.Glob that matches the path p alone.
func quoteGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(p)
}

// run runs the command under valgrind, whose files are in dir when done is called
// and no more when run returns.
func (v valgrind) run(ctx context.Context, s Spec, step Step, obs Observer, options []string, out string, done func(h *harness, dir string) error) error {
	dir, err := os.MkdirTemp("", "noslower-count-")
	if err != nil {
		return fmt.Errorf("no folder for what valgrind writes: %w", err)
	}
	defer os.RemoveAll(dir) // what is left is in a folder for temporary files

	if err := s.startable(step); err != nil {
		return err
	}
	// Valgrind puts the pid for %p, and a % for %%.
	place := strings.ReplaceAll(dir, "%", "%%") + "/"
	h := &harness{fixed: true, under: slices.Concat([]string{v.path}, quietly, options, []string{
		"--log-file=" + place + logFile + "%p",
		"--" + strings.TrimSuffix(out, ".out.") + "-out-file=" + place + out + "%p",
	})}
	if _, err := s.within(ctx, h, step, obs); err != nil {
		return v.explain(err, dir)
	}
	return done(h, dir)
}

// startable reports a command that could not be started without valgrind either,
// in the words of a plain run.
func (s Spec) startable(step Step) error {
	cmd := s.command(&harness{})
	if cmd.Err != nil {
		return s.notStarted(step, cmd.Err)
	}
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	if s.Dir != "" && !isDir(s.Dir) {
		return nil // which a run says better
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return s.notStarted(step, err)
	}
	if _, ok := inspect(path); ok {
		return s.notStarted(step, unix.ENOEXEC)
	}
	return nil
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// processes returns the pids of the processes that ran under valgrind, by the logs
// that they left, and whether each came of a fork alone.
func processes(dir string) (map[string]bool, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	forked, understood := map[string]bool{}, false
	for _, f := range files {
		pid, ok := strings.CutPrefix(f.Name(), logFile)
		if !ok {
			continue
		}
		log, err := readHead(filepath.Join(dir, f.Name()), maxLog)
		if err != nil {
			return nil, err
		}
		forked[pid] = !ownStart.Match(log)
		understood = understood || !forked[pid]
	}
	if !understood {
		// The first was started by exec for certain: this valgrind says it otherwise.
		for pid := range forked {
			forked[pid] = false
		}
	}
	return forked, nil
}

// ownStart is in the log of a process that valgrind was started in: it reads the
// symbols of its own tool first. A fork begins a log with a copy of the header.
//
//	--27091-- Reading syms from /usr/libexec/valgrind/cachegrind-amd64-linux
var ownStart = regexp.MustCompile(`(?m)^--\d+-- Reading syms from .*/(?:cachegrind|callgrind)-\w+-\w+$`)

// maxLog is how much of a log is read; what matters is at its beginning or its
// end.
const maxLog = 1 << 20

func readHead(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

func readTail(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, fi.Size()-limit)
	return io.ReadAll(io.NewSectionReader(f, from, fi.Size()-from))
}

// errNoCount is of a file that was not written to its end.
var errNoCount = errors.New("no count of instructions in it")

// readCount reads the file that cachegrind left of one process.
func readCount(name string) (uint64, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return parseCount(f)
}

// parseCount reads the instructions of a process from cachegrind's file, whose
// summary is its last line; see
// https://valgrind.org/docs/manual/cg-manual.html#cg-manual.impl-details.file-format.
func parseCount(r io.Reader) (uint64, error) {
	var events []string
	var summary string
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if after, ok := strings.CutPrefix(line, "events:"); ok {
			events = strings.Fields(after)
		}
		if after, ok := strings.CutPrefix(line, "summary:"); ok {
			summary = after
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	i, values := slices.Index(events, instructions), strings.Fields(summary)
	if i < 0 || i >= len(values) {
		return 0, errNoCount
	}
	n, err := strconv.ParseUint(values[i], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("want a number of instructions, have %s", quote(summary))
	}
	return n, nil
}

// What valgrind says when it is it, and not the command, that cannot go on: in its
// log, or where the log cannot be yet, on standard error.
var (
	// vex amd64->IR: unhandled instruction bytes: 0x62 0xF1 0x7D 0x48 …
	// disInstr(arm64): unhandled instruction 0xD5380000
	// That alone is no fault: programs try out what a CPU can.
	badInstruction = regexp.MustCompile(`unhandled instruction(?: bytes)?:? ((?:0x[0-9A-Fa-f]+ ?)+)`)
	// ==26763== Process terminating with default action of signal 4 (SIGILL)
	// SIGILL: illegal instruction (as Go's runtime says it)
	diedOfIt = regexp.MustCompile(`default action of signal 4 |SIGILL: `)
	// valgrind: failed to start tool 'cachegrind' for platform 'x86-linux': No such file or directory
	noPlatform = regexp.MustCompile(`failed to start tool '(\w+)' for platform '([\w-]+)'`)
	// valgrind: Unknown option: --cache-sim=no
	unknownOption = regexp.MustCompile(`valgrind: (?:Unknown|Bad) option:? ([^\n]+)`)
	// valgrind:  Fatal error at startup: a function redirection
	noRedirection = regexp.MustCompile(`Fatal error at startup: a function redirection`)
	// valgrind: mmap(0x58000000, 4096) failed in UME with error 22 (Invalid argument).
	noRoom = regexp.MustCompile(`failed in UME|Valgrind's memory management: out of memory`)
	// valgrind: the 'impossible' happened:
	impossible = regexp.MustCompile(`(?:the 'impossible' happened|INTERNAL ERROR)[^\n]*`)
)

// explain says what valgrind has to do with a run that failed, if anything.
func (v valgrind) explain(err error, dir string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Kind == TimedOut {
		e.Remedy = "under valgrind it takes up to 100 times as long: count fewer operations with --ops, or give it more time"
		return e
	}
	if e.Kind != Failed {
		return e
	}
	said := []byte(strings.Join(e.Tail, "\n"))
	logs, globErr := filepath.Glob(filepath.Join(quoteGlob(dir), logFile+"*"))
	if globErr != nil {
		return e
	}
	for _, name := range logs {
		if log, err := readTail(name, maxLog); err == nil { // else there is less to go by
			said = append(append(said, '\n'), log...)
		}
	}
	if d := v.diagnose(said); d.problem != "" {
		e.Problem += ": " + d.problem
		e.Remedy = d.remedy
	}
	return e
}

// diagnose recognises what valgrind said of itself. The zero diagnosis is that of
// a command that fails by itself.
func (v valgrind) diagnose(said []byte) diagnosis {
	const otherwise = ", or count with --counters perf or none"
	if m := badInstruction.FindSubmatch(said); m != nil && diedOfIt.Match(said) {
		return diagnosis{
			problem: fmt.Sprintf("it uses an instruction that valgrind %s does not know (%s)", v.version, bytes.TrimSpace(m[1])),
			remedy:  "build it for an older CPU, as with -march=x86-64-v3 (AVX-512 is not known), take a newer valgrind" + otherwise,
		}
	}
	if m := noPlatform.FindSubmatch(said); m != nil {
		return diagnosis{
			problem: fmt.Sprintf("valgrind %s cannot run programs for %s here", v.version, m[2]),
			remedy:  "build it for this machine, install valgrind for that platform" + otherwise,
		}
	}
	if m := unknownOption.FindSubmatch(said); m != nil {
		return diagnosis{
			problem: fmt.Sprintf("valgrind %s does not know %s", v.version, clean(m[1])),
			remedy:  "take valgrind 3.15 or newer" + otherwise,
		}
	}
	if noRedirection.Match(said) {
		return diagnosis{
			problem: "valgrind finds no symbols of the C library's loader",
			remedy:  "install the package libc6-dbg, or the one that this system has in its stead" + otherwise,
		}
	}
	if noRoom.Match(said) {
		return diagnosis{
			problem: "valgrind finds no room in memory for it",
			remedy:  "link it as a position-independent program, with smaller static data" + otherwise,
		}
	}
	if m := impossible.Find(said); m != nil {
		return diagnosis{
			problem: fmt.Sprintf("valgrind %s itself failed (%s)", v.version, clean(m)),
			remedy:  "take a newer valgrind" + otherwise,
		}
	}
	return diagnosis{}
}
