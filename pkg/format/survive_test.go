package format_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// documentStart matches where JSON, XML or JavaScript begins.
var documentStart = regexp.MustCompile(`(?m)^(?:\{|\[(?:$|[\s\["{])|<|window\.)`)

// claimsWhole has the formats that are not looked for among other lines.
var claimsWhole = []string{"labelled", "noslower", "github-action-benchmark"}

// TestSurvives reads every input as other systems, terminals and loggers would have
// left it: it is recognised, and the same results come out.
func TestSurvives(t *testing.T) {
	for _, c := range []struct {
		name         string
		documents    bool // happens to them too
		before, each string
		after        string
	}{
		{name: "Windows", documents: true, after: "\r"},
		{name: "colours", before: "\x1b[1;32m", after: "\x1b[0m"},
		{name: "progress", before: " 10%\r 50%\r"},
		{name: "appended to another file", documents: true, each: "\ufeff"},
		{name: "within a log", documents: true, each: "INFO starting\n"},
	} {
		for _, f := range format.All() {
			for _, path := range inputs(t, f.Name) {
				text := strings.TrimPrefix(string(read(t, path)), "\ufeff")
				if documentStart.MatchString(text) && !c.documents || c.each != "" && slices.Contains(claimsWhole, f.Name) {
					continue
				}
				var changed strings.Builder
				changed.WriteString(c.each)
				for line := range strings.Lines(text) {
					content, isWhole := strings.CutSuffix(line, "\n")
					changed.WriteString(c.before + content + c.after)
					if isWhole {
						changed.WriteByte('\n')
					}
				}
				want, got := results(f, text), results(f, changed.String())
				if !slices.Equal(got, want) {
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
