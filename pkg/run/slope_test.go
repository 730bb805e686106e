package run

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSlope(t *testing.T) {
	for _, tt := range []struct {
		name   string
		points []Point
		want   Line
		err    string
	}{
		{name: "two sizes", points: []Point{{1000, 1_317_299}, {2000, 2_517_299}}, want: Line{PerOp: 1200, Intercept: 117_299}},
		{name: "larger first", points: []Point{{2000, 2_517_299}, {1000, 1_317_299}}, want: Line{PerOp: 1200, Intercept: 117_299}},
		{name: "one more instruction", points: []Point{{1000, 1_318_299}, {2000, 2_519_299}}, want: Line{PerOp: 1201, Intercept: 117_299}},
		{name: "no operation is a size", points: []Point{{0, 50}, {10, 150}}, want: Line{PerOp: 10, Intercept: 50}},
		{name: "set-up that shrinks", points: []Point{{10, 10}, {20, 110}}, want: Line{PerOp: 10, Intercept: -90}},
		{name: "a third on the line", points: []Point{{10, 110}, {20, 210}, {40, 410}}, want: Line{PerOp: 10, Intercept: 10, Checked: true}},
		{name: "squares are no line", points: []Point{{1, 1}, {2, 4}, {3, 9}}, want: Line{PerOp: 4, Intercept: -3, Deviation: 0.25, Checked: true}},
		{name: "a dent", points: []Point{{1, 100}, {2, 90}, {3, 300}}, want: Line{PerOp: 100, Intercept: 0, Deviation: 1.1, Checked: true}},
		{name: "one size", points: []Point{{1000, 1_317_000}}, want: Line{PerOp: 1317, WithSetup: true}},
		{name: "counts near the largest", points: []Point{{1, math.MaxUint64 - 100}, {11, math.MaxUint64}}, want: Line{PerOp: 10, Intercept: math.MaxUint64}},
		{name: "sizes near the largest", points: []Point{{math.MaxUint64 - 10, 1}, {math.MaxUint64, 21}}, want: Line{PerOp: 2, Intercept: -2 * math.MaxUint64}},

		{name: "nothing", err: "want at least one size"},
		{name: "one size of 0", points: []Point{{0, 5}}, err: "want at least 1, have 0"},
		{name: "equal sizes", points: []Point{{10, 1}, {20, 2}, {10, 3}}, err: "have 10 twice"},
		{name: "no count", points: []Point{{10, 0}, {20, 5}}, err: "absent counter"},
		{name: "no growth", points: []Point{{10, 500}, {20, 500}}, err: "20 cost 500, which is no more: check that"},
		{name: "shrinks", points: []Point{{10, 500}, {20, 400}}, err: "which is no more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(tt.points)
			got, err := Slope(tt.points)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("Slope(%v): got error %v, want %q", tt.points, err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got.Deviation = math.Round(got.Deviation*1e9) / 1e9
			if got != tt.want {
				t.Errorf("Slope(%v) = %+v, want %+v", tt.points, got, tt.want)
			}
			if !slices.Equal(before, tt.points) {
				t.Errorf("Slope changed its points to %v", tt.points)
			}
		})
	}
}

func TestWithOps(t *testing.T) {
	list := Spec{Args: []string{"bench", "--ops={ops}", "{ops}{ops}", "{op}"}}
	if got, want := list.WithOps(20000).Args, []string{"bench", "--ops=20000", "2000020000", "{op}"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if list.Args[1] != "--ops={ops}" {
		t.Errorf("WithOps changed what it was called on: %q", list.Args)
	}
	line := Spec{Shell: "bench {ops} | tee '{ops}.txt'"}
	if got, want := line.WithOps(0).Shell, "bench 0 | tee '0.txt'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, tt := range []struct {
		s    Spec
		want bool
	}{
		{list, true},
		{line, true},
		{line.WithOps(1), false},
		{Spec{Args: []string{"bench", "ops"}}, false},
	} {
		if got := tt.s.TakesOps(); got != tt.want {
			t.Errorf("%v: TakesOps = %v, want %v", tt.s, got, tt.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		counts []uint64
		agree  bool
		share  float64
		text   string
	}{
		{nil, false, 0, "one run, which shows no spread"},
		{[]uint64{5}, false, 0, "one run, which shows no spread"},
		{[]uint64{500, 500, 500}, true, 0, "3 runs agree to the instruction"},
		{[]uint64{1010, 1000}, false, 0.01, "2 runs differ by 1 % (1000 to 1010 instructions)"},
		{[]uint64{0, 0}, false, 0, "2 runs differ by 0 % (0 to 0 instructions)"}, // no values
	} {
		s := SpreadOf(tt.counts)
		if s.Agree() != tt.agree || s.Share() != tt.share || s.String() != tt.text {
			t.Errorf("SpreadOf(%v): got %v, %v, %q; want %v, %v, %q", tt.counts, s.Agree(), s.Share(), s, tt.agree, tt.share, tt.text)
		}
	}
}
