package format_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// gabPrefix stands before the document of github-action-benchmark's history.
const gabPrefix = "window.BENCHMARK_DATA = "

// wantsEnd matches what is said of a document whose end is missing.
var wantsEnd = regexp.MustCompile(`its end\b|an end of the last line|a whole event|want a whole JSON document`)

// tellsNothing has the formats, and inputs, of which nothing is known at nine tenths
// of the document, and why.
var tellsNothing = map[string]string{
	"benchmarkdotnet/metric-that-is-none.txt":           "its one benchmark is not whole",
	"criterion/criterion-0.3.6-sample.txt":              "its times come last, all in one list",
	"criterion/sample.txt":                              "its times come last, all in one list",
	"github-action-benchmark/data-js-go-and-pytest.txt": "the newest entry of a history comes last",
	"github-action-benchmark/data-js.txt":               "the newest entry of a history comes last",
	"go":                                                "an event is whole or none",
	"hyperfine/after-progress-coloured-and-joined.txt":  "its one result is not whole",
	"k6/many-checks-before-metrics.txt":                 "its metrics come last",
	"libtest":                                           "an event is whole or none",
	"noslower/three-documents.txt":                      "its one sample is not whole",
	"noslower/verdict.txt":                              "its one sample is not whole",
	"perf-stat":                                         "an event is whole or none",
	"pyperf/single-with-nulls.txt":                      "its name comes last",
	"scylla/json-no-numbers.txt":                        "its name comes last",
	"tarantool/cut-off.txt":                             "its one benchmark is not whole",
	"tarantool/json-after-comments.txt":                 "its one benchmark is not whole",
	"tinybench/tasks-version-2.txt":                     "its one task is not whole",
}

// untold has the inputs whose format is not recognised at nine tenths of the
// document, and why.
var untold = map[string]string{
	"k6/many-checks-before-metrics.txt": "its metrics come last",
	"noslower/three-documents.txt":      "its schema comes last",
	"tarantool/cut-off.txt":             "its rate comes last, without which it is Google Benchmark's",
	"tarantool/json-after-comments.txt": "its rate comes last, without which it is Google Benchmark's",
}

// TestCutOff cuts every document at many places. That its end is missing is said; all
// that is read is what is read of the whole, and no less of more of it; and when
// nearly all is there, something is.
func TestCutOff(t *testing.T) {
	const places = 60
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			text := string(read(t, path))
			for _, document := range documentsOf(text) {
				start, end := document[0], document[1]
				whole := results(f, text[:end])
				alone := len(results(f, text[start:end])) > 0
				var before []string
				for at := start + len(text[start:end]) - len(strings.TrimPrefix(text[start:end], gabPrefix)) + 1; at < end; at += 1 + (end-start)/places {
					cut := text[:at]
					got := results(f, cut)
					if lost := missing(before, got); len(lost) > 0 {
						t.Errorf("%s, cut off at %d after %q: does not know %q any more", path, at, tail(cut), lost)
					}
					if invented := missing(got, whole); len(invented) > 0 {
						t.Errorf("%s, cut off at %d after %q: invents %q", path, at, tail(cut), invented)
					}
					if !wantsEnd.MatchString(faults(f, cut)) {
						t.Errorf("%s, cut off at %d after %q: does not say that the end is missing: %s", path, at, tail(cut), faults(f, cut))
					}
					before = got
				}
				late := text[start : start+(end-start)*9/10]
				input := f.Name + "/" + filepath.Base(path)
				why := cmp.Or(tellsNothing[f.Name], tellsNothing[input])
				switch got := results(f, late); {
				case len(got) == 0 && alone && why == "":
					t.Errorf("%s, nine tenths of the document at %d: want something read, have nothing: %s", path, start, faults(f, late))
				case len(got) > 0 && why != "":
					t.Errorf("%s: something is read, and should not, for %s: take it out of tellsNothing", path, why)
				}
				if as, err := format.Detect(strings.NewReader(late)); alone && untold[input] == "" && (err != nil || as.Name != f.Name) {
					t.Errorf("Detect(nine tenths of %s at %d) = %q, %v", path, start, as.Name, err)
				}
			}
		}
	}
}

