package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/report"
	"github.com/noslower/noslower/pkg/run"
)

// Bounds of what a branch of data has of a suite. Each file is a record: of one
// job, or of so many old ones in a few numbers each.
const (
	branchWhole  = 2 * branchFold // jobs that are kept whole, with all values
	branchFold   = baseline.MaxJobs
	branchChunks = 100 // files of folded jobs: 5000 jobs
	// branchTries is how often a push is tried that others come before.
	branchTries = 12
	suiteSuffix = ".suite"
	remote      = "origin"
)

// A branch keeps records on a branch of data of the repository, for years where
// artifacts last for months: a small file a job. The branch has a single commit,
// which is replaced as a whole if it is still the one that was read: nothing is
// lost if two push at once, an interrupted push changes nothing, and the branch
// is as large as what is on it.
type branch struct {
	name string
	at   situation
	git  func(ctx context.Context, env []string, args ...string) ([]byte, error)
}

func (b branch) String() string { return "branch:" + b.name }

func (b branch) ref() string { return "refs/heads/" + b.name }

// A branchFile is a record on the branch.
type branchFile struct {
	path   string
	record baseline.Record
}

// A state is the branch as it was read.
type state struct {
	tip   string // its commit; "" where there is no such branch
	files []branchFile
	bad   []string // files that are no records, with the reason
}

// tip is the commit that the branch has now; "" where there is no such branch.
func (b branch) tip(ctx context.Context) (string, error) {
	listed, err := b.git(ctx, nil, "ls-remote", "--quiet", remote, b.ref())
	if err != nil {
		return "", fmt.Errorf("%s: git cannot reach %s: %w", b, remote, err)
	}
	commit, _, _ := strings.Cut(string(listed), "\t")
	return commit, nil
}

// read fetches the branch and reads what it has of a suite, oldest first; of all
// suites where suite is nil.
func (b branch) read(ctx context.Context, suite *string) (state, error) {
	there, err := b.tip(ctx)
	if err != nil || there == "" {
		return state{}, err
	}
	if _, err := b.git(ctx, nil, "fetch", "--quiet", "--no-tags", remote, b.ref()); err != nil {
		return state{}, fmt.Errorf("%s: %w", b, err)
	}
	tip, err := b.git(ctx, nil, "rev-parse", "--verify", "FETCH_HEAD")
	if err != nil {
		return state{}, fmt.Errorf("%s: %w", b, err)
	}
	s := state{tip: strings.TrimSpace(string(tip))}
	packed, err := b.git(ctx, nil, "archive", "--format=tar", s.tip)
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
		if h.Typeflag != tar.TypeReg || !strings.HasSuffix(h.Name, recordSuffix) || suite != nil && path.Dir(h.Name) != folderOf(*suite) {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return s, err
		}
		record, err := baseline.Decode(data)
		if err != nil {
			s.bad = append(s.bad, baseline.Refusal{What: h.Name, Why: err.Error()}.String())
			continue
		}
		s.files = append(s.files, branchFile{h.Name, record})
	}
	slices.SortStableFunc(s.files, func(x, y branchFile) int {
		return cmp.Or(x.record.Measurements.Time.Compare(y.record.Measurements.Time), cmp.Compare(x.path, y.path))
	})
	return s, nil
}

// folderOf is where the records of a suite are: its name is anything, a folder's
// is not.
func folderOf(suite string) string { return url.PathEscape(suite) + suiteSuffix }

// find picks the record of the commit to compare with, else of its nearest
// ancestor that git knows, else the newest, and gives it the jobs before it.
func (b branch) find(ctx context.Context, suite string) (found, error) {
	s, err := b.read(ctx, &suite)
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
	r.Jobs = baseline.Merge(append(trails, r.Jobs)...)
	r.Jobs = r.Jobs[max(0, len(r.Jobs)-baseline.MaxJobs):]
	return found{record: &r, origin: fmt.Sprintf("%s, %s", b, how), refused: s.bad}, nil
}

