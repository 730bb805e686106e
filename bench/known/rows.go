package known

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// Rows reads a file for a test of a package two folders below the repository. The
// test is skipped where the measurements are not at hand.
func Rows(t testing.TB, name string) []Row {
	t.Helper()
	rows, err := Read(filepath.Join("..", "..", "..", "shared", "detect"), name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
