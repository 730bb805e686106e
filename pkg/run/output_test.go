package run

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzOutput prints pieces of text to both streams in turn, and wants each stream
// whole, and no line broken by one of the other.
func FuzzOutput(f *testing.F) {
	f.Add("out 1\nout |2\n", "err|\n", 100)
	f.Add("a||b", "\n|c\n\n", 100)
	f.Add("unfinished", "unfinished too", 100)
	f.Add("too much\n", "of it\n", 10)
	f.Fuzz(func(t *testing.T, out, err string, limit int) {
		if limit < 1 || limit > 1<<20 {
			t.Skip()
		}
		o := &output{max: int64(limit), over: make(chan struct{})}
		pieces := [2][]string{strings.Split(out, "|"), strings.Split(err, "|")}
		var sent [2][]byte
		for i := range max(len(pieces[0]), len(pieces[1])) {
			for s := range pieces {
				if i < len(pieces[s]) {
					o.add(stream(s), []byte(pieces[s][i]))
					sent[s] = append(sent[s], pieces[s][i]...)
				}
			}
		}
		for s := range o.rest {
			o.put(stream(s), o.rest[s])
		}

		if o.full() != (len(sent[0])+len(sent[1]) > limit) {
			t.Errorf("got full %v of %d+%d bytes at a bound of %d", o.full(), len(sent[0]), len(sent[1]), limit)
		}
		for s := range sent {
			got := pick(o.buf, o.spans, stream(s))
			if o.full() {
				if !bytes.HasPrefix(sent[s], bytes.TrimSuffix(got, []byte("\n"))) {
					t.Errorf("got %q of %q", got, sent[s])
				}
				continue
			}
			if !bytes.Equal(got, sent[s]) && !bytes.Equal(got, append(sent[s], '\n')) {
				t.Errorf("got %q, want %q", got, sent[s])
			}
		}
		start := 0
		for i, s := range o.spans {
			if i < len(o.spans)-1 && o.buf[s.end-1] != '\n' || s.end <= start {
				t.Errorf("span %d of %v ends within a line: %q", i, o.spans, o.buf)
			}
			start = s.end
		}
		if start != len(o.buf) {
			t.Errorf("the spans %v end before %d", o.spans, len(o.buf))
		}
	})
}
