package format

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/noslower/noslower/pkg/bench"
)

// nonFinite are the words that Python, C++ and others print for a number that is
// none, maybe after a sign.
var nonFinite = []string{"NaN", "nan", "Infinity", "inf"}

// withoutNonFinite writes null in place of each number that JSON does not have. In
// a string such a word stands for itself.
func withoutNonFinite(data []byte) []byte {
	data = withoutHalfWord(data)
	if !slices.ContainsFunc(nonFinite, func(word string) bool { return standsAsValue(data, word) }) {
		return data
	}
	finite := make([]byte, 0, len(data)+len(data)/8)
	for i := 0; i < len(data); {
		switch n := nonFiniteAt(data[i:]); {
		case n > 0:
			finite = append(finite, "null"...)
			i += n
		case data[i] == '"':
			end, _ := endOfString(data, i)
			finite = append(finite, data[i:end]...)
			i = end
		default:
			finite = append(finite, data[i])
			i++
		}
	}
	return finite
}

// withoutHalfWord leaves out what such a word begins with, where data ends in it: a
// decoder takes it for a fault there, and not for the end.
func withoutHalfWord(data []byte) []byte {
	rest := bytes.TrimRightFunc(data, func(r rune) bool { return r < utf8.RuneSelf && isWordByte(byte(r)) })
	word := string(data[len(rest):])
	isHalf := func(whole string) bool { return len(word) < len(whole) && strings.HasPrefix(whole, word) }
	if word == "" || !slices.ContainsFunc(nonFinite, isHalf) {
		return data
	}
	return bytes.TrimSuffix(rest, []byte("-"))
}

// nonFiniteAt returns the length of the number that is none which data begins
// with, or 0.
func nonFiniteAt(data []byte) int {
	if strings.IndexByte("-NnIi", data[0]) < 0 {
		return 0
	}
	digits := bytes.TrimPrefix(data, []byte("-"))
	for _, word := range nonFinite {
		rest, ok := bytes.CutPrefix(digits, []byte(word))
		if ok && (len(rest) == 0 || !isWordByte(rest[0])) {
			return len(data) - len(rest)
		}
	}
	return 0
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// endOfString returns where the string ends that begins at a quotation mark, and
// whether it does.
func endOfString[T string | []byte](data T, start int) (end int, closed bool) {
	for i := start + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		}
	}
	return len(data), false
}

// standsAsValue reports whether a word stands in data as a value does.
func standsAsValue(data []byte, word string) bool {
	for {
		i := bytes.Index(data, []byte(word))
		if i < 0 {
			return false
		}
		if i > 0 && strings.IndexByte(":,[- \t\n", data[i-1]) >= 0 {
			return true
		}
		data = data[i+len(word):]
	}
}

// read returns a Format's Read that hands each document of the shape to
// parse.
func (s jsonShape) read(parse func(*jsonDocument) error) func(io.Reader, string) iter.Seq2[bench.Result, error] {
	return func(r io.Reader, name string) iter.Seq2[bench.Result, error] {
		return func(yield func(bench.Result, error) bool) {
			input, err := readDocument(r, name)
			if err != nil {
				yield(bench.Result{}, err)
				return
			}
			s.readAll(input, name, parse, yield)
		}
	}
}

// maxUnended bounds the documents without an end in which another one seems to begin,
// which is read to the end of the input, too.
const maxUnended = 100

// readAll reads the documents of an input. Each is of a launch of its own, or of
// several.
func (s jsonShape) readAll(input []byte, name string, parse func(*jsonDocument) error, yield func(bench.Result, error) bool) {
	input = withoutNonFinite(input)
	d := &jsonDocument{name: name, input: input, launches: -1, cut: math.MaxInt, yield: yield}
	unended := 0
	for start, next := s.find(input, 0), 0; start >= 0; start = next {
		if d.Decoder == nil || len(bytes.TrimSpace(input[d.offset():start])) > 0 {
			d.Decoder, d.from = json.NewDecoder(bytes.NewReader(input[start:])), start
		}
		d.begin(start)
		err := parse(d)
		if d.stopped {
			return
		}
		next = s.find(input, max(d.offset(), start+1))
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			if unended++; unended > maxUnended {
				next = -1
			}
		}
		if err == nil || errors.Is(err, errMistyped) {
			continue
		}
		end := next
		if next < 0 {
			end = len(input)
		}
		d.leave(err, max(d.offset(), d.mend(err, start, end, parse)), next < 0)
		if d.stopped || next < 0 {
			return
		}
		d.Decoder = nil
	}
	from := 0
	if d.Decoder != nil {
		from = d.offset()
	}
	// A document may end before the keys that tell its shape.
	start := cutOff(input, from)
	if start >= 0 {
		d.Decoder, d.from = json.NewDecoder(bytes.NewReader(nil)), start
		d.begin(start)
		d.leave(io.EOF, d.mend(io.EOF, start, len(input), parse), true)
	}
	if d.Decoder == nil {
		yield(bench.Result{}, fmt.Errorf("%s: want a JSON document of this format, have none", name))
	}
}

