package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/run"
)

// dirWord is what stands in a command for the folder of the side's program.
const dirWord = "{dir}"

// A rival is base's own program, to be run beside head's. Both are reached by
// paths of one length: that of the arguments moves the stack, and with it the
// measurement.
type rival struct {
	commit     string
	how        string // it was come by
	remedy     string // where it does not run as head's does
	root       string // a folder of our own
	head, base string // folders, as the commands see them
	fresh      func() error
	inside     bool // the command runs within its side's folder
	forget     func() error
}

// newRival makes the two folders. Head's is this one, by a link.
func newRival(commit, how, remedy string) (*rival, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "noslower-")
	if err != nil {
		return nil, err
	}
	r := &rival{commit: commit, how: how, remedy: remedy, root: root, head: filepath.Join(root, "head"), base: filepath.Join(root, "base")}
	return r, errors.Join(os.Symlink(here, r.head))
}

// origin is where base is from, for a report.
func (r *rival) origin() string { return "its own program, " + r.how }

// blame says of an error that it is base's: a change that moves or renames the
// program does not break its own.
func (r *rival) blame(err error) error {
	failed, ok := errors.AsType[*run.Error](err)
	switch {
	case ok && failed.Kind == run.Interrupted:
		return err
	case ok && (failed.Kind == run.TimedOut || failed.Kind == run.TooMuchOutput):
		return fmt.Errorf("base's own program, %s, did not end well: %w", r.how, err)
	case ok:
		return fmt.Errorf("base's own program, %s, cannot be run: %w; %s", r.how, err, r.remedy)
	}
	return fmt.Errorf("base's own program, %s, gave no measurement: %w; %s", r.how, err, r.remedy)
}

func (r *rival) close() error {
	if r == nil {
		return nil
	}
	var err error
	if r.forget != nil {
		err = r.forget()
	}
	return errors.Join(err, os.RemoveAll(r.root))
}

// place lets a command find its side's program, and puts it in its side's folder
// where it belongs there.
func (r *rival) place(s run.Spec, dir string) run.Spec {
	s = placed(s, dir)
	if r.inside {
		s.Dir = filepath.Join(dir, s.Dir)
	}
	return s
}

// placed says where the program is that a command names by {dir}.
func placed(s run.Spec, dir string) run.Spec {
	s.Shell = strings.ReplaceAll(s.Shell, dirWord, dir)
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = strings.ReplaceAll(a, dirWord, dir)
	}
	s.Args = args
	return s
}

// keptRival makes a rival of the program that was kept with the baseline; nil
// where none was, or the command does not say where it would stand.
func keptRival(ctx context.Context, from found, o *optionSet) (*rival, error) {
	if from.record == nil || from.record.Program == nil || from.program == nil || len(o.Program) == 0 {
		return nil, nil
	}
	zip, err := from.program(ctx)
	if err != nil {
		return nil, err
	}
	said := *from.record.Program
	entries, err := openProgram(zip, said)
	if err != nil {
		return nil, err
	}
	r, err := newRival(from.record.Measurements.Commit, "kept by "+from.origin,
		"let the command name what lies at the same path on both sides, or leave --program out this once, so that base's stored measurements are compared with")
	if err != nil {
		return nil, err
	}
	// Head's code runs beside it and could have changed it: it is unpacked anew
	// from the bytes that were checked, before each of its runs.
	r.fresh = func() error { return renew(r.base, entries, said) }
	return r, nil
}

func renew(folder string, entries []github.Entry, said baseline.Program) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return unpack(entries, said, folder)
}

// usesDir reports whether a command says where its side's program is.
func (o *optionSet) usesDir() bool {
	for _, s := range append([]string{o.Command}, o.Args...) {
		if strings.Contains(s, dirWord) {
			return true
		}
	}
	return false
}

// namesAny returns the first of these folders that the command names, or something
// below; "" if it names none. A folder may also be a shell's variable.
func (o *optionSet) namesAny(folders ...string) string {
	for _, folder := range folders {
		whole := regexp.MustCompile(regexp.QuoteMeta(folder) + `(?:$|[^\w.-])`)
		if slices.ContainsFunc(append([]string{o.Command}, o.Args...), whole.MatchString) {
			return folder
		}
	}
	return ""
}

