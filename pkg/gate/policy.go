package gate

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// A Reaction is what a finding that is no regression does to the check.
type Reaction string

// The reactions: nothing, a warning, a failed check.
const (
	Pass Reaction = "pass"
	Warn Reaction = "warn"
	Fail Reaction = "fail"
)

// ParseReaction reads a reaction by its word.
func ParseReaction(s string) (Reaction, error) {
	switch r := Reaction(s); r {
	case Pass, Warn, Fail:
		return r, nil
	}
	return "", fmt.Errorf("want pass, warn or fail, have %q", s)
}

// A Rule sets what a metric is judged by. Rules apply in order, and the last
// one that sets a field wins. Benchmark and Metric are globs of * and ?; an
// empty one matches everything.
type Rule struct {
	Benchmark, Metric string

	Gate   *bool    // whether a regression fails the check
	Fail   *float64 // smallest slowdown that fails, as a share of the metric: 0.05 is 5 %
	Warn   *float64 // smallest slowdown that is warned of
	Limit  *float64 // absolute, in the metric's base unit, whatever the baseline
	Better bench.Better
}

// A Policy is what the user asked of the gate.
type Policy struct {
	Suite string // stands in for benchmarks without a name
	Rules []Rule
	// Pairs are "BASE NAME=HEAD NAME": benchmarks that are compared under
	// different names.
	Pairs []string
	// Aliases are renames, old name to new: they hold where base has only the
	// old name and head has the new one.
	Aliases map[string]string
	// Expect names what head must have: "BENCHMARK" or "BENCHMARK/METRIC".
	Expect []string

	OnInconclusive Reaction // a gating comparison that stayed open
	OnNoBaseline   Reaction // nothing to compare with
	OnMissing      Reaction // a benchmark of base that head lacks
	OnErrors       Reaction // more errors on head than on base

	// NoiseTimes and NoiseCounts are the least spread between jobs that is
	// assumed until there is a history, as shares: 0.02 is 2 %.
	NoiseTimes, NoiseCounts float64
	// RefuseFewRuns makes numbers that are too few for a gating metric ever to
	// fail wrong use, and not a comparison that stays open.
	RefuseFewRuns bool
	// Interleaved says that both sides were measured in turn, in one job: their
	// runs belong together in pairs, and there is no noise between jobs.
	Interleaved bool
	// Creep holds head against the past too; nil where it is not asked for.
	Creep *Creep
	// Look is how often was looked before, from 0 to LastLook: earlier looks
	// need more to call a regression.
	Look int
}

// DefaultPolicy returns the policy of a user who configured nothing.
func DefaultPolicy() Policy {
	return Policy{
		Suite:          "default",
		OnInconclusive: Pass, OnNoBaseline: Pass, OnMissing: Warn, OnErrors: Fail,
		NoiseTimes: 0.02, NoiseCounts: 0.0002, Look: LastLook,
	}
}

// defaultFail has the metrics that gate without being asked, and the slowdown
// at which they fail.
var defaultFail = map[string]float64{
	"instructions_per_op": 0.01,
	"throughput":          0.05,
	"time_per_op":         0.05,
	"cpu_time_per_op":     0.05,
	"iops":                0.05,
	"bandwidth":           0.05,
}

// impliedByThroughput has the metrics that do not gate by default beside a
// gating throughput of the same benchmark: they are the same measurement, and
// would double every false alarm.
var impliedByThroughput = map[string]bool{"time_per_op": true, "iops": true, "bandwidth": true}

// Without a threshold of their own, informational metrics are worded at these.
const (
	informationalTimes  = 0.05
	informationalCounts = 0.01
)

// A standard is what one comparison is judged by.
type standard struct {
	metric     bench.Metric
	gate       bool
	fail, warn float64 // warn is 0 where there is none
	limit      *float64
}

