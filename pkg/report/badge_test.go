package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// TestBadge says each outcome, and never lets a check that does not pass look
// as if it did.
func TestBadge(t *testing.T) {
	regressed := func(n int) gate.Verdict {
		v := gate.Verdict{Suite: "default", Outcome: gate.Regressed, Status: gate.StatusFail}
		for range n {
			v.Comparisons = append(v.Comparisons, gate.Comparison{Gating: true, Outcome: gate.Regressed}, gate.Comparison{Outcome: gate.Regressed})
		}
		return v
	}
	accepted := regressed(2)
	accepted.Accept("octocat")
	improved := gate.Verdict{Suite: "read", Outcome: gate.Improved, Comparisons: []gate.Comparison{{Gating: true, Outcome: gate.Improved}}}
	for _, tt := range []struct {
		name                  string
		v                     gate.Verdict
		label, message, color string
	}{
		{"the same", gate.Verdict{Suite: "default", Outcome: gate.Same}, "performance", "no slower", "brightgreen"},
		{"one regression", regressed(1), "performance", "slower: 1", "red"},
		{"twelve", regressed(12), "performance", "slower: 12", "red"},
		{"accepted", accepted, "performance", "slower: 2, accepted", "yellow"},
		{"improved", improved, "read", "faster: 1", "brightgreen"},
		{"open", gate.Verdict{Suite: "default"}, "performance", "not sure", "lightgrey"},
		{"not decided", gate.Verdict{Suite: "default", Outcome: gate.Same, Status: gate.StatusUndecided}, "performance", "not sure", "lightgrey"},
		{"failed of something else", gate.Verdict{Suite: "default", Outcome: gate.Same, Status: gate.StatusFail}, "performance", "failed", "red"},
		{"a long name", gate.Verdict{Suite: strings.Repeat("a", 40), Outcome: gate.Same}, strings.Repeat("a", 14) + "…" + strings.Repeat("a", 15), "no slower", "brightgreen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got struct {
				SchemaVersion         int
				Label, Message, Color string
			}
			if err := json.Unmarshal([]byte(written(t, "badge-json", tt.v, report.Options{})), &got); err != nil {
				t.Fatal(err)
			}
			if got.SchemaVersion != 1 || got.Label != tt.label || got.Message != tt.message || got.Color != tt.color {
				t.Errorf("%+v, want %q, %q, %q", got, tt.label, tt.message, tt.color)
			}
			svg := written(t, "badge", tt.v, report.Options{})
			checkBadge(t, svg)
			if want := "<title>" + tt.label + ": " + tt.message + "</title>"; !strings.Contains(svg, want) {
				t.Errorf("no %s in %s", want, svg)
			}
		})
	}
}

// checkBadge reads the picture as XML and finds shapes and text alone, with
// colours that white text can be read on.
func checkBadge(t testing.TB, svg string) {
	t.Helper()
	elements := strings.Fields("svg title clipPath rect g path text")
	attributes := strings.Fields("xmlns width height viewBox role aria-label id rx clip-path fill d font-family font-size x y textLength lengthAdjust")
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v: %s", err, svg)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains(elements, e.Name.Local) {
			t.Errorf("an element that is not ours: %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if !slices.Contains(attributes, a.Name.Local) {
				t.Errorf("an attribute that is not ours: %s", a.Name.Local)
			}
			if fill := a.Value; a.Name.Local == "fill" && e.Name.Local == "path" && contrastToWhite(t, fill) < 4.5 {
				t.Errorf("white text on %s has a contrast of %.1f", fill, contrastToWhite(t, fill))
			}
		}
	}
	if strings.ContainsFunc(svg, unseen) {
		t.Errorf("the badge has characters that are not seen: %s", svg)
	}
}

// contrastToWhite is by https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio.
func contrastToWhite(t testing.TB, color string) float64 {
	t.Helper()
	rgb, err := strconv.ParseUint(strings.TrimPrefix(color, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(shift int) float64 {
		v := float64(rgb>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 1.05 / (0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0) + 0.05)
}

// TestSnippet: what an address has in it ends neither the address nor the markup.
func TestSnippet(t *testing.T) {
	const hostile = `https://example.org/a b(c)[d]"e"<f>'g'!h*i` + "\n.. raw:: html"
	for _, markup := range report.Snippets() {
		got, err := report.Snippet(markup, hostile, "https://example.org/")
		if err == nil {
			t.Errorf("%s: a line break in an address is taken: %q", markup, got)
		}
		address, _, _ := strings.Cut(hostile, "\n")
		got, err = report.Snippet(markup, address, "")
		const escaped = "https://example.org/a%20b%28c%29%5Bd%5D%22e%22%3Cf%3E%27g%27%21h%2Ai"
		if err != nil || strings.Count(got, escaped) != 2 || strings.Contains(strings.ReplaceAll(got, escaped, ""), "example.org") {
			t.Errorf("%s: got %q, %v", markup, got, err)
		}
	}
	for _, address := range []string{"", "performance.svg", "javascript:alert(1)", "https://", "//example.org/a.svg", "https://\x00"} {
		if got, err := report.Snippet("html", address, ""); err == nil {
			t.Errorf("%q is taken: %q", address, got)
		}
	}
}
