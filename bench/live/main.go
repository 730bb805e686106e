//go:build unix

// Command live gates a real program again and again on this machine, under a
// load that it starts beside it, and counts what the gate says: of the program
// against itself, and against itself with more work to do.
//
// It is a demonstration and no test: it takes minutes, and its figures are this
// machine's.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A series is gates of one kind.
type series struct {
	name        string
	gates       int
	least, most int // of them that are to say regressed
	// slower: head does 5 % more work.
	slower bool
	flags  []string
	// apart measures base in a job of its own, before head: a stored baseline.
	apart bool
	// counted names a program of testdata/count, whose instructions are counted: what
	// is slower does one instruction more an operation. "" takes the benchmark here.
	counted string
}

// units is how much work this program does when it is the benchmark: 100, or what
// it is linked with.
var units = "100"

func main() {
	work := flag.Bool("work", false, "be the benchmark")
	gates := flag.Int("gates", 40, "gates of a program against itself; half as many with more work")
	only := flag.String("only", "", "run only the series whose name has this in it")
	flag.Parse()
	if *work {
		benchmark()
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *gates, *only); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

// benchmark does real work, about a fifth of a second of it. What it costs is
// measured from outside.
func benchmark() {
	n, err := strconv.Atoi(units)
	if err != nil {
		panic(err) // it is linked so by this program
	}
	var sum [32]byte
	block := make([]byte, 64<<10)
	for range 16 * n {
		copy(block, sum[:])
		sum = sha256.Sum256(block)
	}
	fmt.Fprintf(os.Stderr, "%x\n", sum)
}

func run(ctx context.Context, gates int, only string) error {
	dir, err := os.MkdirTemp("", "noslower-live-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for target, build := range map[string]string{
		"noslower":   "go build -o %s ./cmd/noslower",
		"same":       "go build -o %s ./bench/live",
		"slower":     "go build -ldflags=-X=main.units=105 -o %s ./bench/live",
		"knob.c":     "gcc -O2 -DKNOB=0 -o %s testdata/count/knob.c",
		"knob.c +1":  "gcc -O2 -DKNOB=1 -o %s testdata/count/knob.c",
		"knob.cc":    "g++ -O2 -DKNOB=0 -o %s testdata/count/knob.cc",
		"knob.cc +1": "g++ -O2 -DKNOB=1 -o %s testdata/count/knob.cc",
		"garbage.go": "go build -o %s testdata/count/garbage.go",
	} {
		args := strings.Fields(build)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "%s", filepath.Join(dir, target))
		}
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s", target, err, out)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "build"), 0o755); err != nil {
		return err
	}
	stop, err := load(ctx, dir)
	if err != nil {
		return err
	}
	defer stop()
	inTurn := []string{"--runs", "5..20", "--fail", "cpu_time=2%"}
	counted := []string{"--ops", "1000,2000", "--counters", "valgrind"}
	exact := append([]string{"--runs", "2", "--allow-few-runs", "--fail", "instructions_per_op=0.05%"}, counted...)
	// What the collector costs is far above the cost of a thousand operations.
	varying := []string{"--runs", "5", "--fail", "instructions_per_op=5%", "--ops", "1000,20000", "--counters", "valgrind"}
	fmt.Println("| gates | wanted | regressed | same or improved | inconclusive |\n|---|---|--:|--:|--:|")
	found := false
	for _, s := range []series{
		{"base's program beside head's, no change", gates, 0, 0, false, inTurn, false, ""},
		{"base's program beside head's, 5 % more work", gates / 2, gates / 2 * 9 / 10, gates / 2, true, inTurn, false, ""},
		{"stored baseline, no change, CPU and wall time at 5 %", gates, 0, 1, false, []string{"--runs", "10", "--fail", "cpu_time=5%", "--fail", "wall_time=5%"}, true, ""},
		{"instructions of a C program, no change", gates * 5 / 2, 0, 0, false, exact, false, "knob.c"},
		{"instructions of a C program, one more an operation of 1,200", gates / 2, gates / 2, gates / 2, true, exact, false, "knob.c"},
		{"instructions of a C++ program, one more an operation of 1,200", gates / 2, gates / 2, gates / 2, true, exact, false, "knob.cc"},
		{"instructions of a Go program, which vary, no change", gates / 4, 0, 0, false, varying, false, "garbage.go"},
	} {
		if !strings.Contains(s.name, only) {
			continue
		}
		found = true
		if err := s.run(ctx, dir); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if !found {
		return fmt.Errorf("-only: no series has %q in its name", only)
	}
	return nil
}

