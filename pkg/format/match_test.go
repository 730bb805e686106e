package format

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// FuzzSteps: the steps of an expression find what Go's engine does.
func FuzzSteps(f *testing.F) {
	for _, seed := range [][2]string{
		{`^(.*?):\s+(\d+)(?:\.\d+)?(?: (ms|us))?$`, "a: b:  12.5 ms"},
		{`(a|ab)(c|bcd)(d*)`, "xabcd"},
		{`(?:(a)|b)*c`, "abac"}, {`(?:(a+)(b)?)+$`, "aabaa"}, {`(?i)straße\b`, "STRASSE, Straße"},
		{`[^x]+?y`, "\xff\xe2\x82y"}, {`\bµs|\Bs`, "5 µs"}, {`(?:a|b)+?b{2,3}`, "abbbb"}, {`x*`, ""},
		{`(a*)*b`, "aaac"}, {`x(a|b){1,2}(c)?`, "xab"}, {`(\w+) (\w+?)(\d)b`, "a b1 c23b"}, {`(?m)^b$`, "a\nb"}, {`.+\s{2,}[kKMG]?i?B`, "1  KiB"}, {`(?s)a.b`, "a\nb"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		want, err := regexp.Compile(expression)
		if err != nil {
			return
		}
		p := compile(expression)
		if got, want := p.FindStringSubmatch(text), want.FindStringSubmatch(text); !slices.Equal(got, want) {
			t.Errorf("%q in %q: %q, want %q", expression, text, got, want)
		}
		if got, want := slices.Collect(p.eachSubmatch(text)), want.FindAllStringSubmatch(text, -1); !reflect.DeepEqual(got, want) {
			t.Errorf("all %q in %q: %q, want %q", expression, text, got, want)
		}
		if got, want := p.ReplaceAllString(text, "<$1>"), want.ReplaceAllString(text, "<$1>"); got != want {
			t.Errorf("%q in %q replaced: %q, want %q", expression, text, got, want)
		}
		if got, want := p.MatchString(text), want.MatchString(text); got != want {
			t.Errorf("%q in %q: %v, want %v", expression, text, got, want)
		}
	})
}

// expressionsIn are the expressions of a source that are written in one piece.
var expressionsIn = regexp.MustCompile("compile\\(`([^`]*)`\\)")

// TestStepsOfFormats: the expressions that lines are read by have steps, and they
// find in every line of the inputs what Go's engine does.
func TestStepsOfFormats(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := filepath.Glob("../../testdata/format/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, input := range inputs {
		data, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		for text := range strings.Lines(string(data)) {
			const longest = 300 // of which there are enough
			seen[strings.TrimSpace(text[:min(len(text), longest)])] = true
		}
	}
	expressions := 0
	for _, source := range sources {
		data, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range expressionsIn.FindAllStringSubmatch(string(data), -1) {
			expressions++
			p, want := compile(m[1]), regexp.MustCompile(m[1])
			for text := range seen {
				if got, want := p.FindStringSubmatch(text), want.FindStringSubmatch(text); !slices.Equal(got, want) {
					t.Errorf("%s: %q in %q: %q, want %q", source, m[1], text, got, want)
				}
			}
			if ofLine := !strings.HasPrefix(m[1], "(?m)"); ofLine && p.made().steps == nil {
				t.Errorf("%s: %q has no steps", source, m[1])
			}
		}
	}
	if expressions < 100 {
		t.Errorf("%d expressions, want those of all formats", expressions)
	}
}
