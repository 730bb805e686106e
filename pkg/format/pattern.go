package format

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// A pattern is a regular expression that is matched only with a text that has
// what every match of it has: most lines are of another kind, and to look for a
// word is a hundred times as fast.
type pattern struct {
	*regexp.Regexp
	needs []string // a match has one of them; empty where nothing is known
}

// compile is for package variables: it panics where expr is wrong.
func compile(expr string) pattern {
	const mostLooked = 8 // more of them take as long as the match
	p := pattern{Regexp: regexp.MustCompile(expr)}
	if parsed, err := syntax.Parse(expr, syntax.Perl); err == nil {
		for _, text := range (finder{}).needs(parsed) {
			p.needs = append(p.needs, string(text))
		}
	}
	if len(p.needs) > mostLooked {
		p.needs = nil
	}
	return p
}

func (p pattern) canMatch(s string) bool {
	return len(p.needs) == 0 || slices.ContainsFunc(p.needs, func(text string) bool { return strings.Contains(s, text) })
}

// MatchString is that of the regular expression.
func (p pattern) MatchString(s string) bool { return p.canMatch(s) && p.Regexp.MatchString(s) }

// FindStringSubmatch is that of the regular expression.
func (p pattern) FindStringSubmatch(s string) []string {
	if !p.canMatch(s) {
		return nil
	}
	return p.Regexp.FindStringSubmatch(s)
}
