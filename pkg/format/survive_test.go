package format_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// documentStart matches where JSON, XML or JavaScript begins.
var documentStart = regexp.MustCompile(`(?m)^(?:\{|\[(?:$|[\s\["{])|<|window\.).*$`)

// hasDocument reports whether a text has a document, which nobody colours.
func hasDocument(text string) bool { return documentStart.MatchString(text) }

// hasLongDocument reports whether a text has a document of several lines, between
// which nothing may stand.
func hasLongDocument(text string) bool {
	return slices.ContainsFunc(documentStart.FindAllString(text, -1), func(line string) bool { return !json.Valid([]byte(line)) })
}

// claimsWhole has the formats that are not looked for among other lines.
var claimsWhole = []string{"labelled", "numbers", "noslower", "github-action-benchmark"}

// joined has the formats, and inputs, in which a line is understood by the one
// before it, and why: another program's line between them parts them.
var joined = map[string]string{
	"benchmark-ips":                  "a long name has the line before its numbers",
	"catch2":                         "long names and titles go over several lines",
	"cbt/markdown.txt":               "a table ends with a line that is no row",
	"criterion/second-run.txt":       "a long name has the line before its numbers, and no progress says it",
	"gungraun":                       "a name may go over several lines, up to the first count",
	"scylla/quoted-wrapped-crlf.txt": "a mailer has wrapped the lines",
	"seastar/no-header-crlf.txt":     "a mailer has wrapped the lines",
	"sides":                          "a table ends with a line that is no row",
	"tarantool/recovery-table.txt":   "a table ends with a line that is no row",
	"tarantool/request-table.txt":    "a table ends with a line that is no row",
	"tarantool/versions-crlf.txt":    "a table ends with a line that is no row",
}

// TestSurvives reads every input as other systems, terminals and loggers would have
// left it: it is recognised, and the same results come out.
func TestSurvives(t *testing.T) {
	never := func(string) bool { return false }
	for _, c := range []struct {
		name         string
		spares       func(text string) bool // what it does not happen to
		before, each string                 // of a text, and of each line
		after        string
		among        bool // lines of another program are
	}{
		{name: "Windows", spares: never, after: "\r"},
		{name: "colours", spares: hasDocument, each: "\x1b[1;32m", after: "\x1b[0m"},
		{name: "progress", spares: hasDocument, each: " 10%\r 50%\r"},
		{name: "appended to another file", spares: never, before: "\ufeff"},
		{name: "within a log", spares: never, before: "INFO starting\n", among: true},
		{name: "between the lines of a log", spares: hasLongDocument, among: true,
			each: "INFO 2026-01-01 00:00:00,123 [shard 0:main] compaction - 12 sstables of 345 MB in 678 ms\nwarning: slow\n"},
	} {
		for _, f := range format.All() {
			for _, path := range inputs(t, f.Name) {
				text := strings.TrimPrefix(string(read(t, path)), "\ufeff")
				if c.spares(text) || c.among && slices.Contains(claimsWhole, f.Name) {
					continue
				}
				var changed strings.Builder
				changed.WriteString(c.before)
				for line := range strings.Lines(text) {
					content, isWhole := strings.CutSuffix(line, "\n")
					changed.WriteString(c.each + content + c.after)
					if isWhole {
						changed.WriteByte('\n')
					}
				}
				want, got := results(f, text), results(f, changed.String())
				survives := slices.Equal(got, want)
				why := cmp.Or(joined[f.Name], joined[f.Name+"/"+filepath.Base(path)])
				switch parts := c.among && c.each != "" && why != ""; {
				case parts && survives:
					t.Errorf("%s, %s: it survives, and should not, for %s: take it out of joined", path, c.name, why)
				case !parts && !survives:
					t.Errorf("%s, %s: want\n%s\nhave\n%s", path, c.name, strings.Join(want, "\n"), strings.Join(got, "\n"))
				}
				if as, err := format.Detect(strings.NewReader(changed.String())); err != nil || as.Name != f.Name {
					t.Errorf("%s, %s: Detect = %q, %v, want %q", path, c.name, as.Name, err, f.Name)
				}
			}
		}
	}
}

// results are what a format reads of a text, as lines.
func results(f format.Format, text string) []string {
	var list []string
	for res, err := range f.Read(strings.NewReader(text), "input") {
		for _, v := range res.Values {
			if err == nil {
				list = append(list, fmt.Sprint(res.Name, " ", res.Launch, " ", v.Metric.Name, " ", v.V))
			}
		}
	}
	return list
}

// TestLongLine checks that a line that is too long to be read is told of, and takes
// nothing else along.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20+1) + "\n"
	for _, f := range format.All() {
		text := largestText(t, f.Name)
		if hasDocument(text) || text == "" {
			continue
		}
		told := 0
		for _, err := range f.Read(strings.NewReader(text+long), "input") {
			if err != nil && strings.Contains(err.Error(), "want a line of at most 1 MiB, have a longer one: it is not read") {
				told++
			}
		}
		if got, want := results(f, text+long), results(f, text); told != 1 || !slices.Equal(got, want) {
			t.Errorf("%s and a long line: it is told of %d times, and there are %d results of %d", f.Name, told, len(got), len(want))
		}
	}
}
