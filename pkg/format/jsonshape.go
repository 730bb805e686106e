package format

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
)

// A jsonShape tells a tool's JSON document by what is known of it. Each document
// of an input that has the shape is read; what stands before, between and after
// them, a log's lines or those of npm, is passed over. One that asks for what a
// document lacks waits until it is whole; any other, once true of a document, stays
// so.
type jsonShape func(jsonHead) bool

// A jsonHead is a document, as far as it is known.
type jsonHead struct {
	text  []byte  // at least its first maxHead bytes, if it has as many
	paths pathSet // that it has, of those that shapes ask for
	whole bool    // nothing of it is to come
}

// start returns what it begins with.
func (h jsonHead) start() []byte { return h.text[:min(len(h.text), maxHead)] }

// Bounds of what is kept of a document to tell its shape.
const (
	maxHead      = 64 << 10 // bytes
	maxJSONDepth = 10_000   // levels, as of encoding/json
)

// withKeys is the shape of a document that has all of these keys, each written as
// a path: "benchmarks[].name", "results.*.mad" of any of the results, or
// "schema=noslower." of a text that begins so. It is for package variables: the paths of all shapes
// are looked for at once.
func withKeys(paths ...string) jsonShape {
	var all pathSet
	for _, path := range paths {
		all.add(askedPaths.number(path))
	}
	return func(head jsonHead) bool { return head.paths.hasAll(all) }
}

// startShape is the shape of a document that begins so. It is asked for at the
// document's start, and not again at each path that is found.
func startShape(matches func(start []byte) bool) jsonShape {
	return func(head jsonHead) bool {
		isStart := head.paths == pathSet{}
		return (isStart || head.whole) && matches(head.start())
	}
}

// orElse is the shape of a document that is of one of two.
func (s jsonShape) orElse(o jsonShape) jsonShape {
	return func(head jsonHead) bool { return s(head) || o(head) }
}

// A pathSet is a set of paths by their numbers.
type pathSet [4]uint64

func (s *pathSet) add(n int)      { s[n/64] |= 1 << (n % 64) }
func (s *pathSet) has(n int) bool { return s[n/64]&(1<<(n%64)) != 0 }

func (s *pathSet) hasAll(o pathSet) bool {
	for i := range s {
		if s[i]&o[i] != o[i] {
			return false
		}
	}
	return true
}

// An askedPath is a place in the tree of the paths that are asked for. Numbers are
// from 1, and 0 where nobody asks.
type askedPath struct {
	number int                   // of the path
	text   string                // what the text begins with that is asked for there
	ofText int                   // the number of that
	below  map[string]*askedPath // by key, by "*" for any other, or by "[]" for the elements of an array
}

// next returns the place of a key, or nil where nobody asks for it.
func (p *askedPath) next(key []byte) *askedPath {
	if place := p.below[string(key)]; place != nil {
		return place
	}
	return p.below["*"]
}

// A pathTree has the paths that are asked for.
type pathTree struct {
	root  askedPath
	count int
}

// askedPaths are those of all shapes.
var askedPaths pathTree

// number returns the number of a path, which is in the tree from now on.
func (t *pathTree) number(path string) int {
	at := &t.root
	keys, text, _ := strings.Cut(path, "=")
	for key := range strings.FieldsFuncSeq(strings.ReplaceAll(keys, "[]", ".[]."), func(r rune) bool { return r == '.' }) {
		if at.below == nil {
			at.below = map[string]*askedPath{}
		}
		if at.below[key] == nil {
			at.below[key] = &askedPath{}
		}
		at = at.below[key]
	}
	number := &at.number
	if text != "" {
		at.text, number = text, &at.ofText
	}
	if *number == 0 {
		t.count++
		*number = t.count
	}
	return *number
}

