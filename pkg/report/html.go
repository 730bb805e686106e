package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

var _ = register(Form{
	Name:  "html",
	About: "one page with a plot of each comparison, for a browser",
	Write: writeHTML,
})

const (
	mostPageName  = 500 // columns of a name on the page
	mostPageProse = 4000
	mostUnfolded  = 20 // sentences of a list that is not folded away
)

// shown makes text for the page: what is not to be seen is made visible here,
// and the template sees to it that text stays text.
// A number does not part from its sign of percent.
func shown(s string) string {
	return strings.ReplaceAll(cut(Printable(s), mostPageProse), " %", "\u00a0%")
}

func shownName(s string) string { return cut(Printable(s), mostPageName) }

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

var pagePolicy = PagePolicy(pageScript, pageStyle)

// PagePolicy lets a page's own script run and its own style apply, and nothing be
// asked of any other place.
func PagePolicy(script, style string) string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'",
		integrity(script), integrity(style))
}

// integrity is the hash by which a policy allows a script or a style.
func integrity(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// What the template is filled with. All text is ready to be shown.
type (
	page struct {
		Policy        string
		Style         template.CSS
		Script        template.JS
		Suite         string
		Word, Class   string // what becomes of the check, and its colour
		Headline      string
		More          []string
		Jumps         []jump
		Kinds         []kind
		Rows          []pageRow
		Informational int // rows that do not gate
		HasTrends     bool
		HasAnchors    bool // in a trend
		MovedTitle    string
		Moved         []movedCells
		Lists         []pageList
		HasBase       bool
		Sides         []sideRow
		Reproduce     string
		Version       string
	}
	// A jump leads to the first comparison of a kind.
	jump struct {
		To    string
		Count int
		Of    string
	}
	// A kind is what comparisons are filtered by.
	kind struct {
		Name  string
		Count int
	}
	pageList struct {
		Title  string
		Folded bool
		Items  []string
	}
	// movedCells is a function in which instructions moved.
	movedCells struct{ Name, Place, Base, Head, Change string }
	sideRow    struct {
		What, Base, Head string
		Differs          bool
	}
)

func writeHTML(w io.Writer, v gate.Verdict, o Options) error {
	b := bufio.NewWriter(w)
	if err := pageTemplate.Execute(b, pageOf(v, o)); err != nil {
		return err
	}
	return b.Flush()
}

func pageOf(v gate.Verdict, o Options) page {
	sentences := headline(v, plain)
	for i, s := range sentences {
		sentences[i] = shown(s)
	}
	word, class := check(v)
	p := page{
		Policy: pagePolicy, Style: pageStyle, Script: pageScript,
		Suite: shownName(v.Suite), Word: word, Class: class,
		Headline: sentences[0], More: sentences[1:],
		Lists: listsOf(v), HasBase: v.Base != nil, Sides: sideRows(v),
		Reproduce: reproduction(v), Version: shown(o.Version),
	}
	if v.Moved != nil {
		p.MovedTitle = shown(movedTitle(v))
		for _, r := range movedRows(v.Moved) {
			p.Moved = append(p.Moved, movedCells{shownName(r.name), shownName(r.place), r.base, r.head, r.change})
		}
	}
	gating, informational := ranked(v.Comparisons)
	p.Informational = len(informational)
	_, common := commonWarnings(v)
	counts := map[string]int{}
	for _, list := range [][]*gate.Comparison{gating, informational} {
		for _, c := range list {
			r := pageRowOf(v, c, common)
			r.ID = "c" + strconv.Itoa(len(p.Rows)+1)
			p.jumpTo(r)
			counts[r.Kind]++
			p.HasTrends = p.HasTrends || r.Trend != ""
			p.HasAnchors = p.HasAnchors || r.Trend != "" && c.Crept != nil
			p.Rows = append(p.Rows, r)
		}
	}
	for _, name := range kinds {
		if n := counts[name]; n > 0 {
			p.Kinds = append(p.Kinds, kind{name, n})
		}
	}
	return p
}

// jumpTo counts a row into the jump to the first of its kind. Rows come ranked,
// so those of a kind stand together.
func (p *page) jumpTo(r pageRow) {
	of := r.Kind
	if !r.Gating {
		of = "not gating"
	}
	if last := len(p.Jumps) - 1; last >= 0 && p.Jumps[last].Of == of {
		p.Jumps[last].Count++
		return
	}
	p.Jumps = append(p.Jumps, jump{r.ID, 1, of})
}

// check says what becomes of the check, and in which colour.
func check(v gate.Verdict) (word, class string) {
	switch {
	case v.Status == gate.StatusFail:
		return "failed", "bad"
	case v.Status == gate.StatusWrongUse:
		return "wrong use", "open"
	case v.Status != gate.StatusPass:
		return "could not decide", "open"
	case v.Outcome == gate.Inconclusive, v.Outcome == gate.Regressed:
		return "passed", "open"
	}
	return "passed", "good"
}

// listsOf are the lists of sentences, whole: a page has room.
func listsOf(v gate.Verdict) []pageList {
	var lists []pageList
	add := func(title string, items []string) {
		if len(items) > 0 {
			lists = append(lists, pageList{title, len(items) > mostUnfolded, items})
		}
	}
	sentences := func(list []string) []string {
		var items []string
		for _, s := range list {
			items = append(items, shown(s))
		}
		return items
	}
	add("Why the check does not pass", sentences(further(v)))
	if v.Accepted != "" {
		add("Accepted", []string{"by " + shown(v.Accepted)})
	}
	add("This change loosens what it is judged by", sentences(v.Loosened))
	add("Warnings", sentences(warningsOf(v)))
	add("Looked like a baseline, and is none", sentences(v.Refused))
	add("Added, with nothing to compare with", keyItems(v, v.Added))
	add("Removed: base has it, head has not", keyItems(v, v.Removed))
	return lists
}

// keyItems words keys, an item a benchmark.
func keyItems(v gate.Verdict, keys []bench.Key) []string {
	order, metrics := keysByBenchmark(keys)
	var items []string
	for _, benchmark := range order {
		item := shownName(nameOf(v, benchmark)) + ": "
		for i, m := range metrics[benchmark] {
			if i > 0 {
				item += ", "
			}
			item += shownName(m)
		}
		items = append(items, item)
	}
	return items
}

// sideRows is the table of what was compared; what differs of the machines is
// marked.
func sideRows(v gate.Verdict) []sideRow {
	var base gate.Side
	if v.Base != nil {
		base = *v.Base
	}
	var rows []sideRow
	add := func(what, b, h string, differs bool) {
		if b != "" || h != "" {
			rows = append(rows, sideRow{what, shown(b), shown(h), differs && b != "" && h != "" && b != h})
		}
	}
	add("commit", base.Commit, v.Head.Commit, false)
	add("measured", moment(base.Time), moment(v.Head.Time), false)
	add("kept in", base.Origin, v.Head.Origin, false)
	add("runs", positive(base.Runs), positive(v.Head.Runs), true)
	b, h := base.Host, v.Head.Host
	add("system", b.OS, h.OS, true)
	add("architecture", b.Arch, h.Arch, true)
	add("processor", b.CPU, h.CPU, true)
	add("cores", positive(b.Cores), positive(h.Cores), true)
	add("kernel", b.Kernel, h.Kernel, true)
	add("C library", b.Libc, h.Libc, true)
	add("image", b.Image, h.Image, true)
	add("microcode", b.Microcode, h.Microcode, true)
	add("hypervisor", b.Hypervisor, h.Hypervisor, true)
	add("governor", b.Governor, h.Governor, true)
	add("counter", b.Counter, h.Counter, true)
	return rows
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// reproduction is what measures the same at home. Such lines are copied into
// shells, so there are none unless both commits and the suite's name are what
// they should be.
func reproduction(v gate.Verdict) string {
	if v.Base == nil || !safeCommit.MatchString(v.Base.Commit) || !safeCommit.MatchString(v.Head.Commit) ||
		!safeSuite.MatchString(v.Suite) || v.Base.Runs < 1 || v.Head.Runs < 1 {
		return ""
	}
	lines := ""
	for _, side := range []struct {
		name string
		of   gate.Side
	}{{"base", *v.Base}, {"head", v.Head}} {
		lines += fmt.Sprintf("git checkout %s\nnoslower measure --suite %s --runs %d --out %s.json\n", side.of.Commit, v.Suite, side.of.Runs, side.name)
	}
	return lines + fmt.Sprintf("noslower compare --suite %s base.json head.json\n", v.Suite)
}
