package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/bench/known"
	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/stat"
)

// A madeTrend is a benchmark whose level changes by a share at a job.
type madeTrend struct {
	name, metric, unit string
	level, noise, step float64
	at                 int
}

// madeRecords are records of so many jobs, each of as many as one carries, of
// trends on one machine class.
func madeRecords(t testing.TB, suite string, host bench.Host, jobs int, trends []madeTrend) []baseline.Record {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(jobs), uint64(host.Cores)))
	var all []baseline.Job
	start := time.Date(2026, 1, 1, 12, host.Cores, 0, 0, time.UTC)
	for i := range jobs {
		j := baseline.Job{Commit: fmt.Sprintf("%08x%032d", 0xc0ffee00+i, i), Time: start.Add(time.Duration(i) * 24 * time.Hour), MachineClass: host.Class()}
		for _, m := range trends {
			level := m.level
			if i >= m.at {
				level *= 1 + m.step
			}
			j.Quantities = append(j.Quantities, baseline.Quantity{
				Key: bench.Key{Benchmark: m.name, Metric: m.metric}, Center: math.Log(bench.Measure(m.metric, level, m.unit).V) + m.noise*r.NormFloat64(), Variance: m.noise * m.noise / 9, Count: 10,
			})
		}
		all = append(all, j)
	}
	metrics := map[bench.Key]bench.Metric{}
	for _, m := range trends {
		metrics[bench.Key{Benchmark: m.name, Metric: m.metric}] = bench.Measure(m.metric, m.level, m.unit).Metric
	}
	return recordsOfJobs(t, suite, host, all, metrics)
}

// recordsOfJobs puts jobs into records, as many into each as it carries.
func recordsOfJobs(t testing.TB, suite string, host bench.Host, jobs []baseline.Job, metrics map[bench.Key]bench.Metric) []baseline.Record {
	t.Helper()
	var records []baseline.Record
	for some := range slices.Chunk(jobs, baseline.MaxJobs) {
		last := some[len(some)-1]
		r := baseline.Record{
			Jobs:         some[:len(some)-1],
			Measurements: bench.Measurements{Suite: suite, Commit: last.Commit, Time: last.Time, Host: host, Set: &bench.Set{}},
		}
		for _, q := range last.Quantities {
			value := bench.Value{Metric: metrics[q.Key], V: math.Exp(q.Center)}
			if err := r.Measurements.Set.Add(0, bench.Result{Name: q.Key.Benchmark, Values: []bench.Value{value}}); err != nil {
				t.Fatal(err)
			}
		}
		records = append(records, r)
	}
	return records
}

// writeRecords puts records into a folder.
func writeRecords(t testing.TB, folder string, records []baseline.Record) {
	t.Helper()
	for i, r := range records {
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		where := store{folder: filepath.Join(folder, fmt.Sprint(i))}.path(r.Measurements.Suite)
		if err := writeWhole(where, data); err != nil {
			t.Fatal(err)
		}
	}
}

const hostile = `<script>alert(1)</script>"'&{{.}}` + "\u202e\x1b[31m"

var (
	oneMachine   = bench.Host{OS: "linux", Arch: "amd64", CPU: "Xeon <b>8370C</b>", Cores: 4}
	otherMachine = bench.Host{OS: "linux", Arch: "arm64", CPU: "Neoverse-N2", Cores: 2}
)

// madeSite writes a site of a project with hostile names and two machine classes.
func madeSite(t testing.TB) (folder string) {
	t.Helper()
	records := filepath.Join(t.TempDir(), "records")
	trends := []madeTrend{
		{"Encode/small-8", "time_per_op", "ns/op", 800, 0.01, 0.06, 60},
		{"Encode/small-8", "allocs_per_op", "allocs/op", 24, 0, -0.25, 30},
		{"Decode", "time_per_op", "ns/op", 2000, 0.02, 0, 0},
		{"Serve", "throughput", "ops/s", 90000, 0.01, -0.08, 70},
		{hostile, "time_per_op", "ns/op", 100, 0.01, 0.1, 50},
		{"index", "score", "points", 10, 0.01, 0.2, 50},
	}
	writeRecords(t, filepath.Join(records, "a"), madeRecords(t, hostile, oneMachine, 100, trends))
	writeRecords(t, filepath.Join(records, "b"), madeRecords(t, hostile, otherMachine, 80, trends[:3]))
	writeRecords(t, filepath.Join(records, "c"), madeRecords(t, "write", oneMachine, 1, trends[:1]))
	folder = filepath.Join(t.TempDir(), "site")
	writeSite(t, folder, records)
	if copied := os.Getenv("SITE_COPY"); copied != "" {
		if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
			t.Error(err)
		}
	}
	return folder
}

