package github

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Entry is a file in an archive.
type Entry struct {
	Name string
	Data []byte
}

// WriteArchive returns a zip of the entries, in the order given. The same
// entries make the same bytes: no times are kept.
func WriteArchive(entries ...Entry) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, e := range entries {
		if !fs.ValidPath(e.Name) || strings.Contains(e.Name, `\`) || e.Name == "." {
			return nil, fmt.Errorf("archive: want a relative path for an entry, have %q", e.Name)
		}
		if slices.ContainsFunc(entries[:i], func(o Entry) bool { return o.Name == e.Name }) {
			return nil, fmt.Errorf("archive: two entries are named %q", e.Name)
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: e.Name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.Data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ErrArchive: an archive is damaged, or is made to do harm.
var ErrArchive = errors.New("not an archive to be read")

// ArchiveLimits bound what an archive may cost before it is refused.
type ArchiveLimits struct {
	Compressed int64 // bytes of the archive
	Entries    int
	Entry      int64 // bytes of an entry, unpacked
	Total      int64 // bytes of all entries, unpacked
	Ratio      int64 // unpacked bytes for a packed one, of entries above 64 KiB
}

// DefaultArchiveLimits are for measurements: 10 MiB of text, packed, and no more
// than its repetitions explain.
var DefaultArchiveLimits = ArchiveLimits{Compressed: 10 << 20, Entries: 16, Entry: 32 << 20, Total: 64 << 20, Ratio: 200}

// ReadArchive returns the entries of a zip, which are to be exactly those with
// the names given, each once, in that order. Nothing else of an archive is
// looked at, and nothing is written to disk. What it says of its own sizes is
// not believed.
//
// Refused with ErrArchive is what is above a limit, encrypted, a link or a
// directory, packed by an unusual method, or has bytes around or between
// entries that overlap.
func ReadArchive(data []byte, limits ArchiveLimits, names ...string) ([]Entry, error) {
	refuse := func(format string, args ...any) ([]Entry, error) {
		return nil, fmt.Errorf("archive: %w: %s", ErrArchive, fmt.Sprintf(format, args...))
	}
	if int64(len(data)) > limits.Compressed {
		return refuse("want at most %d bytes, have %d", limits.Compressed, len(data))
	}
	// A comment or anything after the directory could hold a second one, of
	// which another reader believes the first.
	const (
		endSize = 22
		endSign = "PK\x05\x06"
	)
	if len(data) < endSize || string(data[len(data)-endSize:len(data)-endSize+4]) != endSign {
		return refuse("want a zip without a comment or anything behind it")
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return refuse("damaged: %v", err)
	}
	if len(z.File) > limits.Entries {
		return refuse("want at most %d entries, have %d", limits.Entries, len(z.File))
	}
	byName := map[string]*zip.File{}
	for _, f := range z.File {
		switch {
		case !slices.Contains(names, f.Name):
			return refuse("want the entries %q, have %s", names, quoted(f.Name))
		case byName[f.Name] != nil:
			return refuse("%q is in it twice", f.Name)
		case f.Flags&0x1 != 0:
			return refuse("%q is encrypted", f.Name)
		case !f.Mode().IsRegular():
			return refuse("%q is no regular file", f.Name)
		case f.Method != zip.Deflate && f.Method != zip.Store:
			return refuse("%q is packed by method %d, want 0 or 8", f.Name, f.Method)
		}
		byName[f.Name] = f
	}
	if fault := misplaced(z.File, data); fault != "" {
		return refuse("%s", fault)
	}
	var entries []Entry
	left := limits.Total
	for _, name := range names {
		f := byName[name]
		if f == nil {
			return refuse("want an entry %q", name)
		}
		most := min(limits.Entry, left, max(64<<10, mul(int64(f.CompressedSize64), limits.Ratio)))
		content, err := unpack(f, most)
		if err != nil {
			return refuse("%q: %v", name, err)
		}
		left -= int64(len(content))
		entries = append(entries, Entry{name, content})
	}
	return entries, nil
}

// unpack returns the content of an entry, of at most most bytes.
func unpack(f *zip.File, most int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("unpacks to more than %d bytes", most)
	}
	return content, nil
}

// misplaced says what is wrong with where the entries lie: before the first, or
// in one another, "" for nothing. An archive whose entries share their bytes
// unpacks to far more than its ratio says.
func misplaced(files []*zip.File, data []byte) string {
	size := int64(len(data))
	type extent struct{ from, to int64 }
	var extents []extent
	for _, f := range files {
		from, err := f.DataOffset()
		if err != nil {
			return "damaged: " + err.Error()
		}
		if f.CompressedSize64 > uint64(size) || from+int64(f.CompressedSize64) > size {
			return fmt.Sprintf("%q is said to be larger than the archive", f.Name)
		}
		extents = append(extents, extent{from, from + int64(f.CompressedSize64)})
	}
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	// The first entry's header, of 30 bytes and two fields, begins the archive.
	if len(extents) > 0 {
		name, extra := binary.LittleEndian.Uint16(data[26:]), binary.LittleEndian.Uint16(data[28:])
		if extents[0].from != 30+int64(name)+int64(extra) {
			return "something is before the first entry"
		}
	}
	for i, e := range extents {
		if i > 0 && e.from < extents[i-1].to {
			return "entries overlap"
		}
	}
	return ""
}

func mul(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// quoted returns a name of someone else's making, short.
func quoted(name string) string {
	const most = 80
	if len(name) > most {
		name = name[:most]
		for !utf8.ValidString(name) && len(name) > most-utf8.UTFMax {
			name = name[:len(name)-1]
		}
		name += "…"
	}
	return fmt.Sprintf("%+q", name)
}
