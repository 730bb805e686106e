package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/gate"
	"github.com/noslower/noslower/pkg/report"
)

// Bounds of what a branch of data has of a suite. Each file is a record: of one
// job, or of so many old ones in a few numbers each.
const (
	branchWhole  = 2 * branchFold // jobs that are kept whole, with all values
	branchFold   = baseline.MaxJobs
	branchChunks = 100      // files of folded jobs: 5000 jobs
	branchBytes  = 64 << 20 // of all of these, and of those that are whole
	// branchTries is how often a push is tried that others come before.
	branchTries = 60
	// branchRefusals is how often it is refused until nobody else is to blame.
	branchRefusals = 3
	suiteSuffix    = ".suite"
)

// A branch keeps records on a branch of data of the repository, for years where
// artifacts last for months: a small file a job. The branch has a single commit,
// which is replaced as a whole if it is still the one that was read: nothing is
// lost if two push at once, an interrupted push changes nothing, and the branch
// is as large as what is on it.
type branch struct {
	name string
	at   situation
	hub  hub
}

// newBranch refuses what git does not take for the name of a branch, see
// git-check-ref-format(1).
func newBranch(name string, at situation, h hub) (branch, error) {
	bad := strings.HasPrefix(name, "refs/") || name == "@" || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\") ||
		strings.ContainsFunc(name, unicode.IsControl)
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return branch{}, fmt.Errorf("--baseline: want the name of a branch after branch:, such as noslower-data, have %q", name)
	}
	return branch{name: name, at: at, hub: h}, nil
}

func (b branch) String() string { return "branch:" + b.name }

func (b branch) ref() string { return "refs/heads/" + b.name }

// A branchFile is a record on the branch.
type branchFile struct {
	path   string
	record baseline.Record
	size   int // in bytes
}

// A state is what a branch has of a suite, as it was read.
type state struct {
	files []branchFile // oldest first
	bad   []string     // files that are no records, with the reason
}

// fetch brings the branch into a clone and returns its commit; "" where there is
// no such branch. One that has other files than records is somebody's work, which
// a push would replace: to name it is wrong use.
func (b branch) fetch(ctx context.Context, c clone) (tip string, err error) {
	if tip, err := b.tip(ctx, c); err != nil || tip == "" {
		return "", err
	}
	if _, err := c.git(ctx, "fetch", "--quiet", "--no-tags", c.fetch, b.ref()); err != nil {
		return "", fmt.Errorf("%s: %w", b, err)
	}
	if tip, err = c.line(ctx, "rev-parse", "--verify", "FETCH_HEAD"); err != nil {
		return "", err
	}
	names, err := c.line(ctx, "ls-tree", "-z", "--name-only", tip)
	if err != nil {
		return "", fmt.Errorf("%s: %w", b, err)
	}
	for name := range strings.FieldsFuncSeq(names, func(r rune) bool { return r == 0 }) {
		if !strings.HasSuffix(name, suiteSuffix) {
			return "", wrongUse(fmt.Errorf("--baseline: %s has files of its own, such as %s, and would be replaced: name a branch for records alone, which is made when it is first written to", b, report.Printable(name)))
		}
	}
	return tip, nil
}

// tip is the commit that the branch has now.
func (b branch) tip(ctx context.Context, c clone) (string, error) {
	listed, err := c.line(ctx, "ls-remote", "--quiet", c.fetch, b.ref())
	if err != nil {
		return "", fmt.Errorf("%s: git cannot reach the repository: %w", b, err)
	}
	commit, _, _ := strings.Cut(listed, "\t")
	return commit, nil
}

// read reads what a commit of the branch has of a suite.
func (b branch) read(ctx context.Context, c clone, tip, suite string) (s state, err error) {
	if tip == "" {
		return s, nil
	}
	folder := folderOf(suite)
	// Named as a tree, a folder is none of the options and patterns that it may
	// look like.
	tree, err := c.line(ctx, "rev-parse", "--verify", "--quiet", tip+":"+folder)
	if err != nil {
		return s, nil // there is none
	}
	packed, err := c.git(ctx, "archive", "--format=tar", tree)
	if err != nil {
		return s, fmt.Errorf("%s: %w", b, err)
	}
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", b, err)
		}
		if h.Typeflag != tar.TypeReg || !strings.HasSuffix(h.Name, recordSuffix) || strings.Contains(h.Name, "/") {
			continue
		}
		name := path.Join(folder, h.Name)
		data, err := io.ReadAll(r)
		if err != nil {
			return s, err
		}
		record, err := baseline.Decode(data)
		if err != nil {
			s.bad = append(s.bad, baseline.Refusal{What: name, Why: err.Error()}.String())
			continue
		}
		s.files = append(s.files, branchFile{name, record, len(data)})
	}
	slices.SortStableFunc(s.files, func(x, y branchFile) int {
		return cmp.Or(x.record.Measurements.Time.Compare(y.record.Measurements.Time), cmp.Compare(x.path, y.path))
	})
	return s, nil
}

