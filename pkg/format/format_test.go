package format_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/bench"
	"github.com/noslower/noslower/pkg/format"
)

var update = flag.Bool("update", false, "write the .golden files anew from what is read now")

const testdata = "../../testdata/format"

// inputs returns every input of a format that stands in testdata.
func inputs(t testing.TB, name string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testdata, name, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// golden compares got with the file at path, or writes it with -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: go test ./pkg/format -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("%s differs: have\n%s\nwant\n%s\n(if what is read now is right: go test ./pkg/format -update)", path, got, want)
	}
}

// TestRead reads every testdata/format/<name>/*.txt and compares what comes
// out, errors included, with the .golden file beside it.
func TestRead(t *testing.T) {
	for _, f := range format.All() {
		files := inputs(t, f.Name)
		if len(files) == 0 {
			t.Errorf("format %q has no input under %s/%[1]s", f.Name, testdata)
		}
		for _, path := range files {
			t.Run(f.Name+"/"+filepath.Base(path), func(t *testing.T) {
				in, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()

				var got strings.Builder
				for res, err := range f.Read(in, filepath.Base(path)) {
					if err != nil {
						fmt.Fprintln(&got, "error:", err)
						continue
					}
					for _, v := range res.Values {
						fmt.Fprintf(&got, "%s\t%d\t%s\t%.9g\t%s\t%s%s\n",
							res.Name, res.Launch, v.Metric.Name, v.V, v.Metric.Unit, v.Metric.Better, statistic(v.Statistic))
					}
				}
				golden(t, strings.TrimSuffix(path, ".txt")+".golden", got.String())
			})
		}
	}
}

// statistic says what a golden line's value is where it was not measured
// itself: "statistic", with its spread and the count behind it if they are
// known.
func statistic(s *bench.Spread) string {
	if s == nil {
		return ""
	}
	text := "\tstatistic"
	if s.Kind != bench.NoSpread {
		text += fmt.Sprintf(" %s %.9g", s.Kind, s.Value)
	}
	if s.Count != 0 {
		text += fmt.Sprintf(" of %d", s.Count)
	}
	return text
}

// TestDetect checks that every input in testdata is claimed by its own format
// and by no other.
func TestDetect(t *testing.T) {
	for _, f := range format.All() {
		for _, path := range inputs(t, f.Name) {
			got, err := format.Detect(bytes.NewReader(read(t, path)))
			if err != nil || got.Name != f.Name {
				t.Errorf("Detect(%s) = %q, %v, want %q", path, got.Name, err, f.Name)
			}
		}
	}
}

// TestDetectSeveral checks that the output of two tools in one file is refused
// with the names of both, whichever is first, and that a format whose lines may
// stand among any others yields.
func TestDetectSeveral(t *testing.T) {
	type output struct {
		format format.Format
		text   string
	}
	var outputs []output
	for _, f := range format.All() {
		for _, text := range []string{largestText(t, f.Name), smallestDocument(t, f)} {
			if text != "" {
				outputs = append(outputs, output{f, text})
			}
		}
	}
	for _, a := range outputs {
		for _, b := range outputs {
			first, second := min(a.format.Name, b.format.Name), max(a.format.Name, b.format.Name)
			if first == second {
				continue
			}
			refusal := fmt.Sprintf("it may be output of %s or of %s: ", first, second)
			between := "\n"
			if document := strings.TrimRight(a.text, "\n"); json.Valid([]byte(document)) {
				a.text, between = document, "" // as of a tool that ends its document without a line end
			}
			got, err := format.Detect(strings.NewReader(a.text + between + b.text))
			switch isRefused := err != nil && strings.HasPrefix(err.Error(), refusal); {
			case second == "sides" && a.format.General && b.format.General, // whose rows are neither labelled nor numbers
				second == "time" && first == "numbers": // which what is timed prints
				if got.Name != second {
					t.Errorf("%s and %s in one file: %q, %v, want %s", a.format.Name, b.format.Name, got.Name, err, second)
				}
			case a.format.General != b.format.General:
				if err != nil || got.General {
					t.Errorf("%s and %s in one file: %q, %v, want the one that is not general", a.format.Name, b.format.Name, got.Name, err)
				}
			case !isRefused:
				t.Errorf("%s and %s in one file: %q, %v, want an error with both names", a.format.Name, b.format.Name, got.Name, err)
			}
		}
	}
}

// TestDetectValgrind checks that profiles of Cachegrind and of Callgrind, and what
// they print, are told apart in one file: they have the same counts.
func TestDetectValgrind(t *testing.T) {
	const refusal = "it may be output of cachegrind or of callgrind: "
	for _, a := range inputs(t, "cachegrind") {
		for _, b := range inputs(t, "callgrind") {
			first, second := string(read(t, a)), string(read(t, b))
			for _, text := range []string{first + "\n" + second, second + "\n" + first} {
				if got, err := format.Detect(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), refusal) {
					t.Errorf("%s and %s in one file: %q, %v, want an error with both names", a, b, got.Name, err)
				}
			}
		}
	}
}