// checkCommand finds what is wrong with what the command is to be told.
func (o *optionSet) checkCommand() error {
	var faults []error
	if o.Out != "" {
		if err := checkWritable(o.Out); err != nil {
			faults = append(faults, fmt.Errorf("--out: %w", err))
		}
	}
	if len(o.Program) > 0 && !o.usesDir() && o.Measurements == "" {
		faults = append(faults, errors.New("--program: the command must name its program as {dir}/…, so that base's own can be run in its place"))
	}
	// What is built or measured elsewhere need not be here yet, or ever.
	if len(o.Program) > 0 && o.Measurements == "" && o.Build == "" {
		_, err := programFiles(o.Program)
		faults = append(faults, err)
	}
	if o.Build != "" && o.Against == "" {
		faults = append(faults, errors.New("--build: it builds what --against names, and there is no --against"))
	}
	if o.Against != "" && o.Measurements != "" {
		faults = append(faults, errors.New("--against: it measures both sides here, and --measurements has head's: give one"))
	}
	switch takes := (run.Spec{Shell: o.Command, Args: o.Args}).TakesOps(); {
	case len(o.Ops) > 0 && !takes && o.Measurements == "":
		faults = append(faults, errors.New("--ops: the command must take its number of operations as {ops}"))
	case len(o.Ops) == 0 && takes && o.Measurements == "":
		faults = append(faults, errors.New("the command takes its number of operations as {ops}: give it by --ops, such as --ops 10000,20000"))
	}
	return errors.Join(faults...)
}

// againstRival makes a rival of a commit: its worktree, built as head's tree is.
func (w world) againstRival(ctx context.Context, o *optionSet) (r *rival, err error) {
	git := func(args ...string) (string, error) { return w.git(ctx, args...) }
	commit, err := git("rev-parse", "--verify", "--quiet", "--end-of-options", o.Against+"^{commit}")
	if err != nil {
		// A shallow clone, as a workflow checks out, has it not yet.
		if _, fetchErr := git("fetch", "--quiet", "--depth=1", "origin", "--end-of-options", o.Against); fetchErr != nil {
			return nil, fmt.Errorf("--against %s: git knows no such commit, and cannot fetch it: %w", o.Against, fetchErr)
		}
		if commit, err = git("rev-parse", "--verify", "FETCH_HEAD^{commit}"); err != nil {
			return nil, err
		}
	}
	place, err := git("rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return nil, err
	}
	top, prefix, _ := strings.Cut(place, "\n")
	here, err := os.Getwd() // which may go over a link
	if err != nil {
		return nil, err
	}
	if own := o.namesAny(top, here, "$GITHUB_WORKSPACE", "${GITHUB_WORKSPACE}"); own != "" {
		return nil, wrongUse(fmt.Errorf("--against: the command names %s, which is head's for both sides: write {dir} in its place, or a path relative to the folder it runs in", own))
	}
	// One that a job left which was killed is git's still, and gone.
	if _, err := git("worktree", "prune"); err != nil {
		return nil, err
	}
	how, remedy := "built of "+o.Against, "--build must make there what the command runs"
	if o.Build == "" {
		how, remedy = "checked out of "+o.Against, "a worktree has only what is committed: give the command that builds the rest by --build"
	}
	if r, err = newRival(commit, how, remedy); err != nil {
		return nil, err
	}
	r.inside = true
	tree := r.base
	r.forget = func() error {
		// The worktree is git's too, which must forget it whatever has ended us.
		ctx = context.WithoutCancel(ctx)
		_, err := git("worktree", "remove", "--force", tree)
		return err
	}
	if _, err := git("worktree", "add", "--quiet", "--detach", tree, commit); err != nil {
		return r, err
	}
	if err := errors.Join(os.Remove(r.head), os.Symlink(top, r.head)); err != nil {
		return r, err
	}
	r.head, r.base = filepath.Join(r.head, prefix), filepath.Join(r.base, prefix)
	return r, w.build(ctx, o, r)
}

// build builds both sides by the same command.
func (w world) build(ctx context.Context, o *optionSet, r *rival) error {
	if o.Build == "" {
		return nil
	}
	for _, at := range []struct{ name, dir string }{{"base", r.base}, {"head", r.head}} {
		fmt.Fprintf(w.Stderr, "building %s\n", at.name)
		spec := run.Spec{Shell: o.Build, Dir: at.dir, Env: run.MergeSafeDirectory(w.childEnvironment(o.Env), at.dir)}
		if _, err := run.Once(ctx, spec, run.Step{N: 1, Of: 1}, nil); err != nil {
			return fmt.Errorf("building %s: %w", at.name, w.explainRun(err))
		}
	}
	return nil
}
