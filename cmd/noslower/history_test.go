package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
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
			e.want(t, 0, fmt.Sprintf("worse, between %s and %s", shortCommit(sha(before-1)), shortCommit(sha(before))))
		}
	}
	if told != 1 {
		t.Errorf("the change was told of %d times, want once", told)
	}
	last := step{event: "schedule", sha: sha(jobs - 1), command: "history"}
	r.do(last).want(t, 0, fmt.Sprintf("default: %d jobs", jobs), fmt.Sprintf("between %s and %s", shortCommit(sha(before-1)), shortCommit(sha(before))))
	last.command, last.flags = "site", []string{"--out", "pages"}
	r.do(last).want(t, 0, "wrote 3 pages")
	if page := pagesOf(t, "pages")["default/"+pageName("Encode")+".html"]; !strings.Contains(page, "https://github.com/noslower/sample/commit/"+sha(jobs-1)) {
		t.Errorf("the page does not lead to the newest commit:\n%s", page)
	}
	last.command, last.flags = "import", []string{filepath.Join("..", "data.js")}
	r.do(last).want(t, 2, "want dir:PATH, file:PATH or branch:NAME to import into")
}
