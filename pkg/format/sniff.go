package format

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// An Input is what a format is looked for in. It is gone through once for all
// formats together, and never in memory as a whole.
type Input struct {
	in      io.ReaderAt
	claimed []bool // by sniffer; nil until one asks
}

// inputOf returns the input of a text that is in memory.
func inputOf(text []byte) *Input {
	return &Input{in: bytes.NewReader(text)}
}

// reader reads the input from its start. An error of it is not told of here: who
// recognises the format reads it next.
func (in *Input) reader() io.Reader {
	return struct{ io.Reader }{io.NewSectionReader(in.in, 0, math.MaxInt64)} // which is no size
}

// A clue is a line that gives a format away.
type clue struct {
	needs func() [][]byte // a line that matches has one of them
	match func(line string) bool
}

// clues are those of all formats, each with the number of the sniffer whose it
// is.
var (
	clues     []clue
	snifferOf []int
	sniffers  int
)

// sniffClues returns a Format's Sniff that claims an input with a line, as lines
// yields it, that one of the clues matches. It is for package variables alone:
// the clues of all formats are looked for at once.
func sniffClues(own ...clue) func(*Input) bool {
	for _, c := range own {
		clues, snifferOf = append(clues, c), append(snifferOf, sniffers)
	}
	return nextSniffer()
}

// nextSniffer returns the sniffer that has the number sniffers, which grows by one.
func nextSniffer() func(*Input) bool {
	number := sniffers
	sniffers++
	return func(in *Input) bool {
		if in.claimed == nil {
			in.claimed = claims(bufio.NewReaderSize(in.reader(), in.longestLine()))
		}
		return in.claimed[number]
	}
}

// either claims what one of two sniffers does.
func either(a, b func(*Input) bool) func(*Input) bool {
	return func(in *Input) bool { return a(in) || b(in) }
}

// longestLine is maxLine, or less where the input is smaller: of small ones there
// may be thousands.
func (in *Input) longestLine() int {
	size := int64(maxLine)
	if sized, ok := in.in.(interface{ Size() int64 }); ok {
		size = sized.Size() + 1
	}
	return int(min(size, maxLine))
}

// sniffLine is sniffClues of patterns.
func sniffLine(patterns ...string) func(*Input) bool {
	var own []clue
	for _, p := range patterns {
		own = append(own, clueOf(p))
	}
	return sniffClues(own...)
}

func clueOf(expression string) clue {
	return clue{match: compile(expression).MatchString, needs: func() [][]byte {
		texts := needs(parsed(expression))
		if texts == nil {
			panic(fmt.Sprintf("%q: it can be in a line without any text, so that every line would have to be matched", expression))
		}
		return texts
	}}
}

// claims returns which sniffers claim an input, for a line of it or a document. A line is matched only with the
// clues of which it has a text: a log of many megabytes has few of them.
func claims(in *bufio.Reader) []bool {
	matcher := clueMatcher{claimed: make([]bool, sniffers), texts: clueNeedles(), seen: make([]int, len(clues))}
	long := false // the line is, of which the end is to come
	documents := documentSniffer{own: ownShapes, general: generalShapes, claimed: matcher.claimed}
	var err error
	for err == nil {
		var raw, rest []byte // rest is what follows a document in its line
		raw, err = in.ReadSlice('\n')
		isPart := long
		if documents.wants(raw) {
			rest = documents.add(raw, !isPart)
		}
		if long = errors.Is(err, bufio.ErrBufferFull); long {
			err = nil
			continue
		}
		if !isPart {
			matcher.line(raw)
		}
		if len(rest) > 0 {
			matcher.line(bytes.TrimLeft(rest, " \t"))
		}
	}
	documents.end(documents.text)
	return matcher.claimed
}

// A clueMatcher takes down who claims the lines that it is handed.
type clueMatcher struct {
	claimed []bool // by sniffer
	texts   *needles
	lines   int   // so far
	seen    []int // by clue, in which line last, from 1
	found   []int
}

func (m *clueMatcher) line(raw []byte) {
	m.lines++
	text := ""
	if bytes.IndexByte(raw, '\x1b') >= 0 { // a colour may stand within a text
		text = clean(string(bytes.TrimSuffix(raw, []byte("\n"))))
		raw = []byte(text)
	}
	m.found = m.texts.find(m.found[:0], raw)
	for _, i := range m.found {
		if m.claimed[snifferOf[i]] || m.seen[i] == m.lines {
			continue
		}
		m.seen[i] = m.lines
		if text == "" {
			text = clean(string(bytes.TrimSuffix(raw, []byte("\n"))))
		}
		m.claimed[snifferOf[i]] = clues[i].match(text)
	}
}

// A needle is a text of a clue.
type needle struct {
	text []byte
	clue int
}

