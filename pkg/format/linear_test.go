package format_test

import (
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/format"
)

// TestLongLine reads every input as one line that goes on and on, in a time that
// grows with it and not with its square.
func TestLongLine(t *testing.T) {
	const size = 200_000
	const unsuspicious = 300 * time.Millisecond // ten times what the slowest takes
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			line := strings.Join(strings.Fields(string(read(t, path))), " ") + " "
			line = strings.Repeat(line, 1+size/len(line))[:size]
			if timeToRead(f, line, 1) < unsuspicious {
				continue
			}
			const parts, tries = 4, 3
			whole, part := timeToRead(f, line, tries), timeToRead(f, line[:size/parts], tries)
			if whole > parts*parts/2*part {
				t.Errorf("%s as one line: %d kB take %v, a quarter of them %v", path, size/1000, whole, part)
			}
		}
	}
}

// timeToRead returns the least time that a format takes to read a text.
func timeToRead(f format.Format, text string, tries int) time.Duration {
	var least time.Duration
	for n := range tries {
		start := time.Now()
		for range f.Read(strings.NewReader(text), "input") {
		}
		if took := time.Since(start); n == 0 || took < least {
			least = took
		}
	}
	return least
}