// writeSite writes the site of records.
func writeSite(t testing.TB, folder, records string) {
	t.Helper()
	var stderr bytes.Buffer
	w := world{Stdout: &bytes.Buffer{}, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}
	if status := w.run(t.Context(), []string{"site", "--out", folder, records}); status != 0 {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
}

// pagesOf are the pages of a site by path.
func pagesOf(t testing.TB, folder string) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(path)))
		pages[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchors   = regexp.MustCompile(` id="([^"]*)"`)

	notANumber = regexp.MustCompile(`\b(NaN|Inf)\b`)
)

// TestSite: every link of the site leads somewhere within it, names of others
// stay text, and nothing is asked of any other place.
func TestSite(t *testing.T) {
	pages := pagesOf(t, madeSite(t))
	if len(pages) != 9 {
		t.Errorf("have %d pages, want an overview, two suites and six benchmarks", len(pages))
	}
	checkSite(t, pages)
	for _, want := range []string{`&lt;script&gt;alert\(1\)`, `-8\.[0-9]+ %, worse</b> between <code>c0ffee45`} {
		if !regexp.MustCompile(want).MatchString(pages["index.html"]) {
			t.Errorf("the overview has nothing like %q:\n%s", want, pages["index.html"])
		}
	}
}

// checkSite follows the links of a site, and looks for what must not stand in it.
func checkSite(t *testing.T, pages map[string]string) {
	t.Helper()
	ids := map[string]bool{}
	for path, text := range pages {
		ids[path] = true
		for _, m := range anchors.FindAllStringSubmatch(text, -1) {
			if ids[path+"#"+m[1]] {
				t.Errorf("%s: two elements have the id %q", path, m[1])
			}
			ids[path+"#"+m[1]] = true
		}
	}
	for path, text := range pages {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			to := m[1]
			switch {
			case to == "data:,":
				continue
			case strings.HasPrefix(to, "#"):
				to = path + to
			default:
				to = filepath.ToSlash(filepath.Join(filepath.Dir(path), to))
			}
			if !ids[to] {
				t.Errorf("%s: the link %q leads nowhere", path, m[1])
			}
		}
		for _, bad := range []string{"<script>alert", "\x1b", "\u202e", "<b>8370C", "http:", "https:", "ZgotmplZ"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q stands in it", path, bad)
			}
		}
		if number := notANumber.FindString(text); number != "" {
			t.Errorf("%s: %q stands in it", path, number)
		}
	}
}

// TestSiteOfRealTrends is the site over real series. The small ones stand for all:
// the race detector makes this slow.
func TestSiteOfRealTrends(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "site")
	writeSite(t, folder, realRecords(t, "otava_tests", "risinglight_ghbench", "rune_ghbench"))
	checkSite(t, pagesOf(t, folder))
}

// BenchmarkSiteOfRealTrends has the figures of docs/trends.md.
func BenchmarkSiteOfRealTrends(b *testing.B) {
	records := realRecords(b, "go_benchseries", "mongodb_spa", "otava_tests", "pypdf_ghbench", "risinglight_ghbench", "rune_ghbench", "safetensors_ghbench", "sandmark_nightly")
	for b.Loop() {
		folder := b.TempDir()
		writeSite(b, folder, records)
		reportSizes(b, folder)
	}
}

