package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/encoding/unicode"

	"github.com/noslower/noslower/pkg/baseline"
	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
)

// Bounds on what is read.
const (
	maxInput    = 256 << 20 // bytes of one file
	maxFiles    = 10_000    // files of one side
	maxWarnings = 20        // warnings of one side; the rest are counted
)

// A reader reads benchmark output in one format, or in whatever format it
// recognises, and says on hint once which one that was.
type reader struct {
	format *format.Format // nil where it is to be recognised
	suite  string         // of what names none
	named  bool           // that everything is of it, whatever it names
	hint   io.Writer
	hinted map[string]bool
	mutex  sync.Mutex // of hinted: sides are read at the same time
}

// newReader returns a reader of the format that is asked for, which may be one
// that the suite describes.
func newReader(o *optionSet, hint io.Writer) (*reader, error) {
	r := &reader{suite: o.Suite, named: o.given["suite"], hint: hint, hinted: map[string]bool{}}
	if o.Format == "auto" || o.Format == formatNone { // files that are given have something in them
		return r, nil
	}
	var f format.Format
	var err error
	if slices.Contains(format.CustomNames(), o.Format) {
		f, err = customFormat(o.Format, o.suite.Parse)
	} else {
		f, err = format.ByName(o.Format)
	}
	if err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	r.format = &f
	return r, nil
}

// newFileReader is newReader for commands that read nothing but the files they are
// given.
func newFileReader(o *optionSet, hint io.Writer) (*reader, error) {
	if o.given["format"] && o.Format == formatNone {
		return nil, errors.New("--format none: it is of a command whose output holds no measurement, and files are read for theirs: leave it out")
	}
	return newReader(o, hint)
}

// A side is what is gathered of one side before it is decided on.
type side struct {
	bench.Measurements
	runs     int
	warnings []string

	// left is the artifact of this run that holds all of it; "" where none does.
	left string

	// Of a record:
	origin    string
	jobs      []baseline.Job
	standards []baseline.Standard
	past      *baseline.Record // whose jobs are before head's; nil where there is none
	earlier   []baseline.Job   // before those
}

// A source is what is read: a file as it lies on the disk, which may be larger
// than memory, or what is in memory.
type source interface {
	io.ReaderAt
	Size() int64
}

// inUTF8 returns what is read as UTF-8, where it is UTF-16 with a byte order mark, as
// PowerShell's ">" may write it. The mark alone may be anything; in UTF-16 every
// digit and line end has a byte 0, which no other text has.
func inUTF8(name string, in source) (source, error) {
	head := make([]byte, min(in.Size(), 512))
	n, _ := in.ReadAt(head, 0) // an error is told of by who reads on
	head = head[:n]
	isMarked := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	if !isMarked || bytes.IndexByte(head, 0) < 0 {
		return in, nil
	}
	decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
	data, err := readAllBounded(decoder.Reader(io.NewSectionReader(in, 0, in.Size())), name)
	return bytes.NewReader(data), err
}

