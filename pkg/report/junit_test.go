package report_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// A junitElement is one of a document, read without knowing its types.
type junitElement struct {
	XMLName  xml.Name
	Attrs    []xml.Attr     `xml:",any,attr"`
	Children []junitElement `xml:",any"`
	Text     string         `xml:",chardata"`
}

func (e junitElement) attribute(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all returns the children of a name.
func (e junitElement) all(name string) []junitElement {
	var found []junitElement
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			found = append(found, c)
		}
	}
	return found
}

func readJUnit(t testing.TB, document string) junitElement {
	t.Helper()
	var root junitElement
	d := xml.NewDecoder(strings.NewReader(document))
	if err := d.Decode(&root); err != nil {
		t.Fatalf("%v:\n%s", err, document)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		if _, err = d.Token(); !errors.Is(err, io.EOF) {
			t.Errorf("something follows the document: %v", err)
		}
	}
	return root
}

// junitAllows has, by element, the children and attributes that junit-10.xsd of
// Jenkins' xUnit plugin allows, those that it requires with a "!".
var junitAllows = map[string]struct{ children, attributes string }{
	"testsuites": {"testsuite", "name time tests failures errors"},
	"testsuite":  {"testsuite properties testcase system-out system-err", "name! tests! failures! errors! group time skipped timestamp hostname id package file log url"},
	"properties": {"property", ""},
	"property":   {"", "name! value!"},
	"testcase":   {"skipped error failure system-out system-err", "name! time classname group"},
	"skipped":    {"", "type message"},
	"error":      {"", "type message"},
	"failure":    {"", "type message"},
	"system-out": {"", ""},
}

// checkSchema holds an element and all below it to what is allowed.
func checkSchema(t testing.TB, e junitElement) {
	t.Helper()
	allowed, known := junitAllows[e.XMLName.Local]
	if !known {
		t.Fatalf("an element %s", e.XMLName.Local)
	}
	attributes := strings.Fields(strings.ReplaceAll(allowed.attributes, "!", ""))
	for _, a := range e.Attrs {
		if !slices.Contains(attributes, a.Name.Local) {
			t.Errorf("%s has an attribute %s", e.XMLName.Local, a.Name.Local)
		}
	}
	for _, a := range strings.Fields(allowed.attributes) {
		if name, required := strings.CutSuffix(a, "!"); required && !slices.ContainsFunc(e.Attrs, func(a xml.Attr) bool { return a.Name.Local == name }) {
			t.Errorf("%s has no attribute %s", e.XMLName.Local, name)
		}
	}
	for _, c := range e.Children {
		if !slices.Contains(strings.Fields(allowed.children), c.XMLName.Local) {
			t.Errorf("%s has a child %s", e.XMLName.Local, c.XMLName.Local)
		}
		checkSchema(t, c)
	}
	if allowed.children != "" && strings.TrimSpace(e.Text) != "" {
		t.Errorf("%s has text %q", e.XMLName.Local, e.Text)
	}
}

// attachment is what Jenkins and GitLab take for the name of a file to publish.
var attachment = regexp.MustCompile(`\[\[`)

// checkJUnit reads the document by the rules of its readers: allowed by the
// schema, counted right, nothing invisible, no file attached.
func checkJUnit(t testing.TB, document string, v gate.Verdict) {
	t.Helper()
	root := readJUnit(t, document)
	checkSchema(t, root)
	suites := root.all("testsuite")
	if len(suites) != 1 {
		t.Fatalf("%d suites, want 1", len(suites))
	}
	cases := suites[0].all("testcase")
	if extra := len(cases) - len(v.Comparisons); extra < 0 || extra > 1 {
		t.Errorf("%d cases for %d comparisons", len(cases), len(v.Comparisons))
	}
	n := map[string]int{"tests": len(cases)}
	for _, c := range cases {
		for name, counted := range map[string]string{"failure": "failures", "error": "errors", "skipped": "skipped"} {
			n[counted] += len(c.all(name))
		}
	}
	for name, want := range n {
		if got := suites[0].attribute(name); got != strconv.Itoa(want) {
			t.Errorf("%s=%q, want %d", name, got, want)
		}
	}
	if attachment.MatchString(document) {
		t.Error("the document may attach a file")
	}
	if strings.ContainsFunc(document, unseen) {
		t.Error("the document has characters that are not seen")
	}
}

