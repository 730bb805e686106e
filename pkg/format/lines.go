package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noslower/noslower/pkg/bench"
)

// A LineError is a line that looks like a result and cannot be read.
type LineError struct {
	Document string
	Line     int // from 1; 0 where it is not known
	Text     string
	Problem  string // what was wanted and what was there
}

// Error returns "document:line: problem: "text"", the text cut to what a person
// needs to find it.
func (e *LineError) Error() string {
	at := e.Document
	if e.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, e.Line)
	}
	return fmt.Sprintf("%s: %s: %q", at, e.Problem, shorten(e.Text, shown))
}

// shown is how much of a line an error shows, in bytes.
const shown = 120

// shorten cuts s to at most n bytes at a character's boundary, and says so.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// maxLine bounds one line in bytes. A longer one is not read, which is told of: it
// may be a result.
const maxLine = 1 << 20

// A line is one line of a document, without colours, quoting and line end.
type line struct {
	document string
	number   int
	text     string
}

func (l line) errorf(format string, args ...any) error {
	return &LineError{Document: l.document, Line: l.number, Text: l.text, Problem: fmt.Sprintf(format, args...)}
}

// tooLong is the error of a line that is longer than maxLine. It keeps what it shows.
func (l line) tooLong() error {
	l.text = strings.Clone(shorten(l.text, shown))
	return l.errorf("want a line of at most %d MiB, have a longer one: it is not read", maxLine>>20)
}

// ansi matches terminal control sequences: CSI (colours, cursor) and OSC
// (titles, links), ECMA-48 §5.4 and §8.3.89, and the choice of a character set
// that terminfo resets attributes with, ECMA-35 §13.2.1.
var ansi = compile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b\\][^\a\x1b]*(?:\a|\x1b\\\\)|\x1b[ -/]+[0-~]")

// lines yields the lines of r. Terminal colours, byte order marks, carriage
// returns and everything that a progress display overwrote by them are taken
// out. Of a line longer than maxLine it yields an error of type *LineError, and
// then an empty one. Any other error is the last it yields.
func lines(r io.Reader, document string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		in := lineReader{in: r}
		for number := 1; ; number++ {
			raw, err := in.next()
			if err != nil && !errors.Is(err, io.EOF) {
				yield(line{}, fmt.Errorf("%s:%d: %w", document, number, err))
				return
			}
			if in.long {
				l := line{document, number, clean(in.start)}
				if !yield(line{}, l.tooLong()) {
					return
				}
			}
			if err != nil && raw == "" {
				return
			}
			if !yield(line{document, number, clean(raw)}, nil) || err != nil {
				return
			}
		}
	}
}

// A lineReader cuts lines from blocks: a text of its own for each of millions of
// them would cost more than most of what is done with it.
type lineReader struct {
	in     io.Reader
	buffer []byte
	block  int    // size of the latest
	text   string // read, and not handed out yet
	err    error
	long   bool   // the latest line is longer than maxLine
	start  string // of that
}

// next returns the next line without its "\n", or an empty one in place of a
// line longer than maxLine. The error is io.EOF with the last one.
func (r *lineReader) next() (string, error) {
	for r.long = false; ; {
		text, rest, ended := strings.Cut(r.text, "\n")
		if !r.long && len(text) > maxLine {
			r.long, r.start = true, strings.Clone(text[:shown])
		}
		if r.long {
			text = ""
		}
		if ended {
			r.text = rest
			return text, nil
		}
		if r.text = text; r.err != nil {
			r.text = ""
			return text, r.err
		}
		r.block = min(max(4<<10, 2*r.block), 64<<10) // most documents are small
		// Of a long line as much is read as is copied, so that the time is linear.
		r.buffer = slices.Grow(append(r.buffer[:0], text...), max(r.block, len(text)))
		var n int
		n, r.err = r.in.Read(r.buffer[len(text):cap(r.buffer)])
		r.text = string(r.buffer[:len(text)+n])
	}
}

func clean(s string) string {
	if strings.IndexByte(s, '\x1b') >= 0 {
		s = ansi.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '\r') >= 0 {
		s = strings.TrimRight(s, "\r")
		s = s[strings.LastIndexByte(s, '\r')+1:]
	}
	return strings.TrimPrefix(s, "\ufeff") // of a file that was appended to another, too
}

// quotation is of the marks of a mail's quotation.
var quotation = bytesOf("> \t")

// unquoted returns a line without the blanks around it and the marks of a mail's
// quotation before it.
func unquoted(l line) line {
	l.text = unquotedText(l.text)
	return l
}

func unquotedText(text string) string { return strings.TrimSpace(text[quotation.prefix(text):]) }

// eachLine hands the lines of r to read until it returns false. It yields what
// ends the reading, and reports whether to go on.
func eachLine(r io.Reader, document string, yield func(bench.Result, error) bool, read func(line) bool) bool {
	for l, err := range lines(r, document) {
		if err == nil && !read(l) || err != nil && !passOn(err, yield) {
			return false
		}
	}
	return true
}

// passOn yields what lines yields in place of a line, and reports whether more
// lines follow.
func passOn(err error, yield func(bench.Result, error) bool) bool {
	_, isLine := errors.AsType[*LineError](err)
	return yield(bench.Result{}, err) && isLine
}

// eachUnquoted is eachLine of unquoted lines.
func eachUnquoted(r io.Reader, document string, yield func(bench.Result, error) bool, read func(line) bool) bool {
	return eachLine(r, document, yield, func(l line) bool { return read(unquoted(l)) })
}

// eachResult yields what parse makes of each line of r where it has values, and
// its error where it has one, which ends the reading if it is no *LineError. It
// reports whether to go on.
func eachResult(r io.Reader, document string, yield func(bench.Result, error) bool, parse func(line) (bench.Result, error)) bool {
	var filter filter
	return eachLine(r, document, yield, func(l line) bool {
		res, err := parse(l)
		return (err == nil || passOn(err, yield)) && filter.yield(l, res, yield)
	})
}

// byLine returns a Format's Read of a format in which each line, unquoted,
// stands for itself. What parse makes of one is yielded where it has values, and
// its error where it has one.
func byLine(parse func(line) (bench.Result, error)) func(io.Reader, string) iter.Seq2[bench.Result, error] {
	return func(r io.Reader, name string) iter.Seq2[bench.Result, error] {
		return func(yield func(bench.Result, error) bool) {
			eachResult(r, name, yield, func(l line) (bench.Result, error) { return parse(unquoted(l)) })
		}
	}
}

// maxDocument bounds a document that must be read as a whole, in bytes.
const maxDocument = 256 << 20

// readDocument reads a document as a whole.
func readDocument(r io.Reader, document string) ([]byte, error) {
	var data bytes.Buffer
	if sized, ok := r.(interface{ Size() int64 }); ok { // to grow copies what was read
		data.Grow(int(min(sized.Size(), maxDocument)) + bytes.MinRead)
	}
	_, err := data.ReadFrom(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", document, err)
	case data.Len() > maxDocument:
		return nil, fmt.Errorf("%s: want a document of at most %d MiB, have more", document, maxDocument>>20)
	}
	return data.Bytes(), nil
}
