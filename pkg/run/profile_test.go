package run

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listing writes a profile for comparison, a line for each place, sorted.
func listing(p Profile) string {
	var lines []string
	for _, c := range p.Costs {
		home := ""
		if c.File != c.Home {
			home = " in " + c.Home
		}
		lines = append(lines, fmt.Sprintf("%d %s %s %s:%d%s\n", c.Self, c.Object, c.Function, c.File, c.Line, home))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// TestReadProfile reads the profiles of testdata/count/tiny.c, short and long: the
// costs of what is called are not its caller's, levels of recursion are one
// function, and inlined code is in the file that it comes from.
func TestReadProfile(t *testing.T) {
	const want = `23 tiny work /src/tiny.c:30
359 tiny fib /src/tiny.c:13
37 tiny odd /src/tiny.c:25
44 tiny even /src/tiny.c:20
9 tiny (below main) /src/tiny.c:39
90 tiny work /src/tiny.h:3 in /src/tiny.c
`
	sorted := strings.SplitAfter(want, "\n")
	slices.Sort(sorted)
	for _, name := range []string{"tiny.callgrind", "tiny_long.callgrind"} {
		p, err := readProfileFile(filepath.Join("..", "..", "testdata", "count", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := listing(p); got != strings.Join(sorted, "") {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
		if p.Total != 562 || selfOf(p) != p.Total {
			t.Errorf("%s: got total %d and sum %d, want 562", name, p.Total, selfOf(p))
		}
	}
}

func TestReadProfileForms(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
		total          uint64
	}{
		{
			"several events", "events: Dr Ir Dw\nfn=f\n5 1 2 3\n6 1 2\n7 1\n8\nsummary: 3 4 3\n",
			"4  f :5\n", 4,
		},
		{
			"two parts, with names of the first", "events: Ir\npart: 1\nfl=(1) a.c\nfn=(1) f\n3 10\ntotals: 10\n\npart: 2\nfl=(1)\nfn=(1)\n2 5\ntotals: 5\n",
			"15  f a.c:2\n", 15,
		},
		{
			"two threads", "events: Ir\nthread: 1\nfn=f\n1 10\nthread: 2\nfn=f\n1 20\n",
			"30  f :1\n", 0,
		},
		{
			"a call to another library", "events: Ir\nob=(1) /bin/p\nfl=(1) a.c\nfn=(1) f\n3 1\ncob=(2) /lib/l.so\ncfi=(2) b.c\ncfn=(2) g\ncalls=2 +9\n* 100\n+1 2\nob=(2)\nfl=(2)\nfn=(2)\n9 100\n",
			"100 l.so g b.c:9\n3 p f a.c:3\n", 0,
		},
		{
			"a call whose cost is of the function before", "events: Ir\nfn=f\ncalls=1 1\nfn=g\n1 7\n",
			"7  g :1\n", 0,
		},
		{
			"C++", "events: Ir\nfn=(1) _ZNK5bench5StoreIjE4readEj\n1 1\nfn=(2) _ZNK5bench5StoreIjE4readEj.isra.0\n2 2\nfn=(3) _ZN1AC2Ev.cold'2\n1 3\n",
			"3  A::A() :1\n3  bench::Store<unsigned int>::read(unsigned int) const :1\n", 0,
		},
		{
			"Rust", "events: Ir\nfn=(1) _ZN4core3fmt5write17h0123456789abcdefE\n1 1\nfn=(2) _RNvCskwGfYPst2Cb_7example4main\n1 2\n",
			"1  core::fmt::write :1\n2  example::main :1\n", 0,
		},
		{
			"C", "events: Ir\nfn=f.constprop.0.isra.0\n1 1\nfn=f.part.0\n1 2\nfn=f'12\n1 3\nfn=(3) read@@GLIBC_2.2.5\n1 4\nfn=main.(*T).work\n1 5\nfn=main.f.func1\n1 6\n",
			"4  read :1\n5  main.(*T).work :1\n6  f :1\n6  main.f.func1 :1\n", 0,
		},
		{
			"no names", "events: Ir\nob=/l.so\nfl=???\nfn=0x00000000000d41b0\n0 2\nfn=0x00000000000a6e30'2\n0 4\nfn=???\n0 1\n",
			"7 l.so ??? :0\n", 0,
		},
		{
			"jumps and hexadecimal numbers", "events: Ir\npositions: instr line\nfn=f\njcnd=3/9 0x10 +2\n0x8 4\n0xa 5 0x10\n",
			"16  f :5\n", 0,
		},
		{"nothing but its head", "events: Ir\n", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := readProfile(strings.NewReader(tt.in), "p")
			if err != nil {
				t.Fatal(err)
			}
			if got := listing(p); got != tt.want || p.Total != tt.total {
				t.Errorf("got total %d and\n%swant %d and\n%s", p.Total, got, tt.total, tt.want)
			}
		})
	}
}

func TestReadProfileFaults(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "p: want a profile of callgrind"},
		{"no profile", "hello\n", `p:1: want a cost, a name or a header, have "hello"`},
		{"a cost before the events", "# x\n1 2\n", `p:2: want a line such as "events: Ir" before`},
		{"other events", "events: Dr Dw\n", `p:1: want Ir among the events, have "Dr Dw"`},
		{"an unknown number", "events: Ir\nfn=(7)\n", `p:2: want a number that was given a name before, have "(7)"`},
		{"no cost", "events: Ir\nfn=f\n1 many\n", `p:3: want a cost, have "many"`},
		{"no line", "events: Ir\nfn=f\n1x 1\n", `p:3: want a line number, have "1x"`},
		{"a sign alone", "events: Ir\nfn=f\n+ 1\n", `p:3: want a line number, have "+"`},
		{"before the first line", "events: Ir\nfn=f\n3 1\n-4 1\n", `p:4: want a line number, have "-4" after line 3`},
		{"after the last line", "events: Ir\nfn=f\n2147483647 1\n+1 1\n", `p:4: want a line number, have 2147483648`},
		{"fewer positions", "positions: instr line\nevents: Ir\n0x1\n", `p:3: want a position for each of ["instr" "line"]`},
		{"a sum that is none", "events: Ir\nsummary: x\n", `p:2: want a number of instructions in "summary", have "x"`},
		{"too much", "events: Ir\nfn=f\n1 18446744073709551615\n1 1\n", "p:4: want counts whose sum is below 2^64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := readProfile(strings.NewReader(tt.in), "p"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzReadProfile(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "count", "*.callgrind"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("events: Dr Ir\npositions: instr line\nob=(1) o\nfn=(1) _Z1fv'2\ncalls=1 +1 *\n0x1 +1 2 3\n* -1 2\n")
	f.Fuzz(func(t *testing.T, in string) {
		p, err := readProfile(strings.NewReader(in), "p")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p:") {
				t.Errorf("got error %q, want it to name its place", err)
			}
			return
		}
		seen := map[Place]bool{}
		for _, c := range p.Costs {
			if seen[c.Place] || c.Self == 0 || c.Line < 0 {
				t.Errorf("got %+v, which is there twice or costs nothing", c)
			}
			seen[c.Place] = true
		}
		two, err := mergeProfiles([]Profile{p, p})
		if err != nil {
			return // too large a sum
		}
		if len(two.Costs) != len(p.Costs) || two.Total != 2*p.Total {
			t.Errorf("twice is %d places and %d, want %d and %d", len(two.Costs), two.Total, len(p.Costs), 2*p.Total)
		}
		one, err := PerOp([]SizedProfile{{1, p}, {2, two}})
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(one, one); len(d.Functions) != 0 || d.Change() != 0 {
			t.Errorf("it differs from itself by %+v", d)
		}
	})
}

func TestMergeProfiles(t *testing.T) {
	f, g := Place{Function: "f"}, Place{Function: "g"}
	got, err := mergeProfiles([]Profile{
		{Costs: []Cost{{f, 0, 10}, {g, 3, 1}}, Total: 11},
		{Costs: []Cost{{g, 2, 5}, {f, 7, 1}}, Total: 6},
	})
	if want := (Profile{Costs: []Cost{{f, 7, 11}, {g, 2, 6}}, Total: 17}); err != nil || !slices.Equal(got.Costs, want.Costs) || got.Total != want.Total {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := mergeProfiles([]Profile{{Total: math.MaxUint64}, {Total: 1}}); err == nil {
		t.Error("a sum of 2^64: got no error")
	}
	if p, err := mergeProfiles(nil); err != nil || p.Total != 0 {
		t.Errorf("of nothing: got %+v, %v", p, err)
	}
}
