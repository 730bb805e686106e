package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
)

const formatsPage = "docs/formats.md"

const formatsIntroduction = `# Formats

<!-- Made by go test ./cmd/noslower -run TestFormatsPage -update from the formats
and from what stands in testdata/format. -->

What a benchmark prints is recognised by itself, from the whole of its output;
` + "`--format NAME`" + ` names it instead. Output that two formats claim, as where one file
has that of two tools, is refused with both names: give each tool's a file of its own,
which measuring reads with ` + "`--results`" + `. Lines of ` + "`labelled`" + `, ` + "`sides`" + ` and ` + "`time`" + ` may stand among those of any
tool, and are passed over there; a JSON document, wherever it stands, is not. Of a tool
that prints both text and JSON of a run, the JSON is read. Where none claims it,
` + "`parse`" + ` in the configuration says what is in it ([formats of your own](#formats-of-your-own)),
or ` + "`--format none`" + ` takes only what noslower measures of the process itself.

Of every format: log lines between the results, colours, carriage returns of a
progress display, Windows' line ends and a byte order mark are passed over; in the
formats of lines of databases and their frameworks, the marks of a mail's quotation,
too. UTF-16 with its mark, as PowerShell may write it, is read, too. Repeats
of one benchmark are one sample. Numbers are converted to the base unit. A line that
looks like a result and cannot be read is a warning with its number, and the rest of it
is read; a warning, too, is any line of more than 1 MiB that is not part of a document.
What is better is known from the metric or its unit; a metric of which it is
unknown never gates until the configuration says it. It alone may be below 0, as a score
or a difference may, if its unit is none of a time, a rate, a size or a count: any other
number below 0 is a warning and no value.

The tables say what was taken from the examples that each format is tested with; a
metric without a unit is a plain number. Of these formats, tools were run for the
examples: those named after a release are what it printed, or a part of it, with
other names of hosts and folders.

%s

The examples of the others are written from what documentation, sources and logs
show: %s.
`

const customIntroduction = `
## Formats of your own

What no format reads is described by a suite's ` + "`parse`" + `: one description, or a list of
them, of which each is looked for in the whole output. The format is %s,
as the descriptions are; ` + "`--format`" + ` need not name it. They are checked when the
configuration is read. A number that cannot be read is a warning with its line, and
where nothing is found that is an error.

| key | what it says | without it |
|---|---|---|
`

// TestFormatsPage holds the page of formats, and the README's list of them, to
// the formats and what they read.
func TestFormatsPage(t *testing.T) {
	sections := strings.Builder{}
	var names, seen, unseen []string
	for _, f := range format.All() {
		writeFormat(t, &sections, f)
		name := "`" + f.Name + "`"
		names = append(names, name)
		if len(f.Seen) > 0 {
			seen = append(seen, "- "+name+": "+strings.Join(f.Seen, ", "))
		} else {
			unseen = append(unseen, name)
		}
	}
	page := fmt.Sprintf(formatsIntroduction, strings.Join(seen, "\n"), strings.Join(unseen, ", ")) + sections.String() + customSection(t)
	list := "Read are " + strings.Join(names, ", ") + ": [" + formatsPage + "](" + formatsPage + ") has for each how to make its tool print it, and what is taken."
	readme := readFile(t, "README.md")
	if *update {
		renewed := regexp.MustCompile(`(?m)^Read are .*$`).ReplaceAllLiteralString(readme, list)
		writePage(t, "README.md", renewed)
		writePage(t, formatsPage, page)
		return
	}
	const renew = "go test ./cmd/noslower -run TestFormatsPage -update writes it"
	if !strings.Contains(readme, "\n"+list+"\n") {
		t.Errorf("the README has not this list of formats (%s):\n%s", renew, list)
	}
	if got := readFile(t, formatsPage); got != page {
		t.Errorf("%s is not what the formats say: %s", formatsPage, renew)
	}
}