// realRecords is a folder of the records of sources, a suite each.
func realRecords(t testing.TB, sources ...string) string {
	t.Helper()
	records := t.TempDir()
	for _, source := range sources {
		jobs, metrics := realJobs(t, source, "")
		writeRecords(t, filepath.Join(records, source), recordsOfJobs(t, source, bench.Host{}, jobs, metrics))
	}
	return records
}

var number = regexp.MustCompile(`\d+`)

// padded returns a name by which t9 comes before t10.
func padded(name string) string {
	return number.ReplaceAllStringFunc(name, func(digits string) string { return strings.Repeat("0", max(0, 20-len(digits))) + digits })
}

// realJobs reads what a source has with a label, or with any where that is "", a
// job a run; the test is skipped where it is not at hand.
func realJobs(t testing.TB, source, label string) (jobs []baseline.Job, metrics map[bench.Key]bench.Metric) {
	t.Helper()
	metrics = map[bench.Key]bench.Metric{}
	values := map[string]map[bench.Key][]float64{} // logarithms, by run
	orders := map[string]int{}
	for _, r := range known.Rows(t, source) {
		if r.Value <= 0 || label != "" && r.Label != label {
			continue
		}
		value := bench.Measure(r.Metric, r.Value, r.Unit)
		key := bench.Key{Benchmark: r.Series, Metric: value.Metric.Name}
		metrics[key] = value.Metric
		if values[r.Run] == nil {
			values[r.Run], orders[r.Run] = map[bench.Key][]float64{}, r.Order
		}
		values[r.Run][key] = append(values[r.Run][key], math.Log(value.V))
	}
	runs := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(orders[a], orders[b]), cmp.Compare(padded(a), padded(b)))
	})
	for i, run := range runs {
		j := baseline.Job{Commit: run[strings.LastIndexByte(run, '/')+1:], Time: time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)}
		for _, key := range slices.SortedFunc(maps.Keys(values[run]), func(a, b bench.Key) int {
			return cmp.Or(cmp.Compare(a.Benchmark, b.Benchmark), cmp.Compare(a.Metric, b.Metric))
		}) {
			logs := values[run][key]
			j.Quantities = append(j.Quantities, baseline.Quantity{Key: key, Center: stat.Median(logs), Count: len(logs)})
		}
		jobs = append(jobs, j)
	}
	return jobs, metrics
}

// TestSiteAgain: what is gone from the records is gone from the site that is
// written over an older one, and nothing else is deleted.
func TestSiteAgain(t *testing.T) {
	folder, records := filepath.Join(t.TempDir(), "site"), t.TempDir()
	trends := []madeTrend{{"Encode", "time_per_op", "ns/op", 800, 0.01, 0, 0}, {"Decode", "time_per_op", "ns/op", 2000, 0.01, 0, 0}}
	for suite, measured := range map[string][]madeTrend{"codec": trends, "old": trends, "older": trends} {
		writeRecords(t, filepath.Join(records, suite), madeRecords(t, suite, oneMachine, 3, measured))
	}
	writeSite(t, folder, records)
	const foreign = "<!DOCTYPE html><title>Of somebody else</title>"
	for _, path := range []string{"codec/notes.html", "old/decode.txt", "docs/index.html", "CNAME"} {
		if err := writeWhole(filepath.Join(folder, path), []byte(foreign)); err != nil {
			t.Fatal(err)
		}
	}

	for _, suite := range []string{"codec", "old", "older"} {
		if err := os.RemoveAll(filepath.Join(records, suite)); err != nil {
			t.Fatal(err)
		}
	}
	writeRecords(t, records, madeRecords(t, "codec", oneMachine, 3, trends[:1]))
	writeSite(t, folder, records)
	want := []string{"CNAME", "codec/" + pageName("Encode") + ".html", "codec/index.html", "codec/notes.html", "docs/index.html", "index.html", "old/decode.txt"}
	if have := slices.Sorted(maps.Keys(pagesOf(t, folder))); !slices.Equal(have, want) {
		t.Errorf("the site has %q, want %q", have, want)
	}
	if _, err := os.Stat(filepath.Join(folder, "older")); err == nil {
		t.Error("the folder of a suite that is gone is left")
	}
}

