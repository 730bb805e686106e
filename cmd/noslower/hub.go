package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/report"
)

// A hub is GitHub as a gate meets it; its zero value is none. Trouble with it is
// a warning: no verdict depends on what could not be published.
type hub struct {
	context *github.Context // nil outside a workflow
	client  *github.Client
	token   string
	options github.Options
	getenv  func(string) string
	log     io.Writer
	git     []string // the environment of git
}

// github makes the hub of a workflow's step, and asks for what the environment
// leaves out of it.
func (w world) github(ctx context.Context) (hub, error) {
	h, err := w.connect()
	if err != nil || h.client == nil {
		return h, err
	}
	c := h.context
	if c.RepositoryID == 0 || c.DefaultBranch == "" {
		repository, err := h.client.Repository(ctx)
		h.warn("the repository cannot be looked up", err)
		c.RepositoryID, c.DefaultBranch = repository.ID, repository.DefaultBranch
	}
	if c.WorkflowPath == "" && c.RunID != 0 {
		run, err := h.client.Run(ctx, c.RunID)
		h.warn("the workflow of this run cannot be looked up", err)
		c.WorkflowPath = run.Path
	}
	return h, nil
}

// connect makes the hub of a workflow's step, as the environment tells of it.
func (w world) connect() (hub, error) {
	h := hub{options: w.GitHub, getenv: w.Getenv, log: w.Stderr, git: w.gitEnvironment()}
	if w.Runner == nil || w.Getenv("GITHUB_REPOSITORY") == "" {
		return h, nil
	}
	c, err := github.ReadContext(w.Getenv)
	if err != nil {
		return h, err
	}
	token := w.Getenv("INPUT_GITHUB-TOKEN")
	if token == "" {
		token = w.Getenv("GITHUB_TOKEN")
	}
	// The runners of others than GitHub hide neither by themselves.
	w.Runner.Mask(token)
	w.Runner.Mask(w.Getenv("ACTIONS_RUNTIME_TOKEN"))
	h.options.Mask = w.Runner.Mask
	h.client, err = github.New(c, token, h.options)
	if err != nil {
		return h, err
	}
	h.context, h.token = &c, token
	return h, nil
}

// situation tells what the event means.
func (h hub) situation(asked mode) (situation, error) { return situationOf(h.context, asked) }

func (h hub) warn(what string, err error) {
	if err != nil {
		fmt.Fprintf(h.log, "warning: %s: %s\n", what, visible(err))
	}
}

// openKeeper reads --baseline: in a workflow artifacts unless something else is
// asked for.
func openKeeper(where string, h hub, at situation, workflow string) (keeper, error) {
	kind, path, ok := strings.Cut(where, ":")
	switch {
	case where == "artifact" && h.client == nil:
		return nil, errors.New("--baseline: artifacts are kept by workflows, and this is none: want dir:PATH or file:PATH")
	case where == "artifact", where == "" && h.client != nil:
		if workflow == "" {
			workflow = h.context.WorkflowPath
		}
		return artifacts{client: h.client, getenv: h.getenv, context: *h.context, at: at, workflow: workflow, options: h.options, ranking: &ranking{}}, nil
	case where == "":
		return store{folder: defaultFolder}, nil
	case ok && path != "" && kind == "dir":
		return store{folder: path}, nil
	case ok && path != "" && kind == "file":
		return store{file: path}, nil
	case ok && path != "" && kind == "branch":
		return newBranch(path, at, h)
	}
	return nil, fmt.Errorf("--baseline: want artifact, dir:PATH, file:PATH or branch:NAME, have %q", where)
}

// measured reads head's measurements from files, or from artifacts of this run
// that other jobs left: a side a suite.
func (h hub) measured(ctx context.Context, o *optionSet, w world) (gathering, error) {
	r, err := newReader(o, w.Stderr)
	if err != nil {
		return nil, wrongUse(err)
	}
	var g gathering
	if pattern, ok := strings.CutPrefix(o.Measurements, "artifact:"); ok {
		g, err = h.download(ctx, r, pattern)
	} else {
		g, err = r.readSides(o.Measurements)
	}
	if err == nil && len(g) > maxSuites {
		err = fmt.Errorf("--measurements: want at most %d suites in one job, have %d", maxSuites, len(g))
	}
	return g, err
}

const (
	maxShards = 256 // artifacts that make the sides of a job
	maxSuites = 20  // suites of one: each costs a few requests, and room in the comment
	maxLooked = 60  // artifacts that a report looks at: re-runs leave more than one a suite
)

