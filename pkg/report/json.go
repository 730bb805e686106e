package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

// VerdictSchema names the verdict document and its major version.
const VerdictSchema = "noslower.verdict/v1"

var _ = register(Form{
	Name:  "json",
	About: "the " + VerdictSchema + " document, for programs",
	Write: writeJSON,
})

// The document's own types: a contract that outlives the types of gate. Fields
// are only ever added; readers ignore those that they do not know.
type (
	verdictDoc struct {
		Schema      string          `json:"schema"`
		Noslower    string          `json:"noslower,omitempty"` // the version that wrote it
		Suite       string          `json:"suite"`
		Outcome     string          `json:"outcome"`
		Status      int             `json:"status"`
		Headline    string          `json:"headline"`
		Reasons     []string        `json:"reasons"`
		Base        *sideDoc        `json:"base"`
		NoBaseline  string          `json:"no_baseline,omitempty"`
		Refused     []string        `json:"refused,omitempty"`
		Accepted    string          `json:"accepted,omitempty"`
		Loosened    []string        `json:"loosened,omitempty"`
		Interleaved bool            `json:"interleaved"`    // both sides were measured in turn, in one job
		Seed        string          `json:"seed,omitempty"` // of the order; in text, since it has 64 bits
		Head        *sideDoc        `json:"head"`
		Comparisons []comparisonDoc `json:"comparisons"`
		Added       []keyDoc        `json:"added"`
		Removed     []keyDoc        `json:"removed"`
		Moved       *movedDoc       `json:"moved,omitempty"`
		Warnings    []string        `json:"warnings"`
	}
	// movedDoc has the functions in which the instructions of an operation moved.
	movedDoc struct {
		Benchmark string             `json:"benchmark"`
		Base      number             `json:"base"` // instructions/op
		Head      number             `json:"head"`
		Explained number             `json:"explained"` // share of the difference
		Functions []movedFunctionDoc `json:"functions"`
	}
	movedFunctionDoc struct {
		Name     string `json:"name"`
		File     string `json:"file,omitempty"`
		Line     int    `json:"line,omitempty"`
		Base     number `json:"base"`
		Head     number `json:"head"`
		New      bool   `json:"new,omitempty"`
		Vanished bool   `json:"vanished,omitempty"`
	}
	sideDoc struct {
		Commit string     `json:"commit"`
		Origin string     `json:"origin,omitempty"` // where a baseline was kept, and how far from head
		Time   *time.Time `json:"time"`
		Runs   int        `json:"runs"`
		Host   hostDoc    `json:"host"`
	}
	hostDoc struct {
		OS     string `json:"os,omitempty"`
		Arch   string `json:"arch,omitempty"`
		CPU    string `json:"cpu,omitempty"`
		Cores  int    `json:"cores,omitempty"`
		Kernel string `json:"kernel,omitempty"`
		Libc   string `json:"libc,omitempty"`
		Image  string `json:"image,omitempty"`

		Microcode  string `json:"microcode,omitempty"`
		Hypervisor string `json:"hypervisor,omitempty"`
		Governor   string `json:"governor,omitempty"`
		Counter    string `json:"counter,omitempty"`
	}
	comparisonDoc struct {
		Benchmark  string       `json:"benchmark"`
		Metric     string       `json:"metric"`
		Unit       string       `json:"unit"`
		Better     string       `json:"better"`
		Gating     bool         `json:"gating"`
		Base       *summaryDoc  `json:"base"`
		Head       *summaryDoc  `json:"head"`
		Change     number       `json:"change"`
		Slowdown   *slowdownDoc `json:"slowdown"`
		Threshold  number       `json:"threshold"`
		Warn       *number      `json:"warn"`
		Limit      *number      `json:"limit"`
		Warned     bool         `json:"warned"`
		Detectable number       `json:"detectable"`
		Needed     number       `json:"runs_needed"`
		Outcome    string       `json:"outcome"`
		Why        string       `json:"why"`
		Creep      *creepDoc    `json:"creep"`
		Warnings   []string     `json:"warnings"`
	}
	// creepDoc is how far head is from an anchor, where that decided.
	creepDoc struct {
		Since     string `json:"since"`            // what the anchor is called
		Commit    string `json:"commit,omitempty"` // the anchor's
		Jobs      int    `json:"jobs"`             // from the anchor to head
		Change    number `json:"change"`           // of the metric, as a share
		Threshold number `json:"threshold"`        // that it is beyond
	}
	summaryDoc struct {
		Median   number `json:"median"`
		Min      number `json:"min"`
		Max      number `json:"max"`
		Launches int    `json:"launches"`
		Values   int    `json:"values"`
	}
	slowdownDoc struct {
		Estimate       number `json:"estimate"`
		Low            number `json:"low"`
		High           number `json:"high"`
		LowConfidence  number `json:"low_confidence"`
		HighConfidence number `json:"high_confidence"`
	}
	keyDoc struct {
		Benchmark string `json:"benchmark"`
		Metric    string `json:"metric"`
	}
)