// standardFor resolves the rules for a metric of a benchmark. besideThroughput
// says that the benchmark's throughput gates.
func (p Policy) standardFor(benchmark string, m bench.Metric, besideThroughput bool) standard {
	s := standard{metric: m, fail: informationalTimes}
	if m.IsCount() {
		s.fail = informationalCounts
	}
	if fail, ok := defaultFail[m.Name]; ok {
		s.fail = fail
		s.gate = !besideThroughput || !impliedByThroughput[m.Name]
	}
	for _, r := range p.Rules {
		if !matches(r.Metric, m.Name) || !matches(r.Benchmark, benchmark) && !(benchmark == "" && matches(r.Benchmark, p.Suite)) {
			continue
		}
		if r.Better != bench.Unknown {
			s.metric.Better = r.Better
		}
		if r.Fail != nil {
			s.fail, s.gate = *r.Fail, true
		}
		if r.Limit != nil {
			s.limit, s.gate = r.Limit, true
		}
		if r.Warn != nil {
			s.warn = *r.Warn
		}
		if r.Gate != nil {
			s.gate = *r.Gate
		}
	}
	return s
}

// matches reports whether a glob of * and ? matches the whole of a name; the
// empty glob matches every name. Unlike path.Match, * crosses slashes:
// benchmarks are no paths.
func matches(glob, name string) bool {
	if glob == "" {
		return true
	}
	g, n := []rune(glob), []rune(name)
	// Where the latest * is, and what of the name it has taken so far: if the
	// rest does not match, it takes one more.
	star, taken := -1, 0
	i, j := 0, 0
	for j < len(n) {
		switch {
		case i < len(g) && g[i] == '*':
			star, taken = i, j
			i++
		case i < len(g) && (g[i] == '?' || g[i] == n[j]):
			i++
			j++
		case star >= 0:
			taken++
			i, j = star+1, taken
		default:
			return false
		}
	}
	for i < len(g) && g[i] == '*' {
		i++
	}
	return i == len(g)
}

// faults returns why a gating comparison by this standard could never fail.
func (s standard) faults() error {
	switch {
	case s.metric.Better == bench.Unknown:
		return fmt.Errorf("its direction is not known from its unit %q: say \"better: lower\" or \"better: higher\" in the configuration", s.metric.Unit)
	case s.metric.Better == bench.Higher && s.fail >= 1:
		return fmt.Errorf("a drop of %s can never happen: ask for less than 100 %%", Percent(s.fail))
	}
	return nil
}

// A match is a sample of base and the one of head that it is compared with.
type match struct {
	base, head bench.Sample
	renamed    string // how the names were brought together; "" where they are equal
}

// matching is the result of bringing the sides together.
type matching struct {
	pairs          []match
	added, removed []bench.Key
}

// match brings the samples of both sides together: by explicit pairs, by name,
// by aliases, and by a Go benchmark's name without its core count where that is
// unique.
func (p Policy) match(base, head *bench.Set) (matching, error) {
	renames, err := p.resolvePairs(base, head)
	if err != nil {
		return matching{}, err
	}
	headNames := benchmarks(head)
	stripped := uniqueWithoutCores(headNames)
	baseStripped := uniqueWithoutCores(benchmarks(base))
	var m matching
	taken := map[bench.Key]bool{}
	paired := map[string]bool{} // names on either side that an explicit pair speaks for
	for from, to := range renames {
		paired[from], paired[to] = true, true
	}
	for _, b := range base.Samples() {
		to, why := b.Benchmark, ""
		switch explicit, ok := renames[b.Benchmark]; {
		case ok:
			to = explicit
			if to != b.Benchmark {
				why = fmt.Sprintf("base's %q is compared with head's %q", b.Benchmark, to)
			}
		case paired[b.Benchmark]:
			continue
		case headNames[b.Benchmark]:
		case p.Aliases[b.Benchmark] != "" && headNames[p.Aliases[b.Benchmark]]:
			to = p.Aliases[b.Benchmark]
			why = fmt.Sprintf("renamed from %q", b.Benchmark)
		default:
			bare := withoutCores(b.Benchmark)
			if other := stripped[bare]; other != "" && baseStripped[bare] == b.Benchmark {
				to = other
				why = fmt.Sprintf("base ran it as %q, with another number of cores", b.Benchmark)
			}
		}
		h, ok := head.Lookup(bench.Key{Benchmark: to, Metric: b.Metric.Name})
		if !ok {
			m.removed = append(m.removed, b.Key())
			continue
		}
		taken[h.Key()] = true
		m.pairs = append(m.pairs, match{b, h, why})
	}
	for _, k := range head.Keys() {
		if !taken[k] && !paired[k.Benchmark] {
			m.added = append(m.added, k)
		}
	}
	return m, nil
}