// TestPageName: names of pages are plain, and no two names share one.
func TestPageName(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "a", "A", "a/b", "a b", "a-b", "index", "..", "../x", "ü", strings.Repeat("x", 500), strings.Repeat("x", 501), hostile} {
		page := pageName(name)
		if was, ok := seen[page]; ok {
			t.Errorf("%q and %q are both %q", was, name, page)
		}
		seen[page] = name
		if !regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`).MatchString(page) || page == "index" {
			t.Errorf("pageName(%q) = %q", name, page)
		}
	}
}

// TestSiteLinksCommits: in a workflow commits lead to their pages.
func TestSiteLinksCommits(t *testing.T) {
	s := site{commits: "https://github.com/o/r/commit/", releases: map[string]string{"0123456789abcdef": "v1.2"}}
	for _, tt := range []struct {
		commit string
		want   commitLink
	}{
		{"0123456789abcdef", commitLink{"0123456789ab", "https://github.com/o/r/commit/0123456789abcdef", "v1.2"}},
		{`"><script>`, commitLink{`"><script>`, "", ""}},
		{"", commitLink{"–", "", ""}},
	} {
		if got := s.commit(tt.commit); got != tt.want {
			t.Errorf("commit(%q) = %+v, want %+v", tt.commit, got, tt.want)
		}
	}
}

// BenchmarkSite is a project of 2000 benchmarks with 500 jobs.
func BenchmarkSite(b *testing.B) {
	records := b.TempDir()
	var trends []madeTrend
	for i := range 2000 {
		trends = append(trends, madeTrend{fmt.Sprintf("Benchmark%04d", i), "time_per_op", "ns/op", 1000, 0.01, float64(i%10) / 100, 250})
	}
	writeRecords(b, records, madeRecords(b, "all", oneMachine, 500, trends))
	for b.Loop() {
		folder := b.TempDir()
		writeSite(b, folder, records)
		reportSizes(b, folder)
	}
}

// reportSizes tells how large a site is.
func reportSizes(b *testing.B, folder string) {
	b.Helper()
	pages := pagesOf(b, folder)
	largest, total := 0, 0
	for _, text := range pages {
		largest, total = max(largest, len(text)), total+len(text)
	}
	b.ReportMetric(float64(len(pages)), "pages")
	b.ReportMetric(float64(largest), "B/largest-page")
	b.ReportMetric(float64(total), "B/site")
}

// TestChartTellsApart: of more machine classes than colours each has a look of its
// own, and releases have their names as text, as far as there is room.
func TestChartTellsApart(t *testing.T) {
	s := site{releases: map[string]string{"c0": "v1.0", "c1": "v1.1", "c50": `<b>&"of a very long name`, "c99": "v2.0"}}
	var points []gate.Point
	for i := range 100 {
		points = append(points, gate.Point{Commit: fmt.Sprint("c", i), Job: stat.Job{Center: float64(i % 3)}})
	}
	group := []trend{{points: points}}
	looks := map[string]bool{}
	for i := range seriesColors * seriesDashes {
		group = append(group, trend{points: points[:1]})
		looks[seriesClass(i)] = true
	}
	if len(looks) != seriesColors*seriesDashes {
		t.Errorf("%d looks, want %d", len(looks), seriesColors*seriesDashes)
	}
	c := s.draw(group[:1], placesOf(group[:1]))
	if n := strings.Count(string(c.SVG), `class="release"`); n != 4 {
		t.Errorf("%d lines of releases, want 4", n)
	}
	var names []string
	for _, m := range regexp.MustCompile(`<text([^>]*)>([^<]*)</text>`).FindAllStringSubmatch(string(c.Names), -1) {
		names = append(names, m[2])
	}
	if want := []string{"v2.0", "&lt;b&gt;&amp;&#34;…g name", "v1.1"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q: %s", names, want, c.Names)
	}
	if c := s.draw(group[1:], placesOf(group[1:])); !strings.Contains(string(c.SVG), `class="line c0 d1"`) {
		t.Errorf("the fifth has no look of its own: %s", c.SVG)
	}
}
