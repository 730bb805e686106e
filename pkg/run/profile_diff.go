package run

import (
	"cmp"
	"math"
	"path"
	"slices"
)

// A SizedProfile is the profile of a run of Ops operations.
type SizedProfile struct {
	Ops uint64
	Profile
}

// A CostPerOp is what a place costs for each operation.
type CostPerOp struct {
	Place
	Line int     // as that of a Cost
	Self float64 // instructions/op; 0 in a place that only set-up goes through
}

// CostsPerOp says where the instructions of one operation are spent.
type CostsPerOp struct {
	Costs []CostPerOp
	Total float64 // instructions/op in all

	// WithSetup is as that of a Line: the costs are those of whole runs, divided.
	WithSetup bool
}

// PerOp returns the costs of one operation: of two or more profiles the slope
// between the smallest and the largest, of one the costs divided by its
// operations. No two may be of the same size.
func PerOp(profiles []SizedProfile) (CostsPerOp, error) {
	if err := checkSizes(len(profiles), func(i int) uint64 { return profiles[i].Ops }); err != nil {
		return CostsPerOp{}, err
	}
	byOps := func(a, b SizedProfile) int { return cmp.Compare(a.Ops, b.Ops) }
	small, large := slices.MinFunc(profiles, byOps), slices.MaxFunc(profiles, byOps)
	c := CostsPerOp{WithSetup: len(profiles) == 1}
	if c.WithSetup {
		small = SizedProfile{} // nothing costs nothing
	}
	slope := func(a, b uint64) float64 { return between(Point{small.Ops, a}, Point{large.Ops, b}) }

	index := map[Place]int{}
	few := map[Place]uint64{}
	for _, s := range small.Costs {
		few[s.Place] += s.Self
	}
	for _, l := range large.Costs {
		index[l.Place] = len(c.Costs)
		c.Costs = append(c.Costs, CostPerOp{l.Place, l.Line, slope(few[l.Place], l.Self)})
	}
	for _, s := range small.Costs {
		if i, ok := index[s.Place]; ok {
			c.Costs[i].Line = firstLine(c.Costs[i].Line, s.Line)
			continue
		}
		c.Costs = append(c.Costs, CostPerOp{s.Place, s.Line, slope(s.Self, 0)})
	}
	c.Total = slope(small.Total, large.Total)
	return c, nil
}

// A FunctionChange is how the cost of a function differs between two programs.
type FunctionChange struct {
	Function, Object string

	// File and Line are where in the function most of the change is: the file, and
	// its first line of which the function has code. For inlined code it is the
	// file that this comes from. "" and 0 if not known.
	File string
	Line int

	Base, Head float64 // self cost in instructions/op

	New, Vanished bool // the function has no cost at all on base, or on head
}

// Change is what one operation costs more on head, in instructions/op.
func (f FunctionChange) Change() float64 { return f.Head - f.Base }

// A ProfileDiff says which functions the difference between two programs lies in.
type ProfileDiff struct {
	Base, Head float64 // instructions/op in all

	// Functions are those whose cost differs, by the size of Change, largest first.
	Functions []FunctionChange
}

// Change is what one operation costs more on head, in instructions/op.
func (d ProfileDiff) Change() float64 { return d.Head - d.Base }

// Explained returns what the first n functions together cost more on head, in
// instructions/op: the sum row below them, to be held against Change. What is in
// one and not in the other is in the functions that are not shown.
func (d ProfileDiff) Explained(n int) float64 {
	var sum float64
	for _, f := range d.Functions[:min(n, len(d.Functions))] {
		sum += f.Change()
	}
	return sum
}

// An identity is by what a function of one build is known in another. The
// folders of the two differ.
type identity struct{ function, object, home string }

// Diff compares the costs of an operation by function. A function whose source
// file was renamed is the same if there is no other of its name.
func Diff(base, head CostsPerOp) ProfileDiff {
	b, h := group(base), group(head)
	rename(b, h)

	d := ProfileDiff{Base: base.Total, Head: head.Total}
	for _, id := range union(b.order, h.order) {
		f := change(id, b.costs[id], h.costs[id])
		if f.Change() != 0 {
			d.Functions = append(d.Functions, f)
		}
	}
	slices.SortStableFunc(d.Functions, func(x, y FunctionChange) int {
		return cmp.Or(
			cmp.Compare(math.Abs(y.Change()), math.Abs(x.Change())),
			cmp.Compare(x.Function, y.Function),
			cmp.Compare(x.File, y.File),
		)
	})
	return d
}

// A grouped is costs by function.
type grouped struct {
	order []identity // as first seen
	costs map[identity][]CostPerOp
}

func group(c CostsPerOp) *grouped {
	g := &grouped{costs: map[identity][]CostPerOp{}}
	for _, cost := range c.Costs {
		id := identity{cost.Function, cost.Object, fileName(cost.Home)}
		if _, ok := g.costs[id]; !ok {
			g.order = append(g.order, id)
		}
		g.costs[id] = append(g.costs[id], cost)
	}
	return g
}

// fileName is path.Base, but "" for what is not known.
func fileName(p string) string {
	if p == "" {
		return ""
	}
	return path.Base(p)
}

// rename gives functions of head that base does not have the identity of those
// of base that head does not have, where only their name leaves no doubt.
func rename(base, head *grouped) {
	lost, found := map[string][]identity{}, map[string][]identity{}
	for _, id := range base.order {
		if _, ok := head.costs[id]; !ok {
			lost[id.function] = append(lost[id.function], id)
		}
	}
	for _, id := range head.order {
		if _, ok := base.costs[id]; !ok {
			found[id.function] = append(found[id.function], id)
		}
	}
	for i, id := range head.order {
		l, f := lost[id.function], found[id.function]
		if id.function == unknown || len(l) != 1 || len(f) != 1 || f[0] != id {
			continue
		}
		head.costs[l[0]] = head.costs[id]
		delete(head.costs, id)
		head.order[i] = l[0]
	}
}

func union(a, b []identity) []identity {
	seen := map[identity]bool{}
	var all []identity
	for _, id := range slices.Concat(a, b) {
		if !seen[id] {
			seen[id] = true
			all = append(all, id)
		}
	}
	return all
}

// change sums up the places of one function, and finds the one that moved most.
func change(id identity, base, head []CostPerOp) FunctionChange {
	f := FunctionChange{Function: id.function, Object: id.object, New: len(base) == 0, Vanished: len(head) == 0}
	moved := map[string]float64{} // by file name
	for _, c := range base {
		f.Base += c.Self
		moved[fileName(c.File)] -= c.Self
	}
	for _, c := range head {
		f.Head += c.Self
		moved[fileName(c.File)] += c.Self
	}
	// Head's are the lines that are there to be read, if any are.
	most := -1.0
	for _, c := range slices.Concat(head, base) {
		if m := math.Abs(moved[fileName(c.File)]); m > most {
			most, f.File, f.Line = m, c.File, c.Line
		}
	}
	if len(head) > 0 {
		f.Object = head[0].Object // another than id's, if it was renamed
	}
	return f
}
