// Package format reads the output of benchmark tools, one file a tool.
//
// It turns bytes into results with canonical metrics and base units. It never
// decides what a number means for a change, and it opens no file.
package format

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/bench"
)

// A Format is one tool's output, or one family of tools that print alike.
type Format struct {
	Name  string // what --format takes
	Tool  string // which tool prints it, for people
	Print string // a command line that makes the tool print it, for people
	How   string // by what it is recognised, for people
	// Seen are the releases that were run for the examples in testdata: those
	// named after one ("fio 3.33": fio-3.33.txt, fio-3.33-failed.txt) are what it
	// printed, the others are written from documentation.
	Seen []string
	// Sniff reports whether the input is of this format. No two formats claim
	// one input.
	Sniff func(*Input) bool
	// General is set where the format's lines may stand among those of any tool: it
	// yields to every format that is not general.
	General bool
	// Bare is set where nothing in an input says what it is. A program prints so
	// beside what another tool prints of it, as "time" does on standard error.
	Bare bool
	// Read yields the results in input order; the values of one are there only
	// until the next, of which there may be millions. An error of type *LineError
	// is a line that looks like a result and cannot be read: what follows it is
	// still yielded. One at the end may be that the last line has no end. Any other
	// error ends the reading. name is the document's name in errors.
	Read func(r io.Reader, name string) iter.Seq2[bench.Result, error]
}

var formats []Format

// register makes a format known; each format's file calls it once, in a package
// variable.
func register(f Format) Format {
	f.Read = guard(f.Read)
	formats = append(formats, f)
	return f
}

// All returns every format by name.
func All() []Format {
	return slices.SortedFunc(slices.Values(formats), func(a, b Format) int { return cmp.Compare(a.Name, b.Name) })
}

// Names returns the names of all formats, sorted.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// ByName returns the format of this name.
func ByName(name string) (Format, error) {
	for _, f := range formats {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("want auto or one of %s, have %q", strings.Join(Names(), ", "), name)
}

// ErrUnknown is the reason of Detect where no format claims the input.
var ErrUnknown = errors.New("no known benchmark output")

// claimants returns the formats, general ones or the others, that claim the
// input.
func claimants(input *Input, general bool) []Format {
	return slices.DeleteFunc(All(), func(f Format) bool { return f.General != general || !f.Sniff(input) })
}

// Detect returns the one format that claims the input, which may be larger than
// memory. Where none does, the error is ErrUnknown and says what was looked for;
// where several do, it names them.
func Detect(in io.ReaderAt) (Format, error) {
	input := &Input{in: in}
	claims := claimants(input, false)
	if len(claims) == 0 {
		claims = claimants(input, true)
	}
	switch len(claims) {
	case 1:
		return claims[0], nil
	case 0:
		return Format{}, fmt.Errorf("%w in it: check that the command prints its results, "+
			"or name the format with --format (\"noslower formats\" lists them)", ErrUnknown)
	}
	var names []string
	for _, f := range claims {
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("it may be output of %s: name the one to read with --format, "+
		"or where it is of several, give each a file of its own", strings.Join(names, " or of "))
}
