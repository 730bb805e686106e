package report_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// decoded reads a document back without any of its types.
func decoded(t testing.TB, document string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatalf("no JSON: %v:\n%s", err, document)
	}
	return doc
}

// TestJSONFields has every field that the contract names, in every comparison.
func TestJSONFields(t *testing.T) {
	doc := decoded(t, written(t, "json", awkward(t), report.Options{}))
	fields := func(where string, v any, names ...string) {
		t.Helper()
		object, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%s is no object: %v", where, v)
		}
		for _, name := range names {
			if _, ok := object[name]; !ok {
				t.Errorf("%s has no %q", where, name)
			}
		}
	}
	fields("the document", doc, "schema", "outcome", "base", "head", "comparisons", "added", "removed", "warnings")
	if doc["schema"] != report.VerdictSchema || doc["outcome"] != "regressed" || doc["status"] != 1.0 {
		t.Errorf("schema %v, outcome %v, status %v", doc["schema"], doc["outcome"], doc["status"])
	}
	for _, side := range []string{"base", "head"} {
		fields(side, doc[side], "commit", "time", "runs", "host")
	}
	comparisons := doc["comparisons"].([]any)
	if len(comparisons) == 0 {
		t.Fatal("no comparisons")
	}
	for _, c := range comparisons {
		fields("a comparison", c, "benchmark", "metric", "unit", "better", "gating", "base", "head", "change", "slowdown",
			"threshold", "limit", "warned", "detectable", "outcome", "why")
		object := c.(map[string]any)
		for _, side := range []string{"base", "head"} {
			if object[side] != nil {
				fields("a summary", object[side], "median", "min", "max", "launches", "values")
			}
		}
		if object["slowdown"] != nil {
			fields("a slowdown", object["slowdown"], "estimate", "low", "high", "low_confidence", "high_confidence")
		}
	}
	for _, list := range []string{"added", "removed"} {
		for _, k := range doc[list].([]any) {
			fields(list, k, "benchmark", "metric")
		}
	}
}

// TestJSONNumbers has null for what is no number in JSON, and lists for what is
// empty.
func TestJSONNumbers(t *testing.T) {
	zero := 0.0
	inf := 1 / zero
	nan := inf - inf
	v := gate.Verdict{Comparisons: []gate.Comparison{
		{Change: nan, Detectable: inf},
		{Base: &gate.Summary{Median: 1}, Slowdown: &gate.Slowdown{Estimate: 1.5, Low: 0, High: inf}, Limit: &zero},
	}}
	document := written(t, "json", v, report.Options{Version: "1.2.3"})
	doc := decoded(t, document)
	if doc["noslower"] != "1.2.3" || doc["base"] != nil || doc["head"].(map[string]any)["time"] != nil {
		t.Errorf("noslower %v, base %v, head %v", doc["noslower"], doc["base"], doc["head"])
	}
	for _, list := range []string{"added", "removed", "warnings", "reasons"} {
		if l, ok := doc[list].([]any); !ok || len(l) != 0 {
			t.Errorf("%s: want [], have %v", list, doc[list])
		}
	}
	for i, want := range []string{
		`"base":null,"change":null,"detectable":null,"limit":null,"slowdown":null,"warn":null`,
		`"base":{"launches":0,"max":0,"median":1,"min":0,"values":0},"change":0,"detectable":0,"limit":0,` +
			`"slowdown":{"estimate":1.5,"high":null,"high_confidence":0,"low":null,"low_confidence":0},"warn":null`,
	} {
		c := doc["comparisons"].([]any)[i].(map[string]any)
		got := map[string]any{}
		for _, f := range []string{"base", "change", "detectable", "limit", "slowdown", "warn"} {
			got[f] = c[f]
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != "{"+want+"}" {
			t.Errorf("comparison %d:\n have %s\n want {%s}", i, text, want)
		}
	}
}

// TestJSONKeepsNames reads every name back as it was, but for bytes that are no
// text; and nothing in the document is invisible or acted on.
func TestJSONKeepsNames(t *testing.T) {
	for _, name := range hostileNames {
		v := gate.Verdict{Comparisons: []gate.Comparison{{Benchmark: name, Metric: bench.Metric{Name: "m"}}}}
		document := written(t, "json", v, report.Options{})
		got := decoded(t, document)["comparisons"].([]any)[0].(map[string]any)["benchmark"]
		if want := strings.ToValidUTF8(name, "\uFFFD"); got != want && !slices.Contains([]string{"\xff\xfe", "a\xc3"}, name) {
			t.Errorf("%q came back as %q", name, got)
		}
		checkLog(t, document)
		if bytes.ContainsFunc([]byte(document), unseen) {
			t.Errorf("%q: the document has characters that are not seen", name)
		}
	}
}

// TestJSONTime leaves out a time that RFC 3339 cannot say.
func TestJSONTime(t *testing.T) {
	v := gate.Verdict{Head: gate.Side{Time: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)}}
	if got := decoded(t, written(t, "json", v, report.Options{}))["head"].(map[string]any)["time"]; got != nil {
		t.Errorf("time %v, want null", got)
	}
}
