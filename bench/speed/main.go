// Command speed holds what reading and comparing cost against programs and
// libraries that do the same work, in one run: two programs that compare Go's
// benchmarks, a reader of Go's lines for the formats of lines, and the decoder for
// those of JSON; and what a byte of a long line costs of one of a short line. It
// prints tables of ratios, and fails where one is beyond its bar.
//
// A ratio is the median of several, each of two measurements made one right after
// the other: the machine is as busy for the one as for the other. Times are those
// of the processor, since that on the clock also counts what neighbours do.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("speed: ")
	if len(os.Args) != 3 {
		log.Fatal("want two arguments, the noslower and the benchstat to measure")
	}
	// The programs first: a child's peak of memory is never below what its
	// parent has at the time.
	programs, err := comparePrograms(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	// On an idle processor the collector of garbage works ahead, which costs nobody
	// anything and would be counted.
	runtime.GOMAXPROCS(1)
	lines, documents, err := readFormats("testdata/format")
	if err != nil {
		log.Fatal(err)
	}
	longLines, err := readLongLines("testdata/format")
	if err != nil {
		log.Fatal(err)
	}
	hold := true
	for _, t := range []table{programs, lines, documents, longLines} {
		if err := t.print(os.Stdout); err != nil {
			log.Fatal(err)
		}
		hold = hold && t.holds()
	}
	if !hold {
		log.Fatal("a ratio is beyond its bar")
	}
}

// A table has ratios, by row and bar.
type table struct {
	title string
	bars  []bar
	rows  []row
}

// A bar is the most that a ratio may be.
type bar struct {
	name string
	most float64
}

type row struct {
	name   string
	ratios []float64 // one a bar
}

func (t table) holds() bool {
	return !slices.ContainsFunc(t.rows, func(r row) bool { return !t.rowHolds(r) })
}

func (t table) rowHolds(r row) bool {
	for i, b := range t.bars {
		if !(r.ratios[i] <= b.most) {
			return false
		}
	}
	return true
}

func (t table) print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(out, t.title)
	for _, b := range t.bars {
		fmt.Fprintf(out, "\t%s (<= %.3g)", b.name, b.most)
	}
	fmt.Fprint(out, "\tholds\n")
	for _, r := range t.rows {
		fmt.Fprint(out, r.name)
		for _, ratio := range r.ratios {
			fmt.Fprintf(out, "\t%.3f", ratio)
		}
		holds := "yes"
		if !t.rowHolds(r) {
			holds = "NO"
		}
		fmt.Fprintf(out, "\t%s\n", holds)
	}
	fmt.Fprintln(out)
	return out.Flush()
}

// A cost is what one measurement took.
type cost struct {
	seconds float64 // of the processor
	memory  float64 // bytes
}

// ratios measures two in turn, rounds times, and returns the medians of the
// first's share of the second's.
func ratios(rounds int, first, second func() (cost, error)) (time, memory float64, err error) {
	var times, memories []float64
	for range rounds {
		a, err := first()
		if err != nil {
			return 0, 0, err
		}
		b, err := second()
		if err != nil {
			return 0, 0, err
		}
		times = append(times, a.seconds/b.seconds)
		memories = append(memories, a.memory/b.memory)
	}
	return median(times), median(memories), nil
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