// leave says that a document is not read from somewhere on, for an error. Where it
// is the last, and nothing was read, that ends the reading.
func (d *jsonDocument) leave(err error, from int, isLast bool) {
	rest := d.input[min(from, len(d.input)):]
	l := d.positionAt(from, strings.TrimLeft(oneBlank(string(rest[:min(200, len(rest))])), ",: "))
	err = describeJSON(err)
	switch {
	case d.stopped:
	case !isLast:
		d.tell(bench.Result{}, l.errorf("%v: the rest of this document is not read", err))
	case d.yielded:
		d.tell(bench.Result{}, l.errorf("%v: what follows is not read", err))
	default:
		d.stopped = !d.yield(bench.Result{}, fmt.Errorf("%s:%d: %w", d.name, l.number, err))
	}
}

// cutOff returns where the document begins that input ends within, or -1. It may
// end before the keys that tell its shape.
func cutOff(input []byte, from int) int {
	input = bytes.TrimRight(input, " \t\r\n")
	for start, head := range documents(input, from) {
		if start+scanJSON(head) == len(input) && !json.Valid(head) {
			return start
		}
	}
	return -1
}

// wantRest says that a document ends too early.
const wantRest = "want the rest of the JSON document, have its end"

// describeJSON words an error of the decoder for people.
func describeJSON(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New(wantRest)
	}
	return fmt.Errorf("want JSON: %w", err)
}

// A jsonDocument is a JSON document that is read value by value, so that one
// that is cut off yields what was whole.
type jsonDocument struct {
	*json.Decoder
	name     string
	input    []byte
	from     int // where the decoder began, in input
	start    int // of the document
	counted  int // bytes of input in which lines were counted
	lines    int // line ends in them
	first    int // launch of this document, in the input
	launches int // greatest launch so far
	filter   filter
	yield    func(bench.Result, error) bool
	yielded  bool // something was
	stopped  bool // nothing more is wanted

	// Of a document that is cut off, which mend reads:
	halves    int             // lists, one in another, of which an element tells something by half
	singles   bool            // a number or text in a list tells something without the others
	cut       int             // where the brackets are that were cut off
	startLine int             // line ends before the document
	told      int             // results and warnings of it
	known     int             // of those, which are not to be told again
	said      map[string]bool // of counters that are none, before it
}

// begin begins a document.
func (d *jsonDocument) begin(start int) {
	d.start, d.first, d.told = start, d.launches+1, 0
	d.said = maps.Clone(d.filter.said)
	d.startLine = d.position("").number - 1
}

// tell yields a result or a warning.
func (d *jsonDocument) tell(res bench.Result, err error) {
	d.told++
	if d.known > 0 {
		d.known--
	} else if !d.stopped {
		d.stopped = !d.yield(res, err)
		d.yielded = true
	}
}

// errStopped ends the reading where nothing more is wanted.
var errStopped = errors.New("nothing more is wanted")

// offset returns how far the input was read.
func (d *jsonDocument) offset() int { return max(d.start, d.from+int(d.InputOffset())) }

// position returns the line that was read last, as what it says.
func (d *jsonDocument) position(text string) line { return d.positionAt(d.offset(), text) }

// positionAt is position of another place, unless that is above one that was asked
// for.
func (d *jsonDocument) positionAt(at int, text string) line {
	if at > d.counted {
		d.lines += bytes.Count(d.input[d.counted:at], []byte("\n"))
		d.counted = at
	}
	return line{document: d.name, number: 1 + d.lines, text: text}
}

// warnf reports something that was not read; subject is the benchmark's name.
func (d *jsonDocument) warnf(subject, format string, args ...any) {
	d.tell(bench.Result{}, d.position(subject).errorf(format, args...))
}

// result yields a result, if it has values. Its launch is one of this
// document's.
func (d *jsonDocument) result(res bench.Result) {
	values, err := d.filter.keep(d.position(res.Name), res.Values)
	if err != nil {
		d.tell(bench.Result{}, err)
	}
	if res.Values = values; len(values) == 0 || d.stopped {
		return
	}
	res.Launch += d.first
	d.launches = max(d.launches, res.Launch)
	d.tell(res, nil)
}

// number returns the number that v points to. One that is missing, null or not
// finite is said to be so.
func (d *jsonDocument) number(subject, what string, v *float64) (float64, bool) {
	if v == nil {
		d.warnf(subject, "want a finite number as %s, have none", what)
		return 0, false
	}
	return *v, true
}

