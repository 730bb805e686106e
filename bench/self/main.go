// Command self measures noslower itself, so that its own gate can watch it: it
// makes the output of benchmarks, has a noslower read and compare it, and prints
// as "go test -bench" does what that cost.
//
// Its ns/op is processor time (user and system) of noslower's process, not time
// on the clock, which on a shared machine also counts what its neighbours do.
package main

import (
	"bytes"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	runs       = 10  // files on each side
	benchmarks = 200 // results in each file
	times      = 5   // a command is run for one value
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("self: ")
	if len(os.Args) != 2 {
		log.Fatal("want one argument, the noslower to measure")
	}
	noslower, err := filepath.Abs(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := measureAll(noslower); err != nil {
		log.Fatal(err)
	}
}

func measureAll(noslower string) error {
	dir, err := os.MkdirTemp("", "noslower-self-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, side := range []string{"base", "head"} {
		if err := writeRuns(filepath.Join(dir, side), rng); err != nil {
			return err
		}
	}
	for _, b := range []struct {
		name string
		args []string
	}{
		{"Start", []string{"formats"}},
		{"Parse", []string{"parse", "--format", "go", filepath.Join("base", "run0.txt")}},
		{"Compare", []string{"compare", "--format", "go", "base", "head"}},
	} {
		if err := measure(b.name, dir, noslower, b.args...); err != nil {
			return err
		}
	}
	return nil
}

// writeRuns writes the output of every run of one side, with one per cent of
// noise, which is far from any threshold.
func writeRuns(dir string, rng *rand.Rand) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for run := range runs {
		var out strings.Builder
		for i := range benchmarks {
			ns := 1000 * float64(1+i) * (1 + 0.01*rng.NormFloat64())
			fmt.Fprintf(&out, "BenchmarkCase%d-8\t%d\t%.1f ns/op\t%d B/op\t%d allocs/op\n", i, 1_000_000/(1+i), ns, 64*i, i)
		}
		path := filepath.Join(dir, fmt.Sprintf("run%d.txt", run))
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// measure runs the command in dir several times and prints what one run cost.
func measure(name, dir string, command string, args ...string) error {
	var spent time.Duration
	for range times {
		cmd := exec.Command(command, args...)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, stderr.Bytes())
		}
		spent += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	fmt.Printf("Benchmark%s\t%d\t%d ns/op\n", name, times, spent.Nanoseconds()/times)
	return nil
}