// A jsonScanner goes through a JSON value that it is handed part by part. It
// checks no more of it than tells how far it goes.
type jsonScanner struct {
	found  pathSet
	place  *askedPath // of the value that comes next; nil where nobody asks for it
	levels []jsonLevel
	isKey  bool   // the next string is one
	valued bool   // a value stands there, so that none begins
	text   []byte // of a string, what parts before had
	string stringPart
}

// A jsonLevel is an object or array that has not ended.
type jsonLevel struct {
	place  *askedPath // of the object, or of the elements
	object bool
}

// A stringPart is what the next byte is in.
type stringPart byte

const (
	noString stringPart = iota
	inString
	inEscape // after a backslash
)

// A scanEvent is why a scanner stops.
type scanEvent byte

const (
	scanMore  scanEvent = iota // it wants the next part
	scanFound                  // a path that was not found before
	scanEnd                    // the value ends there, or goes on in what is no JSON
)

// begin makes the scanner ready for a value, of which no path is looked for where
// the tree is nil.
func (s *jsonScanner) begin(tree *askedPath) {
	*s = jsonScanner{place: tree, levels: s.levels[:0], text: s.text[:0]}
}

// scan goes on in the value. It returns how much of data it went through, and why
// no further.
func (s *jsonScanner) scan(data []byte) (n int, event scanEvent) {
	for n < len(data) && event == scanMore {
		if s.string == noString {
			n, event = s.scanMarks(data, n)
		} else {
			n, event = s.scanString(data, n)
		}
	}
	return n, event
}

// scanMarks goes on from i to where a string begins.
func (s *jsonScanner) scanMarks(data []byte, i int) (int, scanEvent) {
	for ; i < len(data); i++ {
		switch c := data[i]; c {
		case '"':
			s.string, s.text, s.valued = inString, s.text[:0], true
			return i + 1, scanMore
		case ',':
			top := s.levels[len(s.levels)-1]
			s.place, s.isKey, s.valued = top.place, top.object, false
		case ':':
			s.valued = false
		case '{', '[':
			if s.isKey || s.valued || len(s.levels) == maxJSONDepth {
				return i, scanEnd
			}
			if c == '[' && s.place != nil {
				s.place = s.place.below["[]"]
			}
			s.levels = append(s.levels, jsonLevel{s.place, c == '{'})
			s.isKey = c == '{'
		case '}', ']':
			if len(s.levels) == 1 {
				return i + 1, scanEnd
			}
			s.levels, s.valued = s.levels[:len(s.levels)-1], true
		case ' ', '\t', '\r', '\n', '-', '+', '.':
		default:
			if s.isKey || !isWordByte(c) {
				return i, scanEnd
			}
			s.valued = true
		}
	}
	return i, scanMore
}

// scanString goes on from i to where a string ends.
func (s *jsonScanner) scanString(data []byte, i int) (int, scanEvent) {
	start := i
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\n':
			return i, scanEnd // it was cut off
		case s.string == inEscape:
			s.string = inString
		case c == '\\':
			s.string = inEscape
		case c == '"':
			s.string = noString
			return i + 1, s.ended(data[start:i])
		}
	}
	s.keep(data[start:])
	return i, scanMore
}

// keep keeps a part of a string, if it may be one that is asked for.
func (s *jsonScanner) keep(part []byte) {
	const longest = 128 // nobody asks for more
	if s.isKey || s.place != nil {
		s.text = append(s.text, part[:min(len(part), longest-len(s.text))]...)
	}
}

// ended takes the last part of a string.
func (s *jsonScanner) ended(part []byte) scanEvent {
	if s.isKey {
		s.place = s.levels[len(s.levels)-1].place
	}
	if s.place == nil {
		s.isKey = false
		return scanMore
	}
	if len(s.text) > 0 {
		s.keep(part)
		part = s.text
	}
	if !s.isKey {
		if !bytes.HasPrefix(part, []byte(s.place.text)) {
			return scanMore
		}
		return s.take(s.place.ofText)
	}
	s.isKey = false
	if s.place = s.place.next(part); s.place == nil {
		return scanMore
	}
	return s.take(s.place.number)
}

