// Command overhead measures what noslower adds to the command that it measures:
// to each plain run, beside hyperfine and a bare loop, and by counting under
// valgrind.
//
// Its figures are this machine's, at this hour; what it is for is to compare them
// with each other, all of one invocation. It fails where a plain run costs more
// than it may.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/noslower/noslower/pkg/run"
)

const (
	most   = 2 * time.Millisecond // that noslower may add to a run
	rounds = 7                    // in which all are measured, one after the other
	few    = 20                   // runs, so that
	many   = 220                  // the difference has no start-up in it
)

// benchmark is a command of which hardly anything but its start costs time.
var benchmark = []string{"/bin/echo", "BenchmarkNothing 1 100 ns/op"}

func main() {
	if err := measure(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

func measure(w io.Writer) error {
	dir, err := os.MkdirTemp("", "noslower-overhead-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := build(dir, "go", "build", "-o", filepath.Join(dir, "noslower"), "./cmd/noslower"); err != nil {
		return err
	}
	return errors.Join(plain(w, dir), counted(w, dir))
}

func build(dir string, command ...string) error {
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
	}
	return nil
}

// A runner runs the benchmark n times.
type runner struct {
	name string
	run  func(n int) error
}

// plain measures what is added to a run without counting.
func plain(w io.Writer, dir string) error {
	tool := func(args ...string) error {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", args[0], err, out)
		}
		return nil
	}
	runners := []runner{
		{"a bare loop", func(n int) error {
			for range n {
				if err := exec.Command(benchmark[0], benchmark[1:]...).Run(); err != nil {
					return err
				}
			}
			return nil
		}},
		{"noslower measure", func(n int) error {
			return tool(append([]string{
				filepath.Join(dir, "noslower"), "measure", "--runs", strconv.Itoa(n), "--warmup", "0",
				"--out", filepath.Join(dir, "m.json"), "--",
			}, benchmark...)...)
		}},
	}
	if hyperfine, err := exec.LookPath("hyperfine"); err == nil {
		runners = append(runners, runner{"hyperfine -N", func(n int) error {
			return tool(hyperfine, "-N", "-w", "0", "-r", strconv.Itoa(n), benchmark[0]+" '"+benchmark[1]+"'")
		}})
	}
	costs := make([][]time.Duration, len(runners))
	for range rounds {
		for i, r := range runners {
			short, err := clock(func() error { return r.run(few) })
			if err != nil {
				return err
			}
			long, err := clock(func() error { return r.run(many) })
			if err != nil {
				return err
			}
			costs[i] = append(costs[i], (long-short)/(many-few))
		}
	}
	bare := median(costs[0])
	fmt.Fprintf(w, "| what runs %q | a run | more than the bare loop |\n|---|--:|--:|\n", benchmark[0])
	for i, r := range runners {
		cost := median(costs[i])
		fmt.Fprintf(w, "| %s | %.2f ms | %.2f ms |\n", r.name, ms(cost), ms(cost-bare))
	}
	if len(runners) == 2 {
		fmt.Fprintln(w, "\nhyperfine is not installed here.")
	}
	fmt.Fprintln(w)
	if over := median(costs[1]) - bare; over > most {
		return fmt.Errorf("noslower adds %v to a run, want at most %v", over, most)
	}
	return nil
}

// counted measures what counting and profiling under valgrind cost.
func counted(w io.Writer, dir string) error {
	ctx := context.Background()
	counters := run.ProbeCounters(ctx)
	meter, err := counters.Choose(run.CounterValgrind)
	if err != nil {
		fmt.Fprintf(w, "Counting was not measured: %v\n", err)
		return nil
	}
	once := run.Step{N: 1, Of: 1}
	ways := []struct {
		name string
		run  func(run.Spec) error
	}{
		{"as it is", func(s run.Spec) error { _, err := run.Once(ctx, s, once, nil); return err }},
		{"counted", func(s run.Spec) error { _, err := meter.Count(ctx, s, once, nil); return err }},
		{"profiled", func(s run.Spec) error { _, err := counters.Profile(ctx, s, once, nil); return err }},
	}
	fmt.Fprintf(w, "| under %s | start-up | an operation | times as long |\n|---|--:|--:|--:|\n", meter.Fingerprint)
	for _, program := range []struct {
		name     string
		compiler []string
		ops      int // that take a fraction of a second
	}{
		{"knob.c", []string{"gcc", "-O2", "-g"}, 200_000},
		{"knob.cc", []string{"g++", "-O2", "-g"}, 200_000},
	} {
		path := filepath.Join(dir, program.name+".bin")
		source := filepath.Join("testdata", "count", program.name)
		if err := build(dir, append(program.compiler, "-DKNOB=0", "-o", path, source)...); err != nil {
			return err
		}
		var bare time.Duration
		for _, way := range ways {
			var starts, operations []time.Duration
			for range 3 {
				start, err := clock(func() error { return way.run(run.Spec{Args: []string{path, "1"}}) })
				if err != nil {
					return err
				}
				all, err := clock(func() error { return way.run(run.Spec{Args: []string{path, strconv.Itoa(program.ops)}}) })
				if err != nil {
					return err
				}
				starts, operations = append(starts, start), append(operations, (all-start)/time.Duration(program.ops))
			}
			operation := median(operations)
			if bare == 0 {
				bare = operation
			}
			fmt.Fprintf(w, "| %s, %s | %.0f ms | %.2f µs | %.1f |\n", program.name, way.name,
				ms(median(starts)), float64(operation)/float64(time.Microsecond), float64(operation)/float64(bare))
		}
	}
	return nil
}

func clock(do func() error) (time.Duration, error) {
	start := time.Now()
	err := do()
	return time.Since(start), err
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
