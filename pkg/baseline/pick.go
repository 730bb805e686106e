package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Run is a workflow run that may have left a baseline, as the API tells of
// it. What the API does not tell is empty or 0.
type Run struct {
	ID, Number       int64
	Attempt          int
	Event            string
	Branch           string // of its head: a fork's branch may have any name
	Commit           string
	Workflow         string // path of its file, with the ref after "@" where that is told
	Conclusion       string
	RepositoryID     int64
	HeadRepositoryID int64
}

// A Want says what a baseline must come from.
type Want struct {
	RepositoryID int64
	Branch       string
	Workflow     string // path of its file; "" for any
	// Ancestors are the commits from the one to compare with backwards, each
	// the parent of the one before it.
	Ancestors []string
}

// trustedEvents start runs of code that somebody with write access put on the
// branch. Everything else may run a stranger's.
var trustedEvents = []string{"push", "schedule", "workflow_dispatch"}

// TrustedEvents returns the events whose runs may leave a baseline.
func TrustedEvents() []string { return slices.Clone(trustedEvents) }

// A Candidate is a run whose baseline may be compared with.
type Candidate struct {
	Run
	// Distance is how many commits of the branch lie between the run's commit
	// and the one that is wanted; -1 where the run's commit is not among the
	// ancestors and must be looked up.
	Distance int
}

// A Refusal is why something that looked like a baseline is none.
type Refusal struct{ What, Why string }

// String is one line of a report.
func (r Refusal) String() string { return r.What + ": " + r.Why }

// Rank sorts out the runs that can be trusted, nearest ancestor first, and those
// whose commit is not among the known ancestors after them, newest run first. A
// run's conclusion is no reason to refuse it: the record is written last, and
// another job's failure says nothing of it.
func Rank(runs []Run, w Want) (candidates []Candidate, refused []Refusal) {
	distance := map[string]int{}
	for i, commit := range w.Ancestors {
		distance[commit] = i
	}
	for _, r := range runs {
		if why := w.distrust(r); why != "" {
			refused = append(refused, Refusal{r.name(), why})
			continue
		}
		c := Candidate{r, -1}
		if d, ok := distance[r.Commit]; ok {
			c.Distance = d
		}
		candidates = append(candidates, c)
	}
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		far := func(c Candidate) int {
			if c.Distance < 0 {
				return len(w.Ancestors)
			}
			return c.Distance
		}
		return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(b.ID, a.ID), cmp.Compare(b.Attempt, a.Attempt))
	})
	return candidates, refused
}

func (r Run) name() string { return fmt.Sprintf("run %d of %s (%s)", r.ID, short(r.Commit), r.Event) }

func short(commit string) string { return commit[:min(12, len(commit))] }

// distrust says why a run's baseline cannot be believed; "" where it can.
func (w Want) distrust(r Run) string {
	path, ref, _ := strings.Cut(r.Workflow, "@")
	switch {
	case !slices.Contains(trustedEvents, r.Event):
		return fmt.Sprintf("it was started by %s, which may run code that nobody of the project has seen", r.Event)
	case r.RepositoryID != 0 && r.RepositoryID != w.RepositoryID:
		return "it belongs to another repository"
	case r.HeadRepositoryID != 0 && r.HeadRepositoryID != w.RepositoryID:
		return "it ran the code of a fork"
	case r.HeadRepositoryID == 0 && ref != "refs/heads/"+w.Branch:
		// Gitea tells no head repository, but the ref that the workflow was
		// taken from, which no pull request can choose.
		return "it is not told whose code it ran, and its workflow was not taken from the branch"
	case r.Branch != w.Branch:
		return fmt.Sprintf("it ran on %q, not on %q", r.Branch, w.Branch)
	case w.Workflow != "" && path != w.Workflow:
		return fmt.Sprintf("it is of the workflow %s, not of %s (--baseline-workflow names another)", path, w.Workflow)
	}
	return ""
}

// An Origin is where a record says that it comes from. It is believed only where
// the API says the same.
type Origin struct {
	RepositoryID int64
	RunID        int64
	Attempt      int
}

// CheckOrigin says why a record cannot be the one that a run kept for a suite;
// nil where it can.
func (r Record) CheckOrigin(run Run, suite string) error {
	m := r.Measurements
	switch {
	case m.Suite != suite:
		return fmt.Errorf("it says that it is of the suite %q, not %q", m.Suite, suite)
	case m.Commit != run.Commit:
		return fmt.Errorf("it says that it measured %s, but its run is of %s", short(m.Commit), short(run.Commit))
	case r.Origin.RunID != run.ID:
		return fmt.Errorf("it says that it is of run %d, but it is of run %d", r.Origin.RunID, run.ID)
	case run.RepositoryID != 0 && r.Origin.RepositoryID != 0 && r.Origin.RepositoryID != run.RepositoryID:
		return fmt.Errorf("it says that it is of the repository %d, but it is of %d", r.Origin.RepositoryID, run.RepositoryID)
	}
	return nil
}
