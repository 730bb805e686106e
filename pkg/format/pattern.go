package format

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// A pattern is a regular expression that is made when it is first matched, since
// one call reads one or two of all the formats; and matched only with a text that
// has what every match of it has, since most lines are of another kind, and to look
// for a word is a hundred times as fast.
type pattern struct {
	expression string
	made       func() madePattern
}

type madePattern struct {
	*regexp.Regexp
	needs []string // a match has one of them; empty where nothing is known
}

// compile is for package variables: where the expression is wrong, its first
// match panics.
func compile(expression string) pattern {
	return pattern{expression, sync.OnceValue(func() madePattern {
		const mostLooked = 8 // more of them take as long as the match
		made := madePattern{Regexp: regexp.MustCompile(expression)}
		if texts := (finder{}).needs(parsed(expression)); len(texts) <= mostLooked {
			for _, text := range texts {
				made.needs = append(made.needs, string(text))
			}
		}
		return made
	})}
}

// parsed is the syntax of an expression that is known to be right.
func parsed(expression string) *syntax.Regexp {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return re
}

// re is the regular expression itself.
func (p pattern) re() *regexp.Regexp { return p.made().Regexp }

func (m madePattern) canMatch(s string) bool {
	return len(m.needs) == 0 || slices.ContainsFunc(m.needs, func(text string) bool { return strings.Contains(s, text) })
}

// MatchString is that of the regular expression.
func (p pattern) MatchString(s string) bool {
	made := p.made()
	return made.canMatch(s) && made.Regexp.MatchString(s)
}

// FindStringSubmatch is that of the regular expression.
func (p pattern) FindStringSubmatch(s string) []string {
	made := p.made()
	if !made.canMatch(s) {
		return nil
	}
	return made.Regexp.FindStringSubmatch(s)
}