func writePage(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(repository(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// customSection returns what the page says of formats that a configuration
// describes: the keys, from its schema, and each kind's example of testdata/custom.
func customSection(t *testing.T) string {
	t.Helper()
	keys := member(t, readSchema(t), "$defs", "description", "properties")
	kinds := format.CustomNames()
	var w strings.Builder
	fmt.Fprintf(&w, customIntroduction, "`"+strings.Join(kinds, "` or `")+"`")
	for _, key := range keys {
		says := member(t, keys, key.Key.(string)).ToMap()
		without := ""
		if says["default"] != nil {
			without = fmt.Sprintf("`%v`", says["default"])
		}
		fmt.Fprintf(&w, "| `%s` | %s | %s |\n", key.Key, says["description"], without)
	}
	for _, kind := range kinds {
		at := path.Join("testdata/custom", kind)
		call := []string{"parse", "--config", at + ".yml", at + ".txt"}
		fmt.Fprintf(&w, "\n### %s\n\n%s\n\n```yaml\n%s```\n\nOf this output\n\n```text\n%s```\n\nit takes\n\n```console\n$ noslower %s\n%s```\n",
			kind, member(t, keys, kind).ToMap()["description"],
			readFile(t, at+".yml"), readFile(t, at+".txt"), strings.Join(call, " "), exampleOutput(t, call...))
	}
	return w.String()
}

// writeFormat writes a format's section.
func writeFormat(t *testing.T, w io.Writer, f format.Format) {
	t.Helper()
	metrics, example := surveyFormat(t, f)
	fmt.Fprintf(w, "\n## %s\n\n- tool: %s\n- print it: `%s`\n- recognised by: %s\n- examples: %s\n\n", f.Name, f.Tool, f.Print, f.How, examples(f))
	fmt.Fprint(w, "| metric | unit | better |\n|---|---|---|\n")
	for _, m := range metrics {
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", m.Name, m.Unit, m.Better)
	}
	fmt.Fprintf(w, "\n```console\n$ noslower parse %s\n%s```\n", example, exampleOutput(t, "parse", example))
}

// examples says where a format's inputs are from.
func examples(f format.Format) string {
	if len(f.Seen) == 0 {
		return "written from documentation"
	}
	return "printed by " + strings.Join(f.Seen, ", ") + "; the others written from documentation"
}

// releaseOf ranks an input by its name: 0 where it is what a release printed, 1 where
// that is of a special case, which the rest of the name tells, and 2 where none did.
func releaseOf(f format.Format, input string) int {
	name := strings.TrimSuffix(filepath.Base(input), ".txt")
	rank := 2
	for _, release := range f.Seen {
		as := strings.ReplaceAll(strings.ToLower(release), " ", "-")
		switch {
		case name == as:
			return 0
		case strings.HasPrefix(name, as+"-"):
			rank = 1
		}
	}
	return rank
}

// surveyFormat reads all inputs of a format. It returns the metrics that are in
// them, and the input to show: of those that are read without a fault, and in which
// the program under test had no errors, what a release printed in a usual case before
// what it printed in a special one and what none printed; of these one without colours and progress, with the most metrics and enough values,
// and then the shortest.
func surveyFormat(t *testing.T, f format.Format) (metrics []bench.Metric, example string) {
	t.Helper()
	inputs, err := filepath.Glob(repository("testdata", "format", f.Name, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range f.Seen {
		of := format.Format{Seen: []string{release}}
		if !slices.ContainsFunc(inputs, func(input string) bool { return releaseOf(of, input) < 2 }) {
			t.Errorf("format %q has no input named after %s, which it claims to have seen", f.Name, release)
		}
	}
	seen := map[bench.Metric]bool{}
	var least []int // of what an input has against it
	for _, input := range inputs {
		data, err := os.ReadFile(input)
		if err != nil {
			t.Fatal(err)
		}
		own, values, failed := map[bench.Metric]bool{}, 0, 0
		isFaulty, disturbed := false, bytes.Count(data, []byte("\r"))+bytes.Count(data, []byte("\x1b"))
		for res, err := range f.Read(bytes.NewReader(data), input) {
			isFaulty = isFaulty || err != nil
			for _, v := range res.Values {
				values++
				if v.Metric.Name == "errors" && v.V > 0 {
					failed = 1
				}
				own[v.Metric], seen[v.Metric] = true, true
			}
		}
		against := []int{failed, releaseOf(f, input), min(disturbed, 1), -len(own), -min(values, exampleLines), len(data)}
		if !isFaulty && len(own) > 0 && (example == "" || slices.Compare(against, least) < 0) {
			example, least = path.Join("testdata/format", f.Name, filepath.Base(input)), against
		}
	}
	if example == "" {
		t.Fatalf("format %q has no input that is read without a fault, for an example", f.Name)
	}
	byName := func(a, b bench.Metric) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Unit, b.Unit)) }
	return slices.SortedFunc(maps.Keys(seen), byName), example
}

// exampleLines bounds what is shown of what noslower prints.
const exampleLines = 8

// exampleOutput returns the first lines that a call of noslower prints, and an
// ellipsis where there are more.
func exampleOutput(t *testing.T, call ...string) string {
	t.Helper()
	cmd := exec.Command("noslower", call...)
	cmd.Dir = repository()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("noslower %q: %v", call, err)
	}
	lines := strings.SplitAfter(string(out), "\n")
	if len(lines) <= exampleLines+1 {
		return string(out)
	}
	return strings.Join(lines[:exampleLines], "") + ellipsis + "\n"
}
