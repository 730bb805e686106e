package github

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestArchive(t *testing.T) {
	entries := []Entry{{"record.json", []byte(`{"a":1}`)}, {"raw/output.txt", bytes.Repeat([]byte("line\n"), 1000)}, {"empty", []byte{}}}
	a, err := WriteArchive(entries...)
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := WriteArchive(entries...); !bytes.Equal(a, b) {
		t.Error("the same entries make other bytes")
	}
	got, err := ReadArchive(a, DefaultArchiveLimits, "raw/output.txt", "empty", "record.json")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Entry{entries[1], entries[2], entries[0]} {
		if got[i].Name != want.Name || !bytes.Equal(got[i].Data, want.Data) {
			t.Errorf("entry %d is %q with %d bytes, want %q", i, got[i].Name, len(got[i].Data), want.Name)
		}
	}
	for _, bad := range [][]Entry{{{"../x", nil}}, {{"/x", nil}}, {{"", nil}}, {{".", nil}}, {{`a\b`, nil}}, {{"x/", nil}}, {{"x", nil}, {"x", nil}}} {
		if _, err := WriteArchive(bad...); err == nil {
			t.Errorf("%q is written", bad)
		}
	}
}

// TestArchiveOfUploadArtifact reads what actions/upload-artifact writes: sizes
// behind the data, and the mode of Unix.
func TestArchiveOfUploadArtifact(t *testing.T) {
	streamed := zipped(t, func(w *zip.Writer) {
		h := &zip.FileHeader{Name: "record.json", Method: zip.Deflate}
		h.SetMode(0o644)
		add(t, w, h, "content")
	})
	got, err := ReadArchive(streamed, DefaultArchiveLimits, "record.json")
	if err != nil || string(got[0].Data) != "content" {
		t.Errorf("ReadArchive = %q, %v", got, err)
	}
}