// suites lists whose records are on the branch.
func (b branch) suites(ctx context.Context) (suites []string, err error) {
	err = b.visit(ctx, func(c clone, tip string) error {
		suites, err = b.suitesAt(ctx, c, tip)
		return err
	})
	return suites, err
}

func (b branch) suitesAt(ctx context.Context, c clone, tip string) ([]string, error) {
	if tip == "" {
		return nil, nil
	}
	folders, err := c.line(ctx, "ls-tree", "-d", "-z", "--name-only", tip)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b, err)
	}
	return suitesOf(strings.Split(folders, "\x00"), suiteSuffix), nil
}

// visit looks at the branch as it is now.
func (b branch) visit(ctx context.Context, look func(c clone, tip string) error) error {
	c, err := b.hub.clone(ctx)
	if err != nil {
		return err
	}
	defer c.remove()
	tip, err := b.fetch(ctx, c)
	if err != nil {
		return err
	}
	return look(c, tip)
}

// folderOf is where the records of a suite are: its name is anything, a folder's
// is not.
func folderOf(suite string) string { return url.PathEscape(suite) + suiteSuffix }

// find picks the record of the commit to compare with, else of its nearest
// ancestor that is known, else the newest, and gives it the jobs before it.
func (b branch) find(ctx context.Context, suite string) (found, error) {
	var s state
	err := b.visit(ctx, func(c clone, tip string) (err error) {
		s, err = b.read(ctx, c, tip, suite)
		return err
	})
	if err != nil {
		return found{}, err
	}
	if len(s.files) == 0 {
		return found{none: fmt.Sprintf("%s has no record of the suite %q", b, suite), refused: s.bad}, nil
	}
	i, how := b.pick(ctx, s.files)
	r := s.files[i].record
	var trails [][]baseline.Job
	for _, f := range s.files[:i] {
		trails = append(trails, trailOf(&f.record))
	}
	// A file of folded jobs brings its own.
	all := baseline.Merge(append(trails, r.Jobs)...)
	latest := max(0, len(all)-baseline.MaxJobs)
	r.Jobs = all[latest:]
	return found{record: &r, earlier: all[:latest], origin: fmt.Sprintf("%s, %s", b, how), refused: s.bad}, nil
}

// pick returns the index of the file to compare with.
func (b branch) pick(ctx context.Context, files []branchFile) (i int, how string) {
	newest := map[string]int{}
	for i, f := range files {
		newest[f.record.Measurements.Commit] = i
	}
	for distance, commit := range b.ancestors(ctx) {
		if i, ok := newest[commit]; ok {
			if distance == 0 {
				return i, "of the very commit to compare with"
			}
			return i, gate.Count(distance, "commit") + " before the one to compare with"
		}
	}
	return len(files) - 1, "the newest there"
}

