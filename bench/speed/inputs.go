package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/format"
)

// repeated is the output of a tool, with other names each time that it is
// repeated.
type repeated struct{ variants [][]byte }

// newRepeated varies the last letter of each of the names in a text.
func newRepeated(text []byte, names []string) *repeated {
	const letters = 26
	var r repeated
	for i := range letters {
		varied := text
		for _, name := range names {
			at := strings.LastIndexFunc(name, func(c rune) bool { return c >= 'a' && c <= 'z' })
			if at < 0 {
				continue
			}
			other := name[:at] + string(rune('a'+(int(name[at]-'a')+i)%letters)) + name[at+1:]
			varied = bytes.ReplaceAll(varied, []byte(name), []byte(other))
		}
		r.variants = append(r.variants, varied)
	}
	return &r
}

// reader reads the text over and over, whole, until it is of a size or more, and
// returns the size.
func (r *repeated) reader(least int) (in io.Reader, size int) {
	for i := 0; size < least; i++ {
		size += len(r.variants[i%len(r.variants)])
	}
	return &repeating{text: r, left: size}, size
}

// repeating is the reading of a repeated text.
type repeating struct {
	text    *repeated
	left    int
	variant int
	at      int // in the variant
}

func (r *repeating) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	variant := r.text.variants[r.variant]
	n := copy(p, variant[r.at:])
	r.left -= n
	if r.at += n; r.at == len(variant) {
		r.variant, r.at = (r.variant+1)%len(r.text.variants), 0
	}
	return n, nil
}

// inputsOf returns the inputs of a format under dir.
func inputsOf(dir, name string) ([][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(dir, name, "*.txt"))
	if err != nil {
		return nil, err
	}
	var inputs [][]byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, bytes.TrimPrefix(data, []byte("\ufeff")))
	}
	return inputs, nil
}

// largest returns the largest input of a format under dir, of those that are
// wanted.
func largest(dir, name string, wanted func([]byte) bool) ([]byte, error) {
	inputs, err := inputsOf(dir, name)
	var found []byte
	for _, data := range inputs {
		if wanted(data) && len(data) > len(found) {
			found = append(bytes.TrimRight(data, "\n"), '\n')
		}
	}
	return found, err
}

// longLine returns an input as one line that goes on and on, up to a size.
func longLine(input []byte, size int) []byte {
	line := append(bytes.Join(bytes.Fields(input), []byte(" ")), ' ')
	return bytes.Repeat(line, 1+size/len(line))[:size]
}

// documentStart matches where JSON, XML or JavaScript begins.
var documentStart = regexp.MustCompile(`(?m)^(?:\{|\[(?:$|[\["{])|<|window\.)`)

// linesOf returns the lines that a format reads, or nil where it reads documents
// alone.
func linesOf(dir string, f format.Format) (*repeated, error) {
	text, err := largest(dir, f.Name, func(data []byte) bool {
		return !documentStart.Match(data)
	})
	if err != nil || text == nil {
		return nil, err
	}
	return newRepeated(text, namesIn(f, text)), nil
}

// namesIn returns the names of the benchmarks in an input, the longer ones first:
// one may begin with another.
func namesIn(f format.Format, input []byte) []string {
	var names []string
	for result, err := range f.Read(bytes.NewReader(input), "") {
		if err == nil && len(result.Name) > 2 && !slices.Contains(names, result.Name) {
			names = append(names, result.Name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return len(b) - len(a) })
	return names
}

// documentOf returns the JSON document that a format reads, as a function of the
// size it is wanted in, or nil where it reads none. It grows by more elements of
// the list, or members of the object, that its results are in, with other names
// where they stand there; where it is a single result, there are more documents.
func documentOf(dir string, f format.Format) (func(size int) []byte, error) {
	data, err := largest(dir, f.Name, func(data []byte) bool { return documentStart.Match(data) && json.Valid(data) })
	if err != nil || data == nil {
		return nil, err
	}
	results := count(f, bytes.NewReader(data))
	names := namesIn(f, data)
	grow := func(part span, size int) []byte {
		grown := bytes.NewBuffer(slices.Clone(data[:part.end]))
		for i := 0; i == 0 || grown.Len() < size; i++ {
			more := data[part.start:part.end]
			for _, name := range names {
				quoted := []byte(`"` + name + `"`)
				more = bytes.ReplaceAll(more, quoted, fmt.Appendf(nil, `"%s %d"`, name, i))
			}
			grown.WriteByte(',')
			grown.Write(more)
		}
		grown.Write(data[part.end:])
		return grown.Bytes()
	}
	for _, part := range containers(data) {
		if twice := grow(part, 0); json.Valid(twice) && count(f, bytes.NewReader(twice)) == 2*results {
			return func(size int) []byte { return grow(part, size) }, nil
		}
	}
	if count(f, bytes.NewReader(bytes.Repeat(data, 2))) < 2*results {
		return nil, nil // it is never large
	}
	return func(size int) []byte { return bytes.Repeat(data, 1+size/len(data)) }, nil
}

// A span is what is within the brackets of a list or object.
type span struct{ start, end int }

// containers returns the lists and objects of a document that are not empty, the
// largest first.
func containers(document []byte) []span {
	var all []span
	var open []int
	in := json.NewDecoder(bytes.NewReader(document))
	for {
		token, err := in.Token()
		if err != nil {
			break
		}
		switch at := int(in.InputOffset()); token {
		case json.Delim('['), json.Delim('{'):
			open = append(open, at)
		case json.Delim(']'), json.Delim('}'):
			start := open[len(open)-1]
			open = open[:len(open)-1]
			if at-1 > start {
				all = append(all, span{start, at - 1})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return (b.end - b.start) - (a.end - a.start) })
	return all
}
