package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/github"
)

// The names of what is kept as artifacts. Baselines and the measurements of
// pull requests never share one.
const (
	baselineArtifact     = "noslower-baseline-"
	measurementsArtifact = "noslower-measurements-"
	programArtifact      = "noslower-program-"
	recordEntry          = "record.json"
	measurementsEntry    = "measurements.json"
)

// Bounds of a search: a gate shares a thousand requests an hour with everything
// else of its repository.
const (
	ancestorsLookedAt = 100
	runsLookedAt      = 30 // for each event
	runsTried         = 4  // whose artifacts are asked for
	strangersTried    = 3  // that are compared with the branch, being no ancestors
)

// artifacts keeps records as artifacts of the workflow's runs.
type artifacts struct {
	client   *github.Client
	getenv   func(string) string
	context  github.Context
	at       situation
	workflow string // whose runs leave baselines
	options  github.Options
	ranking  *ranking
}

// A ranking is the runs that may have left a baseline. It is the same for each
// suite of a job, and asked for once.
type ranking struct {
	once       sync.Once
	candidates []baseline.Candidate
	refusals   []baseline.Refusal
	runs       map[int64]github.Run
	unknown    error // that the server knows no such workflow; nil where it does
	err        error
}

func (a artifacts) String() string { return "artifact" }

// find looks for the record of the commit to compare with, then of its nearest
// ancestor, then of the newest commit of the branch. It goes by runs, not by
// artifacts: anybody's pull request can leave artifacts of any name.
func (a artifacts) find(ctx context.Context, suite string) (found, error) {
	f, err := a.search(ctx, suite)
	switch {
	case errors.Is(err, github.ErrForbidden), errors.Is(err, github.ErrUnauthorized):
		return found{none: fmt.Sprintf("the baseline cannot be looked for: %v (give the job \"permissions: {actions: read, contents: read}\" and the action its github-token)", err)}, nil
	case err != nil:
		return found{}, fmt.Errorf("looking for the baseline: %w", err)
	}
	return f, nil
}

func (a artifacts) search(ctx context.Context, suite string) (found, error) {
	if a.workflow == "" {
		return found{none: errNoWorkflow.Error()}, nil
	}
	r, err := a.rank(ctx)
	if err != nil {
		return found{}, err
	}
	f := found{none: fmt.Sprintf("none of %d runs of %s on %q has left a record of the suite %q", len(r.runs), a.workflow, a.at.branch, suite)}
	if r.unknown != nil {
		f.none += fmt.Sprintf(": %v", r.unknown)
	}
	for _, refusal := range r.refusals {
		f.refused = append(f.refused, refusal.String())
	}
	tried := 0
	for c, err := range a.ladder(ctx, r.candidates, &f) {
		if err != nil {
			return found{}, err
		}
		if tried == runsTried {
			break
		}
		tried++
		record, err := a.recordOf(ctx, r.runs[c.ID], c.Candidate, suite, &f)
		if err != nil {
			return found{}, err
		}
		if record != nil {
			run := r.runs[c.ID]
			return found{
				record: record, origin: fmt.Sprintf("run %d, %s", c.ID, c.distance), refused: f.refused,
				program: func(ctx context.Context) ([]byte, error) { return a.program(ctx, run, suite) },
			}, nil
		}
	}
	if f.unread != "" {
		f.none = fmt.Sprintf("no record of the suite %q can be read: %s", suite, f.unread)
	}
	return f, nil
}

// A rung is a run on the ladder, and how far it is in words.
type rung struct {
	baseline.Candidate
	distance string
}

// ladder yields the runs that may have kept a baseline in the order in which they
// are asked: ancestors, the nearest first, then others by their commits' order on
// the branch, the last first. Where others' commits are is asked when it comes to
// them; those that are not there are refused in f.
func (a artifacts) ladder(ctx context.Context, candidates []baseline.Candidate, f *found) iter.Seq2[rung, error] {
	return func(yield func(rung, error) bool) {
		var strangers []baseline.Candidate
		for _, c := range candidates {
			distance := gate.Count(c.Distance, "commit") + " before the one to compare with"
			switch {
			case c.Distance < 0:
				strangers = append(strangers, c)
				continue
			case c.Distance == 0:
				distance = "of the very commit to compare with"
			}
			if !yield(rung{c, distance}, nil) {
				return
			}
		}
		type placed struct {
			rung
			behind int
		}
		var others []placed
		for _, c := range strangers[:min(strangersTried, len(strangers))] {
			behind, ok, err := a.onBranch(ctx, c.Commit)
			switch {
			case err != nil:
				yield(rung{}, err)
				return
			case !ok:
				f.refuse(c, "its commit is no longer on the branch")
			default:
				distance := fmt.Sprintf("no ancestor, but %s before the tip of %q", gate.Count(behind, "commit"), a.at.branch)
				others = append(others, placed{rung{c, distance}, behind})
			}
		}
		slices.SortStableFunc(others, func(a, b placed) int { return cmp.Compare(a.behind, b.behind) })
		for _, o := range others {
			if !yield(o.rung, nil) {
				return
			}
		}
	}
}

