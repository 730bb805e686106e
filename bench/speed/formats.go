package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/noslower/noslower/pkg/format"
)

const (
	small, middle, large, document = 1 << 10, 1 << 20, 64 << 20, 16 << 20 // bytes of inputs

	formatRounds = 5
	largeRounds  = 3
	// A small input is read again until so many bytes were, since the clock of
	// the processor is coarse.
	leastRead = 2 << 20
)

// readFormats reads the inputs of every format under dir, made larger.
func readFormats(dir string) (lines, documents table, err error) {
	lines = table{title: "reading lines", bars: []bar{
		{"time of benchfmt's", 10}, {"a byte of 1 MiB of one of 1 KiB", 1.5}, {"a byte of 64 MiB of one of 1 MiB", 1.5}, {"MiB in use at 64 MiB", 8},
	}}
	documents = table{title: "reading JSON", bars: []bar{
		{"time of the decoder's", 1.5}, {"a byte of 16 MiB of one of 1 MiB", 1.5},
	}}
	golang, err := format.ByName("go")
	if err != nil {
		return lines, documents, err
	}
	benchmarks, err := linesOf(dir, golang)
	if err != nil {
		return lines, documents, err
	}
	for _, f := range format.All() {
		text, err := linesOf(dir, f)
		if err != nil {
			return lines, documents, err
		}
		if text != nil {
			r, err := readLines(f, text, benchmarks)
			if err != nil {
				return lines, documents, err
			}
			lines.rows = append(lines.rows, r)
		}
		doc, err := documentOf(dir, f)
		if err != nil {
			return lines, documents, err
		}
		if doc != nil {
			r, err := readDocument(f, doc)
			if err != nil {
				return lines, documents, err
			}
			documents.rows = append(documents.rows, r)
		}
	}
	return lines, documents, nil
}

// readLines holds a format of lines against benchfmt, which reads benchmarks, and
// itself at several sizes.
func readLines(f format.Format, text, benchmarks *repeated) (row, error) {
	read := func(least int) func() (cost, error) {
		return perByte(func() (n, size int) {
			in, size := text.reader(least)
			return count(f, in), size
		})
	}
	peer := perByte(func() (n, size int) {
		in, size := benchmarks.reader(middle)
		for results := benchfmt.NewReader(in, ""); results.Scan(); n++ {
		}
		return n, size
	})
	before := inUse()
	var watched watched
	readLarge := perByte(func() (n, size int) {
		watched.in, size = text.reader(large)
		watched.at = size / 2
		return count(f, &watched), size
	})
	r := row{name: f.Name}
	for _, pair := range []struct {
		rounds        int
		first, second func() (cost, error)
	}{
		{formatRounds, read(middle), peer}, {formatRounds, read(middle), read(small)}, {largeRounds, readLarge, read(middle)},
	} {
		ratio, _, err := ratios(pair.rounds, pair.first, pair.second)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		r.ratios = append(r.ratios, ratio)
	}
	r.ratios = append(r.ratios, max(0, watched.inUse-before)/(1<<20))
	return r, nil
}

// readDocument holds a format of JSON against the decoder, which makes values
// without a meaning of the same document.
func readDocument(f format.Format, doc func(size int) []byte) (row, error) {
	read := func(in []byte) func() (cost, error) {
		return perByte(func() (n, size int) { return count(f, bytes.NewReader(in)), len(in) })
	}
	shorter, longer := doc(middle), doc(document)
	decoder := perByte(func() (n, size int) { return decode(shorter), len(shorter) })
	toDecoder, _, err := ratios(formatRounds, read(shorter), decoder)
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	toShorter, _, err := ratios(formatRounds, read(longer), read(shorter))
	return row{f.Name, []float64{toDecoder, toShorter}}, err
}

// readLongLines reads each input as one line. A format that looks on from each of
// its parts takes the square, and so eight times as long for a byte. Both lines are
// longer than those for which package regexp goes through a text in a quicker way.
func readLongLines(dir string) (table, error) {
	const rounds = 3
	const short, long = 64 << 10, 512 << 10 // bytes
	t := table{title: "reading one line", bars: []bar{{"a byte of 512 KiB of one of 64 KiB", 4}}}
	for _, f := range format.All() {
		inputs, err := inputsOf(dir, f.Name)
		if err != nil {
			return t, err
		}
		read := func(length int) func() (cost, error) {
			lines := make([][]byte, len(inputs))
			for i, input := range inputs {
				lines[i] = longLine(input, length)
			}
			return perByte(func() (n, size int) {
				for _, line := range lines {
					count(f, bytes.NewReader(line)) // which may be nothing
				}
				return 1, length * len(lines)
			})
		}
		ratio, _, err := ratios(rounds, read(long), read(short))
		if err != nil {
			return t, err
		}
		t.rows = append(t.rows, row{f.Name, []float64{ratio}})
	}
	return t, nil
}

func count(f format.Format, in io.Reader) int {
	n := 0
	for _, err := range f.Read(in, "") {
		if err == nil {
			n++
		}
	}
	return n
}

// decode decodes every document of an input.
func decode(input []byte) int {
	n := 0
	for in := json.NewDecoder(bytes.NewReader(input)); ; n++ {
		var v any
		if err := in.Decode(&v); err != nil {
			return n
		}
	}
}

// perByte measures what a byte costs of a piece of work, which finds something in
// so many of them. Memory is not looked at.
func perByte(work func() (found, size int)) func() (cost, error) {
	return func() (cost, error) {
		before, done := processorTime(), 0
		for done < leastRead {
			found, size := work()
			if found == 0 {
				return cost{}, errors.New("nothing is read of its input, made larger")
			}
			done += size
		}
		return cost{seconds: (processorTime() - before).Seconds() / float64(done)}, nil
	}
}

// processorTime is what this process has used of the processor.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // fails of wrong arguments alone
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// inUse is the memory that is in use.
func inUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// watched looks at the memory in use when so many bytes were read.
type watched struct {
	in    io.Reader
	at    int
	inUse float64
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	if w.at > 0 && w.at <= n {
		w.inUse = inUse()
	}
	w.at -= n
	return n, err
}
