package format_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/format"
)

// TestCriterionFiles checks that a file's benchmark is named by its path, and
// that a file of another run is refused.
func TestCriterionFiles(t *testing.T) {
	criterion, err := format.ByName("criterion")
	if err != nil {
		t.Fatal(err)
	}
	sample := string(read(t, filepath.Join(testdata, "criterion", "sample.txt")))
	for _, tt := range []struct{ path, want, err string }{
		{"target/criterion/sum/iter/1000/new/sample.json", "sum/iter/1000", ""},
		{`C:\work\target\criterion\fib 20\new\sample.json`, "fib 20", ""},
		{"/src/criterion/criterion.rs/target/criterion/fib/main/sample.json", "fib", ""},
		{"fib/new/sample.json", "fib", ""},
		{"copies/base/./sum/iter/new/sample.json", "sum/iter", ""},
		{"copies/./target/criterion/fib/new/sample.json", "fib", ""},
		{"results/sample.json", "", ""},
		{"sample.json", "", ""},
		{"target/criterion/fib/base/sample.json", "", "of another: read target/criterion/**/new/sample.json"},
		{"target/criterion/fib/change/estimates.json", "", "have one of change/"},
	} {
		n := 0
		for res, err := range criterion.Read(strings.NewReader(sample), tt.path) {
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("Read(%q) = %v, %v, want the error %q", tt.path, res, err, tt.err)
				}
				continue
			}
			if n++; err != nil || res.Name != tt.want {
				t.Errorf("Read(%q) = %q, %v, want %q", tt.path, res.Name, err, tt.want)
			}
		}
		if tt.err == "" && n != 1 {
			t.Errorf("Read(%q) yields %d results, want 1", tt.path, n)
		}
	}
}
