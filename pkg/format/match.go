package format

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A step is one of those by which an expression is matched: each takes something
// of the text and leads to the next, nil where the match is complete. Steps find
// what Go's engine finds, in a fifth of the time: it tries an expression character
// by character and remembers what it tried, so that no text takes long; lines that
// are benchmarks' results hardly need that, and the others are left to it.
type step struct {
	kind stepKind
	text string   // of a literal
	set  *charSet // of one and of many

	atLeastOne bool // of many
	lazy       bool // of many: rather few of them
	whole      bool // of many: all of them or none, since next begins with no such one

	begin *byteSet // of a branch, of many, and of the first: what next begins with, nil where that is not known
	after string   // of many, and of the first: the same as a text, "" where that is not known

	position syntax.EmptyOp
	slot     int  // of a capture: a group's start or end
	once     bool // of a capture: every match goes through it, and but once

	next *step
	or   *step // of a branch: where next does not match
}

type stepKind int

const (
	literal  stepKind = iota // a text
	one                      // one character of a set
	many                     // any number of characters of a set
	position                 // an edge of the text or of a word
	capture                  // notes where it is
	branch                   // next, else or
)

// mostSlots bounds the groups of an expression that has steps, that of the whole
// match among them: a start and an end each.
const mostSlots = 32

// stepsOf returns the steps of an expression, or nil where it has something that
// none are made of.
func stepsOf(re *syntax.Regexp) *step {
	if 2*(re.MaxCap()+1) > mostSlots {
		return nil
	}
	whole := &syntax.Regexp{Op: syntax.OpCapture, Sub: []*syntax.Regexp{re.Simplify()}}
	first, ok := stepsBefore(whole, nil, !repeatsCapture(re))
	if !ok {
		return nil
	}
	first.begin, first.after = first.next.begins(), first.next.beginText()
	return first
}

// repeatsCapture reports whether an expression has a group that it takes a number of
// times, which are steps after each other.
func repeatsCapture(re *syntax.Regexp) bool {
	return re.Op == syntax.OpRepeat && re.MaxCap() > 0 || slices.ContainsFunc(re.Sub, repeatsCapture)
}

// stepsBefore returns the steps of an expression that lead to next. once says that
// every match goes through the expression, and but once.
func stepsBefore(re *syntax.Regexp, next *step, once bool) (first *step, ok bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return next, true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return &step{kind: one, set: setOf(re), next: next}, true
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return &step{kind: literal, text: string(re.Rune), next: next}, true
		}
		for _, r := range slices.Backward(re.Rune) {
			next = &step{kind: one, set: foldSet(r), next: next}
		}
		return next, true
	case syntax.OpBeginText:
		return &step{kind: position, position: syntax.EmptyBeginText, next: next}, true
	case syntax.OpEndText:
		return &step{kind: position, position: syntax.EmptyEndText, next: next}, true
	case syntax.OpWordBoundary:
		return &step{kind: position, position: syntax.EmptyWordBoundary, next: next}, true
	case syntax.OpCapture:
		end := &step{kind: capture, slot: 2*re.Cap + 1, once: once, next: next}
		inner, ok := stepsBefore(re.Sub[0], end, once)
		return &step{kind: capture, slot: 2 * re.Cap, once: once, next: inner}, ok
	case syntax.OpConcat:
		for _, sub := range slices.Backward(re.Sub) {
			if next, ok = stepsBefore(sub, next, once); !ok {
				return nil, false
			}
		}
		return next, true
	case syntax.OpAlternate:
		for i, sub := range slices.Backward(re.Sub) {
			s, ok := stepsBefore(sub, next, false)
			if !ok {
				return nil, false
			}
			if i < len(re.Sub)-1 {
				s = &step{kind: branch, begin: s.begins(), next: s, or: first}
			}
			first = s
		}
		return first, true
	case syntax.OpQuest:
		inner, ok := stepsBefore(re.Sub[0], next, false)
		return newBranch(re, inner, next), ok
	case syntax.OpStar, syntax.OpPlus:
		return repeatBefore(re, next)
	}
	return nil, false
}

// repeatBefore returns the steps of a star or plus.
func repeatBefore(re *syntax.Regexp, next *step) (first *step, ok bool) {
	plus := re.Op == syntax.OpPlus
	lazy := re.Flags&syntax.NonGreedy != 0
	if set := setOf(re.Sub[0]); set != nil {
		begin := next.begins()
		whole := next == nil && !lazy || begin != nil && !begin.meet(set)
		return &step{kind: many, set: set, atLeastOne: plus, lazy: lazy, whole: whole, begin: begin, after: next.beginText(), next: next}, true
	}
	if canBeEmpty(re.Sub[0]) {
		return nil, false // it would be repeated without end
	}
	loop := &step{kind: branch}
	inner, ok := stepsBefore(re.Sub[0], loop, false)
	*loop = *newBranch(re, inner, next)
	if plus {
		return inner, ok
	}
	return loop, ok
}

