package format

import (
	"bytes"
	"iter"
	"regexp"
	"regexp/syntax"
	"slices"
)

// sniffLine returns a Format's Sniff that claims an input with a line, as lines
// yields it, that matches one of the patterns.
func sniffLine(patterns ...string) func(input []byte) bool {
	var compiled []linePattern
	for _, p := range patterns {
		compiled = append(compiled, compileLine(p))
	}
	return func(input []byte) bool {
		return slices.ContainsFunc(compiled, func(p linePattern) bool { return p.matches(input) })
	}
}

// A linePattern is looked for only in lines that have a text without which it
// cannot match: a log of many megabytes has few of them, and a search for a text
// is a hundred times as fast as one for a pattern.
type linePattern struct {
	*regexp.Regexp
	needs [][]byte // a line that matches has one of them
}

func compileLine(pattern string) linePattern {
	p := linePattern{Regexp: regexp.MustCompile(pattern)}
	if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
		p.needs = needs(parsed)
	}
	if p.needs == nil {
		p.needs = [][]byte{nil} // which every line has
	}
	return p
}

// needs returns texts of which each match of re has at least one, or nil where
// there are none.
func needs(re *syntax.Regexp) [][]byte {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return [][]byte{[]byte(string(re.Rune))}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needs(re.Sub[0])
		}
	case syntax.OpConcat:
		var best [][]byte
		for _, sub := range re.Sub {
			if n := needs(sub); shortest(n) > shortest(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all [][]byte
		for _, sub := range re.Sub {
			n := needs(sub)
			if n == nil {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest text: the longer it is, the fewer
// lines have it.
func shortest(texts [][]byte) int {
	least := 0
	for i, t := range texts {
		if i == 0 || len(t) < least {
			least = len(t)
		}
	}
	return least
}

// matches reports whether a line of input matches.
func (p linePattern) matches(input []byte) bool {
	for _, need := range p.needs {
		for text := range linesWith(input, need) {
			if p.MatchString(text) {
				return true
			}
		}
	}
	return false
}

// linesWith yields the lines of input that have a text in them, as lines does.
func linesWith(input, need []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := input; len(rest) > 0; {
			i := bytes.Index(rest, need)
			if i < 0 {
				return
			}
			start := bytes.LastIndexByte(rest[:i], '\n') + 1
			end := len(rest)
			if n := bytes.IndexByte(rest[i:], '\n'); n >= 0 {
				end = i + n
			}
			text := bytes.TrimPrefix(rest[start:end], []byte("\ufeff"))
			if len(text) <= maxLine && !yield(clean(string(text))) {
				return
			}
			rest = rest[min(end+1, len(rest)):]
		}
	}
}