// documentsOf returns where the JSON documents of a text begin and end.
func documentsOf(text string) [][2]int {
	var found [][2]int
	for at := 0; at < len(text); {
		line := strings.TrimLeft(text[at:], " \t\r\n\ufeff")
		start := len(text) - len(line)
		end := start + strings.IndexByte(line+"\n", '\n')
		line = strings.TrimPrefix(line, gabPrefix)
		brackets := len(text) - len(line)
		if start < len(text) && (line[0] == '{' || line[0] == '[') {
			finite := regexp.MustCompile(`-?\b(?:NaN|nan|Infinity|inf)\b`).ReplaceAllStringFunc(line, func(word string) string {
				return "0" + strings.Repeat(" ", len(word)-1)
			})
			document := json.NewDecoder(strings.NewReader(finite))
			if document.Decode(new(json.RawMessage)) == nil {
				end = brackets + int(document.InputOffset())
				if strings.Contains(text[brackets:end], `"`) {
					found = append(found, [2]int{start, end})
				}
			}
		}
		at = max(end, start)
		if at < len(text) {
			at += strings.IndexByte(text[at:]+"\n", '\n') + 1
		}
	}
	return found
}

// missing returns those of the first that the second has not, or not as often.
func missing(first, second []string) []string {
	second = slices.Clone(second)
	var lacks []string
	for _, s := range first {
		i := slices.Index(second, s)
		if i < 0 {
			lacks = append(lacks, s)
			continue
		}
		second = slices.Delete(second, i, i+1)
	}
	return lacks
}

// faults are the errors that a format reports of a text.
func faults(f format.Format, text string) string {
	var all bytes.Buffer
	for _, err := range f.Read(strings.NewReader(text), "input") {
		if err != nil {
			all.WriteString(err.Error() + "\n")
		}
	}
	return all.String()
}

func tail(text string) string { return text[max(0, len(text)-40):] }

// TestCutOffEarly reads documents, by the name of their format, that end before the
// keys by which they are recognised.
func TestCutOffEarly(t *testing.T) {
	for _, tt := range []struct {
		input, after string // the last text that is there
		want         []string
	}{
		{"autocannon/autocannon-9.0.0.txt", `"non2xx":0,`, []string{"http://127.0.0.1:18080/ connections=2 0 errors 0"}},
		{"autocannon/autocannon-9.0.0.txt", `"non2xx":`, nil},
		{"criterion/criterion-0.3.6-estimates.txt", `{"mean":`, nil},
		{"tinybench/tasks.txt", `[`, nil},
		{"vegeta/vegeta-12.13.0.txt", `"mean":580600,"50th":434`, []string{" 0 latency_mean 0.0005806"}},
		{"k6/summary-export.txt", `"metrics": {`, nil},
	} {
		name := filepath.Dir(tt.input)
		f, err := format.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		before, _, is := strings.Cut(string(read(t, filepath.Join(testdata, tt.input))), tt.after)
		if !is {
			t.Fatalf("%s has no %q", tt.input, tt.after)
		}
		cut := before + tt.after
		if got := results(f, cut); !slices.Equal(got, tt.want) || !wantsEnd.MatchString(faults(f, cut)) {
			t.Errorf("%s, cut off after %q: want %q and a warning, have %q: %s", tt.input, tt.after, tt.want, got, faults(f, cut))
		}
	}
}

// TestCutOffSorted is the part of TestCutOff that must hold whatever the order of the
// members, for documents that a program has sorted: what is read is of the whole.
func TestCutOffSorted(t *testing.T) {
	const places = 60
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			text := string(read(t, path))
			for _, document := range documentsOf(text) {
				var members any
				in := json.NewDecoder(strings.NewReader(text[document[0]:document[1]]))
				in.UseNumber()
				if in.Decode(&members) != nil {
					continue // it has numbers that are none
				}
				encoded, err := json.Marshal(members)
				if err != nil {
					t.Fatal(err)
				}
				sorted := string(encoded)
				whole := results(f, sorted)
				for at := 1; at < len(sorted); at += 1 + len(sorted)/places {
					if invented := missing(results(f, sorted[:at]), whole); len(invented) > 0 {
						t.Errorf("%s, sorted and cut off after %q: invents %q", path, tail(sorted[:at]), invented)
					}
				}
			}
		}
	}
}

// TestCutOffWithin reads documents without an end, each within the one before: no more
// of them are read than can be in linear time.
func TestCutOffWithin(t *testing.T) {
	f, err := format.ByName("vegeta")
	if err != nil {
		t.Fatal(err)
	}
	const document = `{"latencies": {"50th": 1, "mean": 1}, "bytes_in": {"total": 1}, "bytes_out": {"total": 1}, "status_codes":` + "\n"
	one, all := results(f, document), results(f, strings.Repeat(document, 1000))
	if len(one) == 0 || len(all) < len(one) || len(all) > 200*len(one) {
		t.Errorf("a document has %d results, 1000 have %d: want some of them", len(one), len(all))
	}
}
