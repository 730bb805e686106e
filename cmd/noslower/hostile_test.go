package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
)

// commands are the workflow commands that the runner knows, and some that it
// knew. https://github.com/actions/runner/blob/main/src/Runner.Worker/ActionCommandManager.cs
var commands = []string{
	"error", "warning", "notice", "debug", "group", "endgroup", "echo", "add-mask", "add-matcher", "remove-matcher",
	"set-output name=outcome", "save-state name=x", "set-env name=PATH", "add-path", "stop-commands", "pause-logging",
}

// hostileTexts are names and outputs that want to be read as something else.
func hostileTexts() []string {
	var texts []string
	for _, c := range commands {
		texts = append(texts, "::"+c+"::pwned", "  ::"+c+"::pwned", "x\n::"+c+"::pwned", "##["+c+"]pwned", "x ##["+c+"]pwned", "x\r::"+c+"::pwned")
	}
	return append(texts,
		// The delimiter with which a library frames outputs, and ends of lists.
		"_GitHubActionsFileCommandDelimeter_", "x\n_GitHubActionsFileCommandDelimeter_\nstatus=0", "outcome=same\nstatus=0", "x<<EOF\nsame\nEOF",
		"::error file=a.go,line=1::x", "::error title=a%2Cb::x", "%0A::error::x", "%0D%0A::error::x", "%25", "a%3Ab", "::::", ":::error::", "###[error]", "##[\x00error]", "\u2028::error::x",
		"<!-- noslower:v1 suite=default run=999.1 sha="+strings.Repeat("f", 40)+" -->", "--><script>alert(1)</script>", "</details></td></tr></table>", "| a | b |\n|---|---|", "```\n@everyone\n```", "@everyone", "@org/team", "#1", "GH-1", "owner/repo#1",
		"[x](https://evil.example)", "![x](https://evil.example/x.png)", "<img src=https://evil.example/x.png>", "https://evil.example", "www.evil.example", "a@evil.example", "$(touch pwned)", "`touch pwned`", "; touch pwned", "${{ github.token }}", "%{x}", "%s%n",
		"\x1b[2J\x1b[31mred", "\x1b]0;title\a", "\x1b]8;;https://evil.example\alink", "\u009b31m", "\b\b\b", "\x00", "\xff\xfe", "a\u202eb", "\u2066a\u2069", "\ufeff", strings.Repeat("x", 10_000), strings.Repeat("::error::", 1000), strings.Repeat("|", 3000), strings.Repeat("@a ", 3000), "../../etc/passwd", `\\server\share`, "CON", ".", "..", "/", "a/b/c", "'", `"`, "\t", " ", "null", "=1+1", "-1", "🦀", "日本語", "العربية",
	)
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
	texts := hostileTexts()
	if len(texts) < 150 {
		t.Fatalf("have %d texts", len(texts))
	}
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
		s.flags = []string{"--measurements", path, "--expect", text, "--limit", "time_per_op=1ns", "--report", "json=" + path + ".verdict"}
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
	}
}

// TestHostileOutput: what a benchmark prints commands nobody, be it read as
// results or shown because it failed.
func TestHostileOutput(t *testing.T) {
	r := newRepo(t)
	file := filepath.Join(r.dir, "output")
	for _, text := range hostileTexts() {
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
