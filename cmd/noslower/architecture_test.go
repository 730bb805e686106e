package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/noslower/noslower/"

// mayImport says which packages of ours each package may import. Edges speak
// bytes and strings; what is pure stands on bench and stat.
var mayImport = map[string][]string{
	"pkg/bench":    {},
	"pkg/stat":     {},
	"pkg/run":      {},
	"pkg/github":   {},
	"pkg/format":   {"pkg/bench"},
	"pkg/baseline": {"pkg/bench"},
	"pkg/gate":     {"pkg/bench", "pkg/stat"},
	"pkg/report":   {"pkg/gate", "pkg/bench", "pkg/stat"},

	"pkg/github/githubtest": {}, // a GitHub for tests: no program may import it
}

// edges touch the world; every other package of mayImport is a function of its
// arguments.
var edges = []string{"pkg/run", "pkg/github", "pkg/github/githubtest"}

// worldly are the packages through which the world is reached.
var worldly = []string{
	"os", "os/exec", "os/signal", "os/user", "io/ioutil", "net", "net/http", "syscall", "log", "log/slog", "math/rand", "crypto/rand",
	"golang.org/x/sys/unix", "golang.org/x/term", "plugin", "embed",
}

// worldlyFunctions are those of otherwise pure packages.
var worldlyFunctions = map[string][]string{
	"time":          {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"path/filepath": {"Abs", "EvalSymlinks", "Glob", "Walk", "WalkDir"},
	"fmt":           {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"math/rand/v2":  {"Int", "IntN", "Float64", "NormFloat64", "Perm", "Shuffle", "Uint64", "N"},
}

// onlyImporter has libraries that one file alone may import.
var onlyImporter = map[string]string{
	"github.com/sethvargo/go-githubactions": "pkg/github/runner.go",
}

func TestArchitecture(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "pkg"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		seen[packageOf(rel)] = true
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, fault := range architectureFaults(t, rel, data) {
			t.Error(fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for p := range mayImport {
		if !seen[p] {
			t.Errorf("%s is in the table, but has no file", p)
		}
	}
}

// TestArchitectureCatches shows that the check can fail, for each of its rules.
func TestArchitectureCatches(t *testing.T) {
	for _, tt := range []struct{ name, file, source, want string }{
		{"upward import", "pkg/bench/x.go", `import _ "github.com/noslower/noslower/pkg/gate"`, "may not import"},
		{"edge that knows the domain", "pkg/github/x.go", `import _ "github.com/noslower/noslower/pkg/bench"`, "may not import"},
		{"a ninth package", "pkg/util/x.go", ``, "is not one of the packages"},
		{"a file opened", "pkg/format/x.go", `import _ "os"`, "reaches the world"},
		{"the clock", "pkg/gate/x.go", "import \"time\"\nvar now = time.Now()", "time.Now"},
		{"the clock by another name", "pkg/gate/x.go", "import clock \"time\"\nvar now = clock.Now()", "time.Now"},
		{"a second importer", "pkg/github/x.go", `import _ "github.com/sethvargo/go-githubactions"`, "only pkg/github/runner.go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			faults := architectureFaults(t, tt.file, []byte("package x\n"+tt.source))
			if len(faults) != 1 || !strings.Contains(faults[0], tt.want) {
				t.Errorf("faults %q, want one with %q", faults, tt.want)
			}
		})
	}
}

func packageOf(file string) string { return filepath.ToSlash(filepath.Dir(file)) }

// architectureFaults returns what in a file breaks the rules.
func architectureFaults(t *testing.T, file string, source []byte) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg := packageOf(file)
	allowed, known := mayImport[pkg]
	if !known {
		return []string{file + " is not one of the packages of the house: before a new one, which of them would it otherwise spoil?"}
	}
	pure := !slices.Contains(edges, pkg)
	var faults []string
	names := map[string]string{} // local name → import path
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if name == "v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
		if ours, ok := strings.CutPrefix(path, module); ok && !slices.Contains(allowed, ours) {
			faults = append(faults, file+" may not import "+ours)
		}
		if pure && slices.Contains(worldly, path) {
			faults = append(faults, file+" reaches the world by "+path)
		}
		if only, ok := onlyImporter[path]; ok && file != only {
			faults = append(faults, file+" imports "+path+": only "+only+" may")
		}
	}
	if !pure {
		return faults
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok {
			if path := names[x.Name]; slices.Contains(worldlyFunctions[path], selector.Sel.Name) {
				faults = append(faults, file+" reaches the world by "+path+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return faults
}
