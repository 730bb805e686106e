package report

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
)

// sides says what base and head are: commit, age, runs, machine. base is ""
// where there is none.
func sides(v gate.Verdict, say voice) (base, head string) {
	var b, h []string
	if v.Head.Commit != "" {
		h = append(h, say.name(shortCommit(v.Head.Commit)))
	}
	h = append(h, gate.Count(v.Head.Runs, "run"))
	on := hostWords(v.Head.Host)
	if v.Base != nil {
		if v.Base.Commit != "" {
			b = append(b, say.name(shortCommit(v.Base.Commit)))
		}
		if !v.Base.Time.IsZero() && !v.Head.Time.IsZero() {
			b = append(b, "measured "+age(v.Head.Time.Sub(v.Base.Time)))
		}
		if v.Base.Origin != "" {
			b = append(b, say.prose("from "+v.Base.Origin))
		}
		b = append(b, gate.Count(v.Base.Runs, "run"))
		if was := hostWords(v.Base.Host); was != "" {
			b = append(b, say.prose("on "+was))
			if was == on {
				on = "the same kind of machine"
			}
		}
	}
	if on != "" {
		h = append(h, say.prose("on "+on))
	}
	return strings.Join(b, ", "), strings.Join(h, ", ")
}

var commitID = regexp.MustCompile(`^[0-9a-f]{12,64}$`)

// shortCommit shortens what is a commit, and nothing else.
func shortCommit(s string) string {
	if commitID.MatchString(s) {
		return bench.ShortCommit(s)
	}
	return s
}

// age says how long before head its base was measured.
func age(d time.Duration) string {
	relation := "before head"
	if d < 0 {
		d, relation = -d, "after head"
	}
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "within a minute of head"
	case d < 2*time.Hour:
		return gate.Count(int(d/time.Minute), "minute") + " " + relation
	case d < 2*day:
		return gate.Count(int(d/time.Hour), "hour") + " " + relation
	}
	return gate.Count(int(d/day), "day") + " " + relation
}

// hostWords describes a machine by what is known of it.
func hostWords(h bench.Host) string {
	var parts []string
	add := func(format, s string) {
		if s != "" {
			parts = append(parts, fmt.Sprintf(format, s))
		}
	}
	add("%s", strings.Trim(h.OS+"/"+h.Arch, "/"))
	add("%s", h.CPU)
	if h.Cores > 0 {
		parts = append(parts, gate.Count(h.Cores, "core"))
	}
	add("kernel %s", h.Kernel)
	add("libc %s", h.Libc)
	add("image %s", h.Image)
	return strings.Join(parts, ", ")
}