var errNoWorkflow = errors.New("which workflow keeps the baseline is not known: name its file by --baseline-workflow")

// rank returns the runs that may have kept a baseline.
func (a artifacts) rank(ctx context.Context) (*ranking, error) {
	r := a.ranking
	r.once.Do(func() { r.err = a.ask(ctx, r) })
	return r, r.err
}

// ask fills in the ranking.
func (a artifacts) ask(ctx context.Context, r *ranking) error {
	ancestors, err := ancestorsOf(ctx, a.client, a.context, a.at)
	if err != nil {
		return err
	}
	runs, err := a.client.Runs(ctx, a.workflow, a.at.branch, baseline.TrustedEvents(), runsLookedAt)
	switch {
	case errors.Is(err, github.ErrNotFound):
		r.unknown = err
	case err != nil:
		return err
	}
	r.runs = map[int64]github.Run{}
	var known []baseline.Run
	for _, run := range runs {
		if run.ID == a.context.RunID {
			continue
		}
		r.runs[run.ID] = run
		known = append(known, knownRun(run))
	}
	want := baseline.Want{RepositoryID: a.context.RepositoryID, Branch: a.at.branch, Workflow: a.workflow, Ancestors: ancestors}
	r.candidates, r.refusals = baseline.Rank(known, want)
	return nil
}

