package run

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

// moment is what /proc says of two processors.
func moment(user, idle, steal int, average string, stalled int) Load {
	cpu := []string{"cpu", strconv.Itoa(user), "0", "0", strconv.Itoa(idle), "0", "0", "0", strconv.Itoa(steal), "0", "0"}
	return parseLoad(strings.Join(cpu, " ")+"\ncpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\nintr 5\n",
		average+" 0.10 0.05 1/234 5678\n",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total="+strconv.Itoa(stalled)+"\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
}

func TestDisturbance(t *testing.T) {
	begin := moment(1000, 5000, 10, "0.20", 1_000_000)
	for _, tt := range []struct {
		name string
		end  Load
		ours time.Duration
		want Disturbance
		says string
	}{
		// Ten seconds are 2000 ticks of two processors.
		{"ours alone", moment(2000, 6000, 10, "1.00", 1_000_000), 10 * time.Second, Disturbance{Before: 0.1}, ""},
		{"another one", moment(3000, 5000, 10, "2.00", 3_000_000), 10 * time.Second, Disturbance{Others: 0.5, Stalled: 0.2, Before: 0.1}, "other processes took 50 % of the processors"},
		{"stolen", moment(2000, 5800, 210, "1.00", 1_000_000), 10 * time.Second, Disturbance{Steal: 0.1, Before: 0.1}, "the hypervisor took 10 % of them"},
		{"less than ours", moment(1500, 6500, 10, "1.00", 1_000_000), 10 * time.Second, Disturbance{Before: 0.1}, ""},
	} {
		got, ok := begin.Until(tt.end, 10*time.Second, tt.ours)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if !ok || !near(got.Others, tt.want.Others) || !near(got.Steal, tt.want.Steal) || !near(got.Stalled, tt.want.Stalled) || !near(got.Before, tt.want.Before) {
			t.Errorf("%s: %+v (%v), want %+v", tt.name, got, ok, tt.want)
		}
		if words := got.Words(); !strings.Contains(words, tt.says) || tt.says == "" && words != "" {
			t.Errorf("%s: it says %q, want %q", tt.name, words, tt.says)
		}
	}
	busy := moment(1000, 5000, 10, "6.00", 0)
	if d, _ := busy.Until(moment(2000, 6000, 10, "1.00", 0), 10*time.Second, 10*time.Second); !strings.Contains(d.Words(), "3.0 processes for each") {
		t.Errorf("a load before: %q", d.Words())
	}
	for name, l := range map[string]Load{"nothing": {}, "no numbers": parseLoad("cpu a b c\n", "", ""), "no files": parseLoad("", "", "")} {
		if d, ok := l.Until(begin, time.Second, 0); ok {
			t.Errorf("%s is known: %+v", name, d)
		}
	}
}

// TestReadLoad: on this machine the counters rise.
func TestReadLoad(t *testing.T) {
	begin := ReadLoad()
	start := time.Now()
	for time.Since(start) < 50*time.Millisecond {
		_ = math.Sqrt(float64(time.Since(start)))
	}
	if d, ok := begin.Until(ReadLoad(), time.Since(start), 0); begin.total > 0 && ok && (d.Others < 0 || d.Others > 1) {
		t.Errorf("others took %v of the processors", d.Others)
	}
}
