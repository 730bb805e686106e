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
	files, err := programFiles(globs)
	if err != nil {
		return program{}, err
	}
	var p program
	var entries []github.Entry
	for _, f := range files {
		data, err := os.ReadFile(f.real)
		if err != nil {
			return program{}, fmt.Errorf("--program %s: %w", f.path, err)
		}
		name := filepath.ToSlash(f.path)
		p.Files = append(p.Files, baseline.ProgramFile{Path: name, Mode: uint32(f.mode.Perm())})
		entries = append(entries, github.Entry{Name: name, Data: data})
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

// A programFile is a file of a program, as it lies here.
type programFile struct {
	path string // as the glob found it
	real string // where links lead
	mode fs.FileMode
}

// programFiles finds the files of a program, each once.
func programFiles(globs []string) ([]programFile, error) {
	root, err := filepath.EvalSymlinks(".")
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, glob := range globs {
		if !filepath.IsLocal(glob) {
			return nil, fmt.Errorf("--program %s: it is not in the working folder", glob)
		}
		matched, err := doublestar.FilepathGlob(filepath.Clean(glob), doublestar.WithFilesOnly())
		if err != nil {
			return nil, fmt.Errorf("--program %s: %w", glob, err)
		}
		if len(matched) == 0 {
			return nil, fmt.Errorf("--program %s matches no file: build the benchmark first", glob)
		}
		paths = append(paths, matched...)
	}
	slices.Sort(paths)
	var files []programFile
	for _, path := range slices.Compact(paths) {
		f, err := fileWithin(root, path)
		if err != nil {
			return nil, fmt.Errorf("--program %s: %w", path, err)
		}
		files = append(files, f)
	}
	if len(files) > programLimits.Entries {
		return nil, fmt.Errorf("--program: want at most %d files, have %d", programLimits.Entries, len(files))
	}
	return files, nil
}

// fileWithin looks at a file that is not outside of root, whatever links lead to
// it.
func fileWithin(root, path string) (programFile, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return programFile{}, err
	}
	if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
		return programFile{}, errors.New("the link leads out of the working folder")
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return programFile{}, err
	case !info.Mode().IsRegular():
		return programFile{}, errors.New("it is no ordinary file")
	case info.Size() > programLimits.Entry:
		return programFile{}, fmt.Errorf("want at most %d MiB, have %d", programLimits.Entry>>20, info.Size()>>20)
	}
	return programFile{path, real, info.Mode()}, nil
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