// A number is null where it is infinite or none.
type number float64

// MarshalJSON writes what JSON has no number for as null, and no change as 0:
// "-0" is a number that puzzles its readers.
func (n number) MarshalJSON() ([]byte, error) {
	switch v := float64(n); {
	case math.IsNaN(v), math.IsInf(v, 0):
		return []byte("null"), nil
	case v == 0:
		return []byte("0"), nil
	default:
		return json.Marshal(v)
	}
}

// runsNeeded is no number where nothing is needed, or no number of runs would do.
func runsNeeded(runs float64) number {
	if runs == 0 {
		return number(math.NaN())
	}
	return number(runs)
}

func writeJSON(w io.Writer, v gate.Verdict, o Options) error {
	data, err := bench.EncodeDocument(documentOf(v, o), "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, quiet(string(data)))
	return err
}

func documentOf(v gate.Verdict, o Options) verdictDoc {
	doc := verdictDoc{
		Schema: VerdictSchema, Noslower: o.Version, Suite: v.Suite,
		Outcome: v.Outcome.String(), Status: int(v.Status), Headline: strings.Join(headline(v, plain), " "),
		Reasons: some(v.Reasons), Base: sideOf(v.Base), NoBaseline: v.NoBaseline, Head: sideOf(&v.Head),
		Refused: v.Refused, Accepted: v.Accepted, Loosened: v.Loosened, Interleaved: v.Interleaved,
		Comparisons: []comparisonDoc{}, Added: keysOf(v.Added), Removed: keysOf(v.Removed), Warnings: some(v.Warnings),
	}
	if m := v.Moved; m != nil {
		doc.Moved = &movedDoc{m.Benchmark, number(m.Base), number(m.Head), number(m.Explained), []movedFunctionDoc{}}
		for _, f := range m.Functions {
			doc.Moved.Functions = append(doc.Moved.Functions, movedFunctionDoc{f.Name, f.File, f.Line, number(f.Base), number(f.Head), f.New, f.Vanished})
		}
	}
	if v.Interleaved {
		doc.Seed = strconv.FormatUint(v.Seed, 10)
	}
	for _, c := range v.Comparisons {
		d := comparisonDoc{
			Benchmark: c.Benchmark, Metric: c.Metric.Name, Unit: c.Metric.Unit, Better: c.Metric.Better.String(), Gating: c.Gating,
			Base: summaryOf(c.Base), Head: summaryOf(&c.Head), Change: number(c.Change), Slowdown: slowdownOf(c.Slowdown),
			Threshold: number(c.Threshold), Warned: c.Warned, Detectable: number(c.Detectable), Needed: runsNeeded(c.Needed),
			Outcome: c.Outcome.String(), Why: c.Why, Warnings: some(c.Warnings),
		}
		if c.Warn != 0 {
			d.Warn = (*number)(&c.Warn)
		}
		d.Limit = (*number)(c.Limit)
		if k := c.Crept; k != nil {
			d.Creep = &creepDoc{k.Since, k.Commit, k.Jobs, number(k.Change), number(k.Threshold)}
		}
		doc.Comparisons = append(doc.Comparisons, d)
	}
	return doc
}

// some makes an empty list of none: readers need no case for null.
func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func sideOf(s *gate.Side) *sideDoc {
	if s == nil {
		return nil
	}
	d := &sideDoc{Commit: s.Commit, Origin: s.Origin, Runs: s.Runs, Host: hostDoc(s.Host)}
	// A year of five digits has no form in JSON.
	if t := s.Time.UTC(); !t.IsZero() && t.Year() >= 0 && t.Year() <= 9999 {
		d.Time = &t
	}
	return d
}

func summaryOf(s *gate.Summary) *summaryDoc {
	if s == nil {
		return nil
	}
	return &summaryDoc{number(s.Median), number(s.Min), number(s.Max), s.Launches, s.Values}
}

// slowdownOf makes a bound that there is none of, 0 below and infinity above,
// null.
func slowdownOf(s *gate.Slowdown) *slowdownDoc {
	if s == nil {
		return nil
	}
	low := s.Low
	if low == 0 {
		low = math.NaN()
	}
	return &slowdownDoc{number(s.Estimate), number(low), number(s.High), number(s.LowConfidence), number(s.HighConfidence)}
}

func keysOf(keys []bench.Key) []keyDoc {
	list := []keyDoc{}
	for _, k := range keys {
		list = append(list, keyDoc(k))
	}
	return list
}

// quiet writes what is not to be seen in a document's strings as escapes, which
// changes nothing for a program: a terminal acts on C1 controls, an editor on
// changes of direction, and a workflow's log on "##[".
func quiet(document string) string {
	var b strings.Builder
	for i, r := range document {
		switch {
		case r == '\n', !invisible(r) && !strings.HasPrefix(document[i:], "##["):
			b.WriteRune(r)
		case r > math.MaxUint16:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