// TestJUnitOutcomes says what each outcome is for a tool that knows only tests.
func TestJUnitOutcomes(t *testing.T) {
	verdict := func(gating bool, o gate.Outcome) gate.Verdict {
		v := gate.Verdict{Suite: "s", Outcome: o, Base: &gate.Side{}, Comparisons: []gate.Comparison{{
			Benchmark: "read", Metric: timePerOp, Gating: gating, Base: &gate.Summary{Median: 1e-6}, Head: gate.Summary{Median: 2.5e-6}, Outcome: o, Why: "because",
		}}}
		if gating && o == gate.Regressed {
			v.Status = gate.StatusFail
		}
		return v
	}
	accepted := verdict(true, gate.Regressed)
	accepted.Accept("octocat")
	excused := verdict(true, gate.Regressed)
	excused.Excuse()
	for _, tt := range []struct {
		name          string
		v             gate.Verdict
		kind, message string
	}{
		{"a regression fails", verdict(true, gate.Regressed), "failure", "because"},
		{"an informational one does not", verdict(false, gate.Regressed), "", ""},
		{"what stayed open is skipped", verdict(true, gate.Inconclusive), "skipped", "inconclusive: because"},
		{"informational and open", verdict(false, gate.Inconclusive), "", ""},
		{"the same", verdict(true, gate.Same), "", ""},
		{"improved", verdict(true, gate.Improved), "", ""},
		{"accepted", accepted, "skipped", "regressed, accepted by octocat: because"},
		{"excused", excused, "skipped", "regressed, and fails nothing here: because"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			document := written(t, "junit", tt.v, report.Options{})
			checkJUnit(t, document, tt.v)
			c := readJUnit(t, document).Children[0].all("testcase")[0]
			if c.attribute("classname") != "read" || c.attribute("name") != "time_per_op" || c.attribute("time") != "0.0000025" {
				t.Errorf("attributes %v", c.Attrs)
			}
			for _, kind := range []string{"failure", "error", "skipped"} {
				found := c.all(kind)
				if (kind == tt.kind) != (len(found) == 1) {
					t.Errorf("%d elements %s", len(found), kind)
				} else if kind == tt.kind && found[0].attribute("message") != tt.message {
					t.Errorf("message %q, want %q", found[0].attribute("message"), tt.message)
				}
			}
		})
	}
}

// TestJUnitCheck has a case for what fails the check and is no regression.
func TestJUnitCheck(t *testing.T) {
	v := gate.Verdict{Suite: "s", Base: &gate.Side{}, Status: gate.StatusUndecided, Reasons: []string{"nothing was measured"}}
	document := written(t, "junit", v, report.Options{})
	checkJUnit(t, document, v)
	cases := readJUnit(t, document).Children[0].all("testcase")
	if len(cases) != 1 || cases[0].attribute("name") != "check" || cases[0].Children[0].attribute("message") != "nothing was measured" {
		t.Errorf("cases %v, want one with the reason", cases)
	}
}

// TestJUnitTime has a time only of what took that long.
func TestJUnitTime(t *testing.T) {
	for metric, want := range map[bench.Metric]string{
		timePerOp: "0.25", {Name: "wall_time", Unit: "s"}: "0.25", latency: "", maxRSS: "", instructions: "",
	} {
		v := gate.Verdict{Comparisons: []gate.Comparison{{Metric: metric, Head: gate.Summary{Median: 0.25}}}}
		c := readJUnit(t, written(t, "junit", v, report.Options{})).Children[0].all("testcase")[0]
		if got := c.attribute("time"); got != want {
			t.Errorf("%s: time %q, want %q", metric.Name, got, want)
		}
	}
}
