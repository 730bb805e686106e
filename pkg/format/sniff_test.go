package format

import (
	"regexp/syntax"
	"strings"
	"testing"
)

// TestNeeds checks that no text is asked for that a match can be without.
func TestNeeds(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{`^[> \t]*op rate\s*:`, "op rate"},
		{`^\s*(?:op rate|latency mean)\s*:`, "op rate|latency mean"},
		{`^\d+ (?:ns|us)(?:/op)?$`, " ns| us"},
		{`^(?:\d+ items){2} in`, " items"},
		{`^(?:\d+ items)* in`, " in"},
		{`^r(?:ps|uns/sec)$`, "rps|runs/sec"},
		{`^(?:ab)+c`, "abc"},
		{`^[.0-2]+(?:s|ms)\b`, ".s|.ms|0s|0ms|1s|1ms|2s|2ms"},
		{`^(?i)op rate`, ""},
		{`^(?:op|\d+)$`, ""},
		{`^\d+`, ""},
	} {
		parsed, err := syntax.Parse(tt.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range needs(parsed) {
			got = append(got, string(n))
		}
		if got := strings.Join(got, "|"); got != tt.want {
			t.Errorf("needs(%q) = %q, want %q", tt.pattern, got, tt.want)
		}
	}
}

// sniffRate stands with the formats' own, since all are looked for at once.
var sniffRate = sniffLine(`^op rate: \d`, `^\d+ in all$`)

// TestSniffLine checks that a line is matched as lines yields it.
func TestSniffLine(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     bool
	}{
		{"nothing", "", false},
		{"alone", "op rate: 5", true},
		{"Windows", "\ufeffop rate: 5\r\n", true},
		{"among others", "a\n\nop rate: x\nop rate: 5\nb", true},
		{"progress", "50%\rop rate: 5\n", true},
		{"overwritten", "op rate: 5\rdone\n", false},
		{"colours", "\x1b[32mop rate: 5\x1b[0m\n", true},
		{"within a line", "the op rate: 5\n", false},
		{"the second pattern", "a\n12 in all\n", true},
		{"longer than a line may be", "op rate: 5" + strings.Repeat("x", maxLine) + "\n", false},
	} {
		if got := sniffRate(inputOf([]byte(tt.in))); got != tt.want {
			t.Errorf("%s: sniffLine claims %.40q: %v, want %v", tt.name, tt.in, got, tt.want)
		}
	}
}