// needles are the texts of all clues, by their first two bytes: there are so few
// such pairs that at most places of a line none is to be looked for.
type needles struct {
	place [1 << 16]uint16 // in lists of those that begin with a pair; 0 where none does
	lists [][]needle
}

// clueNeedles are those of all clues.
var clueNeedles = sync.OnceValue(func() *needles {
	n := &needles{lists: make([][]needle, 1)}
	for i, c := range clues {
		for _, text := range c.needs() {
			n.add(needle{text, i})
		}
	}
	return n
})

func (n *needles) add(text needle) {
	place := &n.place[pair(text.text[0], text.text[1])]
	if *place == 0 {
		*place = uint16(len(n.lists))
		n.lists = append(n.lists, nil)
	}
	n.lists[*place] = append(n.lists[*place], text)
}

func pair(first, second byte) int { return int(first)<<8 | int(second) }

// find adds to found the clues of which line has a text.
func (n *needles) find(found []int, line []byte) []int {
	for i := range len(line) - 1 {
		place := n.place[pair(line[i], line[i+1])]
		if place == 0 {
			continue
		}
		for _, text := range n.lists[place] {
			if bytes.HasPrefix(line[i:], text.text) {
				found = append(found, text.clue)
			}
		}
	}
	return found
}

// needs returns texts of which each match of re has at least one, or nil where
// there are none. Where they are short, those too are looked at that classes of
// a few characters make, such as 0s, 1s, … of `\d+s`: fewer lines have them.
func needs(re *syntax.Regexp) [][]byte {
	const short, tooShort = 2, 1 // a digit alone, say
	texts := finder{}.needs(re)
	if n, _ := lengths(texts); n <= short {
		texts = longer(texts, finder{classes: true}.needs(re))
	}
	if n, _ := lengths(texts); n <= tooShort {
		return nil
	}
	return texts
}

// A finder finds the texts that a pattern needs.
type finder struct{ classes bool }

// mostTexts bounds the texts of one pattern.
const mostTexts = 100

func (f finder) needs(re *syntax.Regexp) [][]byte {
	if texts := f.all(re); texts != nil {
		return texts
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return f.needs(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return f.needs(re.Sub[0])
		}
	case syntax.OpConcat:
		var best [][]byte
		var run [][]byte // of the parts that stand together
		for _, sub := range re.Sub {
			texts, once := f.all(sub), true
			if sub.Op == syntax.OpPlus {
				// What it begins and what it ends with.
				texts, once = f.all(sub.Sub[0]), false
			}
			whole := product(run, texts)
			best = longer(best, longer(whole, f.needs(sub)))
			if run = texts; once && whole != nil {
				run = whole
			}
		}
		return best
	case syntax.OpAlternate:
		var all [][]byte
		for _, sub := range re.Sub {
			n := f.needs(sub)
			if n == nil {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// all returns all texts that re matches, or nil where they are many, or empty.
func (f finder) all(re *syntax.Regexp) [][]byte {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return [][]byte{[]byte(string(re.Rune))}
		}
	case syntax.OpCapture:
		return f.all(re.Sub[0])
	case syntax.OpCharClass:
		var texts [][]byte
		for i := 0; f.classes && i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if texts = append(texts, utf8.AppendRune(nil, r)); len(texts) > mostTexts {
					return nil
				}
			}
		}
		return texts
	case syntax.OpConcat:
		texts := f.all(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			next := f.all(sub)
			if texts == nil || next == nil {
				return nil
			}
			texts = product(texts, next)
		}
		return texts
	case syntax.OpAlternate:
		var all [][]byte
		for _, sub := range re.Sub {
			texts := f.all(sub)
			if texts == nil {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	}
	return nil
}

// product returns each of first with each of second after it: second where first
// is nil, and nil where they are many.
func product(first, second [][]byte) [][]byte {
	if first == nil {
		return second
	}
	if second == nil || len(first)*len(second) > mostTexts {
		return nil
	}
	var all [][]byte
	for _, a := range first {
		for _, b := range second {
			all = append(all, slices.Concat(a, b))
		}
	}
	return all
}

// longer returns the texts of which the shortest is longer, or else the longest:
// the fewer lines have one of them.
func longer(a, b [][]byte) [][]byte {
	shortA, longA := lengths(a)
	shortB, longB := lengths(b)
	if cmp.Or(cmp.Compare(shortA, shortB), cmp.Compare(longA, longB)) < 0 {
		return b
	}
	return a
}

func lengths(texts [][]byte) (shortest, longest int) {
	for i, t := range texts {
		if i == 0 || len(t) < shortest {
			shortest = len(t)
		}
		longest = max(longest, len(t))
	}
	return shortest, longest
}
