package github

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func environment(t *testing.T) (func(string) string, map[string]string) {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{
		"GITHUB_ACTIONS":      "true",
		"GITHUB_OUTPUT":       filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
	}
	return func(name string) string { return env[name] }, env
}

func TestNotInAWorkflow(t *testing.T) {
	if r, ok := NewRunner(func(string) string { return "" }, nil); ok {
		t.Errorf("NewRunner = %v, true in an empty environment", r)
	}
}

func TestOutputAndSummary(t *testing.T) {
	getenv, env := environment(t)
	r, ok := NewRunner(getenv, &strings.Builder{})
	if !ok {
		t.Fatal("no runner in a workflow's environment")
	}
	if err := r.SetOutput("outcome", "regressed"); err != nil {
		t.Error(err)
	}
	if err := r.AddSummary("# Slower"); err != nil {
		t.Error(err)
	}
	for file, want := range map[string]string{env["GITHUB_OUTPUT"]: "regressed", env["GITHUB_STEP_SUMMARY"]: "# Slower"} {
		got, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s has %q (%v), want %q", filepath.Base(file), got, err, want)
		}
	}
}

func TestRefused(t *testing.T) {
	getenv, env := environment(t)
	r, _ := NewRunner(getenv, &strings.Builder{})
	for name, err := range map[string]error{
		"a second line in a value":  r.SetOutput("outcome", "same\nstatus=0"),
		"a control character":       r.SetOutput("outcome", "same\x1b[0m"),
		"a second line in a name":   r.SetOutput("outcome\nstatus", "0"),
		"a summary above the limit": r.AddSummary(strings.Repeat("x", maxSummary+1)),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	env["GITHUB_OUTPUT"], env["GITHUB_STEP_SUMMARY"] = "", filepath.Join(t.TempDir(), "no", "such", "folder")
	if err := r.SetOutput("outcome", "same"); err == nil || !strings.Contains(err.Error(), "GITHUB_OUTPUT is not set") {
		t.Errorf("without a file for outputs: %v", err)
	}
	if err := r.AddSummary("x"); err == nil || !strings.Contains(err.Error(), "GITHUB_STEP_SUMMARY") {
		t.Errorf("without a folder for the summary: %v", err)
	}
}

// command matches what the runner takes for a command in a line.
var command = regexp.MustCompile(`(?m)^\s*::|##\[`)

func TestInert(t *testing.T) {
	for _, text := range []string{
		"::error::x\n", "  ::error::x\n", "\t::set-output name=a::b\n", "##[error]x\n", "a ##[error]x\n", "x\r::error::y\n",
		"::stop-commands::t\n", "###[error]\n", "##\x00[error]\n##[warning]\n", ":::\n", "plain a::b\n", "\v::x",
	} {
		for cut := range len(text) {
			var b strings.Builder
			w := Inert(&b)
			for _, part := range []string{text[:cut], text[cut:]} {
				if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("Write(%q) = %d, %v", part, n, err)
				}
			}
			if command.MatchString(b.String()) {
				t.Errorf("%q cut at %d is a command still: %q", text, cut, b.String())
			}
			if got := strings.ReplaceAll(b.String(), "\u200b", ""); got != text {
				t.Errorf("%q cut at %d lost something: %q", text, cut, got)
			}
		}
	}
}

func TestMask(t *testing.T) {
	getenv, _ := environment(t)
	var log strings.Builder
	r, _ := NewRunner(getenv, &log)
	r.Mask("")
	r.Mask("a\nb")
	if got, want := log.String(), "::add-mask::a%0Ab\n"; strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("the log has %q, want %q", got, want)
	}
}

func TestAnnotateAndQuote(t *testing.T) {
	getenv, _ := environment(t)
	var log strings.Builder
	r, _ := NewRunner(getenv, &log)
	r.Annotate("a,b", "50% slower\n::error::x")
	r.Quote("0123456789abcdef", func() { log.WriteString("::error::not a command\n") })
	want := "::error title=a%2Cb::50%25 slower%0A::error::x\n" +
		"::stop-commands::0123456789abcdef\n::error::not a command\n::0123456789abcdef::\n"
	if got := log.String(); got != want {
		t.Errorf("the log has\n%q, want\n%q", got, want)
	}
}
