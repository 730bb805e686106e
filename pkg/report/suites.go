package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

// A Suites is what one job knows of several suites.
type Suites struct {
	Verdicts []gate.Verdict
	// Unread is what should be among them and could not be read or judged, a
	// sentence each.
	Unread []string
}

// WriteSuites writes the verdicts of several suites as one document, where the
// form has one for them, else one after another. Of an only suite it is what Write
// writes.
func (f Form) WriteSuites(w io.Writer, s Suites, o Options) error {
	switch {
	case len(s.Verdicts) == 1 && len(s.Unread) == 0:
		return f.Write(w, s.Verdicts[0], o)
	case f.Together != nil:
		return f.Together(w, s, o)
	}
	for _, v := range s.Verdicts {
		if err := f.Write(w, v, o); err != nil {
			return err
		}
	}
	return nil
}

// A standing is what there is to know of a whole suite, the worst first.
type standing int

const (
	suiteRegressed standing = iota
	suiteFailed
	suiteUndecided
	suiteExcused // it regressed, and fails nothing
	suiteBaseless
	suiteOpen
	suiteFine
)

// standings words each, to go before the suites of which it holds.
var standings = [...]string{
	"Regression in", "Failed for another reason:", "No decision on", "A regression that fails nothing in", "No baseline for", "Inconclusive:", "No regression in",
}

func standingOf(v gate.Verdict) standing {
	switch {
	case v.Status == gate.StatusFail && v.Outcome == gate.Regressed:
		return suiteRegressed
	case v.Status == gate.StatusFail:
		return suiteFailed
	case v.Status != gate.StatusPass:
		return suiteUndecided
	case v.Outcome == gate.Regressed:
		return suiteExcused
	case v.Base == nil:
		return suiteBaseless
	case v.Outcome == gate.Inconclusive:
		return suiteOpen
	}
	return suiteFine
}

// WorstFirst returns the verdicts in the order of a reader's worries: by standing,
// then by what is worst in each.
func (s Suites) WorstFirst() []gate.Verdict {
	worst := func(v gate.Verdict) float64 {
		gating, _ := ranked(v.Comparisons)
		if len(gating) == 0 {
			return 0
		}
		return weight(gating[0])
	}
	return slices.SortedStableFunc(slices.Values(s.Verdicts), func(a, b gate.Verdict) int {
		return cmp.Or(cmp.Compare(standingOf(a), standingOf(b)), cmp.Compare(worst(b), worst(a)))
	})
}

// headline says what is known over all suites, the worst first: a sentence for
// each standing, and one for what is not among them.
func (s Suites) headline(say voice) []string {
	of := map[standing][]string{}
	for _, v := range s.WorstFirst() {
		of[standingOf(v)] = append(of[standingOf(v)], say.name(nameOf(v, "")))
	}
	var sentences []string
	for at, what := range standings {
		names := of[standing(at)]
		if len(names) == 0 {
			continue
		}
		which := strings.Join(names[:min(len(names), mostItems)], ", ")
		if more := len(names) - mostItems; more > 0 {
			which += fmt.Sprintf(" and %d more", more)
		}
		switch all := len(s.Verdicts); {
		case all == 1:
			which = "the suite " + which
		case all == len(names) && strings.HasPrefix(what, "No "):
			which = fmt.Sprintf("any of %d suites", all)
		case all == len(names):
			which = fmt.Sprintf("all %d suites", all)
		case sentences == nil:
			which = fmt.Sprintf("%d of %d suites: %s", len(names), all, which)
		}
		sentences = append(sentences, what+" "+which+".")
	}
	if len(s.Unread) > 0 {
		more := ""
		if n := len(s.Unread) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		sentences = append(sentences, fmt.Sprintf("Missing here: %s%s.", say.prose(strings.TrimRight(s.Unread[0], ". ")), more))
	}
	return sentences
}

// icon is that of the worst suite; what could not be read is no pass either.
func (s Suites) icon() string {
	icons := map[string]bool{}
	for _, v := range s.Verdicts {
		icons[iconOf(v)] = true
	}
	switch {
	case icons[iconFails]:
		return iconFails
	case icons[iconOpen] || len(s.Unread) > 0:
		return iconOpen
	}
	return iconPasses
}

func writeHeadlines(w io.Writer, s Suites, _ Options) error {
	_, err := fmt.Fprintln(w, strings.Join(s.headline(plain), " "))
	return err
}

func writeTexts(w io.Writer, s Suites, o Options) error {
	t := text{Writer: bufio.NewWriter(w), color: o.Color}
	t.headline(s.headline(plain))
	if len(s.Unread) > 1 {
		t.list("missing here", s.Unread)
	}
	for _, v := range s.WorstFirst() {
		t.line("")
		t.line("suite " + plain.name(nameOf(v, "")))
		newText(t.Writer, v, o).write()
	}
	return t.Flush()
}

// writeMarkdowns writes one comment of all suites, each under a heading of its
// own. What all share, how to accept and which noslower this is, is said once.
func writeMarkdowns(w io.Writer, s Suites, o Options) error {
	_, status := gate.Whole(s.Verdicts)
	sections := []section{headlineSection(s.icon(), s.headline(marked)), acceptance(status, o.AcceptLabel)}
	if len(s.Unread) > 1 {
		sections = append(sections, bullets("Missing here", s.Unread, 1))
	}
	each := o
	each.AcceptLabel, each.Version = "", ""
	for _, v := range s.WorstFirst() {
		sections = append(sections, section{open: "\n### " + marked.name(nameOf(v, "")) + "\n\n"})
		sections = append(sections, newMarkdown(v, each).sections()...)
	}
	if o.Version != "" {
		sections = append(sections, section{open: "\nnoslower " + marked.prose(o.Version) + "\n"})
	}
	_, err := io.WriteString(w, fit(sections, o.Limit, cutNote(o.Whole)))
	return err
}
