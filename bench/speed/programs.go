package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

const (
	benchmarks    = 10_000
	values        = 20 // of each, a side
	programRounds = 15
)

// comparePrograms has both programs compare two files, and print the table.
func comparePrograms(noslower, benchstat string) (table, error) {
	dir, err := os.MkdirTemp("", "noslower-speed-")
	if err != nil {
		return table{}, err
	}
	defer os.RemoveAll(dir)
	base, head := filepath.Join(dir, "base.txt"), filepath.Join(dir, "head.txt")
	rng := rand.New(rand.NewPCG(1, 2))
	for _, path := range []string{base, head} {
		if err := writeGo(path, rng); err != nil {
			return table{}, err
		}
	}
	time, memory, err := ratios(programRounds,
		func() (cost, error) { return run(noslower, "compare", base, head) },
		func() (cost, error) { return run(benchstat, base, head) })
	return table{
		title: "noslower compare, of benchstat's",
		bars:  []bar{{"time", 1. / 3}, {"peak memory", 1}},
		rows:  []row{{fmt.Sprintf("%d Go benchmarks x %d", benchmarks, values), []float64{time, memory}}},
	}, err
}

// writeGo writes the output of benchmarks with one per cent of noise, which is far
// from any threshold.
func writeGo(path string, rng *rand.Rand) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	fmt.Fprint(out, "goos: linux\ngoarch: amd64\npkg: example.com/codec\n")
	for i := range benchmarks {
		for range values {
			ns := 1000 * float64(1+i) * (1 + 0.01*rng.NormFloat64())
			fmt.Fprintf(out, "BenchmarkCase%d-8\t%8d\t%10.1f ns/op\n", i, 1+1_000_000/(1+i), ns)
		}
	}
	return out.Flush()
}

// run returns what a program cost that ended well.
func run(program string, args ...string) (cost, error) {
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", cmd, err, stderr.Bytes())
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return cost{}, fmt.Errorf("%s: the system does not say what it cost", program)
	}
	return cost{(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(usage.Maxrss)}, nil
}
