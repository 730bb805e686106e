package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// together returns what a form makes of several suites.
func together(t testing.TB, form string, s report.Suites, o report.Options) string {
	t.Helper()
	f, err := report.ByName(form)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := f.WriteSuites(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// several are suites of every standing, none in its place.
func several(t testing.TB) report.Suites {
	t.Helper()
	same := decide(t, []sample{{"scan", instructions, five(1000)}}, []sample{{"scan", instructions, five(1000)}}, nil)
	same.Suite = "scan"
	baseless := gate.Verdict{Suite: "@org/team <!-- -->", NoBaseline: "none of 3 runs has left a record", Head: same.Head, Refused: []string{"run 1: it ran the code of a fork"}}
	open := decide(t, []sample{{"", throughput, noisy(100)}}, []sample{{"", throughput, noisy(101)}}, nil)
	open.Suite = "load"
	excused := decide(t, []sample{{"write", instructions, five(1000)}}, []sample{{"write", instructions, five(1100)}}, nil)
	excused.Suite = "write"
	excused.Accept("alice, by the label \"perf-regression-accepted\" at 2026-11-30 12:00 UTC")
	unexpected := decide(t, []sample{{"a", instructions, five(1000)}}, []sample{{"a", instructions, five(1000)}}, func(p *gate.Policy) { p.Suite, p.Expect = "unexpected", []string{"b"} })
	missing := decide(t, []sample{{"a", instructions, five(1000)}, {"b", instructions, five(1000)}}, []sample{{"a", instructions, five(1000)}}, func(p *gate.Policy) { p.Suite, p.OnMissing = "missing", gate.Fail })
	return report.Suites{
		Verdicts: []gate.Verdict{same, baseless, open, excused, unexpected, missing, awkward(t)},
		Unread:   []string{"artifact noslower-measurements-bomb: not an archive to be read", "artifact noslower-measurements-| x |: it is of the suite \"y\""},
	}
}

// TestSuitesGolden compares the documents of several suites with
// testdata/report/suites-<form>.golden; -update writes those anew.
func TestSuitesGolden(t *testing.T) {
	for _, f := range report.All() {
		if f.Together == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			golden(t, "suites-"+f.Name, together(t, f.Name, several(t), report.Options{Version: "1.2.3", AcceptLabel: "perf-regression-accepted"}))
		})
	}
}

// TestOneSuite is told of as ever, unless something is missing beside it.
func TestOneSuite(t *testing.T) {
	v := awkward(t)
	for _, f := range report.All() {
		if got := together(t, f.Name, report.Suites{Verdicts: []gate.Verdict{v}}, report.Options{}); got != written(t, f.Name, v, report.Options{}) {
			t.Errorf("%s of one suite is another than that of its verdict:\n%s", f.Name, got)
		}
	}
	got := together(t, "headline", report.Suites{Verdicts: []gate.Verdict{v}, Unread: []string{"artifact x: it is empty"}}, report.Options{})
	if want := "Regression in the suite storage. Missing here: artifact x: it is empty.\n"; got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
}

// TestSuitesAlike: what holds of every suite is said of all.
func TestSuitesAlike(t *testing.T) {
	v := decide(t, []sample{{"scan", instructions, five(1000)}}, []sample{{"scan", instructions, five(1000)}}, nil)
	got := together(t, "headline", report.Suites{Verdicts: []gate.Verdict{v, v}}, report.Options{})
	if want := "No regression in any of 2 suites.\n"; got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
	v = awkward(t)
	got = together(t, "headline", report.Suites{Verdicts: []gate.Verdict{v, v}}, report.Options{})
	if want := "Regression in all 2 suites.\n"; got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
}

// TestSuitesOrder: of suites that regressed, the one that did most comes first.
func TestSuitesOrder(t *testing.T) {
	var s report.Suites
	for i, by := range []float64{1.1, 1.5, 1, 1.3} {
		v := decide(t, []sample{{"scan", instructions, five(1000)}}, []sample{{"scan", instructions, five(1000 * by)}}, nil)
		v.Suite = fmt.Sprint(i)
		s.Verdicts = append(s.Verdicts, v)
	}
	got := together(t, "headline", s, report.Options{})
	if want := "Regression in 3 of 4 suites: 1, 3, 0. No regression in 2.\n"; got != want {
		t.Errorf("the headline is %q, want %q", got, want)
	}
}

// TestSuitesLimit: however large the suites are, each regressed one keeps its
// heading, its first sentence and its worst rows, and what is cut is counted.
func TestSuitesLimit(t *testing.T) {
	const n = 20
	var s report.Suites
	for i := range n {
		v := many(t, 200, (i%2)*150)
		v.Suite = fmt.Sprintf("suite%d", i)
		s.Verdicts = append(s.Verdicts, v)
	}
	got := together(t, "markdown", s, report.Options{Limit: 60_000, AcceptLabel: "ok", Whole: "https://github.example/run/1"})
	if len(got) > 60_000 {
		t.Fatalf("%d bytes", len(got))
	}
	for _, want := range []string{"Regression in 10 of 20 suites: `suite1`, `suite3`, `suite5` and 7 more.", "by the label `ok`", "[the whole of it](https://github.example/run/1)"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Count(got, "accepts it") != 1 {
		t.Error("how to accept is not said once")
	}
	parts := strings.Split(got, "\n### ")
	if len(parts) != 1+n {
		t.Fatalf("%d headings, want %d", len(parts)-1, n)
	}
	for i, part := range parts[1:] {
		bad := i < n/2
		if want := fmt.Sprintf("`suite%d`\n", (i*2+1)%n-i/10); !strings.HasPrefix(part, want) {
			t.Errorf("suite %d is %.20q, want %q", i, part, want)
		}
		rows := strings.Count(part, "\n| ❌")
		if counted := regexp.MustCompile(`and \d+ more comparisons: \d+ regressed`).MatchString(part); bad && (rows < 5 || !counted) || !bad && rows > 0 {
			t.Errorf("suite %d has %d rows of regressions, counted %v", i, rows, counted)
		}
	}
}

// TestSuitesInert finds nothing of a hostile text but the text where there are
// several suites, too.
func TestSuitesInert(t *testing.T) {
	for _, name := range hostileNames {
		v := hostileVerdict(name)
		baseless := v
		baseless.Base, baseless.NoBaseline = nil, name
		s := report.Suites{Verdicts: []gate.Verdict{baseless, v}, Unread: []string{name, "artifact " + name + ": " + name}}
		for _, form := range []string{"headline", "text", "markdown"} {
			got := together(t, form, s, report.Options{})
			checkLog(t, got)
			if form == "markdown" {
				checkMarkdown(t, got, -1)
			} else if strings.ContainsFunc(got, unseen) {
				t.Errorf("%s has characters that are not seen: %q", form, got)
			}
		}
	}
}

// golden compares a report with its file, or writes that anew.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("../../testdata/report", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: go test ./pkg/report -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is written now (go test ./pkg/report -update renews it):\n%s", path, got)
	}
}