// load keeps a processor busy until it is stopped, or ctx is done.
func load(ctx context.Context, dir string) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do "+filepath.Join(dir, "same")+" -work 2>/dev/null; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	return func() { cancel(); _ = cmd.Wait() }, nil // it is killed
}

// run makes the gates of the series and prints its row.
func (s series) run(ctx context.Context, dir string) error {
	count := map[string]int{}
	for i := range s.gates {
		same, slower, command := "same", "slower", "{dir}/build/bench -work"
		if s.counted != "" {
			same, slower, command = s.counted, s.counted+" +1", "{dir}/build/bench {ops}"
		}
		common := []string{"gate", "--suite", fmt.Sprintf("%t-%s-%t-%d", s.apart, s.counted, s.slower, i), "--format", "none", "--warmup", "1", "--command", command}
		if !s.apart {
			common = append(common, "--program", "build/bench")
		}
		base := append(append([]string{}, common...), "--save-baseline")
		if s.apart || s.counted != "" {
			base = append(base, s.flags...)
		} else {
			// Its program is kept, and hardly anything need be measured for that.
			base = append(base, "--runs", "1", "--allow-few-runs")
		}
		if err := install(dir, same); err != nil {
			return err
		}
		if _, err := noslower(ctx, dir, base, ""); err != nil {
			return err
		}
		if s.slower {
			if err := install(dir, slower); err != nil {
				return err
			}
		}
		metric := "" // the whole
		if s.counted != "" {
			// The processor's time gates as well, and two runs are too few for it.
			metric = "instructions_per_op"
		}
		outcome, err := noslower(ctx, dir, append(append(common, "--output", "json"), s.flags...), metric)
		if err != nil {
			return err
		}
		count[outcome]++
	}
	wanted := fmt.Sprintf("at least %d regressed", s.least)
	if s.least == 0 {
		wanted = fmt.Sprintf("at most %d regressed", s.most)
	}
	regressed := count["regressed"]
	fmt.Printf("| %d of %s | %s | %d | %d | %d |\n", s.gates, s.name, wanted, regressed, count["same"]+count["improved"], count["inconclusive"])
	if regressed < s.least || regressed > s.most {
		return fmt.Errorf("%d regressed, want %s", regressed, wanted)
	}
	return nil
}

// install makes one of the two programs the benchmark.
func install(dir, name string) error {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	bench := filepath.Join(dir, "build/bench")
	if err := os.Remove(bench); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(bench, data, 0o755)
}

// noslower runs a gate and returns its outcome, or that of a metric; a regression
// is one. What stays open has to say what could have been seen.
func noslower(ctx context.Context, dir string, args []string, metric string) (outcome string, err error) {
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "noslower"), args...)
	cmd.Dir = dir
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s%s", err, out, log.String())
	}
	var v struct {
		Outcome     string
		Comparisons []struct {
			Metric, Outcome string
			Gating          bool
			Detectable      *float64
		}
	}
	if json.Unmarshal(out, &v) != nil {
		return "", nil // the text of a gate that keeps a baseline
	}
	for _, c := range v.Comparisons {
		if (metric == "" || c.Metric == metric) && c.Gating && c.Outcome == "inconclusive" && c.Detectable == nil {
			return "", fmt.Errorf("%s stayed open without a word of what could have been seen:\n%s", c.Metric, out)
		}
		if c.Metric == metric {
			return c.Outcome, nil
		}
	}
	return v.Outcome, nil
}
