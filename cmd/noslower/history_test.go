package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/stat"
)

// TestTrendsOfArtifacts: on the default branch a change of level is told of after
// the job that makes it sure, once, in log and summary; and history and site read
// the newest record, that of the very commit.
func TestTrendsOfArtifacts(t *testing.T) {
	r := newRepo(t)
	t.Chdir(t.TempDir())
	sha := func(i int) string { return fmt.Sprintf("%08x%032d", 0xabc00000+i, i) }
	const jobs, before = 24, 12
	told := 0
	parent := commit("a")
	for i := range jobs {
		ns := 100 + float64(i%3)/10
		if i >= before {
			ns *= 1.1
		}
		r.AddCommit("main", sha(i), parent)
		parent = sha(i)
		e := r.do(step{event: "push", sha: sha(i), flags: r.measured(ns)})
		if e.status != 0 {
			t.Fatalf("push %d: status %d\n%s%s", i, e.status, e.stdout, e.log)
		}
		if strings.Contains(e.stdout, "changed its level") != strings.Contains(e.summary, "changed its level") {
			t.Errorf("push %d: output and summary differ:\n%s%s", i, e.stdout, e.summary)
		}
		if strings.Contains(e.stdout, "changed its level") {
			told++
			e.want(t, 0, fmt.Sprintf("worse, between %s and %s", bench.ShortCommit(sha(before-1)), bench.ShortCommit(sha(before))))
		}
	}
	if told != 1 {
		t.Errorf("the change was told of %d times, want once", told)
	}
	last := step{event: "schedule", sha: sha(jobs - 1), command: "history"}
	r.do(last).want(t, 0, fmt.Sprintf("default: %d jobs", jobs), fmt.Sprintf("between %s and %s", bench.ShortCommit(sha(before-1)), bench.ShortCommit(sha(before))))
	last.command, last.flags = "site", []string{"--out", "pages"}
	r.do(last).want(t, 0, "wrote 3 pages")
	if page := pagesOf(t, "pages")["default/"+pageName("Encode")+".html"]; !strings.Contains(page, "https://github.com/noslower/sample/commit/"+sha(jobs-1)) {
		t.Errorf("the page does not lead to the newest commit:\n%s", page)
	}
	last.command, last.flags = "import", []string{filepath.Join("..", "data.js")}
	r.do(last).want(t, 2, "want dir:PATH, file:PATH or branch:NAME to import into")
}

// sameProgram are the sources of which some series are of one and the same
// program, with the label that says so.
var sameProgram = []struct {
	source, label string
	commits       bool // a series is of one program while its runs are of one commit
}{
	{"sandmark_nightly", "same-commit", true},
	{"laaber_go_instability", "same-commit", false},
	{"go_benchseries", "base-fixed-toolchain", true},
}

// An unchanged is what one and the same program measured of one quantity, job by
// job.
type unchanged struct {
	key    bench.Key
	metric bench.Metric
	points []gate.Point
}

// ourMetrics are what noslower calls metrics of the sources.
var ourMetrics = map[string]bench.Metric{
	"cycles":       {Name: "cpu_cycles", Unit: "cycles", Better: bench.Lower},
	"instructions": {Name: "instructions", Unit: "instructions", Better: bench.Lower},
	"maxrss":       {Name: "max_rss", Unit: "B", Better: bench.Lower},
	"task_clock":   {Name: "cpu_time", Unit: "s", Better: bench.Lower},
	"time":         {Name: "time_per_op", Unit: "s/op", Better: bench.Lower},
}

// unchangedOf has what a source measured of one and the same program.
func unchangedOf(t testing.TB, source, label string, commits bool) []unchanged {
	t.Helper()
	jobs, _ := realJobs(t, source, label)
	var all []unchanged
	for key, points := range trendsOf(jobs) {
		m, ok := ourMetrics[key.Metric]
		if !ok {
			t.Fatalf("%s: no metric of noslower's is %q", source, key.Metric)
		}
		from := 0
		for i := range points {
			if i+1 == len(points) || commits && points[i+1].Commit != points[i].Commit {
				all = append(all, unchanged{bench.Key{Benchmark: key.Benchmark, Metric: m.Name}, m, points[from : i+1]})
				from = i + 1
			}
		}
	}
	return all
}