// read adds a document to the side as the run with this number. A line that
// looks like a result and cannot be read becomes a warning.
func (r *reader) read(s *side, run int, name string, in source) error {
	in, err := inUTF8(name, in)
	if err != nil {
		return err
	}
	f, err := r.pick(name, in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	results := 0
	var unreadable []error
	for result, err := range f.Read(io.NewSectionReader(in, 0, in.Size()), name) {
		_, isLine := errors.AsType[*format.LineError](err)
		switch {
		case isLine:
			unreadable = append(unreadable, err)
			s.warnings = append(s.warnings, err.Error())
			continue
		case err != nil:
			return err
		}
		results++
		if err := s.Set.Add(run, result); err != nil {
			s.warnings = append(s.warnings, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if len(unreadable) > 0 && results == 0 {
		first := unreadable[:min(len(unreadable), 3)]
		return fmt.Errorf("%s: no result in it can be read as %s (%s); of %d lines that look like one: %w", name, f.Name, f.Tool, len(unreadable), errors.Join(first...))
	}
	if results == 0 {
		return fmt.Errorf("%s: no result in it as %s (%s): want %s", name, f.Name, f.Tool, f.How)
	}
	return nil
}

func (r *reader) pick(name string, in io.ReaderAt) (format.Format, error) {
	if r.format != nil {
		return *r.format, nil
	}
	f, err := format.Detect(in)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err == nil && !r.hinted[f.Name] {
		r.hinted[f.Name] = true
		fmt.Fprintf(r.hint, "%s: read as %s (%s)\n", name, f.Name, f.Tool)
	}
	return f, err
}

// recognises reports whether there is anything to read in data.
func (r *reader) recognises(data []byte) bool {
	in := bytes.NewReader(data)
	if r.format == nil {
		_, err := format.Detect(in)
		return !errors.Is(err, format.ErrUnknown)
	}
	for _, err := range r.format.Read(in, "") {
		if err == nil {
			return true
		}
	}
	return false
}

// isBare reports whether nothing but itself says that data is a benchmark's output.
func (r *reader) isBare(data []byte) bool {
	if r.format != nil {
		return false // the user says it
	}
	f, err := format.Detect(bytes.NewReader(data))
	return err == nil && f.Bare
}

// A gathering is what files say, a side for each suite in the order first seen.
type gathering []*side

// of returns the side of a suite.
func (g *gathering) of(suite string) *side {
	for _, s := range *g {
		if s.Suite == suite {
			return s
		}
	}
	s := &side{Measurements: bench.Measurements{Suite: suite, Set: &bench.Set{}}}
	*g = append(*g, s)
	return s
}

// only returns the side where there is but one: values of two suites under one
// name are no sample.
func (g gathering) only() (side, error) {
	if len(g) > 1 {
		return side{}, fmt.Errorf("want one suite, have %s: read one at a time, or name the one that all of it is of by --suite", g.names())
	}
	s := side{Measurements: bench.Measurements{Set: &bench.Set{}}}
	if len(g) == 1 {
		s = *g[0]
	}
	return s, nil
}

// names lists the suites.
func (g gathering) names() string {
	var names []string
	for _, s := range g {
		names = append(names, fmt.Sprintf("%q", s.Suite))
	}
	return strings.Join(names, ", ")
}

// bound bounds the warnings of each side.
func (g gathering) bound() {
	for _, s := range g {
		s.bound()
	}
}

// readSide reads a side from a file, a folder, or a glob of either: each file is
// one run, and so is a folder of Criterion.rs.
func (r *reader) readSide(where string) (side, error) {
	g, err := r.readSides(where)
	if err != nil {
		return side{}, err
	}
	s, err := g.only()
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", where, err)
	}
	return s, nil
}

// readSides reads what may be several suites.
func (r *reader) readSides(where string) (gathering, error) {
	paths, err := filesOf(where)
	if err != nil {
		return nil, err
	}
	var g gathering
	for i, path := range paths {
		if _, err := r.readFile(&g, i, path); err != nil {
			return nil, err
		}
	}
	g.bound()
	return g, nil
}

// readFile reads one file and returns the side that it belongs to.
func (r *reader) readFile(g *gathering, run int, path string) (*side, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return r.readTree(g, run, path)
	case !info.Mode().IsRegular(): // a pipe can be read but once
		data, err := readAllBounded(f, path)
		if err != nil {
			return nil, err
		}
		return r.readDocument(g, run, path, bytes.NewReader(data))
	case info.Size() > maxInput:
		return nil, tooLarge(path)
	}
	return r.readDocument(g, run, path, io.NewSectionReader(f, 0, info.Size()))
}

// readTree reads the files of a folder of Criterion.rs, which has one for each
// benchmark, as one run. One that cannot be read becomes a warning, if others can.
func (r *reader) readTree(g *gathering, run int, folder string) (*side, error) {
	files, err := criterionFiles(folder)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: want a file, or a folder of Criterion.rs, which has NAME/new/sample.json: name the files in it", folder)
	}
	s := g.of(r.suite)
	before := s.runs
	var faults []error
	for _, path := range files {
		if _, err := r.readFile(g, run, path); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) == len(files) {
		return nil, errors.Join(faults[:min(len(faults), 3)]...)
	}
	for _, fault := range faults {
		s.warnings = append(s.warnings, fault.Error())
	}
	s.runs = before + 1
	return s, nil
}

// criterionFiles lists the files of the latest values below a folder of Criterion.rs,
// or of their statistics where the values are missing. In each path "/./" stands
// where the folder ends and the benchmark's name begins.
func criterionFiles(folder string) ([]string, error) {
	var files []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Base(path.Dir(at)) != "new" {
			return err
		}
		switch file := strings.TrimRight(folder, "/") + "/./" + at; path.Base(at) {
		case "sample.json":
			if n := len(files); n > 0 && path.Dir(files[n-1]) == path.Dir(file) {
				files = files[:n-1] // which are its statistics
			}
			files = append(files, file)
		case "estimates.json":
			files = append(files, file)
		}
		if len(files) > maxFiles {
			return fmt.Errorf("want at most %d files, have more", maxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	return files, nil
}

// readDocument reads one document and returns the side that it belongs to: one of
// ours brings its suite, where and when it was measured, too.
func (r *reader) readDocument(g *gathering, run int, name string, in source) (*side, error) {
	in, err := inUTF8(name, in)
	if err != nil {
		return nil, err
	}
	data, err := documentOf(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var record *baseline.Record
	var m bench.Measurements
	switch schema := schemaOf(data); {
	case strings.HasPrefix(schema, "noslower.record/"):
		record = &baseline.Record{}
		*record, err = baseline.Decode(data)
		m = record.Measurements
	case strings.HasPrefix(schema, "noslower.measurements/"):
		m, err = bench.DecodeMeasurements(data)
	default:
		s := g.of(r.suite)
		if err := r.read(s, run, name, in); err != nil {
			return nil, err
		}
		s.runs++
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if r.named || m.Suite == "" {
		m.Suite = r.suite
	}
	s := g.of(m.Suite)
	if record != nil {
		s.jobs, s.standards, s.past = record.Jobs, record.Policy, record
	}
	return s, s.merge(run, name, m)
}

// merge adds a measurements document to the side. Documents of several machines
// make one side, but no sample is of two of them.
func (s *side) merge(run int, path string, m bench.Measurements) error {
	if s.runs == 0 {
		set := s.Set
		s.Measurements = m
		s.Set = set
	}
	s.warnings = append(s.warnings, m.Warnings...)
	s.Measurements.Warnings = nil
	s.runs += m.Set.Launches()
	for _, sample := range m.Set.Samples() {
		machine := cmp.Or(sample.Machine, m.Host.Class())
		for i, values := range sample.Launches {
			result := bench.Result{Name: sample.Benchmark, Launch: i, Machine: machine, Counted: sample.Counted}
			for _, v := range values {
				result.Values = append(result.Values, bench.Value{Metric: sample.Metric, V: v, Statistic: sample.Spread})
			}
			if err := s.Set.Add(run, result); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

// bound keeps a report readable that would repeat a warning for every line.
func (s *side) bound() {
	s.warnings = slices.Compact(s.warnings)
	if n := len(s.warnings); n > maxWarnings {
		s.warnings = append(s.warnings[:maxWarnings], fmt.Sprintf("%d more warnings of this kind", n-maxWarnings))
	}
	s.Warnings = s.warnings
}

// documentOf returns what may be a document of ours: an input that begins as a
// JSON object does, or nothing.
func documentOf(in source) ([]byte, error) {
	const beginning = 512
	head := make([]byte, min(in.Size(), beginning))
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return nil, nil
	}
	data := make([]byte, in.Size())
	_, err := in.ReadAt(data, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data, err
}

// schemaOf returns the schema that a JSON document names; "" if it is none.
func schemaOf(data []byte) string {
	var head struct {
		Schema string `json:"schema"`
	}
	if len(data) == 0 || json.Unmarshal(data, &head) != nil {
		return ""
	}
	return head.Schema
}

// filesOf lists the files of a side by name, and folders of Criterion.rs.
func filesOf(where string) ([]string, error) {
	if info, err := os.Stat(where); err == nil {
		if !info.IsDir() {
			return []string{where}, nil
		}
		return filesIn(where)
	}
	if !strings.ContainsAny(where, "*?[{") {
		return nil, fmt.Errorf("%s: there is no such file or folder", where)
	}
	matched, err := doublestar.FilepathGlob(where)
	if err != nil {
		return nil, fmt.Errorf("%s: want a file, a folder or a glob: %w", where, err)
	}
	var files []string
	for _, path := range matched {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			in, err := filesIn(path)
			if err != nil {
				return nil, err
			}
			files = append(files, in...)
		default:
			files = append(files, path)
		}
	}
	return someFiles(where, files)
}

func filesIn(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if len(files) > 0 {
		return someFiles(folder, files)
	}
	switch below, err := criterionFiles(folder); {
	case err != nil:
		return nil, err
	case len(below) == 0:
		return nil, fmt.Errorf("%s: there is no file in it, nor a NAME/new/sample.json of Criterion.rs below it: "+
			"a glob such as %q reads files further down", folder, filepath.Join(folder, "**", "*.json"))
	}
	return []string{folder}, nil
}

func someFiles(where string, files []string) ([]string, error) {
	switch {
	case len(files) == 0:
		return nil, fmt.Errorf("%s: there is no file in it", where)
	case len(files) > maxFiles:
		return nil, fmt.Errorf("%s: want at most %d files, have %d", where, maxFiles, len(files))
	}
	slices.Sort(files)
	return files, nil
}

// readBounded reads a file that is not larger than any input may be.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAllBounded(f, path)
}

func readAllBounded(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, tooLarge(name)
	}
	return data, nil
}

func tooLarge(name string) error {
	return fmt.Errorf("%s: want at most %d MiB, have more", name, maxInput>>20)
}