// take takes down that a path is there.
func (s *jsonScanner) take(number int) scanEvent {
	if number == 0 || s.found.has(number) {
		return scanMore
	}
	s.found.add(number)
	return scanFound
}

// scanJSON returns how much of data the JSON value takes that it begins with: as
// far as the value goes, or what is not JSON.
func scanJSON(data []byte) int {
	var s jsonScanner
	n, _ := s.scan(data)
	return n
}

// is reports whether the document that text begins with has the shape. It goes no
// further in it than it takes to tell.
func (s jsonShape) is(text []byte) bool {
	var scanner jsonScanner
	scanner.begin(&askedPaths.root)
	at := 0
	for event := scanFound; event == scanFound; {
		if s(jsonHead{text: text, paths: scanner.found}) {
			return true
		}
		var n int
		n, event = scanner.scan(text[at:])
		at += n
	}
	return s(jsonHead{text[:at], scanner.found, true})
}

// find returns where the next document of the shape begins in input, or -1.
func (s jsonShape) find(input []byte, from int) int {
	for start, text := range documents(input, from) {
		if s.is(text) {
			return start
		}
	}
	return -1
}

// beforeDocument is what may stand before a document in its line.
const beforeDocument = " \t\r\n\ufeff"

// documents yields where each document begins, and the input from there on. A
// document begins a line. Each is passed over as far as it goes, so that the time
// is linear.
func documents(input []byte, from int) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for at := from; at < len(input); {
			line := input[at:]
			start := at + len(line) - len(bytes.TrimLeft(line, beforeDocument))
			if start >= len(input) {
				return
			}
			next := start
			if i := documentAt(input[start:]); i >= 0 {
				start += i
				if !yield(start, input[start:]) {
					return
				}
				next = start + scanJSON(input[start:])
				if goesOnAfter(input, next) {
					at = next
					continue
				}
			}
			end := bytes.IndexByte(input[next:], '\n')
			if end < 0 {
				return
			}
			at = next + end
		}
	}
}