// falseCreep returns the jobs of one and the same program that fail for creep, by
// what they measured, and how many were judged, by metric.
func falseCreep(t testing.TB, all []unchanged, fail float64) (failed map[bench.Key]int, judged map[string]int) {
	t.Helper()
	failed, judged = map[bench.Key]int{}, map[string]int{}
	for _, p := range all {
		for end := 4; end < len(p.points); end++ {
			judged[p.metric.Name]++
			if creeps(t, p.metric, p.points[max(0, end-baseline.MaxJobs):end], value(p.points[end]), fail) {
				failed[p.key]++
			}
		}
	}
	return failed, judged
}

// twiceAsLong are the benchmarks, of Lwt, that took twice as long or more on one
// of sandmark-nightly's machines for 7 and for 13 nights in a row, and then no
// more: the machine had changed its level.
var twiceAsLong = regexp.MustCompile(`^turing/4\.12\.0\+.*/(chameneos_redux_lwt|test_lwt)\.`)

// TestCreepOfSameProgram: jobs of one and the same program do not fail for creep
// of 3 %, on machines as they are.
func TestCreepOfSameProgram(t *testing.T) {
	for _, s := range sameProgram {
		failed, judged := falseCreep(t, unchangedOf(t, s.source, s.label, s.commits), 0.03)
		for key, n := range failed {
			if !twiceAsLong.MatchString(key.Benchmark) {
				t.Errorf("%s: %d jobs of %s fail", s.source, n, key)
			}
		}
		t.Logf("%s: jobs judged: %v", s.source, judged)
	}
}

// BenchmarkCreepOfSameProgram has the figures of docs/trends.md: how often jobs of
// one and the same program fail for creep.
func BenchmarkCreepOfSameProgram(b *testing.B) {
	for _, s := range sameProgram {
		all := unchangedOf(b, s.source, s.label, s.commits)
		for _, fail := range []float64{0.015, 0.03} {
			b.Run(fmt.Sprintf("%s/%g%%", s.source, 100*fail), func(b *testing.B) {
				for b.Loop() {
					failed, judged := falseCreep(b, all, fail)
					of := map[string]int{}
					for key, n := range failed {
						of[key.Metric] += n
					}
					for metric, jobs := range judged {
						b.ReportMetric(float64(jobs), metric+"-jobs")
						b.ReportMetric(float64(of[metric]), metric+"-failed")
					}
				}
			})
		}
	}
}

