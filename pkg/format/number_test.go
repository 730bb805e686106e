package format

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestParseNumber(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want float64
	}{
		{"0", 0},
		{"-1.5", -1.5},
		{"+2", 2},
		{".5", 0.5},
		{"12.", 12},
		{"7.02868e+06", 7028680},
		{"4e+11", 4e11},
		{"57.2k", 57200},
		{"2.48M", 2480000},
		{"1,234,567.8", 1234567.8},
		{"-1,234", -1234},
		{"330'903", 330903},
	} {
		if got, err := parseNumber(tt.in); err != nil || got != tt.want {
			t.Errorf("parseNumber(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{
		"", "k", "-", ".", "e5", "NaN", "nan", "inf", "-Inf", "Infinity", "0x10", "1_000", "1e999", "1e308k",
		"1,23", "1,2345", ",123", "1234,567", "1,234'567", "1,234,", "1.5,000", "12%", "5ns", "1 2", "~105", "105–108",
	} {
		if got, err := parseNumber(in); err == nil {
			t.Errorf("parseNumber(%q) = %v, want an error", in, got)
		}
	}
}

// TestParseDecimal: of digits that are few it is the number that strconv reads.
func TestParseDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		digits := rng.IntN(len(tens)) + 1
		s := strconv.FormatInt(rng.Int64N(1e18)+1e18, 10)[1 : digits+1]
		if at := rng.IntN(digits + 2); at <= digits {
			s = s[:at] + "." + s[at:]
		}
		want, err := strconv.ParseFloat(s, 64)
		if got, ok := parseDecimal(s); ok != (err == nil && digits < len(tens)) || ok && got != want {
			t.Errorf("parseDecimal(%q) = %v, %v, want %v", s, got, ok, want)
		}
	}
}

func TestParseClock(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want float64
	}{
		{"11.530", 11.53},
		{"5:10.98", 310.98},
		{"00:13:02", 782},
	} {
		if got, err := parseClock(tt.in); err != nil || got != tt.want {
			t.Errorf("parseClock(%q) = %v, %v, want %v", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"", ":", "5:", "5:-1", "5:x"} {
		if got, err := parseClock(in); err == nil {
			t.Errorf("parseClock(%q) = %v, want an error", in, got)
		}
	}
}
