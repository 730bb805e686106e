package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

var _ = register(Form{
	Name:     "headline",
	About:    "what is known in a sentence or two, for a title or a status line",
	Write:    writeHeadline,
	Together: writeHeadlines,
})

func writeHeadline(w io.Writer, v gate.Verdict, _ Options) error {
	_, err := fmt.Fprintln(w, strings.Join(headline(v, plain), " "))
	return err
}

// A voice is how a form says what comes from outside.
type voice struct {
	name  func(string) string // the name of a benchmark or metric, a commit
	prose func(string) string // a sentence that may have such names in it
}

const (
	mostName  = 60  // columns of a name within a sentence
	mostProse = 400 // columns of a sentence made elsewhere
	mostItems = 3   // things of one kind that a sentence lists
)

// plain is the voice of terminals and logs.
var plain = voice{
	name:  func(s string) string { return cut(Printable(s), mostName) },
	prose: func(s string) string { return cut(Printable(s), mostProse) },
}

// headline says what is known, what was not judged, and what could have been
// seen: one sentence each, the most important first. It is as short for ten
// thousand benchmarks as for one.
func headline(v gate.Verdict, say voice) []string {
	gating, informational := ranked(v.Comparisons)
	h := headliner{verdict: v, say: say, of: map[string]int{}}
	benchmarks := map[string]bool{}
	for _, c := range gating {
		h.of[c.Metric.Name]++
		benchmarks[c.Benchmark] = true
	}
	h.benchmarks = len(benchmarks)

	if v.Base == nil {
		h.noBaseline(len(gating) > 0)
	}
	regressed := filter(gating, func(c *gate.Comparison) bool { return c.Outcome == gate.Regressed })
	h.list("Regression", "regressed", "worst first", regressed)
	h.reasons(len(regressed) > 0)
	h.pardons()
	h.list("Warning", "went beyond a warning", "worst first", filter(gating, func(c *gate.Comparison) bool { return c.Warned }))
	h.list("Improved", "improved", "best first", filter(gating, func(c *gate.Comparison) bool { return c.Outcome == gate.Improved }))
	if len(regressed) == 0 {
		h.noRegression(filter(gating, func(c *gate.Comparison) bool { return c.Outcome == gate.Same }))
	}
	h.missing()
	h.notJudged(filter(gating, func(c *gate.Comparison) bool { return c.Outcome == gate.Inconclusive }))
	h.informational(filter(informational, func(c *gate.Comparison) bool { return c.Outcome == gate.Regressed }))
	if len(h.sentences) == 0 {
		h.add("Nothing was compared")
	}
	return h.sentences
}