// resolvePairs finds which "=" of each pair parts its names: names hold "=" too.
func (p Policy) resolvePairs(base, head *bench.Set) (map[string]string, error) {
	inBase, inHead := benchmarks(base), benchmarks(head)
	renames := map[string]string{}
	var faults []error
	for _, pair := range p.Pairs {
		var found [][2]string
		for i, r := range pair {
			if from, to := pair[:i], pair[i+len("="):]; r == '=' && inBase[from] && inHead[to] {
				found = append(found, [2]string{from, to})
			}
		}
		switch len(found) {
		case 1:
			renames[found[0][0]] = found[0][1]
		case 0:
			faults = append(faults, fmt.Errorf("--pair %q: want BASE NAME=HEAD NAME, the first one of %s, the second one of %s",
				pair, names(base), names(head)))
		default:
			faults = append(faults, fmt.Errorf("--pair %q can be read in %d ways: rename one of the benchmarks", pair, len(found)))
		}
	}
	return renames, errors.Join(faults...)
}

func benchmarks(s *bench.Set) map[string]bool {
	m := map[string]bool{}
	for _, k := range s.Keys() {
		m[k.Benchmark] = true
	}
	return m
}

// names lists the benchmarks of a set for an error, in order, bounded.
func names(s *bench.Set) string {
	const most = 10
	var list []string
	seen := map[string]bool{}
	for _, k := range s.Keys() {
		if !seen[k.Benchmark] {
			seen[k.Benchmark] = true
			list = append(list, fmt.Sprintf("%q", k.Benchmark))
		}
	}
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more", len(list)-most))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

var coresSuffix = regexp.MustCompile(`-\d+$`)

// withoutCores returns a Go benchmark's name without the -N that tells the
// number of cores.
func withoutCores(name string) string { return coresSuffix.ReplaceAllString(name, "") }

// uniqueWithoutCores maps each name without its core count to the one full name
// it stands for; to "" where there are several.
func uniqueWithoutCores(full map[string]bool) map[string]string {
	m := map[string]string{}
	for name := range full {
		bare := withoutCores(name)
		if _, twice := m[bare]; twice {
			m[bare] = ""
			continue
		}
		m[bare] = name
	}
	return m
}

// expected returns which of the expected names head has not, each with what
// there is.
func (p Policy) missingExpected(head *bench.Set) []string {
	var missing []string
	for _, want := range p.Expect {
		found := false
		for _, k := range head.Keys() {
			name := k.Benchmark
			if name == "" {
				name = p.Suite
			}
			if want == name || want == name+"/"+k.Metric {
				found = true
				break
			}
		}
		if !found {
			missing = append(missing, want)
		}
	}
	return missing
}

// A Standard is what a metric of a benchmark is judged by.
type Standard struct {
	Key        bench.Key
	Gating     bool
	Fail, Warn float64  // shares of the metric; Warn is 0 where there is none
	Limit      *float64 // absolute
}

// Standards resolves the policy for everything that a side measured.
func (p Policy) Standards(set *bench.Set) []Standard {
	throughput := p.gatingThroughput(set)
	var standards []Standard
	for _, sample := range set.Samples() {
		s := p.standardFor(sample.Benchmark, sample.Metric, throughput[sample.Benchmark])
		standards = append(standards, Standard{sample.Key(), s.gate, s.fail, s.warn, s.limit})
	}
	return standards
}

// gatingThroughput has the benchmarks of a side whose throughput gates.
func (p Policy) gatingThroughput(set *bench.Set) map[string]bool {
	gating := map[string]bool{}
	for _, sample := range set.Samples() {
		if sample.Metric.Name == "throughput" && p.standardFor(sample.Benchmark, sample.Metric, false).gate {
			gating[sample.Benchmark] = true
		}
	}
	return gating
}
