package format_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
)

// corpus is a collection of real outputs of the projects below, each beside
// what a person found in it. It is not part of the repository.
const corpus = "../../../shared/corpus"

// leastShare is how much of each project's samples must be found.
var leastShare = map[string]float64{"seeds": 1, "scylla": 0.95, "seastar": 0.95, "kudu": 0.95, "tarantool": 0.95, "ceph": 0.95}

// uncounted are columns of the corpus that are counts and spreads and so no
// metrics.
var uncounted = map[string]bool{
	"iterations": true, "insn per cycle": true, "1st Qu.": true, "3rd Qu.": true, "Min.": true, "Max.": true,
	"col1": true, "col2": true, "col3": true, "duration": true, "time.cpu": true, "iops_stddev": true,
	"total_count": true, "stdev gc time(ms)": true, "overhead": true,
}

// isCounted reports whether a sample of the corpus is one to find. The 0 of a
// counter that the machine did not have is none: read as a value, it would stay
// the same where nothing is counted, and rise from nothing where a machine counts.
func isCounted(metric string, values []float64) bool {
	counter := strings.Contains(metric, "cycles") || strings.Contains(metric, "inst")
	return !uncounted[metric] && len(values) > 0 && !(counter && slices.Max(values) == 0)
}

// An expected is one sample that a person found.
type expected struct {
	Better   string
	Samples  []float64
	Reported map[string]any
	Median   *float64
}

// values returns the sample, or the one number that stands for it.
func (e expected) values() []float64 {
	if len(e.Samples) > 0 {
		return e.Samples
	}
	for _, key := range []string{"median", "median_line", "mean", "value"} {
		if v, ok := e.Reported[key].(float64); ok {
			return []float64{v}
		}
	}
	if e.Median != nil {
		return []float64{*e.Median}
	}
	return nil
}

// A side is benchmark → metric → sample; a metric that is no object is a note.
type side map[string]map[string]json.RawMessage

func TestCorpus(t *testing.T) {
	cases, _ := filepath.Glob(filepath.Join(corpus, "*", "*", "expected.json"))
	if len(cases) == 0 {
		t.Skipf("no %s beside the repository", corpus)
	}
	total, found := map[string]int{}, map[string]int{}
	for _, path := range cases {
		dir := filepath.Dir(path)
		system := filepath.Base(filepath.Dir(dir))
		if _, ok := leastShare[system]; !ok {
			continue
		}
		var doc struct {
			Runs  map[string]side
			Sides map[string]json.RawMessage
		}
		if err := json.Unmarshal(read(t, path), &doc); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		count := func(file, name string, s side) {
			samples, problem := parse(filepath.Join(dir, file))
			for _, b := range slices.Sorted(maps.Keys(s)) {
				for _, m := range slices.Sorted(maps.Keys(s[b])) {
					var e expected
					if json.Unmarshal(s[b][m], &e) != nil || !isCounted(m, e.values()) {
						continue
					}
					total[system]++
					if slices.ContainsFunc(samples, e.matches) {
						found[system]++
					} else if testing.Verbose() {
						t.Logf("%s: %s: %s: %s: not found: %v %s", dir, name, b, m, e.values(), problem)
					}
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(doc.Runs)) {
			count(name+".txt", name, doc.Runs[name])
		}
		for _, name := range []string{"before", "after"} {
			var s side
			if json.Unmarshal(doc.Sides[name], &s) == nil {
				count("compare.txt", name, s)
			}
		}
	}
	for system, least := range leastShare {
		share := float64(found[system]) / float64(total[system])
		t.Logf("%s: %d of %d samples found (%.1f %%)", system, found[system], total[system], 100*share)
		if !(share >= least) {
			t.Errorf("%s: %.1f %% of the samples found, want %v %%", system, 100*share, 100*least)
		}
	}
}

// parse reads a file as "noslower parse" does.
func parse(path string) ([]bench.Sample, string) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err.Error()
	}
	f, err := format.Detect(bytes.NewReader(data))
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), ":")
		return nil, first
	}
	var set bench.Set
	var problems []string
	for res, err := range f.Read(bytes.NewReader(data), path) {
		if err == nil {
			err = set.Add(0, res)
		}
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	return set.Samples(), fmt.Sprint(problems)
}

// matches reports whether a sample has the values expected in some unit, and
// not the opposite direction.
func (e expected) matches(s bench.Sample) bool {
	want, have := e.values(), s.Values()
	if len(want) != len(have) {
		return false
	}
	if s.Metric.Better != bench.Unknown && (e.Better == "lower" || e.Better == "higher") && e.Better != s.Metric.Better.String() {
		return false
	}
	scales := []float64{1, 1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9, 1 << 10, 1 << 20, 1 << 30, 60, 100, 0.01, 1.024, 0.06}
	return slices.ContainsFunc(scales, func(scale float64) bool {
		for i := range want {
			if math.Abs(want[i]*scale-have[i]) > max(2e-6*math.Abs(have[i]), 1e-12) {
				return false
			}
		}
		return true
	})
}