func filter(list []*gate.Comparison, keep func(*gate.Comparison) bool) []*gate.Comparison {
	var kept []*gate.Comparison
	for _, c := range list {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// A headliner makes one headline.
type headliner struct {
	verdict    gate.Verdict
	say        voice
	benchmarks int            // that have a gating comparison
	of         map[string]int // gating comparisons by metric
	sentences  []string
}

func (h *headliner) add(format string, args ...any) {
	s := strings.TrimRight(fmt.Sprintf(format, args...), ".")
	h.sentences = append(h.sentences, s+".")
}

// noBaseline comes first where there is none: everything else is read by it.
func (h *headliner) noBaseline(limits bool) {
	rest := "nothing was compared"
	if limits {
		rest = "only limits were judged"
	}
	if why := strings.TrimRight(h.verdict.NoBaseline, ". "); why != "" {
		h.add("No baseline: %s; %s", h.say.prose(why), rest)
		return
	}
	h.add("No baseline; %s", rest)
}

// list tells of comparisons that share an answer: the one, or how many and the
// first of them.
func (h *headliner) list(one, many, order string, list []*gate.Comparison) {
	if len(list) == 0 {
		return
	}
	names := map[string]bool{}
	for _, c := range list {
		names[c.Benchmark] = true
	}
	items := h.items(list, true)
	switch {
	case h.benchmarks == 1:
		h.add("%s: %s", one, items)
	case len(list) == 1:
		h.add("1 of %d benchmarks %s: %s", h.benchmarks, many, items)
	default:
		h.add("%d of %s %s: %s, %s", len(names), gate.Count(h.benchmarks, "benchmark"), many, items, order)
	}
}

// items words the first few comparisons, and how many there are beside.
func (h *headliner) items(list []*gate.Comparison, at bool) string {
	var words []string
	separator := ", "
	for _, c := range list[:min(len(list), mostItems)] {
		amount := h.amount(c, at)
		if strings.ContainsAny(amount, ",;") {
			separator = "; "
		}
		words = append(words, h.subject(c)+amount)
	}
	if more := len(list) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, separator)
}

// subject names one comparison: the benchmark too, but for an only one without
// a name of its own.
func (h *headliner) subject(c *gate.Comparison) string {
	if c.Benchmark == "" && h.benchmarks == 1 {
		return h.say.name(c.Metric.Name)
	}
	return h.say.name(nameOf(h.verdict, c.Benchmark)) + " " + h.say.name(c.Metric.Name)
}

// amount says how much worse or better head is, and at what it fails. Where a
// limit was held too, only the comparison's own sentence knows which decided.
func (h *headliner) amount(c *gate.Comparison, at bool) string {
	switch {
	case c.Crept != nil:
		at := "fails"
		if c.Warned {
			at = "warns"
		}
		return fmt.Sprintf(" since %s: %s (%s at %s)", h.say.name(c.Crept.Since), gate.SignedPercent(c.Crept.Change), at, gate.Percent(c.Crept.Threshold))
	case c.Limit != nil, c.Base == nil:
		return ": " + h.say.prose(c.Why)
	case c.Slowdown == nil || math.IsNaN(c.Change):
		return " went from " + h.say.prose(baseOf(c)) + " to " + h.say.prose(headOf(c))
	}
	word := "worse"
	if c.Slowdown.Estimate < 1 {
		word = "better"
	}
	words := fmt.Sprintf(" %s %s", gate.Percent(math.Abs(c.Change)), word)
	switch {
	case !at || c.Outcome == gate.Improved:
		return words
	case c.Warned:
		return fmt.Sprintf("%s (warns at %s, fails at %s)", words, gate.Percent(c.Warn), gate.Percent(c.Threshold))
	}
	return fmt.Sprintf("%s (fails at %s)", words, gate.Percent(c.Threshold))
}

// reasons tells why the check does not pass, beside its regressions.
func (h *headliner) reasons(besideRegressions bool) {
	reasons := further(h.verdict)
	if len(reasons) == 0 {
		return
	}
	what := map[gate.Status]string{
		gate.StatusFail: "Failed", gate.StatusWrongUse: "Wrong use", gate.StatusUndecided: "Could not decide",
	}[h.verdict.Status]
	if besideRegressions || what == "" {
		what = "Besides"
	}
	more := ""
	if n := len(reasons) - 1; n > 0 {
		more = fmt.Sprintf(" (and %s)", gate.Count(n, "more reason"))
	}
	h.add("%s: %s%s", what, h.say.prose(strings.TrimRight(reasons[0], ". ")), more)
}

// pardons tells what let the check pass that would not have, and what was made
// less strict on the way.
func (h *headliner) pardons() {
	if by := h.verdict.Accepted; by != "" {
		h.add("Accepted by %s", h.say.prose(by))
	}
	loosened := h.verdict.Loosened
	if len(loosened) == 0 {
		return
	}
	said := strings.Join(loosened[:min(len(loosened), mostItems)], "; ")
	if more := len(loosened) - mostItems; more > 0 {
		said += fmt.Sprintf("; and %d more", more)
	}
	h.add("This change loosens what it is judged by: %s", h.say.prose(said))
}

// noRegression tells what was shown to be no slower, and within what.
func (h *headliner) noRegression(same []*gate.Comparison) {
	if len(same) == 0 {
		return
	}
	h.add("No regression in %s", h.byMetric(same, within))
}

// missing tells of benchmarks that base has and head has not at all: what was
// deleted cannot become slower, and a crash deletes too.
func (h *headliner) missing() {
	if len(h.verdict.Removed) == 0 || len(h.verdict.Comparisons) == 0 { // that nothing is on both sides has been said
		return
	}
	there := map[string]bool{}
	for _, k := range h.verdict.Head.Set.Keys() {
		there[k.Benchmark] = true
	}
	order, _ := keysByBenchmark(h.verdict.Removed)
	var gone []string
	for _, benchmark := range order {
		if !there[benchmark] {
			gone = append(gone, h.say.name(nameOf(h.verdict, benchmark)))
		}
	}
	if len(gone) == 0 {
		return
	}
	said := strings.Join(gone[:min(len(gone), mostItems)], ", ")
	if more := len(gone) - mostItems; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	h.add("Missing on head: %s", said)
}

// notJudged tells what stayed open: for its noise, with what could have been
// seen through it; else for the reason that its own sentence gives.
func (h *headliner) notJudged(open []*gate.Comparison) {
	var noisy []*gate.Comparison
	others := map[string][]*gate.Comparison{}
	var whys []string
	for _, c := range open {
		switch {
		// A sentence that does not say what could have been seen has another
		// reason than noise.
		case !math.IsInf(c.Detectable, 1) && strings.Contains(c.Why, gate.Percent(c.Detectable)):
			noisy = append(noisy, c)
		default:
			if others[c.Why] == nil {
				whys = append(whys, c.Why)
			}
			others[c.Why] = append(others[c.Why], c)
		}
	}
	if len(noisy) > 0 {
		least, most := noisy[0].Detectable, noisy[0].Detectable
		for _, c := range noisy {
			least, most = min(least, c.Detectable), max(most, c.Detectable)
		}
		seen := gate.Percent(least) + " or more"
		if gate.Percent(most) != gate.Percent(least) {
			seen = fmt.Sprintf("%s or more at best, %s at worst", gate.Percent(least), gate.Percent(most))
		}
		h.add("%s not judged: this machine could have shown %s", h.subjects(noisy), seen)
	}
	const mostWhys = 2
	for _, why := range whys[:min(len(whys), mostWhys)] {
		said := h.say.prose(strings.TrimRight(why, ". "))
		if slices.ContainsFunc(h.sentences, func(s string) bool { return strings.Contains(s, said) }) {
			h.add("%s not judged", h.subjects(others[why]))
			continue
		}
		h.add("%s not judged: %s", h.subjects(others[why]), said)
	}
	if len(whys) > mostWhys {
		more := 0
		for _, why := range whys[mostWhys:] {
			more += len(others[why])
		}
		h.add("%s not judged for other reasons", wasWere(fmt.Sprintf("%d more", more), more))
	}
}

// subjects names the comparisons of a list, with the verb.
func (h *headliner) subjects(list []*gate.Comparison) string {
	if len(list) == 1 && h.benchmarks > 1 {
		return h.subject(list[0]) + " was"
	}
	metrics := map[string]bool{}
	for _, c := range list {
		metrics[c.Metric.Name] = true
	}
	return wasWere(h.byMetric(list, nil), len(metrics))
}

func wasWere(subject string, n int) string {
	if n == 1 {
		return subject + " was"
	}
	return subject + " were"
}

// byMetric names the metrics of a list, each with a remark in parentheses if
// there is one, and on how many of its benchmarks.
func (h *headliner) byMetric(list []*gate.Comparison, remark func([]*gate.Comparison) string) string {
	var order []string
	groups := map[string][]*gate.Comparison{}
	for _, c := range list {
		if groups[c.Metric.Name] == nil {
			order = append(order, c.Metric.Name)
		}
		groups[c.Metric.Name] = append(groups[c.Metric.Name], c)
	}
	first := h.coverage(order[0], len(groups[order[0]]))
	alike := !slices.ContainsFunc(order, func(m string) bool { return h.coverage(m, len(groups[m])) != first })
	var words []string
	for _, m := range order[:min(len(order), mostItems)] {
		s := h.say.name(m)
		if !alike || len(order) == 1 {
			s += h.coverage(m, len(groups[m]))
		}
		if remark != nil {
			if r := remark(groups[m]); r != "" {
				s += " (" + h.say.prose(r) + ")"
			}
		}
		words = append(words, s)
	}
	if more := len(order) - len(words); more > 0 {
		words = append(words, gate.Count(more, "more metric"))
	}
	s := words[0]
	if last := len(words) - 1; last > 0 {
		s = strings.Join(words[:last], ", ") + " and " + words[last]
	}
	if alike && len(order) > 1 {
		s += first
	}
	return s
}

// coverage says on how many of a metric's benchmarks something holds.
func (h *headliner) coverage(metric string, n int) string {
	of := h.of[metric]
	switch {
	case of == 1 && h.benchmarks == 1:
		return ""
	case n == of && of == h.benchmarks:
		return fmt.Sprintf(" on all %d benchmarks", of)
	case n == of:
		return " on " + gate.Count(of, "benchmark")
	}
	return fmt.Sprintf(" on %d of %d benchmarks", n, of)
}

// within says how far off comparisons that stayed the same can be at most; ""
// where that is not known.
func within(same []*gate.Comparison) string {
	most, exact, limits := math.Inf(-1), true, 0
	for _, c := range same {
		switch {
		case c.Slowdown != nil:
			most = max(most, c.Share(c.Slowdown.High))
			exact = exact && c.Slowdown.Low == 1 && c.Slowdown.High == 1
		case c.Limit != nil:
			limits++
		default:
			exact = false
		}
	}
	switch {
	case limits == len(same) && limits == 1:
		return "within its limit of " + gate.Quantity(*same[0].Limit, same[0].Metric.Unit)
	case limits == len(same):
		return "within their limits"
	case math.IsInf(most, 0) || math.IsNaN(most):
		return ""
	case exact && limits == 0:
		return "exactly the same"
	case most <= 0:
		return "not worse"
	}
	return "within " + gate.Percent(most)
}

// informational tells of metrics that got worse and fail nothing.
func (h *headliner) informational(worse []*gate.Comparison) {
	if len(worse) == 0 {
		return
	}
	h.add("Not gating: %s", h.items(worse, false))
}
