// Package report writes a verdict in the forms its readers want, one file a
// form.
//
// It decides nothing: outcomes, numbers and the sentence that explains each
// comparison are the verdict's. It reads no clock and no environment, writes to
// nothing but the writer it is given, and trusts no name, unit or message that
// came with the measurements: each form makes them inert in its own way.
package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/gate"
)

// A Form is one way to write a verdict.
type Form struct {
	Name  string // what --output and --report take
	About string // whom it is for, in a few words
	Write func(w io.Writer, v gate.Verdict, o Options) error
	// Together writes one document of several suites; nil where a document of the
	// form is of one.
	Together func(w io.Writer, s Suites, o Options) error
}

// Options is what a form is asked for beside the verdict. The zero value is
// right everywhere.
type Options struct {
	Color   bool   // whether text may be coloured: its reader is a terminal
	Version string // of noslower, said in documents and comments; "" leaves it out
	Limit   int    // most bytes of Markdown, 0 for any number
	// Whole is the address where what Limit cuts off can be read, told in
	// Markdown; "" where there is none.
	Whole string
	// AcceptLabel is what lets a regression of a pull request pass, told in
	// Markdown; "" where nothing does.
	AcceptLabel string
}

var forms []Form

// register makes a form known; each form's file calls it once, in a package
// variable.
func register(f Form) Form {
	forms = append(forms, f)
	return f
}

// All returns every form by name.
func All() []Form {
	return slices.SortedFunc(slices.Values(forms), func(a, b Form) int { return cmp.Compare(a.Name, b.Name) })
}

// ByName returns the form of this name.
func ByName(name string) (Form, error) {
	var names []string
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Form{}, fmt.Errorf("want one of %s, have %q", strings.Join(names, ", "), name)
}