// numbers returns those that are some, and warns once of the others.
func (d *jsonDocument) numbers(subject, what string, vs []*float64) []float64 {
	var good []float64
	for _, v := range vs {
		if v != nil {
			good = append(good, *v)
		}
	}
	if n := len(vs) - len(good); n > 0 {
		d.warnf(subject, "want finite numbers as %s, have %d that are not", what, n)
	}
	return good
}

// statistic returns a value that is a statistic, whose spread is in the same
// unit. A spread that is missing or no number is none.
func statistic(metric string, v float64, unit string, kind bench.SpreadKind, spread *float64, count int) bench.Value {
	value := bench.Measure(metric, v, unit)
	value.Statistic = &bench.Spread{Count: max(0, count)}
	if spread == nil || kind == bench.NoSpread {
		return value
	}
	if s := bench.Measure(metric, *spread, unit).V; s >= 0 && !math.IsInf(s, 0) {
		value.Statistic.Kind, value.Statistic.Value = kind, s
	}
	return value
}

// errMistyped says that a value is not what was wanted, and that this has been
// reported.
var errMistyped = errors.New("a value of another type")

// decode reads the next value into v. One in which something has another type
// than v wants is reported and not read: the decoder leaves zeros in it that
// look like numbers.
func (d *jsonDocument) decode(v any) error {
	start := d.offset()
	return d.mistyped(start, d.Decode(v))
}

// mistyped reports an error of the value from start on, if it is that something
// in it has another type.
func (d *jsonDocument) mistyped(start int, err error) error {
	if err == nil {
		return nil
	}
	return d.wrong(strings.TrimLeft(oneBlank(string(d.input[start:min(start+200, d.offset())])), ",: "), err)
}

// wrong is mistyped of a value that is shown as subject.
func (d *jsonDocument) wrong(subject string, err error) error {
	mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	d.warnf(subject, "want %v as %s, have %s", bench.WantedJSON(mistyped.Type), cmp.Or(mistyped.Field, "value"), mistyped.Value)
	return errMistyped
}

// skip passes over the next value. The decoder checks it whole before it looks
// for where to put it.
func (d *jsonDocument) skip() error {
	var nowhere any
	err := d.Decode(nowhere)
	if _, ok := errors.AsType[*json.InvalidUnmarshalError](err); ok {
		return nil
	}
	return err
}

// object reads an object whose keys are not known, at half of what it costs to
// fill a map.
func (d *jsonDocument) object() (jsonObject, error) {
	start := d.offset()
	text, err := d.value()
	if err != nil {
		return nil, err
	}
	var o jsonObject
	return o, d.mistyped(start, o.take(text))
}

// value returns the next value as it is written.
func (d *jsonDocument) value() (string, error) {
	start := d.offset()
	if err := d.skip(); err != nil {
		return "", err
	}
	return string(d.input[nextJSON(d.input, start):d.offset()]), nil
}

// open reads the bracket that the next value begins with. Another value than is
// wanted is reported and passed over.
func (d *jsonDocument) open(want json.Delim) error {
	at := d.offset()
	for at < len(d.input) && strings.IndexByte(",: \t\r\n", d.input[at]) >= 0 {
		at++
	}
	if at == len(d.input) || d.input[at] == byte(want) {
		_, err := d.Token()
		return err
	}
	if err := d.skip(); err != nil {
		return err
	}
	text := oneBlank(string(d.input[at:min(at+200, d.offset())]))
	d.warnf(text, "want %v where another value is", want)
	return errMistyped
}

// members reads an object and hands each key to read, which reads the value.
func (d *jsonDocument) members(read func(key string) error) error {
	if err := d.open('{'); err != nil {
		return err
	}
	return d.rest(func() error {
		key, err := d.Token()
		if err != nil {
			return err
		}
		text, _ := key.(string)
		return read(text)
	})
}

// elements reads an array; read reads each value of it.
func (d *jsonDocument) elements(read func() error) error {
	if err := d.open('['); err != nil {
		return err
	}
	return d.rest(read)
}

// objects reads an array of objects, each as a whole. What read finds to be of another
// type is reported.
func (d *jsonDocument) objects(read func(o jsonObject) error) error {
	return d.elements(func() error {
		start := d.offset()
		o, err := d.object()
		if err != nil {
			return err
		}
		return d.mistyped(start, read(o))
	})
}

// rest reads to the end of an object or array.
func (d *jsonDocument) rest(read func() error) error {
	for d.More() {
		if err := read(); err != nil && !errors.Is(err, errMistyped) {
			return err
		}
		if d.stopped {
			return errStopped
		}
	}
	_, err := d.Token()
	return err
}

// member reads an object of which only the value of one key is wanted.
func (d *jsonDocument) member(want string, read func() error) error {
	return d.members(func(key string) error {
		if key == want {
			return read()
		}
		return d.skip()
	})
}
