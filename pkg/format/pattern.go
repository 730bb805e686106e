package format

import (
	"iter"
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
	made       func() *madePattern
}

type madePattern struct {
	*regexp.Regexp
	steps *step    // nil where it has none
	needs []string // a match has one of them; empty where nothing is known
}

// compile is for package variables: where the expression is wrong, its first
// match panics.
func compile(expression string) pattern {
	return pattern{expression, sync.OnceValue(func() *madePattern {
		const mostLooked = 8 // more of them take as long as the match
		made := &madePattern{Regexp: regexp.MustCompile(expression)}
		made.steps = stepsOf(parsed(expression))
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

func (m *madePattern) canMatch(s string) bool {
	if m.steps != nil && m.steps.isAtStart() && !m.steps.canBegin(s, 0) {
		return false
	}
	return len(m.needs) == 0 || slices.ContainsFunc(m.needs, func(text string) bool { return strings.Contains(s, text) })
}

// MatchString is that of the regular expression.
func (p pattern) MatchString(s string) bool {
	made := p.made()
	if !made.canMatch(s) {
		return false
	}
	var m stepper
	if found, known := m.find(made.steps, s, 0); known {
		return found
	}
	return made.Regexp.MatchString(s)
}

// FindStringSubmatch is that of the regular expression.
func (p pattern) FindStringSubmatch(s string) []string {
	made := p.made()
	if !made.canMatch(s) {
		return nil
	}
	var m stepper
	if found, known := m.find(made.steps, s, 0); known && found {
		return m.texts(made.NumSubexp())
	} else if known {
		return nil
	}
	return made.Regexp.FindStringSubmatch(s)
}

// findAll yields where the groups of each match start and end, as the regular
// expression's FindAllStringSubmatchIndex does. They are there until the next.
func (p pattern) findAll(s string) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		made := p.made()
		var groups []int
		for at, n := 0, 0; made.canMatch(s); n++ {
			var m stepper
			found, known := m.find(made.steps, s, at)
			if known && !found {
				return
			}
			start, end := m.slots[0], m.slots[1]
			if !known || start == end { // what comes after nothing is the engine's to know
				slices.Values(made.Regexp.FindAllStringSubmatchIndex(s, -1)[n:])(yield)
				return
			}
			groups = m.appendGroups(groups[:0], made.NumSubexp())
			if !yield(groups) {
				return
			}
			at = end - 1
		}
	}
}

// eachSubmatch yields what the regular expression's FindAllStringSubmatch returns.
func (p pattern) eachSubmatch(s string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for groups := range p.findAll(s) {
			texts := make([]string, len(groups)/2)
			for i := range texts {
				if start, end := groups[2*i], groups[2*i+1]; start >= 0 {
					texts[i] = s[start:end]
				}
			}
			if !yield(texts) {
				return
			}
		}
	}
}

// ReplaceAllString is that of the regular expression.
func (p pattern) ReplaceAllString(s, template string) string {
	var replaced []byte
	end := 0
	for groups := range p.findAll(s) {
		replaced = append(replaced, s[end:groups[0]]...)
		if template != "" {
			replaced = p.re().ExpandString(replaced, template, s, groups)
		}
		end = groups[1]
	}
	if replaced == nil && end == 0 {
		return s
	}
	return string(append(replaced, s[end:]...))
}
