package gate

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/noslower/noslower/pkg/bench"
)

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
func (p Policy) match(baseSide, headSide Side) (matching, error) {
	base, head := baseSide.Set, headSide.Set
	renames, err := p.resolvePairs(base, head)
	if err != nil {
		return matching{}, err
	}
	headNames := benchmarks(head)
	// Mostly every name is on both sides.
	stripped := sync.OnceValue(func() map[string]string { return uniqueWithoutCores(headNames, headSide.Host.Cores) })
	baseStripped := sync.OnceValue(func() map[string]string { return uniqueWithoutCores(benchmarks(base), baseSide.Host.Cores) })
	m := matching{pairs: make([]match, 0, base.Len())}
	taken := make(map[bench.Key]bool, head.Len())
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
			if other := stripped()[bare]; other != "" && baseStripped()[bare] == b.Benchmark {
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
	if len(p.Pairs) == 0 {
		return nil, nil
	}
	inBase, inHead := p.called(base), p.called(head)
	renames := map[string]string{}
	var faults []error
	for _, pair := range p.Pairs {
		var found [][2]string
		for i, r := range pair {
			if r != '=' {
				continue
			}
			from, isOfBase := inBase[pair[:i]]
			to, isOfHead := inHead[pair[i+len("="):]]
			if isOfBase && isOfHead {
				found = append(found, [2]string{from, to})
			}
		}
		switch len(found) {
		case 1:
			renames[found[0][0]] = found[0][1]
		case 0:
			if p.elsewhere(func(benchmark, _ string) bool { return strings.HasSuffix(pair, "="+benchmark) }) {
				continue
			}
			faults = append(faults, fmt.Errorf("--pair %q: want BASE NAME=HEAD NAME, the first one of %s, the second one of %s",
				pair, p.names(base), p.names(head)))
		default:
			faults = append(faults, fmt.Errorf("--pair %q can be read in %d ways: rename one of the benchmarks", pair, len(found)))
		}
	}
	return renames, errors.Join(faults...)
}

// called maps what the benchmarks of a set may be called to their names: one
// without a name goes by the suite's, too, where no other has it.
func (p Policy) called(s *bench.Set) map[string]string {
	m := map[string]string{}
	for name := range benchmarks(s) {
		m[name] = name
	}
	_, taken := m[p.Suite]
	if _, unnamed := m[""]; unnamed && !taken {
		m[p.Suite] = ""
	}
	return m
}

func benchmarks(s *bench.Set) map[string]bool {
	m := map[string]bool{}
	for _, k := range s.Keys() {
		m[k.Benchmark] = true
	}
	return m
}

// names lists the benchmarks of a set for an error, in order, bounded. One without
// a name goes by the suite's.
func (p Policy) names(s *bench.Set) string {
	const most = 10
	var list []string
	seen := map[string]bool{}
	for _, k := range s.Keys() {
		if !seen[k.Benchmark] {
			seen[k.Benchmark] = true
			list = append(list, fmt.Sprintf("%q", cmp.Or(k.Benchmark, p.Suite)))
		}
	}
	if len(list) > most {
		list = append(list[:most], fmt.Sprintf("%d more", len(list)-most))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// withoutCores returns a Go benchmark's name without the -N that tells the
// number of cores.
func withoutCores(name string) string {
	bare := strings.TrimRight(name, "0123456789")
	if bare == name || !strings.HasSuffix(bare, "-") {
		return name
	}
	return bare[:len(bare)-1]
}

// mostCores is more than any machine has: a larger number is no core count.
const mostCores = 1024

// uniqueWithoutCores maps each name without its core count to the one full name
// it stands for; to "" where there are several. It is empty where what ends the
// names is no core count: it differs between them, or is more than cores, those
// of the machine where that is known.
func uniqueWithoutCores(full map[string]bool, cores int) map[string]string {
	m := map[string]string{}
	if cores == 0 {
		cores = mostCores
	}
	suffix := ""
	for name := range full {
		s := strings.TrimPrefix(name, withoutCores(name))
		n, err := strconv.Atoi(strings.TrimPrefix(s, "-"))
		if s != "" && (err != nil || n > cores || suffix != "" && s != suffix) {
			return nil
		}
		suffix = cmp.Or(s, suffix)
	}
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