// documentAt returns where in the line that text begins with a document begins: after
// blanks, terminal colours and what a progress display overwrote; -1 where none does.
func documentAt(text []byte) int {
	at := len(text) - len(bytes.TrimLeft(text, beforeDocument))
	if at < len(text) && isOpening(text[at]) {
		return at
	}
	line, _, _ := bytes.Cut(text[at:], []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	overwritten := bytes.LastIndexByte(line, '\r') + 1
	at, line = at+overwritten, line[overwritten:]
	for len(line) > 0 && line[0] <= ' ' {
		n := 1
		if colour := ansi.re().FindIndex(line); line[0] == '\x1b' && colour != nil && colour[0] == 0 {
			n = colour[1]
		}
		at, line = at+n, line[n:]
	}
	if len(line) > 0 && isOpening(line[0]) {
		return at
	}
	return -1
}

// goesOnAfter reports whether what follows a document in its line is looked at as if
// it began one: where the document has its end, and where it was cut off and another
// begins.
func goesOnAfter(text []byte, end int) bool {
	if end < len(text) && end > 0 && (text[end-1] == '}' || text[end-1] == ']') {
		return true
	}
	if end == len(text) || !isOpening(text[end]) {
		return false
	}
	before := bytes.TrimRight(text[:end], " \t\r")
	return len(before) == 0 || before[len(before)-1] == '\n'
}

func isOpening(c byte) bool { return c == '{' || c == '[' }

// A sniffedShape is a shape that an input is claimed by, with the number of the
// sniffer whose it is.
type sniffedShape struct {
	shape  jsonShape
	number int
}

// ownShapes are those of the formats' own documents. A document that has none of
// them may have one of generalShapes.
var ownShapes, generalShapes []sniffedShape

// sniffDocument returns a Format's Sniff that claims an input with a document of a
// shape. It is for package variables alone, as sniffClues is.
func sniffDocument(shape jsonShape) func(*Input) bool {
	ownShapes = append(ownShapes, sniffedShape{shape, sniffers})
	return nextSniffer()
}

// sniffGeneralDocument is sniffDocument of a shape that is no tool's own: it yields to
// every shape that is.
func sniffGeneralDocument(shape jsonShape) func(*Input) bool {
	generalShapes = append(generalShapes, sniffedShape{shape, sniffers})
	return nextSniffer()
}

// A documentSniffer finds the documents of an input that it is handed part by part,
// and who claims them. A part ends within a line or with it.
type documentSniffer struct {
	own, general []sniffedShape
	claimed      []bool // by sniffer
	scanner      jsonScanner
	text         []byte // what the document begins with
	open         bool   // a document has begun
}

// wants reports whether a part has to be added: most lines of a text have not.
func (d *documentSniffer) wants(part []byte) bool {
	return d.open || len(part) > 0 && (mayBegin(part[0]) || bytes.IndexByte(part[:max(0, len(part)-2)], '\r') >= 0)
}

// mayBegin reports whether the line that a document begins may begin with this, a
// blank or the first byte of a byte order mark, say. It is asked of every line of a
// text, and so looks nothing up.
func mayBegin(c byte) bool { return c <= ' ' || isOpening(c) || c == '\xef' }

// add takes the next part, which may begin a line. It returns what follows a document
// that ends in it.
func (d *documentSniffer) add(part []byte, begins bool) (rest []byte) {
	if !d.open {
		if !begins {
			return nil
		}
		at := documentAt(part)
		if at < 0 {
			return nil
		}
		part = part[at:]
		d.open = true
		d.scanner.begin(&askedPaths.root)
	}
	n, event := 0, scanFound
	for event == scanFound {
		var more int
		more, event = d.scanner.scan(part[n:])
		n += more
	}
	if event == scanEnd && len(d.text) == 0 { // as most do
		d.end(part[:n])
		return d.goOn(part, n)
	}
	d.text = append(d.text, part[:min(n, maxHead-len(d.text))]...)
	if event == scanEnd {
		d.end(d.text)
		return d.goOn(part, n)
	}
	return nil
}

// goOn looks for a document after the one that ends at n.
func (d *documentSniffer) goOn(part []byte, n int) (rest []byte) {
	if !goesOnAfter(part, n) {
		return nil
	}
	if after := d.add(part[n:], true); d.open || after != nil {
		return after
	}
	return part[n:]
}

// end takes the end of the document, or that of the input.
func (d *documentSniffer) end(text []byte) {
	if !d.open {
		return
	}
	d.open, d.text = false, d.text[:0]
	head := jsonHead{text, d.scanner.found, true}
	isAsked := head.paths != pathSet{} // every tool's shape asks for a path
	if !isAsked || !d.claim(d.own, head) {
		d.claim(d.general, head)
	}
}

// claim reports whether a document has one of the shapes.
func (d *documentSniffer) claim(shapes []sniffedShape, head jsonHead) (some bool) {
	for _, s := range shapes {
		if s.shape(head) {
			d.claimed[s.number], some = true, true
		}
	}
	return some
}

// isIn reports whether an input, which may be larger than memory, has a document of
// the shape.
func (s jsonShape) isIn(r io.Reader) bool {
	d := documentSniffer{own: []sniffedShape{{shape: s}}, claimed: make([]bool, 1)}
	in := bufio.NewReaderSize(r, maxHead)
	for begins := true; !d.claimed[0]; {
		part, err := in.ReadSlice('\n')
		if d.wants(part) {
			d.add(part, begins)
		}
		begins = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			d.end(d.text)
			break
		}
	}
	return d.claimed[0]
}
