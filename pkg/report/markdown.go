package report

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

var _ = register(Form{
	Name:     "markdown",
	About:    "what a pull request's comment shows, in GitHub's Markdown",
	Write:    writeMarkdown,
	Together: writeMarkdowns,
})

const (
	mostCode    = 80 // columns of a name in a cell
	mostUnmoved = 10 // gating comparisons that stayed the same and are not folded away
	mostBullets = 20 // warnings, reasons, benchmarks of one side: so many of each
	mostFolded  = 50 // comparisons in one folded table
)

// marked is the voice of Markdown.
var marked = voice{
	name:  func(s string) string { return code(cut(Printable(s), mostCode)) },
	prose: func(s string) string { return markedProse(cut(Printable(s), mostProse)) },
}

func writeMarkdown(w io.Writer, v gate.Verdict, o Options) error {
	_, err := io.WriteString(w, fit(newMarkdown(v, o).sections(), o.Limit, cutNote(o.Whole)))
	return err
}

// A markdown is a comment in the making.
type markdown struct {
	verdict gate.Verdict
	options Options
	common  map[string]int // warnings that are said once for all
}

func newMarkdown(v gate.Verdict, o Options) markdown {
	_, common := commonWarnings(v)
	return markdown{verdict: v, options: o, common: common}
}

// A section is a part of the comment that can be cut: what opens and closes it,
// and lines between of which the last can be left out.
type section struct {
	open, close string
	lines       []string
	left        func(n int) string // what is said in place of the last n lines
	priority    int                // who gets room first, 0 before 1
}

// sections returns the comment's parts in the order of reading.
func (m markdown) sections() []section {
	v := m.verdict
	gating, informational := ranked(v.Comparisons)
	moved := filter(gating, func(c *gate.Comparison) bool { return c.Outcome != gate.Same || c.Warned })
	same := gating[len(moved):]
	// Few enough to read stand together.
	if len(same) <= mostUnmoved {
		moved, same = gating, nil
	}
	foldedTitle := fmt.Sprintf("%s: %s", gate.Count(len(informational), "informational comparison"), tally(informational))
	list := []section{
		headlineSection(iconOf(v), headline(v, marked)),
		acceptance(v.Status, m.options.AcceptLabel),
		m.table("", "", moved, 2),
		m.table(fmt.Sprintf("%s that stayed the same", gate.Count(len(same), "gating comparison")), "", same, 7),
		m.moved(),
		bullets("Why the check does not pass", m.furtherReasons(), 1),
		bullets("Warnings", warningsOf(v), 3),
		m.trends(),
		bullets("Looked like a baseline, and is none", v.Refused, 4),
		m.keys("Added, with nothing to compare with", v.Added, 4),
		m.keys("Removed: base has it, head has not", v.Removed, 4),
		m.table(foldedTitle, "They fail nothing; in parentheses stands what would be called a regression.", informational, 6),
		m.sides(),
		m.reproduce(),
	}
	return slices.DeleteFunc(list, func(s section) bool { return s.open == "" && len(s.lines) == 0 })
}

// The icons that a headline begins with.
const (
	iconFails  = "❌"
	iconOpen   = "⚠️"
	iconPasses = "✅"
)

func iconOf(v gate.Verdict) string {
	switch {
	case v.Status == gate.StatusFail:
		return iconFails
	case v.Status != gate.StatusPass, v.Outcome == gate.Inconclusive:
		return iconOpen
	}
	return iconPasses
}

// headlineSection puts the first sentence in bold: it is all that many will read.
func headlineSection(icon string, sentences []string) section {
	s := section{lines: []string{icon + " **" + sentences[0] + "**"}, close: "\n", left: func(int) string { return "" }}
	for _, sentence := range sentences[1:] {
		s.lines = append(s.lines, " "+sentence)
	}
	return s
}

