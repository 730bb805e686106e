//go:build browser

package browser

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
)

// siteOf writes a site of 100 jobs on two machine classes; of every other
// benchmark the level changes.
func siteOf(t *testing.T, suite string, names []string) map[string]string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "noslower")
	if out, err := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", binary, "./cmd/noslower").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	records, folder := t.TempDir(), filepath.Join(t.TempDir(), "site")
	for h, host := range []bench.Host{{Arch: "amd64", CPU: "Xeon <b>8370C</b>", Cores: 4}, {Arch: "arm64", CPU: "Neoverse-N2", Cores: 2}} {
		r := baseline.Record{}
		for i := range baseline.MaxJobs {
			at := time.Date(2026, 9, 1, h, 0, 0, 0, time.UTC).Add(time.Duration(24*i) * time.Hour)
			var quantities []baseline.Quantity
			set := &bench.Set{}
			for k, name := range names {
				for _, metric := range []string{"time_per_op", "allocs_per_op"} {
					level := 1e-6 * (1 + 0.01*scatter[(i+k)%len(scatter)])
					if metric == "allocs_per_op" {
						level = 24
					}
					if k%2 == 0 && i >= 30 {
						level *= 1.08
					}
					value := bench.Measure(metric, level, "")
					quantities = append(quantities, baseline.Quantity{Key: bench.Key{Benchmark: name, Metric: metric}, Center: math.Log(level), Count: 1})
					if err := set.Add(0, bench.Result{Name: name, Values: []bench.Value{value}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			m := bench.Measurements{Suite: suite, Commit: fmt.Sprintf("%08x%032d", 0xc0ffee00+i, i), Time: at, Host: host, Set: set}
			if i < baseline.MaxJobs-1 {
				r.Jobs = append(r.Jobs, baseline.Job{Commit: m.Commit, Time: at, MachineClass: host.Class(), Quantities: quantities})
			} else {
				r.Measurements = m
			}
		}
		data, err := r.Encode()
		if err == nil {
			err = os.WriteFile(filepath.Join(records, fmt.Sprintf("%d.record.json", h)), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(binary, "site", "--out", folder, records).CombinedOutput(); err != nil {
		t.Fatalf("noslower site: %v\n%s", err, out)
	}
	pages := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, path))
		pages[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestSiteLooks: each kind of page has no fault that axe-core finds, in light and
// dark, wide and narrow, and is as wide as its window.
func TestSiteLooks(t *testing.T) {
	pages := siteOf(t, "read", []string{"encode", "decode"})
	for _, page := range []struct{ name, path string }{{"overview", "index.html"}, {"suite", "read/index.html"}, {"benchmark", "read/encode.html"}} {
		for _, l := range looks {
			t.Run(page.name+"/"+l.name, func(t *testing.T) {
				b := open(t, pages[page.path], l.prepare)
				b.picture("site-" + page.name + "-" + l.name)
				b.accessible()
				equal(b, "wider than the window", `document.documentElement.scrollWidth > innerWidth`, false)
			})
		}
	}
}

// TestSiteFilters: what is asked for is shown, stands in the address, and is read
// from there.
func TestSiteFilters(t *testing.T) {
	b := open(t, siteOf(t, "read", []string{"encode", "decode", "encode/large"})["read/index.html"])
	const shown = `[...document.querySelectorAll('#trends tbody tr')].filter((row) => row.checkVisibility()).length`
	equal(b, "rows", shown, 12)
	b.enter("[name=name]", "encode time")
	equal(b, "rows by name", shown, 4)
	equal(b, "status", `document.getElementById('status').textContent`, "4 of 12")
	equal(b, "address", `location.hash`, "#?name=encode+time")
	b.enter("[name=name]", "\b\b\b\b\b\b\b\b\b\b\b")
	b.click("[name=changed]")
	equal(b, "rows that changed", shown, 8)
	value[bool](b, `(location.hash = '#?name=decode', true)`)
	equal(b, "rows by the address", `new Promise((done) => setTimeout(() => done(`+shown+`), 50))`, 4)
}

// TestSiteHostileNames: names stay text on every page.
func TestSiteHostileNames(t *testing.T) {
	pages := siteOf(t, strings.Join(evil, " "), evil)
	for path, source := range pages {
		b := open(t, source)
		equal(b, path+": elements that names made", `document.querySelectorAll('img,base,meta[http-equiv=refresh],[onload],[onerror],script:not(body > script)').length`, 0)
	}
}

// TestSiteTellsOfJobs: pointing at a job tells its commit and value, and so does
// the table.
func TestSiteTellsOfJobs(t *testing.T) {
	b := open(t, siteOf(t, "read", []string{"encode"})["read/encode.html"])
	equal(b, "dots", `document.querySelectorAll('#time_per_op .dot path').length`, 100)
	equal(b, "the first dot", `document.querySelector('#time_per_op .dot title').textContent`, "c0ffee000000, 2026-09-01 01:00: 1.001 µs/op on arm64, Neoverse-N2, 2 cores")
	equal(b, "changes", `document.querySelectorAll('#time_per_op .chart .change.worse').length`, 2)
	b.click("#time_per_op summary")
	equal(b, "rows", `document.querySelectorAll('#time_per_op tbody tr').length`, 100)
	equal(b, "the rows are seen", `document.querySelector('#time_per_op tbody tr').checkVisibility()`, true)
}
