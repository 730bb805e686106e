//go:build unix

// Command demo is the program that "make demo" measures: a small store of
// records, and the work a real one does, which is to take records in and to
// look them up. It prints its results as "go test -bench" does.
//
// With -slow it has a real slowdown: a part of the records is taken in twice,
// as by a retry that nobody noticed.
//
// Its ns/op is processor time (user and system, by getrusage), not time on the
// clock: this program waits for nothing, and on a shared machine the clock also
// counts what its neighbours do.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

const (
	records = 20_000  // in the store
	rounds  = 5       // times they are taken in, so that one slow page fault weighs little
	lookups = 400_000 // made afterwards
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("demo: ")
	slow := flag.Int("slow", 0, "take this `percentage` of the records in twice")
	flag.Parse()
	if flag.NArg() > 0 || *slow < 0 || *slow > 100 {
		log.Print("want no arguments, and -slow from 0 to 100")
		flag.Usage()
		os.Exit(2)
	}
	// One thread does the work: how the collector's threads are scheduled is
	// no property of the program.
	runtime.GOMAXPROCS(1)

	var s *store
	in := makeRecords()
	measure("Ingest", rounds*records, func() (err error) {
		for range rounds {
			if s, err = ingest(in, *slow); err != nil {
				return err
			}
		}
		return nil
	})
	measure("Lookup", lookups, func() error { return s.lookup() })
}

// measure runs work, which does n operations, and prints what one costs.
func measure(name string, n int, work func() error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := cpuTime()
	if err := work(); err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	spent := cpuTime() - start
	runtime.ReadMemStats(&after)
	fmt.Printf("Benchmark%s\t%d\t%.1f ns/op\t%d B/op\t%d allocs/op\n", name, n,
		float64(spent.Nanoseconds())/float64(n),
		(after.TotalAlloc-before.TotalAlloc)/uint64(n),
		(after.Mallocs-before.Mallocs)/uint64(n))
}

// cpuTime is the processor time, user and system, that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatalf("getrusage: %v", err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A record is what the store keeps.
type record struct {
	ID   uint64   `json:"id"`
	User string   `json:"user"`
	Tags []string `json:"tags"`
	Body string   `json:"body"`
}

// A key is the digest of a record's encoding, by which it is found.
type key [sha256.Size]byte

// A store keeps encoded records in the order of their keys.
type store struct {
	entries []entry
	writes  int // records taken in, those that were there already included
}

type entry struct {
	key  key
	data []byte
}

// makeRecords makes the records to take in, the same in every run.
func makeRecords() []record {
	rng := rand.New(rand.NewPCG(1, 2))
	in := make([]record, records)
	for i := range in {
		in[i] = record{
			ID:   rng.Uint64(),
			User: fmt.Sprintf("user-%04d", rng.IntN(10_000)),
			Tags: []string{"cpu", "disk", "net"}[:1+rng.IntN(3)],
			Body: fmt.Sprintf("%0*x", 64+rng.IntN(64), rng.Uint64()),
		}
	}
	return in
}

// ingest makes a store of the records, and takes a percentage of them in twice.
func ingest(in []record, twice int) (*store, error) {
	s := new(store)
	for i, r := range in {
		if err := s.add(r); err != nil {
			return nil, err
		}
		// So the twice-taken are spread evenly.
		if i*twice%100 < twice {
			if err := s.add(r); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(s.entries, func(a, b entry) int { return bytes.Compare(a.key[:], b.key[:]) })
	s.entries = slices.CompactFunc(s.entries, func(a, b entry) bool { return a.key == b.key })
	return s, nil
}

// add encodes a record and puts it last.
func (s *store) add(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.entries = append(s.entries, entry{sha256.Sum256(data), data})
	s.writes++
	return nil
}

// lookup looks records up by their keys, every second time by one that is not
// there.
func (s *store) lookup() error {
	rng := rand.New(rand.NewPCG(3, 4))
	found := 0
	for i := range lookups {
		want := s.entries[rng.IntN(len(s.entries))].key
		if i%2 == 1 {
			want[sha256.Size-1]++
		}
		_, ok := slices.BinarySearchFunc(s.entries, want, func(e entry, k key) int {
			return bytes.Compare(e.key[:], k[:])
		})
		if ok {
			found++
		}
	}
	if found != lookups/2 {
		return fmt.Errorf("found %d records, want %d", found, lookups/2)
	}
	return nil
}
