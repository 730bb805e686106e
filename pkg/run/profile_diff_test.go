package run

import (
	"slices"
	"strings"
	"testing"
)

func TestPerOp(t *testing.T) {
	f, g, setup := Place{Function: "f"}, Place{Function: "g"}, Place{Function: "setup"}
	small := SizedProfile{10, Profile{Costs: []Cost{{setup, 1, 500}, {f, 5, 100}, {g, 9, 30}}, Total: 630}}
	large := SizedProfile{20, Profile{Costs: []Cost{{f, 4, 200}, {setup, 1, 500}}, Total: 700}}

	want := []CostPerOp{{f, 4, 10}, {setup, 1, 0}, {g, 9, -3}}
	for _, profiles := range [][]SizedProfile{{small, large}, {large, small}, {small, {15, Profile{Total: 1}}, large}} {
		got, err := PerOp(profiles)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Costs, want) || got.Total != 7 || got.WithSetup {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}

	got, err := PerOp([]SizedProfile{small})
	want = []CostPerOp{{setup, 1, 50}, {f, 5, 10}, {g, 9, 3}}
	if err != nil || !slices.Equal(got.Costs, want) || got.Total != 63 || !got.WithSetup {
		t.Errorf("one size: got %+v, %v; want %+v", got, err, want)
	}

	for _, tt := range []struct {
		profiles []SizedProfile
		want     string
	}{
		{nil, "want at least one size"},
		{[]SizedProfile{{0, Profile{}}}, "want at least 1, have 0"},
		{[]SizedProfile{small, small}, "have 10 twice"},
	} {
		if _, err := PerOp(tt.profiles); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got error %v, want %q", err, tt.want)
		}
	}
}

// at is a place in the program p, of a function that is defined in the file home.
func at(function, home, file string) Place {
	return Place{Function: function, Object: "p", Home: home, File: file}
}

func TestDiff(t *testing.T) {
	for _, tt := range []struct {
		name       string
		base, head []CostPerOp
		want       []FunctionChange
	}{
		{
			"the most moved first, what stays left out",
			[]CostPerOp{{at("a", "/b/x.c", "/b/x.c"), 1, 10}, {at("b", "/b/x.c", "/b/x.c"), 20, 10}, {at("c", "/b/x.c", "/b/x.c"), 40, 5}},
			[]CostPerOp{{at("a", "/h/x.c", "/h/x.c"), 2, 11}, {at("b", "/h/x.c", "/h/x.c"), 21, 7}, {at("c", "/h/x.c", "/h/x.c"), 41, 5}},
			[]FunctionChange{
				{Function: "b", Object: "p", File: "/h/x.c", Line: 21, Base: 10, Head: 7},
				{Function: "a", Object: "p", File: "/h/x.c", Line: 2, Base: 10, Head: 11},
			},
		},
		{
			"new and vanished",
			[]CostPerOp{{at("old", "/b/x.c", "/b/x.c"), 3, 8}},
			[]CostPerOp{{at("fresh", "/h/y.c", "/h/y.c"), 4, 9}},
			[]FunctionChange{
				{Function: "fresh", Object: "p", File: "/h/y.c", Line: 4, Head: 9, New: true},
				{Function: "old", Object: "p", File: "/b/x.c", Line: 3, Base: 8, Vanished: true},
			},
		},
		{
			"known from set-up is not new",
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 0}},
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 2}},
			[]FunctionChange{{Function: "f", Object: "p", File: "x.c", Line: 3, Head: 2}},
		},
		{
			"in code that is inlined",
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 10}, {at("f", "x.c", "/b/in.h"), 8, 5}},
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 9.5}, {at("f", "x.c", "/h/in.h"), 9, 7}},
			[]FunctionChange{{Function: "f", Object: "p", File: "/h/in.h", Line: 9, Base: 15, Head: 16.5}},
		},
		{
			"inlined code that is gone",
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 10}, {at("f", "x.c", "in.h"), 8, 5}},
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 10}},
			[]FunctionChange{{Function: "f", Object: "p", File: "in.h", Line: 8, Base: 15, Head: 10}},
		},
		{
			"one name in two files",
			[]CostPerOp{{at("init", "x.c", "x.c"), 3, 10}, {at("init", "y.c", "y.c"), 3, 20}},
			[]CostPerOp{{at("init", "x.c", "x.c"), 3, 10}, {at("init", "y.c", "y.c"), 3, 21}},
			[]FunctionChange{{Function: "init", Object: "p", File: "y.c", Line: 3, Base: 20, Head: 21}},
		},
		{
			"moved to another file",
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 10}},
			[]CostPerOp{{at("f", "y.c", "y.c"), 9, 12}},
			[]FunctionChange{{Function: "f", Object: "p", File: "y.c", Line: 9, Base: 10, Head: 12}},
		},
		{
			"moved, or so it may be",
			[]CostPerOp{{at("f", "x.c", "x.c"), 3, 10}},
			[]CostPerOp{{at("f", "y.c", "y.c"), 9, 12}, {at("f", "z.c", "z.c"), 9, 1}},
			[]FunctionChange{
				{Function: "f", Object: "p", File: "y.c", Line: 9, Head: 12, New: true},
				{Function: "f", Object: "p", File: "x.c", Line: 3, Base: 10, Vanished: true},
				{Function: "f", Object: "p", File: "z.c", Line: 9, Head: 1, New: true},
			},
		},
		{
			"without names of files",
			[]CostPerOp{{at("???", "", ""), 0, 10}},
			[]CostPerOp{{at("???", "", ""), 0, 12}},
			[]FunctionChange{{Function: "???", Object: "p", Base: 10, Head: 12}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Diff(CostsPerOp{Costs: tt.base, Total: 100}, CostsPerOp{Costs: tt.head, Total: 102})
			if !slices.Equal(d.Functions, tt.want) {
				t.Errorf("got\n%+v\nwant\n%+v", d.Functions, tt.want)
			}
			if d.Base != 100 || d.Head != 102 || d.Change() != 2 {
				t.Errorf("got %v and %v in all", d.Base, d.Head)
			}
			back := Diff(CostsPerOp{Costs: tt.head}, CostsPerOp{Costs: tt.base})
			if got, want := back.Explained(9), -d.Explained(9); got != want {
				t.Errorf("the other way round: got %v, want %v", got, want)
			}
		})
	}
}

func TestExplained(t *testing.T) {
	d := ProfileDiff{Base: 10, Head: 12.5, Functions: []FunctionChange{{Head: 3}, {Base: 1}, {Head: 0.25}}}
	for n, want := range []float64{0, 3, 2, 2.25, 2.25} {
		if got := d.Explained(n); got != want {
			t.Errorf("Explained(%d) = %v, want %v", n, got, want)
		}
	}
}
