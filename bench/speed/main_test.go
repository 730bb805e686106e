package main

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

const testdata = "../../testdata/format"

// TestRepeated: a text is repeated whole, with another name each time.
func TestRepeated(t *testing.T) {
	in, size := newRepeated([]byte("encode 1 ms\n"), []string{"encode"}).reader(20)
	got, err := io.ReadAll(in)
	if want := "encode 1 ms\nencodf 1 ms\n"; err != nil || string(got) != want || size != len(want) {
		t.Errorf("reader(20) = %q, %d, %v, want %q", got, size, err, want)
	}
}

// TestLongLine: an input is one line, of the size.
func TestLongLine(t *testing.T) {
	if got, want := string(longLine([]byte("encode 1 ms\n\ndecode\n"), 25)), "encode 1 ms decode encode"; got != want {
		t.Errorf("longLine = %q, want %q", got, want)
	}
}

// TestInputsGrow: whatever the size, what was made larger is read, and a document
// is still one.
func TestInputsGrow(t *testing.T) {
	for _, f := range format.All() {
		text, err := linesOf(testdata, f)
		if err != nil {
			t.Fatal(err)
		}
		if text != nil {
			one, _ := text.reader(1)
			in, size := text.reader(4 * len(text.variants[0]))
			if n := count(f, one); size < 4*len(text.variants[0]) || count(f, in) < n {
				t.Errorf("%s: %d bytes have fewer results than once the text, %d", f.Name, size, n)
			}
		}
		document, err := documentOf(testdata, f)
		if err != nil {
			t.Fatal(err)
		}
		if document == nil {
			continue
		}
		small, large := document(1), document(256<<10)
		if n := count(f, bytes.NewReader(large)); n < 2*count(f, bytes.NewReader(small)) {
			t.Errorf("%s: a document of %d bytes has %d results", f.Name, len(large), n)
		}
		if decode(large) == 0 {
			t.Errorf("%s: what was made larger is no JSON", f.Name)
		}
	}
}

// TestTable: a ratio beyond its bar, or none at all, does not hold.
func TestTable(t *testing.T) {
	bars := []bar{{"time", 1.5}}
	for _, tt := range []struct {
		ratio float64
		want  bool
	}{{1.5, true}, {1.51, false}, {math.NaN(), false}} {
		if got := (table{bars: bars, rows: []row{{"x", []float64{tt.ratio}}}}).holds(); got != tt.want {
			t.Errorf("a ratio of %v holds a bar of 1.5: %v", tt.ratio, got)
		}
	}
}