// table makes a table, folded under its title if it has one.
func (m markdown) table(title, about string, list []*gate.Comparison, priority int) section {
	if len(list) == 0 {
		return section{}
	}
	s := section{
		open: "\n| outcome | benchmark | metric | base | head | change | fails at | why |\n" +
			"|---|---|---|--:|--:|--:|--:|---|\n",
		priority: priority,
	}
	for _, c := range list {
		s.lines = append(s.lines, m.row(c))
	}
	s.left = func(n int) string {
		return fmt.Sprintf("\nand %s: %s\n", gate.Count(n, "more comparison"), tally(list[len(list)-n:]))
	}
	if title != "" {
		if about != "" {
			about = "\n" + about + "\n"
		}
		s.open = "\n<details><summary>" + title + "</summary>\n" + about + s.open
		s.close = "\n</details>\n"
		if len(list) > mostFolded {
			s.lines = append(s.lines[:mostFolded], s.left(len(list)-mostFolded))
			all := s.left
			s.left = func(n int) string { return all(len(list) - len(s.lines) + n) }
		}
	}
	return s
}

func (m markdown) row(c *gate.Comparison) string {
	outcome := outcomeOf(c)
	switch {
	case c.Outcome == gate.Regressed && c.Gating:
		outcome = "❌ **" + outcome + "**"
	case c.Outcome == gate.Inconclusive && c.Gating, c.Warned:
		outcome = "⚠️ " + outcome
	case c.Outcome == gate.Improved:
		outcome = "✅ " + outcome
	}
	why := marked.prose(c.Why)
	for _, n := range notes(c, m.common) {
		why += "<br>" + marked.prose(n)
	}
	metric := marked.name(c.Metric.Name)
	if spark := sparkOf(c); spark != "" {
		metric += "<br>" + spark
	}
	cells := []string{
		outcome, marked.name(nameOf(m.verdict, c.Benchmark)), metric,
		marked.prose(baseOf(c)), marked.prose(headOf(c)), changeOf(c), marked.prose(failsAt(c)), why,
	}
	for i, cell := range cells {
		cells[i] = inCell(cell)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// moved is the table of the functions in which the instructions of an operation
// moved.
func (m markdown) moved() section {
	if m.verdict.Moved == nil {
		return section{}
	}
	s := section{
		open:     "\n**" + capital(marked.prose(movedTitle(m.verdict))) + "**\n\n| function | in | base | head | change |\n|---|---|--:|--:|--:|\n",
		priority: 2,
		left:     func(n int) string { return fmt.Sprintf("\nand %s\n", gate.Count(n, "more row")) },
	}
	for _, r := range movedRows(m.verdict.Moved) {
		cells := []string{marked.name(r.name), code(cut(Printable(r.place), mostName)), r.base, r.head, r.change}
		for i, c := range cells {
			cells[i] = inCell(c)
		}
		s.lines = append(s.lines, "| "+strings.Join(cells, " | ")+" |\n")
	}
	return s
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// furtherReasons are the reasons, if the headline has not told the only one.
func (m markdown) furtherReasons() []string {
	if reasons := further(m.verdict); len(reasons) > 1 {
		return reasons
	}
	return nil
}

func bullets(title string, sentences []string, priority int) section {
	var items []string
	for _, s := range sentences {
		items = append(items, marked.prose(s))
	}
	return itemize(title, items, priority)
}

func (m markdown) keys(title string, keys []bench.Key, priority int) section {
	order, metrics := keysByBenchmark(keys)
	var items []string
	for _, benchmark := range order {
		items = append(items, marked.name(nameOf(m.verdict, benchmark))+": "+marked.prose(strings.Join(metrics[benchmark], ", ")))
	}
	return itemize(title, items, priority)
}

func itemize(title string, items []string, priority int) section {
	if len(items) == 0 {
		return section{}
	}
	s := section{open: "\n**" + title + "**\n\n", priority: priority}
	s.left = func(n int) string { return fmt.Sprintf("- and %d more\n", n) }
	for _, item := range items[:min(len(items), mostBullets)] {
		s.lines = append(s.lines, "- "+item+"\n")
	}
	if more := len(items) - len(s.lines); more > 0 {
		s.lines = append(s.lines, s.left(more))
		s.left = func(n int) string { return fmt.Sprintf("- and %d more\n", more+n-1) }
	}
	return s
}

// acceptance says how to let a regression pass that is wanted.
func acceptance(status gate.Status, label string) section {
	if label == "" || status != gate.StatusFail {
		return section{}
	}
	return section{
		open:     "\nIf this is worth it, somebody who may label pull requests accepts it for the commits there are by the label " + code(Printable(label)) + ".\n",
		priority: 1,
	}
}

// sides says what was compared.
func (m markdown) sides() section {
	base, head := sides(m.verdict, marked)
	s := section{open: "\n", priority: 0}
	if base != "" {
		s.open += "**base** " + base + "<br>\n"
	}
	s.open += "**head** " + head + "\n"
	if m.options.Version != "" {
		s.open += "<br>noslower " + marked.prose(m.options.Version) + "\n"
	}
	return s
}

var (
	safeCommit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	safeSuite  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}$`)
)

// reproduce says how to measure the same at home. Such lines are copied into
// shells, so there are none unless both commits and the suite's name are what
// they should be.
func (m markdown) reproduce() section {
	v := m.verdict
	if v.Base == nil || !safeCommit.MatchString(v.Base.Commit) || !safeCommit.MatchString(v.Head.Commit) ||
		!safeSuite.MatchString(v.Suite) || v.Base.Runs < 1 || v.Head.Runs < 1 {
		return section{}
	}
	measure := func(s gate.Side, file string) string {
		return fmt.Sprintf("git checkout %s\nnoslower measure --suite %s --runs %d --out %s\n", s.Commit, v.Suite, s.Runs, file)
	}
	return section{
		open: "\n<details><summary>Measure it yourself</summary>\n\n" +
			"With the benchmark built before each measurement, and its command in the configuration:\n\n```sh\n" +
			measure(*v.Base, "base.json") + measure(v.Head, "head.json") +
			"noslower compare --suite " + v.Suite + " base.json head.json\n```\n\n</details>\n",
		priority: 5,
	}
}

// safeAddress matches an address that ends where it should, wherever it stands.
var safeAddress = regexp.MustCompile(`^https?://[A-Za-z0-9.:_/-]+$`)

// cutNote is what a reader is told where something is left out, with the address
// of the whole; "" leaves that out.
func cutNote(whole string) string {
	if !safeAddress.MatchString(whole) {
		return "\nThis report is cut to the space it has.\n"
	}
	return "\nThis report is cut to the space it has: [the whole of it](" + whole + ").\n"
}

// fit joins the sections in at most so many bytes; 0 is any number. Those of
// the first priority get their room first. Those of one share it: what is short
// leaves the more to what is long, and no suite takes all of another's. note ends
// what was cut.
func fit(sections []section, limit int, note string) string {
	written := make([]string, len(sections))
	var whole strings.Builder
	for i, s := range sections {
		written[i] = s.open + strings.Join(s.lines, "") + s.close
		whole.WriteString(written[i])
	}
	if limit <= 0 || whole.Len() <= limit {
		return whole.String()
	}
	order := make([]int, len(sections))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(sections[a].priority, sections[b].priority), cmp.Compare(len(written[a]), len(written[b])))
	})
	sharers := map[int]int{} // sections of each priority that have no room yet
	for _, s := range sections {
		sharers[s.priority]++
	}
	room := max(0, limit-len(note))
	for _, i := range order {
		s := sections[i]
		written[i] = s.within(room / sharers[s.priority])
		room -= len(written[i])
		sharers[s.priority]--
	}
	return strings.Join(written, "") + note[:min(len(note), limit)]
}

