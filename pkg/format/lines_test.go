package format

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"no end of line at the end", "a\nb", []string{"a", "b"}},
		{"an empty line", "a\n\nb\n", []string{"a", "", "b"}},
		{"Windows", "\ufeffa\r\nb\r\n", []string{"a", "b"}},
		{"progress", " 1%\r 50%\r100%\rdone\n", []string{"done"}},
		{"colours, a link", "\x1b[1;32mok\x1b[0m \x1b]8;;http://example.com\x1b\\here\x1b]8;;\a\n", []string{"ok here"}},
		{"longer than the buffer", strings.Repeat("x", 100_000) + "\nb\n", []string{strings.Repeat("x", 100_000), "b"}},
		{"longer than a line may be", strings.Repeat("x", maxLine) + "yz\nb\n", []string{"", "b"}},
		{"longer than a line may be, at the end", "a\n" + strings.Repeat("x", maxLine) + "yz", []string{"a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			told := 0
			for l, err := range lines(strings.NewReader(tt.in), "in") {
				if fault, isLine := errors.AsType[*LineError](err); isLine && fault.Line == len(got)+1 {
					told++
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, l.text); l.number != len(got) || l.document != "in" {
					t.Errorf("line %d is %s:%d", len(got), l.document, l.number)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("lines(%.40q) = %.40q, want %.40q", tt.in, got, tt.want)
			}
			if isTold := strings.HasPrefix(tt.name, "longer than a line"); isTold != (told == 1) {
				t.Errorf("lines(%.40q) tells of %d lines that are too long", tt.in, told)
			}
		})
	}
}

// TestReadFault checks that a fault of the input ends the reading with an error
// that names the document.
func TestReadFault(t *testing.T) {
	broken := errors.New("the pipe broke")
	for _, f := range All() {
		var last error
		for _, err := range f.Read(iotest.ErrReader(broken), "in.txt") {
			last = err
		}
		if !errors.Is(last, broken) || !strings.HasPrefix(last.Error(), "in.txt") {
			t.Errorf("%s: the last error is %v, want one of in.txt that wraps %q", f.Name, last, broken)
		}
	}
}

func TestLineError(t *testing.T) {
	l := line{"in.txt", 3, strings.Repeat("é", 100)}
	want := `in.txt:3: want 1, have 2: "` + strings.Repeat("é", 60) + `…"`
	if got := l.errorf("want %d, have %d", 1, 2).Error(); got != want {
		t.Errorf("Error() = %s, want %s", got, want)
	}
}