// newBranch returns the choice of an optional expression.
func newBranch(re *syntax.Regexp, inner, next *step) *step {
	if re.Flags&syntax.NonGreedy != 0 {
		inner, next = next, inner
	}
	return &step{kind: branch, begin: inner.begins(), next: inner, or: next}
}

func canBeEmpty(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) == 0
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return false
	case syntax.OpPlus, syntax.OpCapture, syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, canBeEmpty)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !canBeEmpty(sub) })
	}
	return true
}

// beginText returns the text that what a step and those after it match begins with, as
// far as it is known.
func (s *step) beginText() string {
	for s != nil && s.kind == capture {
		s = s.next
	}
	if s == nil || s.kind != literal {
		return ""
	}
	return s.text
}

// begins returns the bytes of which what a step and those after it match begins
// with one, where it is not at the text's end; nil where they are not known.
func (s *step) begins() *byteSet {
	const mostBranches = 6 // the ways double with each
	var begin byteSet
	if !s.beginInto(&begin, mostBranches) {
		return nil
	}
	return &begin
}

func (s *step) beginInto(begin *byteSet, branches int) (known bool) {
	for ; s != nil; s = s.next {
		switch s.kind {
		case literal:
			begin[s.text[0]] = true
			return true
		case one:
			begin.add(s.set)
			return true
		case many:
			begin.add(s.set)
			if s.atLeastOne {
				return true
			}
		case position:
			if s.position == syntax.EmptyEndText {
				return true
			}
		case branch:
			return branches > 0 && s.next.beginInto(begin, branches-1) && s.or.beginInto(begin, branches-1)
		}
	}
	return false
}

// canBegin reports whether next may match at a place.
func (s *step) canBegin(text string, at int) bool {
	return s.begin == nil || at == len(text) || s.begin[text[at]]
}

// isAtStart reports whether the expression whose first step this is matches at the
// start of a text alone.
func (s *step) isAtStart() bool { return s.next != nil && s.next.position == syntax.EmptyBeginText }

func (b *byteSet) add(set *charSet) {
	for i := range b {
		b[i] = b[i] || set.canBegin(byte(i))
	}
}

// meet reports whether a character of a set begins with one.
func (b *byteSet) meet(set *charSet) bool {
	for i, is := range b {
		if is && set.canBegin(byte(i)) {
			return true
		}
	}
	return false
}

// A charSet is a set of characters.
type charSet struct {
	ascii  byteSet // those of other characters are not in it
	ranges []rune  // pairs of the first and the last
}

func newCharSet(ranges []rune) *charSet {
	set := &charSet{ranges: ranges}
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], utf8.RuneSelf-1); r++ {
			set.ascii[r] = true
		}
	}
	return set
}

// setOf returns the set that an expression matches one character of, or nil
// where it is no such expression.
func setOf(re *syntax.Regexp) *charSet {
	switch re.Op {
	case syntax.OpCharClass:
		return newCharSet(re.Rune)
	case syntax.OpAnyChar:
		return newCharSet([]rune{0, unicode.MaxRune})
	case syntax.OpAnyCharNotNL:
		return newCharSet([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	case syntax.OpLiteral:
		if len(re.Rune) == 1 && re.Flags&syntax.FoldCase != 0 {
			return foldSet(re.Rune[0])
		}
		if len(re.Rune) == 1 {
			return newCharSet([]rune{re.Rune[0], re.Rune[0]})
		}
	}
	return nil
}

// foldSet is the set of a character in either case.
func foldSet(r rune) *charSet {
	ranges := []rune{r, r}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		ranges = append(ranges, other, other)
	}
	return newCharSet(ranges)
}

func (c *charSet) has(r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r]
	}
	for i := 0; i < len(c.ranges); i += 2 {
		if c.ranges[i] <= r && r <= c.ranges[i+1] {
			return true
		}
	}
	return false
}

// canBegin reports whether a character of the set may begin with a byte.
func (c *charSet) canBegin(b byte) bool {
	if b < utf8.RuneSelf {
		return c.ascii[b]
	}
	return len(c.ranges) > 0 && slices.Max(c.ranges) >= utf8.RuneSelf
}

