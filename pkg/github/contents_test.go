package github

import (
	"errors"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	f := start(t)
	content := "version: 1\n" + strings.Repeat("# ü\n", 100)
	f.AddFile("main", ".github/no slower.yml", []byte(content))
	c := client(t, f)
	if got, err := c.File(t.Context(), ".github/no slower.yml", "main"); err != nil || string(got) != content {
		t.Errorf("File = %q, %v, want %q", got, err, content)
	}
	for path, ref := range map[string]string{".github/noslower.yml": "main", ".github/no slower.yml": "topic"} {
		if _, err := c.File(t.Context(), path, ref); !errors.Is(err, ErrNotFound) {
			t.Errorf("File(%q, %q): error %v, want %v", path, ref, err, ErrNotFound)
		}
	}
}