// BenchmarkCreepFound has the figures of docs/trends.md: how often creep of 3 % is
// found in a time that grows by so much a job, after ten jobs without, before it
// has grown by 4.5 % and by 6 %; and how often before it has grown by 1 %, which
// is chance. Of a time that does not grow, 50 jobs are looked at.
func BenchmarkCreepFound(b *testing.B) {
	const quiet, histories = 10, 300
	r := rand.New(rand.NewPCG(5, 5))
	// A share of the jobs is slow, and noise is like that of the job before it by a
	// correlation.
	made := func(sd, slow, correlation float64) func() [][]float64 {
		return func() [][]float64 {
			all := make([][]float64, histories)
			for i := range all {
				z := r.NormFloat64()
				for range 100 {
					x := sd * z
					if r.Float64() < slow {
						x += 0.05 * r.ExpFloat64()
					}
					all[i] = append(all[i], x)
					z = correlation*z + math.Sqrt(1-correlation*correlation)*r.NormFloat64()
				}
			}
			return all
		}
	}
	measured := func(source, label string, commits bool) func() [][]float64 {
		return func() [][]float64 {
			var series [][]float64
			for _, p := range unchangedOf(b, source, label, commits) {
				if p.key.Metric != "time_per_op" {
					continue
				}
				var x []float64
				for _, job := range p.points {
					x = append(x, job.Center)
				}
				series = append(series, x)
			}
			return series
		}
	}
	for _, noise := range []struct {
		name string
		of   func() [][]float64 // logarithms
	}{
		{"normal-0.3%", made(0.003, 0, 0)},
		{"normal-1%", made(0.01, 0, 0)},
		{"normal-2%", made(0.02, 0, 0)},
		{"slow-jobs-0.5%", made(0.005, 0.05, 0)},
		{"slow-jobs-1%", made(0.01, 0.05, 0)},
		{"wandering-0.5%", made(0.005, 0, 0.8)},
		{"wandering-1%", made(0.01, 0, 0.8)},
		{"laaber_go_instability", measured("laaber_go_instability", "same-commit", false)},
		{"sandmark_nightly", measured("sandmark_nightly", "same-commit", true)},
	} {
		for _, step := range []float64{0, 0.001, 0.002, 0.003} {
			jobs := baseline.MaxJobs
			if step > 0 {
				jobs = quiet + int(math.Round(0.06/step))
			}
			if noise.name == "sandmark_nightly" && jobs > 60 {
				continue // its histories are shorter
			}
			b.Run(fmt.Sprintf("%s/%g%%-a-job", noise.name, 100*step), func(b *testing.B) {
				for b.Loop() {
					var of, chance, early, late float64
					for _, x := range noise.of() {
						if len(x) < jobs {
							continue
						}
						of++
						var past []gate.Point
						for i, v := range x[:jobs] {
							grown := step * float64(max(0, i+1-quiet))
							p := gate.Point{Commit: fmt.Sprintf("c%d", i), Job: stat.Summarize([]float64{v + grown})}
							if i >= 4 && creeps(b, bench.Measure("time_per_op", 1, "s/op").Metric, past[max(0, i-baseline.MaxJobs):], value(p), 0.03) {
								switch {
								case grown < 0.01:
									chance++
								case grown <= 0.045:
									early++
								default:
									late++
								}
								break
							}
							past = append(past, p)
						}
					}
					b.ReportMetric(of, "histories")
					b.ReportMetric(100*chance/of, "%by-chance")
					b.ReportMetric(100*early/of, "%by-4.5%")
					b.ReportMetric(100*(early+late)/of, "%by-6%")
				}
			})
		}
	}
}

// creeps reports whether a job fails for creep alone, that measured a value in
// five launches after others.
func creeps(t testing.TB, m bench.Metric, past []gate.Point, measured, fail float64) bool {
	t.Helper()
	best := slices.MinFunc(past, func(a, b gate.Point) int { return cmp.Compare(a.Center, b.Center) })
	if measured < value(best)*(1+fail) {
		return false // so near to the very best, nothing does
	}
	side := func(middle float64) gate.Side {
		s := gate.Side{Set: &bench.Set{}}
		for run, scatter := range []float64{0, -0.0005, 0.0005, -0.0002, 0.0002} {
			value := bench.Measure(m.Name, middle*(1+scatter), m.Unit)
			value.Metric = m
			if err := s.Set.Add(run, bench.Result{Name: "x", Values: []bench.Value{value}}); err != nil {
				t.Fatal(err)
			}
		}
		return s
	}
	base := side(value(past[len(past)-1]))
	p := gate.DefaultPolicy()
	gates := true
	p.Rules = []gate.Rule{{Gate: &gates}}
	p.Creep = &gate.Creep{Fail: fail}
	trend := gate.Trend{{Benchmark: "x", Metric: m.Name}: past}
	v, err := gate.Decide(&base, side(measured), "", gate.Past{Trend: trend}, p)
	if err != nil {
		t.Fatal(err)
	}
	return v.Comparisons[0].Crept != nil
}

// TestHistoryComputesNothing: no name is a formula where a spreadsheet opens the
// table, whether it parts columns at commas or at semicolons.
func TestHistoryComputesNothing(t *testing.T) {
	records := t.TempDir()
	writeRecords(t, records, madeRecords(t, "=1+2", oneMachine, 2, []madeTrend{{"foo;=1+2", "time_per_op", "ns/op", 800, 0.01, 0, 0}}))
	var stdout, stderr bytes.Buffer
	w := world{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}
	if status := w.run(t.Context(), []string{"history", "--output", "csv", records}); status != 0 {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	if got := stdout.String(); strings.Count(got, "\n'=1+2,foo;'=1+2,time_per_op") != 2 {
		t.Errorf("a formula: %s", got)
	}
}