// pick returns the index of the file to compare with.
func (b branch) pick(ctx context.Context, files []branchFile) (i int, how string) {
	newest := map[string]int{}
	for i, f := range files {
		newest[f.record.Measurements.Commit] = i
	}
	// Where the history is not there, as in a shallow clone, no ancestor is
	// found, and that is no fault.
	ancestors, _ := b.git(ctx, nil, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", ancestorsLookedAt), "--end-of-options", cmp.Or(b.at.base, "HEAD"))
	distance := 0
	for line := range strings.Lines(string(ancestors)) {
		if i, ok := newest[strings.TrimSpace(line)]; ok {
			if distance == 0 {
				return i, "of the very commit to compare with"
			}
			return i, commits(distance) + " before the one to compare with"
		}
		distance++
	}
	return len(files) - 1, "the newest there"
}

// keep adds a record to the branch. Where another came before, it is added to
// what that left.
func (b branch) keep(ctx context.Context, suite string, r baseline.Record, program []byte) (string, error) {
	if program != nil {
		return "", fmt.Errorf("%s: a program is too large for it: keep it with artifacts, or in a folder", b)
	}
	scratch, err := os.MkdirTemp("", "noslower-branch-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	r.Jobs = nil // each has a file of its own
	for try := 1; ; try++ {
		s, err := b.read(ctx, &suite)
		if err != nil {
			return "", err
		}
		if len(s.bad) > 0 {
			return "", fmt.Errorf("%s: something there is no record, and nothing is added to it: %s", b, strings.Join(s.bad, "; "))
		}
		commit, err := b.commit(ctx, scratch, s, suite, r)
		if err != nil {
			return "", err
		}
		// The lease makes it one step for the server: replaced only if it is
		// what was read.
		_, err = b.git(ctx, nil, "push", "--quiet", "--force-with-lease="+b.ref()+":"+s.tip, remote, commit+":"+b.ref())
		if err == nil {
			return b.String(), nil
		}
		if now, tipErr := b.tip(ctx); tipErr != nil || now == s.tip || try == branchTries {
			return "", fmt.Errorf("%s: it cannot be pushed to (a workflow needs \"permissions: {contents: write}\"): %w", b, err)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Duration(try) * 100 * time.Millisecond):
		}
	}
}

// commit makes the commit that has what was read, and the record. Old jobs are
// folded into files of many, and the oldest of those let go.
func (b branch) commit(ctx context.Context, scratch string, s state, suite string, r baseline.Record) (string, error) {
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(scratch, "index"),
		"GIT_AUTHOR_NAME=noslower", "GIT_AUTHOR_EMAIL=noslower@localhost", "GIT_COMMITTER_NAME=noslower", "GIT_COMMITTER_EMAIL=noslower@localhost",
	}
	git := func(args ...string) (string, error) {
		out, err := b.git(ctx, env, args...)
		return strings.TrimSpace(string(out)), err
	}
	tree := []string{"read-tree", "--empty"}
	if s.tip != "" {
		tree = []string{"read-tree", s.tip}
	}
	if _, err := git(tree...); err != nil {
		return "", err
	}
	add, gone := compact(append(s.files, branchFile{pathOf(suite, r), r}))
	for _, f := range add {
		data, err := f.record.Encode()
		if err != nil {
			return "", err
		}
		file := filepath.Join(scratch, "record")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return "", err
		}
		blob, err := git("hash-object", "-w", "--no-filters", file)
		if err != nil {
			return "", err
		}
		if _, err := git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+f.path); err != nil {
			return "", err
		}
	}
	for _, path := range gone {
		if _, err := git("update-index", "--force-remove", path); err != nil {
			return "", err
		}
	}
	root, err := git("write-tree")
	if err != nil {
		return "", err
	}
	return git("commit-tree", root, "-m", fmt.Sprintf("%s at %s", report.Printable(suite), shortCommit(r.Measurements.Commit)))
}

// pathOf is where a record is kept: in the order of its time, and no other has
// the place.
func pathOf(suite string, r baseline.Record) string {
	m := r.Measurements
	name := m.Time.UTC().Format("20060102T150405.000000000")
	for _, part := range []string{shortCommit(m.Commit), fmt.Sprint(r.Origin.RunID), fmt.Sprint(r.Origin.Attempt)} {
		if part != "" && part != "0" {
			name += "-" + url.PathEscape(part)
		}
	}
	return path.Join(folderOf(suite), name+recordSuffix)
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
	if len(whole) >= branchWhole {
		var jobs []baseline.Job
		for _, f := range whole[:branchFold] {
			jobs = append(jobs, trailOf(&f.record)...)
			gone = append(gone, f.path)
		}
		// The newest of them stays whole, and tells of the others.
		last := whole[branchFold-1]
		last.record.Jobs = jobs[:len(jobs)-1]
		add = append(add, branchFile{strings.TrimSuffix(last.path, recordSuffix) + "-folded" + recordSuffix, last.record})
		folded = append(folded, last)
	}
	for _, f := range folded[:max(0, len(folded)-branchChunks)] {
		gone = append(gone, f.path)
	}
	return add, gone
}

// records are all records on the branch.
func (b branch) records(ctx context.Context) ([]*baseline.Record, error) {
	s, err := b.read(ctx, nil)
	if err != nil {
		return nil, err
	}
	if len(s.files) == 0 {
		return nil, errors.New(b.String() + " has no record")
	}
	var records []*baseline.Record
	for _, f := range s.files {
		records = append(records, &f.record)
	}
	return records, nil
}

// gitBytes runs git in the working folder, with more in its environment. What it
// would do later, by itself, is left: it would outlive the command.
func (w world) gitBytes(ctx context.Context, env []string, args ...string) ([]byte, error) {
	done, err := run.Once(ctx, run.Spec{
		Args: append([]string{"git", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...),
		Env:  append(w.gitEnvironment(), env...), MaxOutput: maxInput,
	}, run.Step{N: 1, Of: 1}, nil)
	return done.Stdout(), err
}
