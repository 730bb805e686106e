package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// multipliers are the suffixes that scale a printed number.
var multipliers = map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9}

// parseNumber reads a finite number as benchmark tools and people print it:
// with thousands separated by commas or apostrophes (1,234,567.8, 330'903), an
// exponent (7.02868e+06), or a suffix k, K, M or G (57.2k). Words that Go reads
// as numbers (NaN, inf, hexadecimal) are none here.
func parseNumber(s string) (float64, error) {
	if s == "" {
		return 0, numberError{"finite number", s}
	}
	digits, factor := s, 1.0
	if last := len(s) - 1; s[last] > '9' {
		if f, ok := multipliers[s[last]]; ok {
			digits, factor = s[:last], f
		}
	}
	if v, ok := parseDecimal(digits); ok {
		return v * factor, nil
	}
	if !plainBytes.onlyOf(digits) {
		joined, ok := joinThousands(digits)
		if !ok || !plainBytes.onlyOf(joined) {
			return 0, numberError{"number", s}
		}
		digits = joined
	}
	v, err := parseFloat(digits)
	if v *= factor; err != nil || math.IsInf(v, 0) {
		return 0, numberError{"finite number", s}
	}
	return v, nil
}

// parseFloat is that of strconv, which takes thrice as long where digits are few.
func parseFloat(s string) (float64, error) {
	if v, ok := parseDecimal(s); ok {
		return v, nil
	}
	return strconv.ParseFloat(s, 64)
}

// tens are powers of ten, which have no rounding.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseDecimal reads digits with or without a point, as nearly all numbers are, and
// reports whether they are so few that their whole and the power of ten below it are
// exact, and the quotient is the nearest number: W. D. Clinger, "How to Read Floating
// Point Numbers Accurately", PLDI 1990.
func parseDecimal(s string) (v float64, ok bool) {
	const point = 1
	if len(s) > len(tens)-1+point {
		return 0, false
	}
	var whole int64
	var digits, below int
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			whole = 10*whole + int64(c-'0')
			digits++
		case c == '.' && digits == i:
			below = len(s) - i - point
		default:
			return 0, false
		}
	}
	return float64(whole) / tens[below], digits > 0 && digits < len(tens)
}

// A numberError is a text that is no number. It is written when it is asked for:
// often a text is looked at to see whether it is a number.
type numberError struct{ want, have string }

func (e numberError) Error() string { return fmt.Sprintf("want a %s, have %q", e.want, e.have) }

// The bytes of decimal numbers.
var (
	plainBytes = bytesOf("0123456789+-.eE")
	separators = bytesOf(",'") // of thousands
	signs      = bytesOf("+-")
)

// joinThousands takes the separators out of 1,234,567.8 and reports whether
// they stood where separators of thousands stand.
func joinThousands(s string) (string, bool) {
	first := separators.index(s)
	if first < 0 {
		return "", false
	}
	point := len(s)
	if i := strings.IndexByte(s, '.'); i >= 0 {
		point = i
	}
	if digits := first - signs.prefix(s); digits < 1 || digits > 3 || first > point {
		return "", false
	}
	joined := append(make([]byte, 0, 32), s[:first]...)
	for at := first; at < point; at += len(",123") {
		end := at + len(",123")
		if end > point || s[at] != s[first] || !isInteger(s[at+1:end]) {
			return "", false
		}
		joined = append(joined, s[at+1:end]...)
	}
	return string(append(joined, s[point:]...)), true
}

// parseClock reads hours, minutes and seconds as stopwatches print them
// (5:10.98, 00:13:02), in seconds.
func parseClock(s string) (float64, error) {
	var seconds float64
	for part := range strings.SplitSeq(s, ":") {
		v, err := parseNumber(part)
		if seconds = seconds*60 + v; err != nil || v < 0 || math.IsInf(seconds, 0) {
			return 0, fmt.Errorf("want a time such as 1:02.5, have %q", s)
		}
	}
	return seconds, nil
}
