package report_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/mattn/go-runewidth"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// hostileNames want to be something else than a name: one a line, as Go writes
// it, in a file that the tests of the commands read too.
var hostileNames = func() []string {
	data, err := os.ReadFile("../../testdata/hostile.txt")
	if err != nil {
		panic(err)
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		name, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			panic(err)
		}
		names = append(names, name)
	}
	return names
}()

// hostileVerdict puts a text wherever a verdict holds one from outside.
func hostileVerdict(s string) gate.Verdict {
	metric := bench.Metric{Name: s, Unit: s}
	limit := 3.5
	comparison := func(gating bool, o gate.Outcome) gate.Comparison {
		return gate.Comparison{
			Benchmark: s, Metric: metric, Gating: gating, Base: &gate.Summary{Median: 1}, Head: gate.Summary{Median: 2},
			Change: 1, Slowdown: &gate.Slowdown{Estimate: 2, Low: 1.5, High: 3}, Threshold: .05, Limit: &limit, Detectable: .1,
			Outcome: o, Why: s, Warnings: []string{s, "renamed from " + fmt.Sprintf("%q", s), "x " + s + " y"},
		}
	}
	host := bench.Host{OS: s, Arch: s, CPU: s, Cores: 2, Kernel: s, Libc: s, Image: s}
	return gate.Verdict{
		Suite: s, Outcome: gate.Regressed, Status: gate.StatusFail, Reasons: []string{s, "x: " + s},
		Base: &gate.Side{Commit: s, Host: host, Origin: s}, Head: gate.Side{Commit: s, Host: bench.Host{CPU: s}},
		Comparisons: []gate.Comparison{
			comparison(true, gate.Regressed), comparison(true, gate.Inconclusive), comparison(true, gate.Same), comparison(true, gate.Improved),
			comparison(false, gate.Regressed), comparison(false, gate.Same),
		},
		Added: []bench.Key{{Benchmark: s, Metric: s}}, Removed: []bench.Key{{Benchmark: s, Metric: s}},
		Warnings: []string{s, s + ": " + s}, Refused: []string{s, "run 1 of " + s + ": " + s},
		Moved:    &gate.Moved{Benchmark: s, Base: 1, Head: 2, Explained: 1, Functions: []gate.MovedFunction{{Name: s, File: s, Line: 1, Head: 1}}},
		Accepted: s + ", by the label " + s, Loosened: []string{s, s + " has no limit any more"},
	}
}

// TestInert finds nothing of a hostile text but the text, in every form.
func TestInert(t *testing.T) {
	if len(hostileNames) < 200 {
		t.Fatalf("have %d names", len(hostileNames))
	}
	for _, name := range hostileNames {
		t.Run(fmt.Sprintf("%.40q", name), func(t *testing.T) {
			v := hostileVerdict(name)
			checkForms(t, v)
			v.Base, v.NoBaseline = nil, name
			checkForms(t, v)
		})
	}
}

// checkForms holds every form of a verdict to what it must be for any names.
func checkForms(t *testing.T, v gate.Verdict) {
	t.Helper()
	for _, form := range []string{"headline", "text"} {
		got := written(t, form, v, report.Options{})
		checkLog(t, got)
		if strings.ContainsFunc(got, unseen) {
			t.Errorf("%s has characters that are not seen: %q", form, got)
		}
		if lines := strings.Count(got, "\n"); form == "headline" && lines != 1 {
			t.Errorf("the headline has %d lines: %q", lines, got)
		}
	}
	for _, line := range strings.Split(written(t, "text", v, report.Options{}), "\n") {
		if w := (&runewidth.Condition{StrictEmojiNeutral: true}).StringWidth(line); w > 100 {
			t.Errorf("a line of %d columns: %q", w, line)
		}
	}
	decoded(t, written(t, "json", v, report.Options{}))
	markdown := written(t, "markdown", v, report.Options{})
	checkLog(t, markdown)
	rows := len(v.Comparisons)
	if v.Moved != nil {
		rows += len(v.Moved.Functions) + 1 // and the sum
	}
	checkMarkdown(t, markdown, rows)
	checkMarkdown(t, written(t, "markdown", v, report.Options{Limit: 2000}), -1)
	checkPage(t, written(t, "html", v, report.Options{}), len(v.Comparisons))
	checkJUnit(t, written(t, "junit", v, report.Options{}), v)
	checkCSV(t, written(t, "csv", v, report.Options{}), v)
	checkBadge(t, written(t, "badge", v, report.Options{}))
	for _, form := range []string{"html", "junit", "csv", "badge", "badge-json"} {
		checkLog(t, written(t, form, v, report.Options{}))
	}
}