func zipped(t testing.TB, write func(*zip.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func add(t testing.TB, w *zip.Writer, h *zip.FileHeader, content string) {
	t.Helper()
	f, err := w.CreateHeader(h)
	if err == nil && !strings.HasSuffix(h.Name, "/") {
		_, err = io.WriteString(f, content)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// named returns an archive with entries of these names.
func named(t testing.TB, names ...string) []byte {
	return zipped(t, func(w *zip.Writer) {
		for _, n := range names {
			add(t, w, &zip.FileHeader{Name: n, Method: zip.Deflate}, "x")
		}
	})
}

// poisoned are archives that are not to be read, each by what is wrong with it.
func poisoned(t testing.TB) map[string][]byte {
	good := named(t, "record.json")
	directory := bytes.Index(good, []byte("PK\x01\x02"))
	end := len(good) - 22
	patch := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	mode := func(m fs.FileMode) []byte {
		return zipped(t, func(w *zip.Writer) {
			h := &zip.FileHeader{Name: "record.json", Method: zip.Deflate}
			h.SetMode(m)
			add(t, w, h, "/etc/passwd")
		})
	}
	all := map[string][]byte{
		"nothing":                    {},
		"no archive":                 []byte("PK and then something else than an archive"),
		"an archive cut off":         good[:len(good)-1],
		"no entry":                   named(t),
		"another name":               named(t, "other.json"),
		"one too many":               named(t, "record.json", "other.json"),
		"twice the same":             named(t, "record.json", "record.json"),
		"a way up":                   named(t, "../record.json"),
		"a way around":               named(t, "./record.json"),
		"from the root":              named(t, "/record.json"),
		"by backslashes":             named(t, `..\record.json`),
		"another case":               named(t, "Record.json"),
		"a blank after":              named(t, "record.json "),
		"a NUL after":                named(t, "record.json\x00.exe"),
		"no UTF-8":                   named(t, "record.json\xff"),
		"a long name":                named(t, strings.Repeat("x", 5_000)),
		"a directory":                named(t, "record.json/"),
		"more entries than allowed":  named(t, slices.Repeat([]string{"record.json"}, 17)...),
		"a link":                     mode(fs.ModeSymlink | 0o777),
		"a device":                   mode(fs.ModeDevice | 0o600),
		"encrypted":                  patch(directory+8, good[directory+8]|1),
		"an unusual method":          patch(directory+10, 99),
		"something behind":           append(bytes.Clone(good), "trailing"...),
		"another archive behind":     append(bytes.Clone(good), named(t, "other.json")...),
		"another archive before":     append(named(t, "other.json"), good...),
		"something before":           append([]byte("#!/bin/sh\n"), good...),
		"a comment":                  append(patch(end+20, 3, 0), "abc"...),
		"a wrong sum":                patch(directory+16, good[directory+16]^0xff),
		"smaller than it says":       patch(directory+24, 0xff, 0xff, 0, 0),
		"larger than it says":        patch(directory+24, 0, 0, 0, 0),
		"packed larger than all":     patch(directory+20, 0xff, 0xff, 0xff, 0x7f),
		"an offset behind the end":   patch(directory+42, 0xff, 0xff, 0xff, 0x7f),
		"more records than it has":   patch(end+8, 0xff, 0xff, 0xff, 0xff),
		"a directory behind the end": patch(end+16, 0xff, 0xff, 0xff, 0x7f),
		"zip64 sizes":                zip64(t, good, directory, end, math.MaxUint64, math.MaxUint64),
		"zip64, unpacked alone":      zip64(t, good, directory, end, math.MaxInt64, 3),
		"a bomb":                     bomb(t, 2<<20),
		"entries that overlap":       overlapping(t),
	}
	return all
}

// bomb returns an archive whose entry is n zeros.
func bomb(t testing.TB, n int) []byte {
	return zipped(t, func(w *zip.Writer) {
		f, err := w.Create("record.json")
		if err != nil {
			t.Fatal(err)
		}
		for zeros := make([]byte, 1<<20); n > 0; n -= len(zeros) {
			if _, err := f.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// zip64 gives the entry's sizes as 64-bit numbers of someone's choice.
func zip64(t testing.TB, good []byte, directory, end int, unpacked, packed uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	b.Write(good[:directory])
	record := bytes.Clone(good[directory:end])
	extra := []byte{1, 0, 16, 0}
	extra = binary.LittleEndian.AppendUint64(extra, unpacked)
	extra = binary.LittleEndian.AppendUint64(extra, packed)
	copy(record[20:], "\xff\xff\xff\xff\xff\xff\xff\xff")
	binary.LittleEndian.PutUint16(record[30:], uint16(len(extra)))
	b.Write(record)
	b.Write(extra)
	tail := bytes.Clone(good[end:])
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(record)+len(extra)))
	b.Write(tail)
	return b.Bytes()
}

// overlapping returns an archive whose two entries are one and the same bytes,
// as D. Fifield, "A better zip bomb", WOOT 2019, makes them.
func overlapping(t testing.TB) []byte {
	t.Helper()
	content := []byte("shared")
	header := func(name string) []byte {
		b := []byte("PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(content))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
		b = binary.LittleEndian.AppendUint16(b, uint16(len(name)))
		b = binary.LittleEndian.AppendUint16(b, 0)
		return append(b, name...)
	}
	local := append(header("record.json"), content...)
	out := bytes.Clone(local)
	for _, name := range []string{"record.json", "raw.json"} {
		h := header(name)
		r := append([]byte("PK\x01\x02\x14\x00"), h[4:30]...)
		r = append(r, make([]byte, 14)...)
		r = append(r, name...)
		out = append(out, r...)
	}
	size := len(out) - len(local)
	out = append(out, "PK\x05\x06\x00\x00\x00\x00\x02\x00\x02\x00"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(size))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(local)))
	return append(out, 0, 0)
}

func TestPoisonedArchives(t *testing.T) {
	for name, data := range poisoned(t) {
		t.Run(name, func(t *testing.T) {
			want := []string{"record.json"}
			if name == "entries that overlap" {
				want = append(want, "raw.json")
			}
			got, err := ReadArchive(data, DefaultArchiveLimits, want...)
			if !errors.Is(err, ErrArchive) || got != nil {
				t.Fatalf("ReadArchive = %d entries, %v, want %v", len(got), err, ErrArchive)
			}
			if s := err.Error(); len(s) > 400 || strings.ContainsAny(s, "\n\r\x1b\x00") {
				t.Errorf("the error is not one short line: %q", s)
			}
			t.Log(err)
		})
	}
	// That the overlap is what is wrong with it, and not its making.
	if _, err := ReadArchive(overlapping(t), DefaultArchiveLimits, "record.json", "raw.json"); !strings.Contains(fmt.Sprint(err), "overlap") {
		t.Errorf("the overlap is refused for another reason: %v", err)
	}
}

func TestArchiveLimits(t *testing.T) {
	data := zipped(t, func(w *zip.Writer) {
		for _, n := range []string{"a", "b"} {
			add(t, w, &zip.FileHeader{Name: n, Method: zip.Store}, strings.Repeat(n, 100))
		}
	})
	ok := ArchiveLimits{Compressed: int64(len(data)), Entries: 2, Entry: 100, Total: 200, Ratio: 1}
	if _, err := ReadArchive(data, ok, "a", "b"); err != nil {
		t.Errorf("at the limits: %v", err)
	}
	for name, lower := range map[string]func(*ArchiveLimits){
		"compressed": func(l *ArchiveLimits) { l.Compressed-- },
		"entries":    func(l *ArchiveLimits) { l.Entries-- },
		"entry":      func(l *ArchiveLimits) { l.Entry-- },
		"total":      func(l *ArchiveLimits) { l.Total-- },
	} {
		l := ok
		lower(&l)
		if _, err := ReadArchive(data, l, "a", "b"); !errors.Is(err, ErrArchive) {
			t.Errorf("above the limit of %s: error %v, want %v", name, err, ErrArchive)
		}
	}
}

// FuzzReadArchive shows that what is read is within the limits and named as
// wanted, whatever the archive, and can be written and read again.
func FuzzReadArchive(f *testing.F) {
	for _, data := range poisoned(f) {
		f.Add(data)
	}
	f.Add(named(f, "record.json"))
	f.Add(named(f, "record.json", "raw.json"))
	limits := ArchiveLimits{Compressed: 1 << 20, Entries: 4, Entry: 1 << 18, Total: 1 << 19, Ratio: 200}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, names := range [][]string{{"record.json"}, {"record.json", "raw.json"}} {
			entries, err := ReadArchive(data, limits, names...)
			if err != nil {
				if !errors.Is(err, ErrArchive) || entries != nil {
					t.Errorf("%d entries, %v, want none and %v", len(entries), err, ErrArchive)
				}
				continue
			}
			var total int64
			for i, e := range entries {
				if e.Name != names[i] || int64(len(e.Data)) > limits.Entry {
					t.Errorf("entry %q of %d bytes", e.Name, len(e.Data))
				}
				total += int64(len(e.Data))
			}
			if len(entries) != len(names) || total > limits.Total {
				t.Errorf("%d entries of %d bytes", len(entries), total)
			}
			again, err := WriteArchive(entries...)
			if err != nil {
				t.Fatal(err)
			}
			l := limits
			l.Ratio = math.MaxInt64 // ours may pack better
			l.Compressed = math.MaxInt64
			back, err := ReadArchive(again, l, names...)
			if err != nil {
				t.Fatal(err)
			}
			for i := range back {
				if !bytes.Equal(back[i].Data, entries[i].Data) {
					t.Errorf("entry %q changed", back[i].Name)
				}
			}
		}
	})
}