// TestDetectNothing checks that no format claims what is no benchmark's output.
func TestDetectNothing(t *testing.T) {
	for name, input := range map[string]string{
		"nothing":   "",
		"clocks":    "encode 2:05\ndecode 1:59\n",
		"newlines":  "\n\r\n\n",
		"a build":   "[1/2] Compiling main.cc\n[2/2] Linking bench\n0 errors, 3 warnings (1.5s)\n",
		"a test":    "=== RUN   TestRead\n--- PASS: TestRead (0.00s)\nPASS\nok  \texample.com/read\t0.002s\n",
		"a table":   "name  size  date\na     12    2026-01-01\n",
		"columns":   "1 12.5\n2 12.7\n",
		"a column":  "12.5\n1 2 3\n",
		"a clock":   "12:34:56\n",
		"a day":     "2026-11-30\n",
		"a version": "1.26.8\n",
		"decimal":   "12,5\n",
		"a count":   "12 files\n",
		"some JSON": `{"name": "read", "stats": {"size": 12}}`,
		"binary":    "\x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe",
	} {
		if f, err := format.Detect(strings.NewReader(input)); err == nil {
			t.Errorf("Detect(%s) = %q, want no format", name, f.Name)
		}
	}
}

// TestByName checks that each name leads to its format and that an unknown name
// lists the known ones.
func TestByName(t *testing.T) {
	for _, f := range format.All() {
		if got, err := format.ByName(f.Name); err != nil || got.Name != f.Name {
			t.Errorf("ByName(%q) = %q, %v", f.Name, got.Name, err)
		}
		if f.Tool == "" || f.How == "" || f.Print == "" || strings.Contains(f.Tool+f.How+f.Print, "\n") {
			t.Errorf("format %q does not say its tool, how to print it and how it is recognised, each on a line", f.Name)
		}
	}
	if _, err := format.ByName("nonsense"); err == nil || !strings.Contains(err.Error(), format.Names()[0]) {
		t.Errorf("ByName(nonsense): want the names of the formats in the error, have %v", err)
	}
}

// sizes are those over which time per byte must be flat.
var sizes = []struct {
	name string
	n    int
}{{"1KiB", 1 << 10}, {"1MiB", 1 << 20}, {"64MiB", 64 << 20}}

// BenchmarkDetect looks for a format in a log that has no results: every line of
// it may be tried by every format.
func BenchmarkDetect(b *testing.B) {
	const text = "INFO  2026-01-01 00:00:00,123 [shard 0:main] compaction - 12 sstables of 345 MB in 678 ms\n"
	for _, size := range sizes {
		log := []byte(strings.Repeat(text, 1+size.n/len(text)))
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				if f, err := format.Detect(bytes.NewReader(log)); err == nil {
					b.Fatalf("Detect: a log is taken for %s", f.Name)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(log)), "ns/byte")
		})
	}
}

// BenchmarkDetectKnown looks for a format in large inputs of one: of text, as
// events of a line each, and as one document.
func BenchmarkDetectKnown(b *testing.B) {
	for _, input := range []struct {
		format, before, part, after string
		size                        int
	}{
		{"go", "", "BenchmarkEncode/size=1024-8   \t  690848\t      1726 ns/op\t     512 B/op\t       3 allocs/op\n", "", 64 << 20},
		{"go", "", `{"Time":"2026-01-01T00:00:00.123456789Z","Action":"output","Package":"example.com/a","Output":"BenchmarkA-8 \t 100 \t 5 ns/op\n"}` + "\n", "", 64 << 20},
		{"hyperfine", `{"results": [`, `{"command": "a", "mean": 1, "user": 1, "system": 1, "times": [0.1034, 0.1071, 0.1059, 0.1044]},` + "\n", "{}]}\n", 16 << 20},
	} {
		text := input.before + strings.Repeat(input.part, input.size/len(input.part)) + input.after
		b.Run(fmt.Sprintf("%s/%.20s", input.format, text), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if f, err := format.Detect(strings.NewReader(text)); err != nil || f.Name != input.format {
					b.Fatalf("Detect = %q, %v, want %q", f.Name, err, input.format)
				}
			}
		})
	}
}

// smallestDocument returns the smallest input of a format that is a document and
// is read without a fault.
func smallestDocument(t testing.TB, f format.Format) string {
	t.Helper()
	smallest := ""
	for _, path := range inputs(t, f.Name) {
		text := strings.TrimPrefix(string(read(t, path)), "\ufeff")
		if hasDocument(text) && (smallest == "" || len(text) < len(smallest)) && len(results(f, text)) > 0 && lastError(f, text) == nil {
			smallest = text
		}
	}
	return smallest
}

// largestText returns the largest input of a format that is no document.
func largestText(t testing.TB, name string) string {
	t.Helper()
	largest := ""
	for _, path := range inputs(t, name) {
		data := strings.TrimPrefix(string(read(t, path)), "\ufeff")
		isDocument := strings.ContainsAny(data[:1], "{[<") || strings.Contains(data, "\n{")
		if !isDocument && len(data) > len(largest) {
			largest = strings.TrimSuffix(data, "\n") + "\n"
		}
	}
	return largest
}
