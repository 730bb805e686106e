package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/noslower/noslower/pkg/run"
)

// releasePrefix begins the name of a tag that is a release's.
const releasePrefix = "v"

// releases has the names of releases by commit. In a workflow GitHub is asked: a
// checkout there has no tags unless it is told to fetch them. Git is asked where
// it is none, or where GitHub does not answer.
func (w world) releases(ctx context.Context) (map[string]string, error) {
	of := map[string]string{}
	add := func(name, commit string) {
		if strings.HasPrefix(name, releasePrefix) {
			// Of a moving tag v1 and a v1.2.0 the longer says more.
			of[commit] = max(of[commit], name)
		}
	}
	h, unasked := w.connect()
	if h.client != nil {
		tags, err := h.client.Tags(ctx)
		if err == nil {
			for _, t := range tags {
				add(t.Name, t.Commit)
			}
			return of, nil
		}
		unasked = fmt.Errorf("GitHub does not tell the tags: %w", err)
	}
	// Of an annotated tag the commit is the object that it points to.
	tags, err := w.git(ctx, "for-each-ref", "--format=%(refname:strip=2) %(objectname) %(*objectname)", "refs/tags/"+releasePrefix+"*")
	if err != nil {
		return nil, errors.Join(unasked, fmt.Errorf("git does not tell the tags: %w", err))
	}
	for line := range strings.Lines(tags) {
		if f := strings.Fields(line); len(f) >= 2 {
			add(f[0], f[len(f)-1])
		}
	}
	if len(of) == 0 {
		return of, unasked
	}
	return of, nil
}

// commitNamed returns the commit that a tag, a branch or the like names: as git
// knows it, or, as a checkout of a workflow has one commit alone, as GitHub does.
func (w world) commitNamed(ctx context.Context, ref string) (string, error) {
	commit, err := w.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err == nil {
		return commit, nil
	}
	h, err := w.connect()
	if h.client == nil {
		return "", errors.Join(errors.New("git knows no such commit here (\"git fetch --tags\" may bring it)"), err)
	}
	commits, err := h.client.Commits(ctx, ref, 1)
	if err != nil || len(commits) == 0 {
		return "", errors.Join(errors.New("neither git nor GitHub knows such a commit"), err)
	}
	return commits[0].SHA, nil
}

// git asks git in the working folder.
func (w world) git(ctx context.Context, args ...string) (string, error) {
	out, err := runGit(ctx, w.gitEnvironment(), args...)
	return strings.TrimSpace(string(out)), err
}

// reachesRemotes are the variables by which git reaches a remote, and which no
// command of the user's gets unasked: an agent, and proxies that may have a
// password in them.
var reachesRemotes = []string{"SSH_AUTH_SOCK", "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}

// gitEnvironment is git's: the workspace may be another user's.
func (w world) gitEnvironment() []string {
	env := run.HostEnv(w.Environ, reachesRemotes)
	if workspace := w.Getenv("GITHUB_WORKSPACE"); workspace != "" {
		env = run.MergeSafeDirectory(env, workspace)
	}
	return env
}

// runGit runs git in an environment and returns what it prints. Where it fails,
// the error has its own words.
func runGit(ctx context.Context, env []string, args ...string) ([]byte, error) {
	done, err := run.Once(ctx, run.Spec{Args: append([]string{"git"}, args...), Env: env, MaxOutput: maxInput}, run.Step{N: 1, Of: 1}, nil)
	var failed *run.Error
	if errors.As(err, &failed) && failed.Kind == run.Failed && len(failed.Tail) > 0 {
		var lines []string
		for _, line := range failed.Tail {
			if line = strings.TrimRight(line, ". "); line != "" {
				lines = append(lines, line)
			}
		}
		err = fmt.Errorf("git %s: %s", args[0], strings.Join(lines, "; "))
	}
	return done.Stdout(), err
}
