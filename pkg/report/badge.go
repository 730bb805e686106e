package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

var (
	_ = register(Form{
		Name:  "badge",
		About: "the outcome in a word or two, as a picture (SVG) for a README",
		Write: writeBadge,
	})
	_ = register(Form{
		Name:  "badge-json",
		About: "the same, for an endpoint badge of shields.io",
		Write: writeBadgeJSON,
	})
)

// A badge says the outcome in a word or two.
type badge struct {
	Label, Message string
	Fill           string // for white text: each has a contrast of 4.5 or more
	Color          string // by the name that shields.io has for it
}

const mostLabel = 30 // columns of a label

// badgeOf words a verdict. A check that does not pass never gets a badge that
// looks as if it did.
func badgeOf(v gate.Verdict) badge {
	b := badge{Label: "performance"}
	if v.Suite != gate.DefaultPolicy().Suite {
		b.Label = cut(Printable(cmp.Or(v.Suite, b.Label)), mostLabel)
	}
	n := map[gate.Outcome]int{}
	for _, c := range v.Comparisons {
		if c.Gating {
			n[c.Outcome]++
		}
	}
	switch {
	case v.Outcome == gate.Regressed && v.Accepted != "":
		b.Message, b.Fill, b.Color = fmt.Sprintf("slower: %d, accepted", n[gate.Regressed]), "#8a5a00", "yellow"
	case v.Outcome == gate.Regressed:
		b.Message, b.Fill, b.Color = fmt.Sprintf("slower: %d", n[gate.Regressed]), "#b3261e", "red"
	case v.Status == gate.StatusFail:
		b.Message, b.Fill, b.Color = "failed", "#b3261e", "red"
	case v.Status != gate.StatusPass, v.Outcome == gate.Inconclusive:
		b.Message, b.Fill, b.Color = "not sure", "#57606a", "lightgrey"
	case v.Outcome == gate.Improved:
		b.Message, b.Fill, b.Color = fmt.Sprintf("faster: %d", n[gate.Improved]), "#1a6f35", "brightgreen"
	default:
		b.Message, b.Fill, b.Color = "no slower", "#1a6f35", "brightgreen"
	}
	return b
}

// writeBadgeJSON writes what https://shields.io/badges/endpoint-badge reads.
func writeBadgeJSON(w io.Writer, v gate.Verdict, _ Options) error {
	b := badgeOf(v)
	document, err := json.Marshal(struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
	}{1, b.Label, b.Message, b.Color})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, string(document))
	return err
}

const (
	badgeHeight = 20
	badgeMargin = 7 // on both sides of a text
)

func writeBadge(w io.Writer, v gate.Verdict, _ Options) error {
	b := badgeOf(v)
	label, message := textWidthOf(b.Label), textWidthOf(b.Message)
	left, right := label+2*badgeMargin, message+2*badgeMargin
	var texts strings.Builder
	for _, t := range []struct {
		text     string
		x, width int
	}{{b.Label, badgeMargin, label}, {b.Message, left + badgeMargin, message}} {
		fmt.Fprintf(&texts, `<text x="%d" y="14" textLength="%d" lengthAdjust="spacingAndGlyphs">%s</text>`,
			t.x, t.width, template.HTMLEscapeString(t.text))
	}
	title := template.HTMLEscapeString(b.Label + ": " + b.Message)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%[3]s"><title>%[3]s</title>`+
		`<clipPath id="r"><rect width="%[1]d" height="%[2]d" rx="3"/></clipPath>`+
		`<g clip-path="url(#r)"><path fill="#33393f" d="M0 0h%[4]dv%[2]dH0z"/><path fill="%[5]s" d="M%[4]d 0h%[6]dv%[2]dH%[4]dz"/></g>`+
		`<g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">%[7]s</g></svg>`+"\n",
		left+right, badgeHeight, title, left, b.Fill, right, texts.String())
	return err
}

// textWidthOf is about how many units text of size 11 takes in Verdana. The
// picture makes it just that wide in whatever font there is.
func textWidthOf(s string) int {
	const narrow, small, wide = "iIjl.,:;'|! ", "frt()[]{}-/\\\"", "mwMW%@"
	tenths := 0
	for _, r := range s {
		switch {
		case strings.ContainsRune(narrow, r):
			tenths += 37
		case strings.ContainsRune(small, r):
			tenths += 48
		case strings.ContainsRune(wide, r):
			tenths += 100
		case 'A' <= r && r <= 'Z':
			tenths += 77
		default:
			tenths += 67 * max(1, columns.RuneWidth(r))
		}
	}
	return (tenths + 9) / 10
}
