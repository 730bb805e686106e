package baseline

import (
	"fmt"
	"math"
)

// A Profile says in which places the instructions of an operation were spent, for a
// later job that has no program of the base to profile.
type Profile struct {
	Total     float64 // instructions/op
	WithSetup bool    // the start-up of the process is in it
	Costs     []Cost
}

// A Cost is what one place of a program costs an operation.
type Cost struct {
	Function, Object string
	Home, File       string // source files: of the function, and of these instructions
	Line             int    // 0 if not known
	Self             float64
}

// MaxCosts is how many places a profile may have.
const MaxCosts = 5000

type (
	profileDoc struct {
		Total     float64   `json:"total"`
		WithSetup bool      `json:"with_setup,omitempty"`
		Costs     []costDoc `json:"costs"`
	}
	costDoc struct {
		Function string  `json:"function"`
		Object   string  `json:"object,omitempty"`
		Home     string  `json:"home,omitempty"`
		File     string  `json:"file,omitempty"`
		Line     int     `json:"line,omitempty"`
		Self     float64 `json:"self"`
	}
)

func (p *Profile) doc() *profileDoc {
	if p == nil {
		return nil
	}
	d := &profileDoc{Total: p.Total, WithSetup: p.WithSetup, Costs: []costDoc{}}
	for _, c := range p.Costs {
		d.Costs = append(d.Costs, costDoc(c))
	}
	return d
}

func (d *profileDoc) profile() (*Profile, error) {
	if d == nil {
		return nil, nil
	}
	if len(d.Costs) > MaxCosts {
		return nil, fmt.Errorf("profile: want at most %d costs, have %d", MaxCosts, len(d.Costs))
	}
	p := &Profile{Total: d.Total, WithSetup: d.WithSetup}
	for i, c := range d.Costs {
		if c.Line < 0 || math.Abs(c.Self) > math.MaxUint32*float64(math.MaxUint32) {
			return nil, fmt.Errorf("profile, cost %d: want a line of 0 or more and instructions that can be counted, have %d and %v", i+1, c.Line, c.Self)
		}
		p.Costs = append(p.Costs, Cost(c))
	}
	return p, nil
}
