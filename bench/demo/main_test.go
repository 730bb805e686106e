//go:build unix

package main

import (
	"reflect"
	"testing"
)

// The slowdown must cost and change nothing else: a demonstration that compares
// two different programs would show nothing.
func TestSlow(t *testing.T) {
	in := makeRecords()[:1000]
	want, err := ingest(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.entries) != len(in) {
		t.Errorf("%d records in the store, want %d", len(want.entries), len(in))
	}
	for _, percent := range []int{20, 50, 100} {
		have, err := ingest(in, percent)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(have.entries, want.entries) {
			t.Errorf("-slow %d leaves another store", percent)
		}
		if extra := 100 * (have.writes - want.writes) / want.writes; extra != percent {
			t.Errorf("-slow %d does %d %% more", percent, extra)
		}
	}
	if err := want.lookup(); err != nil {
		t.Error(err)
	}
}
