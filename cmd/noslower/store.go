package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
)

// defaultFolder is where baselines are kept where nothing else is said.
const defaultFolder = ".noslower"

// recordSuffix ends the name of a suite's record in a folder.
const recordSuffix = ".record.json"

// A keeper is where records are kept between jobs.
type keeper interface {
	fmt.Stringer // as --baseline names it

	// find returns the record to compare a suite with. Where there is none, its
	// record is nil, and it says why.
	find(ctx context.Context, suite string) (found, error)
	// keep makes a record the suite's next one, and says where it is.
	// program is the packed program that r tells of; nil where there is none, as
	// with a branch of data.
	keep(ctx context.Context, suite string, r baseline.Record, program []byte) (where string, err error)
	// suites lists whose records there are.
	suites(ctx context.Context) ([]string, error)
}

// published reports whether records are kept over a network, with which there may
// be trouble that changes no status.
func published(k keeper) bool {
	switch k.(type) {
	case artifacts, branch:
		return true
	}
	return false
}

// A found is the outcome of looking for a record.
type found struct {
	record  *baseline.Record
	earlier []baseline.Job // before those that the record tells of, where more are kept
	origin  string         // where it was kept, and how far from head
	none    string         // why there is no record
	refused []string       // what looked like one and is none, with the reason
	unread  string         // that of them which could not be read, the nearest
	// program fetches the packed program that the record tells of.
	program func(context.Context) ([]byte, error)
}

// A store keeps records in files: a folder with one a suite, or one file.
type store struct {
	folder string // "" for a single file
	file   string
}

func (s store) String() string {
	if s.folder != "" {
		return "dir:" + s.folder
	}
	return "file:" + s.file
}

// path is where the suite's record lies. A suite's name is anything; a file's
// is not.
func (s store) path(suite string) string {
	if s.folder == "" {
		return s.file
	}
	return filepath.Join(s.folder, url.PathEscape(suite)+recordSuffix)
}

func (s store) find(_ context.Context, suite string) (found, error) {
	path := s.path(suite)
	data, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found{none: fmt.Sprintf("%s has no record of the suite %q", s, suite)}, nil
	}
	if err != nil {
		return found{}, err
	}
	var r baseline.Record
	if strings.HasPrefix(schemaOf(data), "noslower.measurements/") {
		r.Measurements, err = bench.DecodeMeasurements(data)
	} else {
		r, err = baseline.Decode(data)
	}
	if err != nil {
		return found{}, fmt.Errorf("%s: %w", path, beginAnew(err))
	}
	program := func(context.Context) ([]byte, error) { return os.ReadFile(programPath(path)) }
	return found{record: &r, origin: path, program: program}, nil
}

// programPath is where the program of a record lies.
func programPath(record string) string { return strings.TrimSuffix(record, ".json") + ".program.zip" }

func (s store) keep(_ context.Context, suite string, r baseline.Record, program []byte) (string, error) {
	data, err := r.Encode()
	if err != nil {
		return "", err
	}
	path := s.path(suite)
	if program != nil {
		// First, so that no record tells of a program that is not there.
		if err := writeWhole(programPath(path), program); err != nil {
			return "", err
		}
	}
	return s.String(), writeWhole(path, data)
}

// suites lists whose records there are.
func (s store) suites(ctx context.Context) ([]string, error) {
	if s.folder == "" {
		f, err := s.find(ctx, "")
		if err != nil || f.record == nil {
			return nil, err
		}
		return []string{f.record.Measurements.Suite}, nil
	}
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return suitesOf(names, recordSuffix), nil
}

// suitesOf are the suites that files or folders are named after.
func suitesOf(names []string, suffix string) []string {
	var suites []string
	for _, name := range names {
		escaped, ok := strings.CutSuffix(name, suffix)
		if suite, err := url.PathUnescape(escaped); ok && err == nil {
			suites = append(suites, suite)
		}
	}
	slices.Sort(suites)
	return suites
}

// writeWhole writes a file so that whoever reads it, and whatever interrupts,
// sees all of the old content or all of the new. Missing folders are made. What
// a link leads to is written, and what is no file (a pipe, a terminal,
// /dev/null) is written to.
func writeWhole(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return writeThrough(path, data)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	folder := filepath.Dir(path)
	made, err := makeFolders(folder)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".noslower-*")
	if err != nil {
		return unwritable(path, err)
	}
	defer os.Remove(f.Name()) // after the rename there is nothing by that name
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return handOver(append(made, path))
}

// unwritable says of which file it is that a temporary one beside it cannot be made.
func unwritable(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s cannot be written in its folder: %w", path, err)
}

// checkWritable finds before anything is measured that writeWhole could not write a
// file. It makes no folder.
func checkWritable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("want a file, have the folder %s", path)
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".noslower-*")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it is made
	case err != nil:
		return unwritable(path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// partOf is where a part of what was to be written to a file goes: there, unless it
// would take the place of something whole.
func partOf(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path
	}
	return path + ".partial"
}

// writeThrough writes to what cannot be replaced.
func writeThrough(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// makeFolders makes a folder with its parents and returns those that were not
// there, outermost first.
func makeFolders(folder string) ([]string, error) {
	var missing []string
	for at := folder; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	slices.Reverse(missing)
	return missing, os.MkdirAll(folder, 0o755)
}

// handOver gives what root made to the owner of the folder that it was made in,
// outermost first: in a container the steps after ours are another user's.
func handOver(made []string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(filepath.Dir(made[0]))
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	for _, path := range made {
		if err := os.Lchown(path, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return nil
}