// one returns how long the character is that a text begins with, or 0 where it
// is none of the set.
func (c *charSet) one(text string) int {
	switch {
	case text == "":
		return 0
	case text[0] < utf8.RuneSelf:
		if c.ascii[text[0]] {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(text); c.has(r) {
		return n
	}
	return 0
}

// many returns how long the characters of the set are that a text begins with.
func (c *charSet) many(text string) int {
	for at := 0; ; {
		at += c.ascii.prefix(text[at:])
		n := c.one(text[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// A stepper goes the steps of an expression in a text.
type stepper struct {
	text  string
	left  int            // how many more characters to look at before giving up
	slots [mostSlots]int // where groups start and end, from 1
}

// find looks for the leftmost match from a place on. It reports whether it got to
// know.
func (m *stepper) find(first *step, text string, at int) (found, known bool) {
	const mostLeft = 1 << 16 // which also bounds how deep a match is
	m.text, m.left = text, min(256+16*len(text), mostLeft)
	if first == nil {
		return false, false
	}
	for {
		n := strings.Index(text[at:], first.after)
		if n < 0 {
			return false, true
		}
		at += n
		for at < len(text) && !first.canBegin(text, at) {
			at++ // no character that can begin has one of these bytes within it
		}
		if m.match(first, at) {
			return true, true
		}
		if m.left < 0 {
			return false, false
		}
		if at == len(text) || first.isAtStart() {
			return false, true
		}
		_, n = utf8.DecodeRuneInString(text[at:])
		at += n
	}
}

// match reports whether a step and those after it match what is at a place.
func (m *stepper) match(s *step, at int) bool {
	for s != nil {
		if m.left--; m.left < 0 {
			return false
		}
		switch s.kind {
		case literal:
			if !strings.HasPrefix(m.text[at:], s.text) {
				return false
			}
			at += len(s.text)
		case one:
			n := s.set.one(m.text[at:])
			if n == 0 {
				return false
			}
			at += n
		case many:
			n := s.set.many(m.text[at:])
			m.left -= n
			if n == 0 && s.atLeastOne {
				return false
			}
			if n > 0 && !s.whole {
				return m.matchPart(s, at, at+n)
			}
			at += n
		case position:
			if !m.isAt(s.position, at) {
				return false
			}
		case capture:
			if s.once {
				m.slots[s.slot] = at + 1 // and anew where another way is tried
				break
			}
			if !m.match(s.next, at) {
				return false
			}
			if m.slots[s.slot] == 0 { // else it was captured once more
				m.slots[s.slot] = at + 1
			}
			return true
		case branch:
			if s.canBegin(m.text, at) && m.match(s.next, at) {
				return true
			}
			s = s.or
			continue
		}
		s = s.next
	}
	return true
}

// matchPart matches what is after many, of which there are those from start to
// end.
func (m *stepper) matchPart(s *step, start, end int) bool {
	if s.atLeastOne {
		start += s.set.one(m.text[start:])
	}
	if s.lazy {
		for start <= end {
			n := strings.Index(m.text[start:], s.after)
			if n < 0 || n > end-start {
				return false
			}
			start += n
			if s.canBegin(m.text, start) && m.match(s.next, start) {
				return true
			}
			_, n = utf8.DecodeRuneInString(m.text[start:])
			start += max(n, 1)
		}
		return false
	}
	for start <= end {
		n := strings.LastIndex(m.text[start:min(end+len(s.after), len(m.text))], s.after)
		if n < 0 {
			return false
		}
		end = start + n
		if s.canBegin(m.text, end) && m.match(s.next, end) {
			return true
		}
		_, n = utf8.DecodeLastRuneInString(m.text[:end])
		end -= max(n, 1)
	}
	return false
}

// isAt reports whether a place is a position.
func (m *stepper) isAt(position syntax.EmptyOp, at int) bool {
	switch position {
	case syntax.EmptyBeginText:
		return at == 0
	case syntax.EmptyEndText:
		return at == len(m.text)
	}
	before := at > 0 && syntax.IsWordChar(rune(m.text[at-1]))
	after := at < len(m.text) && syntax.IsWordChar(rune(m.text[at]))
	return before != after
}

// appendGroups appends where the whole match and each of n groups start and end, -1
// for those that have no part in it.
func (m *stepper) appendGroups(places []int, n int) []int {
	for _, at := range m.slots[:2*(n+1)] {
		places = append(places, at-1)
	}
	return places
}

// texts returns the texts of the whole match and of each of n groups.
func (m *stepper) texts(n int) []string {
	texts := make([]string, n+1)
	for i := range texts {
		if start, end := m.slots[2*i], m.slots[2*i+1]; start > 0 {
			texts[i] = m.text[start-1 : end-1]
		}
	}
	return texts
}