// within returns as much of the section as so many bytes hold, with the number
// of what is left out; "" where not even that fits.
func (s section) within(room int) string {
	fixed := len(s.open) + len(s.close)
	if n := fixed + len(strings.Join(s.lines, "")); n <= room {
		return s.open + strings.Join(s.lines, "") + s.close
	}
	if len(s.lines) == 0 {
		return ""
	}
	taken, n := fixed+len(s.left(len(s.lines))), 0
	for ; n < len(s.lines) && taken+len(s.lines[n]) <= room; n++ {
		taken += len(s.lines[n])
	}
	if n == 0 {
		return ""
	}
	return s.open + strings.Join(s.lines[:n], "") + s.left(len(s.lines)-n) + s.close
}

// code puts text into a code span that it cannot leave: within one nothing is
// markup, no name is mentioned and no address becomes a link. There is no span
// of nothing.
func code(s string) string {
	if s == "" {
		return none
	}
	// Spaces at the ends are not shown, and a span of spaces is none.
	inner := strings.TrimLeft(s, " ")
	before := len(s) - len(inner)
	s = strings.TrimRight(inner, " ")
	s = strings.Repeat(`\x20`, before) + s + strings.Repeat(`\x20`, len(inner)-len(s))
	longest, run := 0, 0
	for _, r := range s {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// inCell keeps pipes from ending a table's cell. One behind a backslash is read
// in two ways, so it is written as neither.
func inCell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, `\|`, `\x7c`), "|", `\|`)
}

