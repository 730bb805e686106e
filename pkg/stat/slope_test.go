package stat

import (
	"math"
	"testing"
)

func TestSlope(t *testing.T) {
	for _, tt := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"a line", []float64{1, 2, 4, 8}, []float64{3, 5, 9, 17}, 2},
		{"a line with an outlier", []float64{1, 2, 3, 4, 5, 6, 7}, []float64{2, 4, 6, 800, 10, 12, 14}, 2},
		{"falling", []float64{0, 1, 2}, []float64{0, -1, -2}, -1},
		{"level", []float64{0, 1, 2}, []float64{7, 7, 7}, 0},
		{"equal abscissas are no pair", []float64{1, 1, 2}, []float64{0, 100, 3}, -47}, // of 3 and -97
		{"one abscissa", []float64{5, 5, 5}, []float64{1, 2, 3}, math.NaN()},
		{"nothing", nil, nil, math.NaN()},
	} {
		if got := Slope(tt.x, tt.y); got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