// ancestors are the commits from the one to compare with backwards, as GitHub
// knows them, or git outside a workflow. That they are not to be had is no fault:
// there is a newest record.
func (b branch) ancestors(ctx context.Context) []string {
	if b.hub.client != nil {
		known, err := ancestorsOf(ctx, b.hub.client, *b.hub.context, b.at)
		b.hub.warn("which commits come before the one to compare with cannot be looked up", err)
		return known
	}
	known, _ := runGit(ctx, b.hub.git, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", ancestorsLookedAt), "HEAD")
	return strings.Fields(string(known))
}

// keep adds a record to the branch. Old jobs are folded into files of many, and
// the oldest of those let go.
func (b branch) keep(ctx context.Context, suite string, r baseline.Record, _ []byte) (string, error) {
	r.Jobs = nil // each has a file of its own
	message := fmt.Sprintf("%s at %s", report.Printable(suite), bench.ShortCommit(r.Measurements.Commit))
	return b.String(), b.change(ctx, suite, message, func(there []branchFile) (add []branchFile, gone []string) {
		return compact(append(there, branchFile{path: pathOf(suite, r), record: r}))
	})
}

// change replaces the branch by one that has more of a suite, and some of it no
// longer. Where another came before, what that left is changed.
func (b branch) change(ctx context.Context, suite, message string, to func(there []branchFile) (add []branchFile, gone []string)) error {
	c, err := b.hub.clone(ctx)
	if err != nil {
		return err
	}
	defer c.remove()
	refusals := 0 // one after the other, though nobody else came before
	for try := 1; ; try++ {
		tip, err := b.fetch(ctx, c)
		if err != nil {
			return err
		}
		s, err := b.read(ctx, c, tip, suite)
		if err != nil {
			return err
		}
		if try == 1 && len(s.bad) > 0 {
			b.hub.warn(fmt.Sprintf("%s: something there is no record, and stays as it is", b), errors.New(strings.Join(s.bad, "; ")))
		}
		add, gone := to(s.files)
		commit, err := c.commit(ctx, tip, message, add, gone)
		if err != nil {
			return err
		}
		// The lease makes it one step for the server: replaced only if it is
		// what was read.
		_, err = c.git(ctx, "push", "--quiet", "--force-with-lease="+b.ref()+":"+tip, c.push, commit+":"+b.ref())
		if err == nil {
			return nil
		}
		now, tipErr := b.tip(ctx, c)
		switch {
		case tipErr == nil && now == tip:
			// It may be locked for one that is just coming.
			refusals++
		case tipErr == nil:
			refusals = 0
		}
		switch {
		case tipErr != nil || refusals == branchRefusals:
			return fmt.Errorf("%s: it cannot be pushed to (a workflow needs \"permissions: {contents: write}\", and outside the action its token as GITHUB_TOKEN): %w", b, err)
		case try == branchTries:
			return fmt.Errorf("%s: others push to it all the time, after %d tries this is not there: %w", b, try, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		// They must not try again all at once.
		case <-time.After(rand.N(time.Duration(min(try, 10)) * 200 * time.Millisecond)):
		}
	}
}

// pathOf is where a record is kept: in the order of its time, and no other has
// the place.
func pathOf(suite string, r baseline.Record) string {
	m := r.Measurements
	name := m.Time.UTC().Format("20060102T150405.000000000")
	for _, part := range []string{bench.ShortCommit(m.Commit), fmt.Sprint(r.Origin.RunID), fmt.Sprint(r.Origin.Attempt)} {
		if part != "" && part != "0" {
			name += "-" + url.PathEscape(part)
		}
	}
	return path.Join(folderOf(suite), name+recordSuffix)
}

// foldedPath is where the jobs before a record are folded into it.
func foldedPath(path string) string {
	return strings.TrimSuffix(path, recordSuffix) + "-folded" + recordSuffix
}

// toFold returns how many of the whole jobs, the oldest first, are to be folded.
func toFold(whole []branchFile) int {
	bytes := 0
	for _, f := range whole {
		bytes += f.size
	}
	switch {
	case len(whole) >= branchWhole:
		return branchFold
	case bytes > branchBytes:
		return len(whole) / 2
	}
	return 0
}

// compact returns what of these files, the newest last and not yet there, is to
// be added, and which are to go.
func compact(files []branchFile) (add []branchFile, gone []string) {
	latest := files[len(files)-1]
	add = []branchFile{latest}
	var whole, folded []branchFile
	for _, f := range files[:len(files)-1] {
		if len(f.record.Jobs) > 0 {
			folded = append(folded, f)
		} else {
			whole = append(whole, f)
		}
	}
	if n := toFold(whole); n > 0 {
		var jobs []baseline.Job
		for _, f := range whole[:n] {
			jobs = append(jobs, trailOf(&f.record)...)
			gone = append(gone, f.path)
		}
		// The newest of them stays whole, and tells of the others.
		last := whole[n-1]
		last.record.Jobs = jobs[:len(jobs)-1]
		add = append(add, branchFile{path: foldedPath(last.path), record: last.record})
		folded = append(folded, last)
	}
	bytes := 0
	for i, f := range slices.Backward(folded) {
		if bytes += f.size; bytes > branchBytes || len(folded)-i > branchChunks {
			gone = append(gone, f.path)
		}
	}
	return add, gone
}

// records are all records on the branch, of a suite or, where none is named, of
// all.
func (b branch) records(ctx context.Context, suite *string) (records []*baseline.Record, err error) {
	err = b.visit(ctx, func(c clone, tip string) error {
		suites, err := b.suitesAt(ctx, c, tip)
		if err != nil {
			return err
		}
		if suite != nil {
			suites = []string{*suite}
		}
		for _, name := range suites {
			s, err := b.read(ctx, c, tip, name)
			if err != nil {
				return err
			}
			for _, f := range s.files {
				records = append(records, &f.record)
			}
		}
		return nil
	})
	return records, err
}
