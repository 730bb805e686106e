package gate

import (
	"fmt"
	"slices"

	"github.com/noslower/noslower/pkg/bench"
)

// A Look is a point at which a comparison may be decided before all runs are
// made.
type Look struct {
	Runs  int // made on head until then
	Level int // Policy.Look
}

// lookedAt are the numbers of runs after which it is looked, of those that lie
// between the least and the most that are asked for.
var lookedAt = [...]int{5, 8, 12, 20}

// Looks returns when to look where between least and most runs may be made. The
// last look is at most, and its level is the last: the only one where the number
// of runs is fixed.
func Looks(least, most int) []Look {
	var looks []Look
	for level, runs := range lookedAt {
		if runs >= least && runs < most {
			looks = append(looks, Look{runs, min(level, LastLook)})
		}
	}
	return append(looks, Look{most, LastLook})
}

// Confirms reports whether both sides were measured afresh often enough to know of
// everything that regressed in v whether it does so again.
func (again *Verdict) Confirms(v Verdict) bool {
	repeated := again.byKey()
	return !slices.ContainsFunc(v.Comparisons, func(c Comparison) bool {
		second, ok := repeated[c.key()]
		return c.wantsConfirming() && ok && second.Outcome == Inconclusive
	})
}

func (v *Verdict) byKey() map[bench.Key]Comparison {
	all := map[bench.Key]Comparison{}
	for _, c := range v.Comparisons {
		all[c.key()] = c
	}
	return all
}

func (c *Comparison) key() bench.Key { return bench.Key{Benchmark: c.Benchmark, Metric: c.Metric.Name} }

// wantsConfirming reports whether it is a regression that may be chance.
func (c *Comparison) wantsConfirming() bool {
	return c.Gating && c.Outcome == Regressed && c.byLimit == ""
}

// Unconfirmed says of everything that regressed that it was not measured again:
// but for what crept, since base's own program would tell nothing of the anchor.
func (v *Verdict) Unconfirmed() {
	for i := range v.Comparisons {
		if c := &v.Comparisons[i]; c.wantsConfirming() && c.Crept == nil {
			c.Warnings = append(c.Warnings, "not confirmed: it takes base's own program to measure it again (--program, --against)")
		}
	}
}

// Confirm takes back what regressed in v and did not regress again when both
// sides were measured afresh: what fails by chance seldom does so twice.
func Confirm(v, again Verdict, p Policy) Verdict {
	repeated := again.byKey()
	confirmed := v
	confirmed.Comparisons = nil
	for _, c := range v.Comparisons {
		if c.wantsConfirming() {
			second, ok := repeated[c.key()]
			switch {
			case ok && second.Outcome == Regressed:
				c.Warnings = append(c.Warnings, "confirmed: measured again, it regressed again: "+second.Why)
			case ok:
				c.open(fmt.Sprintf("it regressed once, and not when it was measured again: %s", second.Why))
				c.Detectable, c.Needed = second.Detectable, second.Needed
			}
		}
		confirmed.Comparisons = append(confirmed.Comparisons, c)
	}
	confirmed.Outcome = overall(confirmed.Comparisons)
	confirmed.Status, confirmed.Reasons, confirmed.Warnings = StatusPass, nil, nil
	d := decider{policy: p, head: v.Head, verdict: &confirmed}
	d.settle()
	// What others had to say stays; settle has said its own again.
	for _, w := range v.Warnings {
		if !slices.Contains(confirmed.Warnings, w) {
			confirmed.Warnings = append(confirmed.Warnings, w)
		}
	}
	return confirmed
}
