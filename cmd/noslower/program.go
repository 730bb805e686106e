package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/github"
)

// programLimits bound what is kept of a benchmark's program: it is fetched only
// by those who run it.
var programLimits = github.ArchiveLimits{Compressed: 256 << 20, Entries: 1000, Entry: 512 << 20, Total: 1 << 30, Ratio: 200}

// A program is the built files of a benchmark, packed.
type program struct {
	baseline.Program
	zip []byte
}

// packProgram packs the files that the globs match. A link is packed as what it
// leads to, if that is in the folder too.
func packProgram(globs []string) (program, error) {
	root, err := filepath.EvalSymlinks(".")
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return program{}, err
	}
	var paths []string
	for _, glob := range globs {
		matched, err := doublestar.FilepathGlob(filepath.Clean(glob), doublestar.WithFilesOnly())
		if err != nil {
			return program{}, fmt.Errorf("--program %s: %w", glob, err)
		}
		if len(matched) == 0 {
			return program{}, fmt.Errorf("--program %s: no file matches: build the benchmark first", glob)
		}
		paths = append(paths, matched...)
	}
	slices.Sort(paths)
	var p program
	var entries []github.Entry
	for _, path := range slices.Compact(paths) {
		name := filepath.ToSlash(path)
		if !filepath.IsLocal(path) {
			return program{}, fmt.Errorf("--program %s: it is not in the working folder", path)
		}
		data, mode, err := readWithin(root, path)
		if err != nil {
			return program{}, fmt.Errorf("--program %s: %w", path, err)
		}
		p.Files = append(p.Files, baseline.ProgramFile{Path: name, Mode: uint32(mode.Perm())})
		entries = append(entries, github.Entry{Name: name, Data: data})
	}
	if len(entries) > programLimits.Entries {
		return program{}, fmt.Errorf("--program: want at most %d files, have %d", programLimits.Entries, len(entries))
	}
	if p.zip, err = github.WriteArchive(entries...); err != nil {
		return program{}, err
	}
	if n := int64(len(p.zip)); n > programLimits.Compressed {
		return program{}, fmt.Errorf("--program: want at most %d MiB packed, have %d", programLimits.Compressed>>20, n>>20)
	}
	p.Digest = digestOf(p.zip)
	return p, nil
}

// readWithin reads a file that is not outside of root, whatever links lead to it.
func readWithin(root, path string) ([]byte, fs.FileMode, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, 0, err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return nil, 0, errors.New("the link leads out of the working folder")
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is no ordinary file")
	case info.Size() > programLimits.Entry:
		return nil, 0, fmt.Errorf("want at most %d MiB, have %d", programLimits.Entry>>20, info.Size()>>20)
	}
	data, err := os.ReadFile(real)
	return data, info.Mode(), err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// openProgram checks a packed program against what its record says of it.
func openProgram(zip []byte, said baseline.Program) ([]github.Entry, error) {
	if have := digestOf(zip); have != said.Digest {
		return nil, fmt.Errorf("base's program is not the one that its record tells of: want %s, have %s", said.Digest, have)
	}
	var names []string
	for _, f := range said.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || strings.Contains(f.Path, `\`) {
			return nil, fmt.Errorf("base's program has a file %q, which is not in its folder", f.Path)
		}
		names = append(names, f.Path)
	}
	return github.ReadArchive(zip, programLimits, names...)
}

// unpack writes a program into a folder that is not there yet.
func unpack(entries []github.Entry, said baseline.Program, folder string) error {
	for i, e := range entries {
		path := filepath.Join(folder, filepath.FromSlash(e.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, e.Data, fs.FileMode(said.Files[i].Mode).Perm()|0o400); err != nil {
			return err
		}
	}
	return nil
}
