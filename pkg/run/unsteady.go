package run

import (
	"debug/buildinfo"
	"debug/elf"
	"path"
	"slices"
	"strings"
)

// runtimes are programs that run others, by the beginning of their names, and why
// what they execute differs from run to run.
var runtimes = []struct{ name, why string }{
	{"java", "the JVM compiles and collects garbage beside the program"},
	{"node", "Node.js compiles and collects garbage beside the program"},
	{"deno", "Deno compiles and collects garbage beside the program"},
	{"bun", "Bun compiles and collects garbage beside the program"},
	{"dotnet", ".NET compiles and collects garbage beside the program"},
	{"pypy", "PyPy compiles the program when it has run for a while"},
	{"luajit", "LuaJIT compiles the program when it has run for a while"},
	{"julia", "Julia compiles the program while it runs"},
	{"python", "Python orders some tables by addresses and by a random seed"},
	{"ruby", "Ruby orders tables by a random seed"},
	{"php", "PHP may compile the program while it runs"},
}

// Unsteady says in a clause, where the program of s lets it be seen, what makes
// its counts differ between equal runs, for a reader who is told that they do; ""
// where it does not. Of a line for the shell the first word is looked at.
func (s Spec) Unsteady() string {
	word := s.words()[0]
	if s.Shell != "" {
		word, _, _ = strings.Cut(strings.TrimSpace(s.Shell), " ")
	}
	for _, r := range runtimes {
		if strings.HasPrefix(path.Base(word), r.name) {
			return r.why
		}
	}
	program := s.find(word)
	if program == "" {
		return ""
	}
	if _, err := buildinfo.ReadFile(program); err == nil {
		return "it is a Go program, whose garbage collector and scheduler work beside it"
	}
	f, err := elf.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	imported, err := f.ImportedSymbols()
	if err != nil {
		return "" // linked statically
	}
	// C++'s std::thread is in a library of its own, which does the rest.
	if slices.ContainsFunc(imported, func(s elf.ImportedSymbol) bool {
		return s.Name == "pthread_create" || s.Name == "thrd_create" || strings.HasPrefix(s.Name, "_ZNSt6thread15_M_start_thread")
	}) {
		return "it starts threads, and how long one waits for another differs"
	}
	return ""
}
