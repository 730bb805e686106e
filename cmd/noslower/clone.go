package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/noslower/noslower/pkg/run"
)

// A clone is a repository of our own, with nothing in it, through which a branch
// of data is read and written. The one in the working folder is not touched: in a
// container root would leave files in it that the user of the runner cannot
// change, and its hooks and settings, which a build may have written, would run
// with the job's token.
type clone struct {
	dir         string
	fetch, push string // addresses of the repository that has the branch
	env         []string
}

// clone makes a clone of the workflow's repository, whose token it gives to git
// and leaves nowhere; elsewhere of what git calls origin here.
func (h hub) clone(ctx context.Context) (c clone, err error) {
	c.env = h.git
	if h.client != nil {
		c.fetch = fmt.Sprintf("%s/%s/%s", h.context.ServerURL, h.context.Owner, h.context.Repository)
		c.push = c.fetch
		if h.token != "" {
			secret := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + h.token))
			h.options.Mask(secret)
			c.env = run.MergeGitConfig(c.env, "http."+h.context.ServerURL+"/.extraHeader", "Authorization: Basic "+secret)
		}
	} else {
		fetch, fetchErr := runGit(ctx, h.git, "remote", "get-url", "origin")
		push, pushErr := runGit(ctx, h.git, "remote", "get-url", "--push", "origin")
		if err := errors.Join(fetchErr, pushErr); err != nil {
			return c, fmt.Errorf("--baseline: a branch of data is one of the repository that git calls origin, and here is none: %w", err)
		}
		c.fetch, c.push = strings.TrimSpace(string(fetch)), strings.TrimSpace(string(push))
	}
	if c.dir, err = os.MkdirTemp("", "noslower-branch-"); err != nil {
		return c, err
	}
	for _, kv := range [][2]string{{"core.hooksPath", os.DevNull}, {"gc.auto", "0"}, {"maintenance.auto", "false"}} {
		c.env = run.MergeGitConfig(c.env, kv[0], kv[1])
	}
	c.env = append(c.env, "GIT_TERMINAL_PROMPT=0", "GIT_DIR="+c.dir, "GIT_INDEX_FILE="+filepath.Join(c.dir, "index"),
		"GIT_AUTHOR_NAME=noslower", "GIT_AUTHOR_EMAIL=noslower@localhost", "GIT_COMMITTER_NAME=noslower", "GIT_COMMITTER_EMAIL=noslower@localhost")
	if _, err := c.git(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
		c.remove()
		return c, err
	}
	return c, nil
}

func (c clone) remove() { os.RemoveAll(c.dir) }

func (c clone) git(ctx context.Context, args ...string) ([]byte, error) {
	return runGit(ctx, c.env, args...)
}

// line is what git prints, without the end of its line.
func (c clone) line(ctx context.Context, args ...string) (string, error) {
	out, err := c.git(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// commit makes a commit without parents of what another has, "" for nothing, with
// more files and some no longer.
func (c clone) commit(ctx context.Context, of, message string, add []branchFile, gone []string) (string, error) {
	tree := []string{"read-tree", "--empty"}
	if of != "" {
		tree = []string{"read-tree", of}
	}
	if _, err := c.git(ctx, tree...); err != nil {
		return "", err
	}
	for _, f := range add {
		if err := c.add(ctx, f); err != nil {
			return "", err
		}
	}
	for _, path := range gone {
		// Git wants a folder of files even where it looks at none of them.
		if _, err := c.git(ctx, "--work-tree="+c.dir, "update-index", "--force-remove", "--", path); err != nil {
			return "", err
		}
	}
	root, err := c.line(ctx, "write-tree")
	if err != nil {
		return "", err
	}
	return c.line(ctx, "commit-tree", root, "-m", message)
}

// add makes a record a file of what is committed next.
func (c clone) add(ctx context.Context, f branchFile) error {
	data, err := f.record.Encode()
	if err != nil {
		return err
	}
	file := filepath.Join(c.dir, "record")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return err
	}
	blob, err := c.line(ctx, "hash-object", "-w", "--no-filters", file)
	if err != nil {
		return err
	}
	_, err = c.git(ctx, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+f.path)
	return err
}