// suites lists whose records the runs have left that are looked at first.
func (a artifacts) suites(ctx context.Context) ([]string, error) {
	if a.workflow == "" {
		return nil, errNoWorkflow
	}
	r, err := a.rank(ctx)
	if err != nil {
		return nil, fmt.Errorf("looking for baselines: %w", err)
	}
	var all []string
	for _, c := range r.candidates[:min(len(r.candidates), runsTried)] {
		left, err := a.client.Artifacts(ctx, r.runs[c.ID], "")
		if err != nil {
			return nil, fmt.Errorf("looking for baselines: %w", err)
		}
		has := map[string]bool{}
		for _, artifact := range left {
			has[artifact.Name] = true
		}
		for name := range has {
			// A re-run leaves its own beside that of the first attempt.
			first := attemptSuffix.ReplaceAllString(name, "")
			escaped, ok := strings.CutPrefix(name, baselineArtifact)
			if suite, err := url.PathUnescape(escaped); ok && err == nil && (first == name || !has[first]) {
				all = append(all, suite)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// attemptSuffix ends the name of what a re-run has left.
var attemptSuffix = regexp.MustCompile(`-a[0-9]+$`)

func (f *found) refuse(c baseline.Candidate, why string) {
	f.refused = append(f.refused, baseline.Refusal{What: fmt.Sprintf("run %d of %s", c.ID, bench.ShortCommit(c.Commit)), Why: why}.String())
}

// onBranch reports whether a commit is in the branch's history, and how many
// commits before its tip. Where the server does not tell, it is not.
func (a artifacts) onBranch(ctx context.Context, commit string) (behind int, ok bool, err error) {
	c, ok, err := a.client.Compare(ctx, commit, a.at.branch)
	if errors.Is(err, github.ErrNotFound) {
		return 0, false, nil
	}
	return c.Ahead, ok && c.BaseIsAncestor(), err
}

// recordOf returns the record that a run kept of a suite; nil where it kept none
// that can be believed, which is said in f.
func (a artifacts) recordOf(ctx context.Context, run github.Run, c baseline.Candidate, suite string, f *found) (*baseline.Record, error) {
	kept, err := a.client.Artifacts(ctx, run, baselineArtifact+slug(suite))
	if err != nil {
		return nil, err
	}
	if len(kept) == 0 {
		f.refuse(c, "it left no record of this suite")
	}
	for _, artifact := range kept {
		if artifact.Expired {
			f.refuse(c, fmt.Sprintf("its record has expired; it was of %s", artifact.Created.Format("2006-01-02")))
			continue
		}
		data, err := a.download(ctx, artifact, recordEntry)
		if err == nil {
			var record baseline.Record
			if record, err = baseline.Decode(data); err == nil {
				err = record.CheckOrigin(c.Run, suite)
			}
			if err == nil {
				return &record, nil
			}
		}
		if ctx.Err() != nil || errors.Is(err, github.ErrForbidden) || errors.Is(err, github.ErrRateLimited) {
			return nil, err
		}
		f.refuse(c, err.Error())
		f.unread = cmp.Or(f.unread, f.refused[len(f.refused)-1])
	}
	return nil, nil
}

// download returns the one entry of an artifact.
func (a artifacts) download(ctx context.Context, artifact github.Artifact, entry string) ([]byte, error) {
	return downloadEntry(ctx, a.client, artifact, entry)
}

func downloadEntry(ctx context.Context, client *github.Client, artifact github.Artifact, entry string) ([]byte, error) {
	limits := github.DefaultArchiveLimits
	zip, err := client.Download(ctx, artifact, limits.Compressed)
	if err != nil {
		return nil, err
	}
	entries, err := github.ReadArchive(zip, limits, entry)
	if err != nil {
		return nil, err
	}
	return entries[0].Data, nil
}

// program fetches the packed program that a run kept beside its record.
func (a artifacts) program(ctx context.Context, run github.Run, suite string) ([]byte, error) {
	kept, err := a.client.Artifacts(ctx, run, programArtifact+slug(suite))
	if err != nil {
		return nil, err
	}
	for _, artifact := range kept {
		if !artifact.Expired {
			return a.client.Download(ctx, artifact, programLimits.Compressed)
		}
	}
	return nil, fmt.Errorf("run %d has kept no program, or it has expired", run.ID)
}

// keep uploads the record as an artifact of this run. Where the step has no
// artifact service, the file is written, and what uploads it is said.
func (a artifacts) keep(ctx context.Context, suite string, r baseline.Record, program []byte) (string, error) {
	if program != nil {
		// First, so that no record tells of a program that is not there.
		if _, err := a.uploadZip(ctx, programArtifact+slug(suite), program); err != nil {
			return "", err
		}
	}
	r.Origin = baseline.Origin{RepositoryID: a.context.RepositoryID, RunID: a.context.RunID, Attempt: a.context.Attempt}
	data, err := r.Encode()
	if err != nil {
		return "", err
	}
	return a.upload(ctx, baselineArtifact+slug(suite), recordEntry, data)
}

// upload leaves a file as an artifact of this run.
func (a artifacts) upload(ctx context.Context, name, entry string, data []byte) (string, error) {
	zip, err := github.WriteArchive(github.Entry{Name: entry, Data: data})
	if err != nil {
		return "", err
	}
	where, err := a.uploadZip(ctx, name, zip)
	if errors.Is(err, github.ErrNoResultsService) {
		path := filepath.Join(defaultFolder, name, entry)
		if err := writeWhole(path, data); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s, since this step cannot upload it: add a step with uses: actions/upload-artifact, name: %s and path: %s", path, name, path), nil
	}
	return where, err
}

func (a artifacts) uploadZip(ctx context.Context, name string, zip []byte) (string, error) {
	results, err := github.NewResults(a.getenv, a.options)
	if err != nil {
		return "", err
	}
	u := github.Upload{Name: name, Data: zip, Attempt: a.context.Attempt}
	if a.context.Attempt > 1 {
		// Which artifacts are an earlier attempt's is told by when this one began.
		run, err := a.client.Run(ctx, a.context.RunID)
		if err != nil {
			return "", err
		}
		u.Started = run.Started
	}
	uploaded, err := results.Upload(ctx, u)
	if errors.Is(err, github.ErrNameTaken) {
		err = fmt.Errorf("%w: another job of this attempt measures the same suite: give each leg its own suite (--suite)", err)
	}
	return "the artifact " + uploaded.Name, err
}

// slug makes any text a part of an artifact's name.
func slug(s string) string { return url.PathEscape(s) }

func knownRun(r github.Run) baseline.Run {
	known := baseline.Run{
		ID: r.ID, Number: int64(r.Number), Attempt: r.Attempt, Event: r.Event, Branch: r.HeadBranch, Commit: r.HeadSHA,
		Workflow: r.Path, Conclusion: r.Conclusion, RepositoryID: r.RepositoryID,
	}
	if r.PathRef != "" {
		known.Workflow += "@" + r.PathRef
	}
	if r.HeadRepositoryID != nil {
		known.HeadRepositoryID = *r.HeadRepositoryID
	}
	return known
}
