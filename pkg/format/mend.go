package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// maxMended bounds how deep what is cut off may be nested. No report is as deep.
const maxMended = 1000

// An openJSON is an object or a list of a document whose end is missing.
type openJSON struct {
	object bool
	nested bool // a value in it is an object or a list
	start  int  // after its bracket
	whole  int  // after the last value in it that has its end
}

// mend returns how far a JSON value that is cut off, or broken, can be read, and the
// brackets that close it there. Of an object the members that are whole stay, and of
// a list the elements. What is half is left out where it would seem to be the whole:
// an element of a list, unless it is of so many outer lists (halves), and a list of
// numbers or texts in an object, unless each tells by itself (singles).
func mend(data []byte, halves int, singles bool) (end int, closing []byte) {
	open := openBrackets(bytes.TrimRight(data, " \t\r\n")) // a line end may stand within a number
	if len(open) == 0 {
		return 0, nil
	}
	last := 0
	for last+1 < len(open) && (open[last].object || halves > 0) && (open[last+1].object || open[last+1].nested || singles) {
		if !open[last].object {
			halves--
		}
		last++
	}
	for last > 0 && open[last].whole == open[last].start {
		last--
	}
	for _, o := range slices.Backward(open[:last+1]) {
		if o.object {
			closing = append(closing, '}')
		} else {
			closing = append(closing, ']')
		}
	}
	return open[last].whole, closing
}

// openBrackets returns those that are open where a JSON value ends too early, or
// is none any more.
func openBrackets(data []byte) []openJSON {
	tokens := json.NewDecoder(bytes.NewReader(data))
	tokens.UseNumber()
	var open []openJSON
	isKey := false
	for len(open) <= maxMended {
		token, err := tokens.Token()
		at := int(tokens.InputOffset())
		_, isNumber := token.(json.Number)
		if goesOn := at == len(data) || strings.IndexByte(",]} \t\r\n", data[at]) < 0; err != nil || isNumber && goesOn {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if len(open) > 0 {
				open[len(open)-1].nested = true
			}
			isKey = token == json.Delim('{')
			open = append(open, openJSON{object: isKey, start: at, whole: at})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if isKey {
				isKey = false
				continue
			}
		}
		if len(open) == 0 {
			break
		}
		in := &open[len(open)-1]
		in.whole, isKey = at, in.object
	}
	return open
}

// isBroken reports whether an error is that a document ends too early, or is none
// from somewhere on.
func isBroken(err error) bool {
	_, isSyntax := errors.AsType[*json.SyntaxError](err)
	return isSyntax || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// mend reads a document again that is broken, from start to at most end, as far as
// it was whole, and returns where that is. What the first reading said is not said
// again.
func (d *jsonDocument) mend(err error, start, end int, parse func(*jsonDocument) error) (left int) {
	if d.stopped || !isBroken(err) {
		return start
	}
	whole, closing := mend(d.input[start:end], d.halves, d.singles)
	if whole == 0 {
		return start
	}
	before := *d
	d.input = append(slices.Clone(d.input[start:start+whole]), closing...)
	d.Decoder = json.NewDecoder(bytes.NewReader(d.input))
	d.from, d.start, d.counted, d.lines = 0, 0, 0, d.startLine
	d.cut, d.known, d.filter.said = whole, d.told, d.said
	_ = parse(d) // which was said
	d.input, d.Decoder, d.from, d.start = before.input, before.Decoder, before.from, before.start
	d.counted, d.lines = before.counted, before.lines
	d.cut, d.known = before.cut, 0
	return start + whole
}

// isHalf reports whether the value that was read last is a part of one: more
// members of it may have been cut off.
func (d *jsonDocument) isHalf() bool { return int(d.InputOffset()) > d.cut }
