package format

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// guard returns a Format's Read that yields no value that cannot be, and warns of a
// last line that has no end. Many a text that is whole has none, so that the line is
// read; but where the output was cut off, "31150" may be "3" in it, or a result may be
// so short that it looks like none, and nothing tells.
func guard(read func(io.Reader, string) iter.Seq2[bench.Result, error]) func(io.Reader, string) iter.Seq2[bench.Result, error] {
	return func(r io.Reader, name string) iter.Seq2[bench.Result, error] {
		return func(yield func(bench.Result, error) bool) {
			in := &unendedReader{in: r}
			doubtful := false // a result came of the last line, and no error after it
			said := false     // an error is of it, or ended the reading
			isCut := false    // a document is said to end too early
			stopped := false
			read(in.sized(), name)(func(res bench.Result, err error) bool {
				doubtful = in.atEnd && err == nil
				if of, isLine := errors.AsType[*LineError](err); err != nil {
					said = !isLine || in.atEnd && of.Line == 1+in.lines
					isCut = isCut || isLine && strings.HasPrefix(of.Problem, wantRest)
				}
				stopped = !yieldMeasured(name, res, err, yield)
				return !stopped
			})
			last := clean(string(in.last))
			if stopped || in.long {
				return
			}
			l := line{document: name, number: 1 + in.lines, text: last}
			switch {
			case !said && strings.HasPrefix(last, "{") && cutOff([]byte(last), 0) == 0: // of an event
				yield(bench.Result{}, l.errorf("%v: it is not read", describeJSON(io.EOF)))
			case doubtful && canGoOn(last):
				yield(bench.Result{}, l.errorf("want an end of the last line, have none: if the output was cut off there, its numbers are wrong"))
			case !said && !isCut && canGoOn(last):
				yield(bench.Result{}, l.errorf("want an end of the last line, have none: if the output was cut off there, the rest is missing"))
			}
		}
	}
}

// canGoOn reports whether what a line ends with may go on, as all may but a
// document.
func canGoOn(text string) bool {
	return strings.TrimSpace(text) != "" && strings.IndexByte("}]>", text[len(text)-1]) < 0
}

// An unendedReader keeps what was read after the last line end. It tells of the
// input's end on its own, when all lines before the last one were handed out.
type unendedReader struct {
	in    io.Reader
	lines int    // line ends
	last  []byte // what is after them
	long  bool   // it is longer than a line may be
	atEnd bool
}

func (r *unendedReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	read := b[:n]
	if end := bytes.LastIndexByte(read, '\n'); end >= 0 {
		r.lines += bytes.Count(read, []byte("\n"))
		r.last, r.long = r.last[:0], false
		read = read[end+1:]
	}
	if r.long = r.long || len(r.last)+len(read) > maxLine; !r.long {
		r.last = append(r.last, read...)
	}
	if n > 0 && errors.Is(err, io.EOF) {
		return n, nil
	}
	r.atEnd = errors.Is(err, io.EOF)
	return n, err
}

// sized returns the reader with the size of what it reads, and a way to look at it
// again, where there are such.
func (r *unendedReader) sized() io.Reader {
	type source interface {
		io.ReaderAt
		Size() int64
	}
	if in, ok := r.in.(source); ok {
		return struct {
			io.Reader
			source
		}{r, in}
	}
	return r
}
