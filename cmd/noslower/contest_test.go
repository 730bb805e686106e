package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/run"
)

// duel is a contest of two shell commands, in an order by seed.
func duel(t *testing.T, seed uint64, base, head string) *contest {
	t.Helper()
	r, err := newReader(&optionSet{options: defaults()}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name, command string) *contestant {
		return &contestant{
			name: name, side: side{Measurements: bench.Measurements{Set: &bench.Set{}}},
			spec: run.Spec{Shell: command, Env: []string{"PATH=" + os.Getenv("PATH")}},
		}
	}
	return &contest{
		contestants: []*contestant{at("base", base), at("head", head)}, reader: r, seed: seed, order: rand.New(rand.NewPCG(seed, 0)),
		progress: newProgress(io.Discard, false), shown: func(err error) error { return err },
	}
}

// TestOrderOfPairs: both sides run once in each pair, in an order that the seed
// decides and that is not always the same.
func TestOrderOfPairs(t *testing.T) {
	order := func(seed uint64) string {
		log := filepath.Join(t.TempDir(), "log")
		print := func(side string) string {
			return fmt.Sprintf("printf %s >>%s; echo BenchmarkX 1 100 ns/op", side, log)
		}
		c := duel(t, seed, print("b"), print("h"))
		if err := c.measure(context.Background(), 1, gate.Looks(10, 10), nil); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := order(1)
	if first != order(1) {
		t.Error("one seed gives two orders")
	}
	baseFirst := 0
	for _, seed := range []uint64{1, 2, 3} {
		runs := order(seed)
		if len(runs) != 22 {
			t.Fatalf("seed %d: %d runs, want a warm-up and 10 pairs", seed, len(runs))
		}
		for i := 2; i < len(runs); i += 2 {
			switch runs[i : i+2] {
			case "bh":
				baseFirst++
			case "hb":
			default:
				t.Fatalf("seed %d: the pair %d is %q", seed, i/2, runs[i:i+2])
			}
		}
	}
	if baseFirst < 5 || baseFirst > 25 {
		t.Errorf("base is first in %d of 30 pairs", baseFirst)
	}
}

// TestEqualSurroundings: both sides see the same environment, and paths and
// arguments of one length.
func TestEqualSurroundings(t *testing.T) {
	t.Chdir(t.TempDir())
	r, err := newRival("abc", "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if len(r.head) != len(r.base) {
		t.Errorf("%q and %q are not of one length", r.head, r.base)
	}
	spec := run.Spec{Shell: `env | sort; echo {dir}; pwd | wc -c`, Env: []string{"PATH=" + os.Getenv("PATH"), "B=1", "A=2"}}
	if err := os.MkdirAll(r.base, 0o755); err != nil {
		t.Fatal(err)
	}
	see := func(dir string) string {
		done, err := run.Once(context.Background(), r.place(spec, dir), run.Step{N: 1, Of: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(done.Output), dir, strings.Repeat("x", len(dir)))
	}
	if head, base := see(r.head), see(r.base); head != base {
		t.Errorf("head sees\n%s\nbase sees\n%s", head, base)
	}
}

// TestStopsWhenDecided: no more runs are made than it takes, and as many as
// there are where it stays open.
func TestStopsWhenDecided(t *testing.T) {
	for _, enough := range []int{5, 12, 0} {
		c := duel(t, 1, "echo BenchmarkX 1 100 ns/op", "echo BenchmarkX 1 100 ns/op")
		err := c.measure(context.Background(), 0, gate.Looks(5, 14), func(look gate.Look) (bool, error) { return look.Runs == enough, nil })
		if err != nil {
			t.Fatal(err)
		}
		want := enough
		if enough == 0 {
			want = 14
		}
		base, head := c.sides()
		if base.runs != want || head.runs != want || base.Set.Launches() != want {
			t.Errorf("decided after %d: %d and %d runs, want %d", enough, base.runs, head.runs, want)
		}
	}
}

// TestPackedProgram: what is unpacked is what was packed, modes too, and what
// was changed on the way is refused.
func TestPackedProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, mode := range map[string]os.FileMode{"build/bench": 0o755, "build/lib/data": 0o600} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("of "+path), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("bench", "build/link"); err != nil {
		t.Fatal(err)
	}
	p, err := packProgram([]string{"build/**", "build/bench"})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := openProgram(p.zip, p.Program)
	if err != nil {
		t.Fatal(err)
	}
	if err := unpack(entries, p.Program, "out"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"build/bench": "of build/bench", "build/lib/data": "of build/lib/data", "build/link": "of build/bench"} {
		data, err := os.ReadFile(filepath.Join("out", path))
		if err != nil || string(data) != want {
			t.Errorf("%s has %q (%v), want %q", path, data, err, want)
		}
	}
	if info, err := os.Lstat("out/build/link"); err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o755 {
		t.Errorf("a link is unpacked as %v (%v), want the file that it led to", info, err)
	}
	changed := append([]byte{}, p.zip...)
	changed[len(changed)/2] ^= 1
	if _, err := openProgram(changed, p.Program); err == nil || !strings.Contains(err.Error(), "not the one that its record tells of") {
		t.Errorf("a changed program: %v", err)
	}
	outside := p.Program
	outside.Files = append(outside.Files[:0:0], outside.Files...)
	outside.Files[0].Path = "../bench"
	if _, err := openProgram(p.zip, outside); err == nil || !strings.Contains(err.Error(), "not in its folder") {
		t.Errorf("a file outside of the folder: %v", err)
	}
	if _, err := packProgram([]string{"../*"}); err == nil {
		t.Error("a program outside of the working folder is packed")
	}
}
