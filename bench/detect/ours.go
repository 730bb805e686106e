package main

import (
	"math"

	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/stat"
)

// looks are the runs of head at which noslower decides or measures on, with
// "runs: 5..20".
var looks = [...]int{5, 8, 12, mostRuns}

// assumed is the noise between jobs that is assumed of times without a history.
const assumed = 0.02

// An ours is a way to use noslower's rule. The zero value is that of sides that
// are measured in one job.
type ours struct {
	name    string
	fresh   bool // base is measured with head and stops with it, and has not all of its runs already
	prior   bool // noise between jobs is assumed
	history bool // noise between jobs is that of the earlier ones
	blind   bool // how long runs were kept waiting is not known
	patient bool // only the last look may say regressed, the earlier ones that nothing is
}

func (o ours) rule() rule { return rule{name: o.name, judge: o.judge} }

// judge looks as often as it takes.
func (o ours) judge(t trial, threshold float64) (gate.Outcome, int) {
	e := gate.Evidence{Better: t.better, Base: t.base, Paired: t.together, Exact: t.exact}
	if o.prior {
		e.Prior = assumed
	}
	if o.history {
		e.History = costs(t)
	}
	for look, n := range looks {
		now := t.first(n)
		e.Head = now.head
		if !o.blind {
			e.BaseWaiting, e.HeadWaiting = now.baseWaiting, now.headWaiting
		}
		if o.fresh || t.together {
			e.Base = now.base
		}
		e.Look = look
		if len(t.head) <= n {
			e.Look = gate.LastLook
		}
		outcome := gate.Judge(e, threshold).Outcome
		if e.Look == gate.LastLook || outcome != gate.Inconclusive && !(o.patient && outcome == gate.Regressed) {
			return outcome, len(now.head)
		}
	}
	panic("the last look is always taken")
}

// costs returns the history as the rule wants it: logarithms in which more is
// worse.
func costs(t trial) []stat.Job {
	var list []stat.Job
	for _, values := range t.history {
		logs := make([]float64, len(values))
		for i, v := range values {
			logs[i] = -float64(t.better) * math.Log(v)
		}
		list = append(list, stat.Summarize(logs))
	}
	return list
}