// unseen reports whether a rune is anything but a mark on the screen.
func unseen(r rune) bool {
	return r != '\n' && r != '\ufe0f' && (unicode.Is(unicode.C, r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) || r != ' ' && unicode.Is(unicode.Zs, r))
}

var command = regexp.MustCompile(`(?m)^\s*::|##\[`)

// checkLog finds no command that the log of a workflow would obey.
func checkLog(t testing.TB, s string) {
	t.Helper()
	if c := command.FindStringIndex(s); c != nil {
		t.Errorf("a command for a workflow: %q", s[c[0]:min(len(s), c[0]+60)])
	}
}

var (
	gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))
	// ours is the HTML that the report itself writes.
	ours = regexp.MustCompile(`^(<details><summary>[A-Za-z0-9 ,:]+</summary>\s*|</details>\s*|<br>)$`)
	// acted is what GitHub makes links or notices of in text that is not code.
	acted = regexp.MustCompile(`@\S|#\d|GH-\d|://|www\.\S|[<>|\x60\\]|\*\*|\b([0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}\b`)
)

// checkMarkdown reads Markdown by a parser of its own and finds nothing but
// text, code and the tables, of so many rows, if that is 0 or more.
func checkMarkdown(t testing.TB, markdown string, want int) {
	t.Helper()
	source := []byte(markdown)
	rows := 0
	err := ast.Walk(gfm.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			if html := string(n.Lines().Value(source)); !ours.MatchString(html) {
				t.Errorf("HTML that is not ours: %q", html)
			}
		case *ast.RawHTML:
			if html := string(n.Segments.Value(source)); !ours.MatchString(html) {
				t.Errorf("HTML that is not ours: %q", html)
			}
		case *ast.List:
			if n.IsOrdered() {
				t.Errorf("a numbered list, and none is ours: %q", markdown)
			}
		case *ast.Text:
			if s := string(n.Value(source)); acted.MatchString(s) {
				t.Errorf("text that GitHub would act on: %q", s)
			}
		case *east.TableRow:
			rows++
		case *east.TableHeader, *east.TableCell, *east.Table, *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.ListItem, *ast.Emphasis, *ast.Heading:
		default:
			t.Errorf("a %v that is not ours: %q", n.Kind(), markdown)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want >= 0 && rows != want {
		t.Errorf("tables of %d rows, want %d:\n%s", rows, want, markdown)
	}
	pipes := 0 // of the table's heading, which is ours
	for _, line := range strings.Split(markdown, "\n") {
		if !strings.HasPrefix(line, "|") {
			pipes = 0
			continue
		}
		if pipes == 0 {
			pipes = strings.Count(line, "|")
		}
		checkRow(t, line, pipes)
	}
}

// checkRow counts the cells of a row in the two ways that parsers do: a pipe is
// escaped by any backslash before it, or only by one that is not escaped itself.
func checkRow(t testing.TB, line string, pipes int) {
	t.Helper()
	simple, paired, backslashes := 0, 0, 0
	for _, r := range line {
		if r == '|' && backslashes == 0 {
			simple++
		}
		if r == '|' && backslashes%2 == 0 {
			paired++
		}
		backslashes++
		if r != '\\' {
			backslashes = 0
		}
	}
	if simple != pipes || paired != pipes {
		t.Errorf("a row of %d or %d pipes, want %d: %s", simple, paired, pipes, line)
	}
}

// TestMarkdownKeepsNames reads names back from the cells of a rendered table.
func TestMarkdownKeepsNames(t *testing.T) {
	for _, name := range []string{
		"Encode/size=1024-8", "a|b", "|", "`", "``", "`a", "a`", "``three```four", "<b>", "&lt;", `a\b`, `\`, "@everyone", "#1", "https://x.example", "**b**", "a  b", "日本語",
	} {
		source := []byte(written(t, "markdown", hostileVerdict(name), report.Options{}))
		var got string
		err := ast.Walk(gfm.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			code, ok := n.(*ast.CodeSpan)
			if !ok || !entering {
				return ast.WalkContinue, nil
			}
			if _, ok := code.Parent().(*east.TableCell); !ok {
				return ast.WalkContinue, nil
			}
			for c := code.FirstChild(); c != nil; c = c.NextSibling() {
				if s, ok := c.(*ast.Text); ok {
					got += string(s.Value(source))
				} else if s, ok := c.(*ast.String); ok {
					got += string(s.Value)
				}
			}
			return ast.WalkStop, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got != name {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}