// plainWord is what Markdown, and what GitHub makes of text after that, leaves
// as it is: words and numbers with ordinary punctuation around, nothing that is
// markup, a mention, a reference or an address. A number before a point or a
// parenthesis begins a list.
var plainWord = regexp.MustCompile(
	`^(["'(]*(\p{L}+([-'/]\p{L}+)*|\d+-\p{L}+|%|–)["')]*[,.;:]?["')]*` + `|` + `\(?[-+]?\d+([.,]\d+)*[,;:]?)$`)

// quotation is a name in a sentence, where the sentence quotes it.
var quotation = regexp.MustCompile(`^"((?:[^"\\]|\\.)+)"([,.;:)]*)( |$)`)

// markedProse writes a sentence in which names may stand: whatever is quoted, or
// is not plainly a word or a number, goes into code spans.
func markedProse(s string) string {
	var out, span []string
	flush := func() {
		if len(span) > 0 {
			out = append(out, trimmedCode(strings.Join(span, " ")))
			span = nil
		}
	}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeft(s, " ") {
		if q := quotation.FindStringSubmatch(s); q != nil {
			flush()
			out = append(out, code(q[1])+q[2])
			s = s[len(q[0]):]
			continue
		}
		word, rest, _ := strings.Cut(s, " ")
		s = rest
		if !plainWord.MatchString(word) {
			span = append(span, word)
			continue
		}
		flush()
		out = append(out, word)
	}
	flush()
	return strings.Join(out, " ")
}

// trimmedCode puts words into a code span, but for the punctuation around them.
// A parenthesis or quote that has its partner in between is of a name.
func trimmedCode(s string) string {
	from, to := 0, len(s)
	for from < to && opensAround(s[from:to]) {
		from++
	}
	for from < to && endsAround(s[from:to]) {
		to--
	}
	if from == to {
		return code(s)
	}
	return s[:from] + code(s[from:to]) + s[to:]
}

// closing is the punctuation that may stand behind a name.
const closing = `",.;:)`

// opensAround reports whether s begins with what is opened around all of it, or
// is closed behind it.
func opensAround(s string) bool {
	partner := -1
	switch s[0] {
	case '"':
		partner = strings.IndexByte(s[1:], '"')
	case '(':
		depth := 0
		partner = strings.IndexFunc(s[1:], func(r rune) bool {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			return depth < 0
		})
	default:
		return false
	}
	return partner < 0 || strings.Trim(s[1+partner:], closing) == ""
}

// endsAround reports whether s ends with punctuation that nothing in it opens.
func endsAround(s string) bool {
	switch last := s[len(s)-1]; last {
	case '"':
		return strings.Count(s, `"`)%2 == 1
	case ')':
		depth := 0
		opener := strings.LastIndexFunc(s, func(r rune) bool {
			switch r {
			case ')':
				depth++
			case '(':
				depth--
			}
			return depth == 0
		})
		return opener < 0
	default:
		return strings.IndexByte(closing, last) >= 0
	}
}
