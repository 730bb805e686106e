package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/github"
)

// A mode is what a gate is there for.
type mode string

const (
	modeAuto     mode = "auto"     // what the workflow's event means
	modeGate     mode = "gate"     // measure, decide, fail
	modeBaseline mode = "baseline" // measure, compare with the previous baseline without failing, keep the new one
	modeCompare  mode = "compare"  // measure and compare, keep nothing
	modeReport   mode = "report"   // comment for a run that has finished
)

var modes = []mode{modeAuto, modeGate, modeBaseline, modeCompare, modeReport}

// listOf writes words as a sentence lists them.
func listOf[T ~string](words []T) string {
	var list []string
	for _, word := range words {
		list = append(list, string(word))
	}
	return strings.Join(list, ", ")
}

// Set reads a mode by its word.
func (m *mode) Set(s string) error {
	if !slices.Contains(modes, mode(s)) {
		return fmt.Errorf("want one of %s, have %q", listOf(modes), s)
	}
	*m = mode(s)
	return nil
}

func (m *mode) String() string { return string(*m) }

// Type is the name of the value in help.
func (m *mode) Type() string { return "MODE" }

// A situation is what the workflow's event means for a gate.
type situation struct {
	mode mode
	// branch is where the baseline comes from, and where a new one is kept.
	branch string
	// base is the commit to compare with; "" for the parent of the one that is
	// measured.
	base string
	// why is said where nothing is kept and a user might expect it.
	why string
}

// situationOf tells what the event means. Outside a workflow a gate gates, and
// keeps what it is told to.
func situationOf(c *github.Context, asked mode) (situation, error) {
	if c == nil {
		if asked == modeAuto {
			asked = modeGate
		}
		return situation{mode: asked}, nil
	}
	var s situation
	switch c.EventName {
	case "pull_request", "pull_request_target":
		if c.PullRequest == nil {
			return s, errors.New("the event of a pull request has no pull request in it")
		}
		s = situation{mode: modeGate, branch: c.PullRequest.BaseRef, base: c.PullRequest.BaseSHA}
		if c.EventName == "pull_request_target" {
			s.mode = modeCompare
			s.why = "pull_request_target has the rights of the base branch, and a benchmark of the pull request must not run with them: use pull_request"
		}
	case "merge_group":
		if c.MergeGroup == nil {
			return s, errors.New("the event of a merge group has no merge group in it")
		}
		s = situation{mode: modeGate, branch: c.MergeGroup.BaseRef, base: c.MergeGroup.BaseSHA}
	case "push", "schedule", "workflow_dispatch":
		s = situation{mode: modeBaseline, branch: c.RefName}
		if c.RefName != c.DefaultBranch || c.Ref != "refs/heads/"+c.RefName {
			s.mode = modeCompare
			s.why = fmt.Sprintf("%s is not the default branch, %q: with \"mode: baseline\" it keeps baselines of its own", c.Ref, c.DefaultBranch)
		}
	case "workflow_run":
		s = situation{mode: modeReport, branch: c.DefaultBranch}
	default:
		s = situation{mode: modeCompare, branch: c.DefaultBranch, why: fmt.Sprintf("an event of the kind %q says nothing of a branch to keep a baseline of", c.EventName)}
	}
	if asked != modeAuto {
		s.mode, s.why = asked, ""
	}
	return s, nil
}

// ancestorsOf returns the commits from the one to compare with backwards, as
// GitHub knows them.
func ancestorsOf(ctx context.Context, client *github.Client, c github.Context, at situation) ([]string, error) {
	from, skip := at.base, 0
	if c.EventName == "pull_request" && c.SHA != "" {
		// The measured commit is the merge into the base branch; what it merges
		// into is its first parent, which the event may lag behind.
		merge, err := client.Commits(ctx, c.SHA, 1)
		if err == nil && len(merge) == 1 && len(merge[0].Parents) == 2 {
			from = merge[0].Parents[0]
		}
	}
	if from == "" {
		from, skip = c.SHA, 1
	}
	commits, err := client.Commits(ctx, from, ancestorsLookedAt)
	if errors.Is(err, github.ErrNotFound) {
		return []string{from}, nil
	}
	if err != nil {
		return nil, err
	}
	var ancestors []string
	for _, ancestor := range commits[min(skip, len(commits)):] {
		ancestors = append(ancestors, ancestor.SHA)
	}
	return ancestors, nil
}
