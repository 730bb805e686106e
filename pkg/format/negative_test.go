package format_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// printedNumber matches a number that may be given a sign, and what is before it.
var printedNumber = regexp.MustCompile(`((?:^|[^\w.,-])[+±]?)(\d)`)

// TestNegative reads every input with its numbers below 0, all together and then one
// at a time at places of it: what cannot be below 0 has no value then.
func TestNegative(t *testing.T) {
	const places = 40
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			text := string(read(t, path))
			texts := []string{printedNumber.ReplaceAllString(text, "$1-$2")}
			found := printedNumber.FindAllStringSubmatchIndex(text, -1)
			for i := 0; i < len(found); i += 1 + len(found)/places {
				digit := found[i][4]
				texts = append(texts, text[:digit]+"-"+text[digit:])
			}
			for i, text := range texts {
				for res := range f.Read(strings.NewReader(text), "input") {
					for _, v := range res.Values {
						if v.V < 0 && !v.Metric.MayBeNegative() {
							t.Errorf("%s, text %d: %q has %s %v %s", path, i, res.Name, v.Metric.Name, v.V, v.Metric.Unit)
						}
					}
				}
			}
		}
	}
}
