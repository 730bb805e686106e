package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
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

// BenchmarkCreepOfSameProgram counts how often jobs of one and the same program
// fail for creep, on machines as they are: the figures of docs/trends.md.
func BenchmarkCreepOfSameProgram(b *testing.B) {
	for _, source := range []string{"sandmark_nightly", "laaber_go_instability"} {
		jobs, _ := realJobs(b, source)
		of := map[string][][]gate.Point{}
		for key, points := range trendsOf(jobs) {
			of[key.Metric] = append(of[key.Metric], points)
		}
		for _, metric := range slices.Sorted(maps.Keys(of)) {
			for _, fail := range []float64{0.015, 0.03} {
				b.Run(fmt.Sprintf("%s/%s/%g%%", source, metric, 100*fail), func(b *testing.B) {
					for b.Loop() {
						judged, failed := 0, 0
						for _, points := range of[metric] {
							for end := 4; end < len(points); end++ {
								judged++
								if creeps(b, points[max(0, end-baseline.MaxJobs):end], value(points[end]), fail) {
									failed++
								}
							}
						}
						b.ReportMetric(float64(judged), "jobs")
						b.ReportMetric(float64(failed), "failed")
					}
				})
			}
		}
	}
}

// creeps reports whether a job fails for creep alone, that measured a time in five
// launches after others.
func creeps(b *testing.B, past []gate.Point, seconds, fail float64) bool {
	side := func(seconds float64) gate.Side {
		s := gate.Side{Set: &bench.Set{}}
		for run, scatter := range []float64{0, -0.0005, 0.0005, -0.0002, 0.0002} {
			value := bench.Measure("time_per_op", seconds*(1+scatter), "s/op")
			if err := s.Set.Add(run, bench.Result{Name: "x", Values: []bench.Value{value}}); err != nil {
				b.Fatal(err)
			}
		}
		return s
	}
	base := side(value(past[len(past)-1]))
	p := gate.DefaultPolicy()
	p.Creep = &gate.Creep{Fail: fail}
	trend := gate.Trend{{Benchmark: "x", Metric: "time_per_op"}: past}
	v, err := gate.Decide(&base, side(seconds), "", gate.Past{Trend: trend}, p)
	if err != nil {
		b.Fatal(err)
	}
	return v.Comparisons[0].Crept != nil
}