// download merges the artifacts of this run whose name matches a glob.
func (h hub) download(ctx context.Context, r *reader, pattern string) (gathering, error) {
	if h.client == nil {
		return nil, errors.New("--measurements: artifacts are left by jobs of a workflow, and this is none")
	}
	all, err := h.client.Artifacts(ctx, github.Run{ID: h.context.RunID}, "")
	if err != nil {
		return nil, err
	}
	var g gathering
	var names []string
	for _, artifact := range all {
		if ok, err := doublestar.Match(pattern, artifact.Name); !ok || err != nil || artifact.Expired || slices.Contains(names, artifact.Name) {
			continue
		}
		names = append(names, artifact.Name)
		if len(names) > maxShards {
			return nil, fmt.Errorf("--measurements: want at most %d artifacts, have more by %q", maxShards, pattern)
		}
		data, err := downloadEntry(ctx, h.client, artifact, measurementsEntry)
		if err != nil {
			return nil, fmt.Errorf("artifact %s: %w", artifact.Name, err)
		}
		shards := len(g)
		s, err := r.readDocument(&g, len(names), "artifact "+artifact.Name, bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if s.left = artifact.Name; len(g) == shards {
			s.left = "" // it holds a part
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("--measurements: no artifact of this run is named like %q", pattern)
	}
	g.bound()
	return g, nil
}

// claim says which commit measurements that were made elsewhere are of, where
// they do not say. A baseline of another commit than the run's would never be
// believed.
func (h hub) claim(head *side, keeps bool) error {
	if h.context == nil {
		return nil
	}
	if head.Commit == "" {
		head.Commit = h.context.SHA
	}
	if keeps && head.Commit != h.context.SHA {
		return fmt.Errorf("the measurements are of %s and this run is of %s: no baseline can be kept of them", bench.ShortCommit(head.Commit), bench.ShortCommit(h.context.SHA))
	}
	return nil
}

// accept lets regressions pass that somebody with the right to label the pull
// request answers for. The label counts only for the commits that were there when
// it was set. The pull request is only asked for where something fails.
func (h hub) accept(ctx context.Context, label string, verdicts []gate.Verdict, of func(context.Context) (github.PullRequest, bool, error)) {
	fails := func(v gate.Verdict) bool { return v.Status == gate.StatusFail }
	if h.client == nil || label == "" || !slices.ContainsFunc(verdicts, fails) {
		return
	}
	pr, ok, err := of(ctx)
	if err != nil || !ok {
		h.warn("whether the regression is accepted cannot be told", err)
		return
	}
	labeling, ok, err := h.client.Label(ctx, pr.Number, label)
	if err != nil || !ok {
		h.warn("whether the regression is accepted cannot be told", err)
		return
	}
	pushed, err := h.client.HeadPushed(ctx, pr)
	if err != nil {
		h.warn("whether the label was set after the newest commit cannot be told, so it does not count", err)
		return
	}
	late := fmt.Sprintf("the label %q does not count: %s set it at %s, before the newest commit was pushed at %s; remove it and set it again to accept the regression",
		label, labeling.By, clock(labeling.At), clock(pushed))
	for i := range verdicts {
		switch v := &verdicts[i]; {
		case !fails(*v):
		case labeling.At.After(pushed):
			v.Accept(fmt.Sprintf("%s, by the label %q at %s", labeling.By, label, clock(labeling.At)))
		default:
			v.Warnings = append(v.Warnings, late)
		}
	}
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// pullRequest is the one that is measured, as it is now; ok is false where there
// is none.
func (h hub) pullRequest(ctx context.Context) (pr github.PullRequest, ok bool, err error) {
	switch c := h.context; {
	case c.PullRequest != nil:
		pr, err = h.client.PullRequest(ctx, c.PullRequest.Number)
	case c.MergeGroup != nil:
		pr, err = h.client.MergeGroupPull(ctx, *c.MergeGroup)
	default:
		return pr, false, nil
	}
	return pr, err == nil, err
}

// publish leaves what was measured as artifacts, and what was decided as a
// comment of the pull request.
// What other jobs have taken the place of is an error: one of two suites would
// go unseen.
func (h hub) publish(ctx context.Context, j judgement, o *optionSet) error {
	if h.client == nil || h.context.PullRequest == nil {
		return nil
	}
	var taken error
	for _, g := range j.gates {
		err := h.leave(ctx, *g.head)
		if errors.Is(err, github.ErrNameTaken) {
			taken = errors.Join(taken, err)
			continue
		}
		h.warn("the measurements are not left as an artifact", err)
	}
	if taken == nil {
		h.discuss(ctx, j.Suites, o)
	}
	return taken
}

// discuss makes what was decided a comment of the pull request, if that is asked
// for and may be.
func (h hub) discuss(ctx context.Context, s report.Suites, o *optionSet) {
	if o.Comment == commentNever {
		return
	}
	c := h.context
	if c.PullRequest.Fork {
		fmt.Fprintln(h.log, "no comment: the token of a pull request from a fork may only read; a workflow on workflow_run with \"noslower report\" comments in its stead")
		return
	}
	pr, err := h.client.PullRequest(ctx, c.PullRequest.Number)
	if err == nil {
		err = h.comment(ctx, pr, s, o, github.Sticky{
			Merges: len(s.Verdicts)+len(s.Unread) > 1, RunNumber: c.RunNumber, Attempt: c.Attempt, SHA: c.PullRequest.HeadSHA,
		})
	}
	if errors.Is(err, github.ErrForbidden) {
		err = fmt.Errorf("%w: give the job \"permissions: {pull-requests: write}\"", err)
	}
	h.warn("no comment", err)
}

// leave uploads head's measurements for a report of another workflow, or for a
// job that merges shards.
func (h hub) leave(ctx context.Context, head side) error {
	name := measurementsArtifact + slug(head.Suite)
	if head.left == name {
		return nil // the job that measured it has
	}
	data, err := head.Encode()
	if err != nil {
		return err
	}
	where, err := artifacts{client: h.client, getenv: h.getenv, context: *h.context, options: h.options}.upload(ctx, name, measurementsEntry, data)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.log, "the measurements are in %s\n", where)
	return nil
}

// maxComment leaves room below 65,000 characters for the marker, which names each
// suite.
const maxComment = 63_000

// comment makes what was decided the pull request's comment of its suites. The
// summary of this run has what is cut off.
func (h hub) comment(ctx context.Context, pr github.PullRequest, suites report.Suites, o *optionSet, s github.Sticky) error {
	s.PullRequest = pr.Number
	for _, v := range suites.Verdicts {
		s.Suites = append(s.Suites, v.Suite)
	}
	put := h.client.PutComment
	if outcome, _ := gate.Whole(suites.Verdicts); o.Comment == commentOnRegression && outcome != gate.Regressed {
		// What an earlier push was told of must not stand when it is gone.
		put = h.client.EditComment
	}
	var stale string
	if pr.HeadSHA != s.SHA {
		stale = fmt.Sprintf("*Measured at %s; the head of this pull request has moved on to %s.*\n\n", bench.ShortCommit(s.SHA), bench.ShortCommit(pr.HeadSHA))
	}
	var err error
	for limit := maxComment; limit >= maxComment/4; limit /= 2 {
		var text string
		text, err = markdownOf(suites, report.Options{
			Limit: limit - len(stale), Version: release(), AcceptLabel: o.AcceptLabel, Whole: h.context.RunURL(h.context.RunID),
		})
		if err != nil {
			return err
		}
		var made github.Comment
		if made, err = put(ctx, s, stale+text); err == nil {
			h.tell(made)
		}
		if !errors.Is(err, github.ErrTooLarge) {
			return err
		}
	}
	return err
}

func (h hub) tell(c github.Comment) {
	switch c.Outcome {
	case github.Created, github.Edited, github.Unchanged:
		fmt.Fprintf(h.log, "the comment is at %s\n", c.URL)
	case github.Newer:
		fmt.Fprintf(h.log, "the comment at %s is of a newer run, and stays\n", c.URL)
	case github.Wider:
		fmt.Fprintf(h.log, "no comment: that at %s tells of several suites, and the job that merges them keeps it up to date\n", c.URL)
	}
}

func markdownOf(s report.Suites, o report.Options) (string, error) {
	form, err := report.ByName("markdown")
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = form.WriteSuites(&b, s, o)
	return b.String(), err
}

// A commentWhen says when a pull request gets a comment.
type commentWhen string

const (
	commentAlways       commentWhen = "always"
	commentOnRegression commentWhen = "on-regression"
	commentNever        commentWhen = "never"
)

// Set reads when to comment by its word.
func (c *commentWhen) Set(s string) error {
	all := []commentWhen{commentAlways, commentOnRegression, commentNever}
	if !slices.Contains(all, commentWhen(s)) {
		return fmt.Errorf("want one of %s, have %q", listOf(all), s)
	}
	*c = commentWhen(s)
	return nil
}

func (c *commentWhen) String() string { return string(*c) }

// Type is the name of the value in help.
func (c *commentWhen) Type() string { return "WHEN" }
