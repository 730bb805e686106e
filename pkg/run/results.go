package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxMatches = 10000 // files that the glob may match, changed or not
	maxFiles   = 1000  // files that one run may write
	// clockTick is longer than the steps in which Linux file systems tell time: a
	// file written twice within one step would look unchanged.
	clockTick = 20 * time.Millisecond
)

// A File is a result file of a run.
type File struct {
	Name string // relative to the working directory, with slashes
	Data []byte
}

// A mark is what tells one state of a file from another. Its modification time
// alone does not: it is coarse, and programs set it.
type mark struct {
	dev, ino     uint64
	mtime, ctime int64 // nanoseconds since 1970
	size         int64
	mode         fs.FileMode
}

// An entry is a matched name: what is there, and, if that is a symbolic link,
// what it leads to; zero if it leads nowhere, or out of the working directory.
type entry struct {
	self, target mark
}

// A snapshot is what the glob matched, by name.
type snapshot map[string]entry

// pattern returns the glob relative to the working directory.
func (s Spec) pattern() (string, error) {
	p := filepath.ToSlash(s.Results)
	if !doublestar.ValidatePattern(p) {
		return "", fmt.Errorf("results: want a glob such as out/**/*.json, have %q", s.Results)
	}
	if path.IsAbs(p) {
		dir, err := filepath.Abs(s.Dir)
		if err != nil {
			return "", err
		}
		rel, ok := strings.CutPrefix(p, strings.TrimSuffix(filepath.ToSlash(dir), "/")+"/")
		if !ok {
			return "", fmt.Errorf("results: want a glob below the working directory %s, have %q", dir, s.Results)
		}
		p = rel
	}
	p = path.Clean(p)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", fmt.Errorf("results: want a glob below the working directory, have %q", s.Results)
	}
	return p, nil
}

// root opens the working directory as one that no name leads out of.
func (s Spec) root() (*os.Root, error) {
	if s.Dir == "" {
		return os.OpenRoot(".")
	}
	return os.OpenRoot(s.Dir)
}

// look takes a snapshot before a run, at a time after which a change shows.
func (s Spec) look(ctx context.Context) (snapshot, error) {
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	snap, err := s.snapshot(ctx, root)
	if err != nil {
		return nil, err
	}
	now := time.Now().UnixNano()
	for _, e := range snap {
		if now-max(e.self.ctime, e.target.ctime) < int64(clockTick) {
			time.Sleep(clockTick)
			break
		}
	}
	return snap, nil
}

func (s Spec) snapshot(ctx context.Context, root *os.Root) (snapshot, error) {
	pattern, err := s.pattern()
	if err != nil {
		return nil, err
	}
	snap := snapshot{}
	err = doublestar.GlobWalk(root.FS(), pattern, func(name string, _ fs.DirEntry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		fi, err := root.Lstat(name)
		if err != nil || fi.IsDir() {
			return nil // gone since, or nothing that holds results
		}
		e := entry{self: markOf(fi)}
		if fi.Mode()&fs.ModeSymlink != 0 {
			if to, err := root.Stat(name); err == nil {
				if to.IsDir() {
					return nil
				}
				e.target = markOf(to)
			}
		}
		snap[name] = e
		if len(snap) > maxMatches {
			return fmt.Errorf("--results %q matches more than %d files: name a folder that holds only results", s.Results, maxMatches)
		}
		return nil
	}, doublestar.WithNoFollow())
	return snap, err
}

// changed reads the files that are not as they were before the run.
func (s Spec) changed(ctx context.Context, before snapshot) ([]File, error) {
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	after, err := s.snapshot(ctx, root)
	if err != nil {
		return nil, err
	}

	var names []string
	for name, e := range after {
		if old, ok := before[name]; !ok || old != e {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, s.noneChanged(root, len(after))
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("wrote %d files that match --results %q, which is more than %d: match fewer", len(names), s.Results, maxFiles)
	}

	// A file that goes by several names is read once, by its own name rather than
	// by that of a link to it.
	isLink := func(name string) bool { return after[name].self.mode&fs.ModeSymlink != 0 }
	slices.SortFunc(names, func(a, b string) int {
		if isLink(a) != isLink(b) {
			if isLink(b) {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	type inode struct{ dev, ino uint64 }
	seen := map[inode]bool{}
	var files []File
	room := s.MaxOutput
	for _, name := range names {
		m := after[name].self
		if isLink(name) {
			m = after[name].target
		}
		if id := (inode{m.dev, m.ino}); m != (mark{}) {
			if seen[id] {
				continue
			}
			seen[id] = true
		}
		data, err := read(root, name, room)
		if errors.Is(err, errTooLong) {
			return nil, fmt.Errorf("wrote more than %s in the files that match --results %q: match only the files that hold results", size(s.MaxOutput), s.Results)
		}
		if err != nil {
			return nil, err
		}
		room -= int64(len(data))
		files = append(files, File{name, data})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

var errTooLong = errors.New("larger than the bound")

// read reads a regular file below root, of at most limit bytes. It does not wait for the other end of a
// FIFO.
func read(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		// The os package keeps the error of a link that leads out to itself.
		if fi, lerr := root.Lstat(name); lerr == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("result file %s: a symbolic link that leads nowhere, or out of the working directory: write the file itself there", name)
		}
		return nil, fmt.Errorf("result file %s: %w", name, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("result file %s: %w", name, err)
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("result file %s: want a regular file, have %v: match only the files that hold results", name, fi.Mode().Type())
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("result file %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, errTooLong
	}
	return data, nil
}

// noneChanged is the error of a run that wrote no result file.
func (s Spec) noneChanged(root *os.Root, matches int) error {
	if matches > 0 {
		return fmt.Errorf("wrote no file that matches --results %q; older ones (%d) do not count: check that the command writes there", s.Results, matches)
	}
	pattern, err := s.pattern()
	if err != nil {
		return err
	}
	base, _ := doublestar.SplitPattern(pattern)
	if _, err := root.Stat(base); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("wrote no file that matches --results %q; %s cannot be looked into, or leads out of the working directory: write results below it", s.Results, base)
	}
	return fmt.Errorf("wrote no file that matches --results %q: check that the command writes there, in its working directory", s.Results)
}

func markOf(fi fs.FileInfo) mark {
	m := mark{mtime: fi.ModTime().UnixNano(), size: fi.Size(), mode: fi.Mode()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		m.dev, m.ino, m.ctime = uint64(st.Dev), st.Ino, changeTime(st)
	}
	return m
}
