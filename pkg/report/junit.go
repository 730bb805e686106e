package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

var _ = register(Form{
	Name:  "junit",
	About: "a test case a comparison, in JUnit's XML, for Jenkins, GitLab and others",
	Write: writeJUnit,
})

// The document's types. JUnit's XML has no specification; this keeps to what
// Jenkins reads, by junit-10.xsd of its xUnit plugin: test cases there have no
// properties, so that values are in their output.
// https://github.com/jenkinsci/xunit-plugin/tree/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd
type (
	junitDoc struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Timestamp  string          `xml:"timestamp,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
		Output     junitOutput     `xml:"system-out"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Time    string       `xml:"time,attr,omitempty"`
		Failure *junitReason `xml:"failure"`
		Error   *junitReason `xml:"error"`
		Skipped *junitReason `xml:"skipped"`
		Output  *junitOutput `xml:"system-out"`
	}
	junitReason struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"`
	}
	junitOutput struct {
		Text string `xml:",cdata"`
	}
)

func writeJUnit(w io.Writer, v gate.Verdict, o Options) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitOf(v, o)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitText makes text for the document: characters that XML has not are made
// visible, and so is the tag in an output by which Jenkins and GitLab attach a
// file of theirs.
func junitText(s string) string { return strings.ReplaceAll(Printable(s), "[[", `[\x5b`) }

func junitOf(v gate.Verdict, o Options) junitDoc {
	s := junitSuite{Name: junitText(nameOf(v, "")), Properties: junitProperties(v, o), Output: junitOutput{junitTold(v)}}
	if t := v.Head.Time.UTC(); !t.IsZero() {
		s.Timestamp = t.Format("2006-01-02T15:04:05")
	}
	gating, informational := ranked(v.Comparisons)
	_, common := commonWarnings(v)
	for _, c := range append(gating, informational...) {
		s.Cases = append(s.Cases, junitCaseOf(v, c, common))
	}
	// What fails the check and is no regression would otherwise leave every case
	// passed.
	if reasons := further(v); v.Status != gate.StatusPass && len(reasons) > 0 {
		s.Cases = append(s.Cases, junitCase{
			Class: s.Name, Name: "check", Error: &junitReason{Message: junitText(strings.Join(reasons, "; "))},
		})
	}
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		s.Failures += count1(c.Failure)
		s.Errors += count1(c.Error)
		s.Skipped += count1(c.Skipped)
	}
	return junitDoc{Name: "noslower", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suite: s}
}

func count1(r *junitReason) int {
	if r == nil {
		return 0
	}
	return 1
}

// junitCaseOf makes a case of a comparison. A regression fails it if it fails
// the check; one that was accepted, like what stayed open, is skipped, which
// these tools show with its message. An informational one always passes.
func junitCaseOf(v gate.Verdict, c *gate.Comparison, common map[string]int) junitCase {
	numbers := junitNumbers(c, common)
	t := junitCase{Class: junitText(nameOf(v, c.Benchmark)), Name: junitText(c.Metric.Name), Time: junitTime(c), Output: &junitOutput{numbers}}
	why := junitText(c.Why)
	switch {
	case !c.Gating:
	case c.Outcome == gate.Regressed && v.Accepted != "":
		t.Skipped = &junitReason{Message: "regressed, accepted by " + junitText(v.Accepted) + ": " + why}
	case c.Outcome == gate.Regressed && v.Status == gate.StatusPass:
		t.Skipped = &junitReason{Message: "regressed, and fails nothing here: " + why}
	case c.Outcome == gate.Regressed:
		t.Failure, t.Output = &junitReason{Type: "regressed", Message: why, Text: numbers}, nil
	case c.Outcome == gate.Inconclusive:
		t.Skipped = &junitReason{Message: "inconclusive: " + why}
	}
	return t
}

// junitNumbers is the text of a case: what a table of comparisons has.
func junitNumbers(c *gate.Comparison, common map[string]int) string {
	outcome := outcomeOf(c)
	if !c.Gating {
		outcome += ", not gating"
	}
	lines := []string{
		outcome + ": " + junitText(c.Why),
		"base " + sideWords(c, c.Base), "head " + sideWords(c, &c.Head),
		"change " + changeOf(c) + ", slowdown " + boundsOf(c.Slowdown),
	}
	for _, n := range notes(c, common) {
		lines = append(lines, "note: "+junitText(n))
	}
	return strings.Join(lines, "\n")
}

func sideWords(c *gate.Comparison, s *gate.Summary) string {
	if s == nil {
		return none
	}
	return fmt.Sprintf("%s (%s to %s; %s of %s)", junitText(gate.Quantity(s.Median, c.Metric.Unit)),
		junitText(quantity(s.Min, c.Metric)), junitText(quantity(s.Max, c.Metric)), gate.Count(s.Values, "value"), gate.Count(s.Launches, "launch"))
}

// junitTime is how long a case took, in seconds, where that is what its metric
// says: the time of an operation or of a whole run, and no percentile.
func junitTime(c *gate.Comparison) string {
	if c.Metric.Name != "time_per_op" && c.Metric.Name != "wall_time" || !finite(c.Head.Median) || c.Head.Median < 0 {
		return ""
	}
	return strconv.FormatFloat(c.Head.Median, 'f', -1, 64)
}

func junitProperties(v gate.Verdict, o Options) []junitProperty {
	var list []junitProperty
	add := func(name, value string) {
		if value != "" {
			list = append(list, junitProperty{name, junitText(value)})
		}
	}
	add("noslower", o.Version)
	add("outcome", v.Outcome.String())
	add("status", strconv.Itoa(int(v.Status)))
	if v.Base != nil {
		add("base", v.Base.Commit)
		add("base machine", hostWords(v.Base.Host))
	}
	add("head", v.Head.Commit)
	add("head machine", hostWords(v.Head.Host))
	return list
}

// junitTold is what there is to say of the whole suite.
func junitTold(v gate.Verdict) string {
	var lines []string
	for _, s := range headline(v, plain) {
		lines = append(lines, junitText(s))
	}
	for _, list := range []struct {
		title string
		items []string
	}{
		{"warning", warningsOf(v)}, {"looked like a baseline, and is none", v.Refused},
		{"loosened", v.Loosened}, {"added", keyItems(v, v.Added)}, {"removed", keyItems(v, v.Removed)},
	} {
		for _, s := range list.items {
			lines = append(lines, list.title+": "+junitText(s))
		}
	}
	return strings.Join(lines, "\n")
}
