package format

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestScanJSON checks which keys are found, and how far a value goes.
func TestScanJSON(t *testing.T) {
	var tree pathTree
	paths := strings.Fields(`a a.b a=be b b.c b.c[].d b.c[].e b.d c d e [].a\"b [].b [].c`)
	for _, path := range paths {
		tree.number(path)
	}
	for _, tt := range []struct{ in, keys, rest string }{
		{`{"a": 1, "b": {"c": [{"d": "x}"}, {"e": null}]}} rest`, "a b b.c b.c[].d b.c[].e", " rest"},
		{`[{"a\"b": [1, 2]}, {"c": -1.5e+9}]`, `[].a\"b [].c`, ""},
		{`["a", "b"] {"c": 1}`, "", ` {"c": 1}`},
		{`{"a": {"b": 1`, "a a.b", ""},
		{`{"a": "b`, "a", ""},
		{`{"a": "be\"tter than", "c": 1}`, "a a=be c", ""},
		{`{"b": "be", "a": "bad"}`, "b a", ""},
		{"{\"a\": 1,\n{\"c\": 1}", "a", `{"c": 1}`},
		{"{\"a\": [1\n{\"c\": 1}", "a", `{"c": 1}`},
		{`[1/2] Compiling`, "", "/2] Compiling"},
		{`[INFO] started`, "", " started"},
		{`{not JSON}`, "", "not JSON}"},
	} {
		for size := 1; size <= len(tt.in); size++ {
			var scanner jsonScanner
			scanner.begin(&tree.root)
			var keys []string
			n := 0
			for event := scanMore; n < len(tt.in) && event != scanEnd; {
				var more int
				more, event = scanner.scan([]byte(tt.in[n:min(n+size, len(tt.in))]))
				n += more
				for _, path := range paths {
					if scanner.found.has(tree.number(path)) && !slices.Contains(keys, path) {
						keys = append(keys, path)
					}
				}
			}
			if got := strings.Join(keys, " "); tt.in[n:] != tt.rest || got != tt.keys {
				t.Errorf("%q in parts of %d bytes: keys %q, leaves %q, want %q, %q", tt.in, size, got, tt.in[n:], tt.keys, tt.rest)
			}
		}
	}
}

// TestWithKeys checks where a document is found among other lines.
func TestWithKeys(t *testing.T) {
	shape := withKeys("results[].name")
	for _, tt := range []struct {
		name, in string
		want     int
	}{
		{"alone", `{"results": [{"name": 1}]}`, 0},
		{"byte order mark", "\ufeff" + `{"results": [{"name": 1}]}`, 3},
		{"after a log", "[info] a\n{\"level\": 1}\n" + `{"results": [{"name": 1}]}`, 22},
		{"after another document", "{\"a\":\n[1]}\n\n " + `{"results": [{"name": 1}]}`, 13},
		{"within a line", `x {"results": [{"name": 1}]}`, -1},
		{"within another document", `{"all": {"results": [{"name": 1}]}}`, -1},
		{"nothing", "", -1},
		{"cut off", `{"results": [{"na`, -1},
	} {
		if got := shape.find([]byte(tt.in), 0); got != tt.want {
			t.Errorf("%s: find(%q) = %d, want %d", tt.name, tt.in, got, tt.want)
		}
	}
}

// TestFindIsLinear checks that brackets without an end are looked at once.
func TestFindIsLinear(t *testing.T) {
	shape := withKeys("results[].name")
	for _, line := range []string{"[\n", "{\n", "{\"a\":\n", "[]\n", "{\"a\": [\n1,\n"} {
		start := time.Now()
		shape.find([]byte(strings.Repeat(line, 4<<20/len(line))), 0)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("find in 4 MiB of %q takes %v", line, took)
		}
	}
}

// TestWithoutNonFinite checks that strings keep what they say.
func TestWithoutNonFinite(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"a": NaN, "b": -Infinity, "c": [inf,nan]}`, `{"a": null, "b": null, "c": [null,null]}`},
		{`{"info": "NaN, inf \" nan", "a": NaN}`, `{"info": "NaN, inf \" nan", "a": null}`},
		{`{"machine_info": "x"}`, `{"machine_info": "x"}`},
	} {
		if got := string(withoutNonFinite([]byte(tt.in))); got != tt.want {
			t.Errorf("withoutNonFinite(%s) = %s, want %s", tt.in, got, tt.want)
		}
	}
}
