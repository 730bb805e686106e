package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// seeds has the outputs that noslower was first made for, with what their own
// engineers concluded. It is not part of the repository.
const seeds = "../../../shared/corpus/seeds"

// invoke runs the command in this process.
func invoke(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	w := world{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
	}
	status = w.run(context.Background(), args)
	return status, out.String(), errs.String()
}

// A seed is a comparison of two of the outputs, and what it must say of one
// metric.
func TestSeeds(t *testing.T) {
	if _, err := os.Stat(seeds); err != nil {
		t.Skipf("the seeds are not on this machine: %v", err)
	}
	for _, tt := range []struct {
		name, base, head string
		flags            []string
		benchmark        string // "*" for any
		metric           string
		change           [2]float64 // of the metric itself, in percent: at least, at most
		outcome          string
		status           int
		says             string // in the comparison's reason or warnings
	}{
		{
			"reads of perf-cql-raw, from printed statistics", "000-a-perf-cql-raw-read/before.txt", "000-a-perf-cql-raw-read/after.txt", nil,
			"*", "instructions_per_op", [2]float64{0.2195, 0.2197}, "same", 0, "from printed statistics",
		},
		{
			"writes of perf-cql-raw, from printed statistics", "000-b-perf-cql-raw-write/before.txt", "000-b-perf-cql-raw-write/after.txt", nil,
			"*", "instructions_per_op", [2]float64{0.1541, 0.1543}, "same", 0, "from printed statistics",
		},
		{
			"write path, at 1 %", "003-b-chunked-vector-write/before.txt", "003-b-chunked-vector-write/after.txt", nil,
			"*", "instructions_per_op", [2]float64{1.4415, 1.4425}, "regressed", 1, "at least 0.597 % worse",
		},
		{
			"write path, at 2 %", "003-b-chunked-vector-write/before.txt", "003-b-chunked-vector-write/after.txt", []string{"--fail", "instructions_per_op=2%"},
			"*", "instructions_per_op", [2]float64{1.4415, 1.4425}, "same", 0, "fails at 2 %",
		},
		{
			"read path, at 1 %", "003-a-chunked-vector-read/before.txt", "003-a-chunked-vector-read/after.txt", nil,
			"*", "instructions_per_op", [2]float64{0.144, 0.147}, "same", 0, "1 launch: noise between launches is not seen",
		},
		{
			"read path, at 0.3 %", "003-a-chunked-vector-read/before.txt", "003-a-chunked-vector-read/after.txt", []string{"--fail", "instructions_per_op=0.3%"},
			"*", "instructions_per_op", [2]float64{0.144, 0.147}, "same", 0, "",
		},
		{
			"read path, at 0.1 %", "003-a-chunked-vector-read/before.txt", "003-a-chunked-vector-read/after.txt", []string{"--fail", "instructions_per_op=0.1%"},
			"*", "instructions_per_op", [2]float64{0.144, 0.147}, "inconclusive", 0, "could have been shown",
		},
		{
			"read path, its throughput", "003-a-chunked-vector-read/before.txt", "003-a-chunked-vector-read/after.txt", nil,
			"*", "throughput", [2]float64{-39.7, -39.5}, "inconclusive", 0, "could have been shown",
		},
		{
			"recovery, in two rows of one table", "001-a-recovery-table/compare.txt", "001-a-recovery-table/compare.txt", []string{"--pair", "master, current=master, patched"},
			"master, patched", "throughput", [2]float64{69.81, 69.82}, "inconclusive", 0, "it takes 5 on each side",
		},
		{
			"coroutines, on all numbers of cores", "002-a-coroutines-gcc13/before.txt", "002-a-coroutines-gcc13/after.txt", nil,
			"*", "iops", [2]float64{-2.85, -0.78}, "inconclusive", 0, "too few",
		},
		{
			"coroutines, several tables", "002-b-coroutines-gcc11/before.txt", "002-b-coroutines-gcc11/after.txt", nil,
			"*", "iops", [2]float64{-2.95, -0.4}, "inconclusive", 0, "too few",
		},
		{
			"unix sockets against TCP", "004-unix-sockets/before.txt", "004-unix-sockets/after.txt",
			[]string{"--pair", "Sending 1024MB via tcp socket=Sending 1024MB via unix socket"},
			"*", "time_per_op", [2]float64{-18.6, -18.4}, "improved", 0, "",
		},
		{
			"coverage, before and after in one line", "001-b-coveralls/run1.txt", "001-b-coveralls/run1.txt", []string{"--pair", "base=head", "--fail", "coverage=0.5%"},
			"head", "coverage", [2]float64{0.0444, 0.0446}, "inconclusive", 0, "too few",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"compare", "--output", "json"}, tt.flags...)
			status, stdout, stderr := invoke(t, append(args, filepath.Join(seeds, tt.base), filepath.Join(seeds, tt.head))...)
			if status != tt.status {
				t.Errorf("status %d, want %d: %s", status, tt.status, stderr)
			}
			var v struct {
				Comparisons []struct {
					Benchmark, Metric, Outcome, Why string
					Change                          *float64
					Warnings                        []string
				}
			}
			if err := json.Unmarshal([]byte(stdout), &v); err != nil {
				t.Fatalf("%v: %s", err, stdout)
			}
			found := 0
			for _, c := range v.Comparisons {
				if c.Metric != tt.metric || tt.benchmark != "*" && c.Benchmark != tt.benchmark {
					continue
				}
				found++
				if c.Change == nil || math.IsNaN(*c.Change) || 100**c.Change < tt.change[0] || 100**c.Change > tt.change[1] {
					t.Errorf("%s: change %v, want %v %%", c.Benchmark, show(c.Change), tt.change)
				}
				if c.Outcome != tt.outcome {
					t.Errorf("%s: %s, want %s: %s", c.Benchmark, c.Outcome, tt.outcome, c.Why)
				}
				if text := c.Why + strings.Join(c.Warnings, "\n"); !strings.Contains(text, tt.says) {
					t.Errorf("%s: it says %q, want %q in it", c.Benchmark, text, tt.says)
				}
			}
			if found == 0 {
				t.Errorf("no comparison of %s: %s", tt.metric, stdout)
			}
		})
	}
}

func show(v *float64) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%.6g %%", 100**v)
}
