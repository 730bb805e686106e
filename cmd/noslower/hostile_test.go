package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
)

// hostileTexts are names and outputs that want to be read as something else: the
// commands of workflows in every form, markup, mentions, addresses, control
// characters, ends of lists and frames, and what is too long.
// https://github.com/actions/runner/blob/main/src/Runner.Worker/ActionCommandManager.cs
func hostileTexts(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for line := range strings.Lines(string(data)) {
		text, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if len(texts) < 200 {
		t.Fatalf("have %d texts", len(texts))
	}
	return texts
}

// runnerReads matches a line that the runner takes for a command.
var runnerReads = regexp.MustCompile(`(?m)^\s*::.*|.*##\[.*`)

// ours matches the commands that a gate gives: what is in them is escaped, so
// that each is one line.
var ours = regexp.MustCompile(`^::(add-mask::[^\s]+|error title=noslower::[^\r\n]*|stop-commands::[A-Z2-7]+|[A-Z2-7]{26}::)$`)

func checkLog(t *testing.T, log string) {
	t.Helper()
	for _, line := range runnerReads.FindAllString(log, -1) {
		if !ours.MatchString(line) {
			t.Errorf("the runner would obey %.200q", line)
		}
	}
	if strings.ContainsAny(log, "\x1b\b\x00\u202e\u2066\u009b") {
		t.Errorf("the log has control characters: %.300q", log)
	}
}

// TestHostileNames: whatever a benchmark is called, and whatever unit, suite or
// machine its document claims, the log, the outputs, the summary and the comment
// hold text.
func TestHostileNames(t *testing.T) {
	texts := hostileTexts(t)
	r := newRepo(t)
	r.do(step{event: "push", sha: commit("a"), flags: r.measured(100)})
	s := r.pullRequest("a")
	for i, text := range texts {
		m := bench.Measurements{Suite: "default", Host: bench.Host{Kernel: text}, Set: &bench.Set{}, Warnings: []string{text}}
		for run := range 5 {
			for _, v := range []bench.Value{
				{Metric: bench.Metric{Name: "time_per_op", Unit: "s/op", Better: bench.Lower}, V: 1.5e-7},
				{Metric: bench.Metric{Name: "x" + text, Unit: text}, V: 1},
			} {
				for _, name := range []string{"Encode", text} {
					if err := m.Set.Add(run, bench.Result{Name: name, Values: []bench.Value{v}}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		path := filepath.Join(r.dir, fmt.Sprintf("hostile-%d.json", i))
		if err := writeMeasurements(path, m); err != nil {
			t.Fatal(err)
		}
		s.flags = []string{"--measurements", path, "--expect", text, "--limit", "time_per_op=1ns", "--report", "json=" + path + ".verdict", "--report", "markdown=" + path + ".md"}
		e := r.do(s)
		if e.status == 0 {
			t.Errorf("%.60q: status 0 for a regression:\n%s%s", text, e.stdout, e.log)
		}
		checkLog(t, e.log)
		checkLog(t, e.stdout)
		if n := strings.Count(e.outputs, "<<"); n != 4 {
			t.Errorf("%.60q: %d outputs, want 4: %q", text, n, e.outputs)
		}
		if data, err := os.ReadFile(path + ".verdict"); err != nil || !json.Valid(data) {
			t.Errorf("%.60q: the JSON report is none (%v)", text, err)
		}
		comments := r.Comments(7)
		if len(comments) != 1 || !strings.HasPrefix(comments[0].Body, "<!-- noslower:v1 suite=default ") {
			t.Fatalf("%.60q: comments %+v", text, comments)
		}
		// The form, whose tests hold it to these texts, and nothing beside it.
		form, err := os.ReadFile(path + ".md")
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(comments[0].Body, "\n")
		for what, published := range map[string]string{"comment": body, "summary": e.summary} {
			if rest := beside(published, string(form)); rest != "" {
				t.Errorf("%.60q: the %s has what the form has not: %q", text, what, rest)
			}
		}
	}
}

// acceptance is what a comment says beside what the form does on its own.
const acceptance = "If this is worth it, somebody who may label pull requests accepts it for the commits there are by the label `perf-regression-accepted`."

// beside returns the first line of what was published that is not one of the form.
func beside(published, form string) string {
	lines := map[string]bool{"": true, acceptance: true}
	for line := range strings.SplitSeq(form, "\n") {
		lines[line] = true
	}
	for line := range strings.SplitSeq(published, "\n") {
		if !lines[line] {
			return line
		}
	}
	return ""
}

// TestHostileOutput: what a benchmark prints commands nobody, be it read as
// results or shown because it failed.
func TestHostileOutput(t *testing.T) {
	r := newRepo(t)
	file := filepath.Join(r.dir, "output")
	for _, text := range hostileTexts(t) {
		if err := os.WriteFile(file, []byte(text+"\nBenchmarkEncode 1000 100 ns/op\n"+text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"cat " + file, "cat " + file + "; exit 1", "cat " + file + " >&2; exit 1"} {
			e := r.do(step{event: "issue_comment", sha: commit("a"), flags: []string{"--allow-few-runs", "--runs", "1", "--command", command}})
			if failed := strings.Contains(command, "exit"); failed != (e.status == 3) {
				t.Errorf("%.60q by %q: status %d\n%.2000s", text, command, e.status, e.log)
			}
			checkLog(t, e.log)
			checkLog(t, e.stdout)
		}
	}
	if _, err := os.Stat("pwned"); err == nil {
		t.Error("something was executed")
	}
}
