package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestResults runs a command in a folder that holds out/old.json, out/kept.json,
// and the symbolic link out/away to a folder elsewhere.
func TestResults(t *testing.T) {
	for _, tt := range []struct {
		name, command, glob string
		want                string // name=content…, or how the error goes on after "run 1 of …: "
	}{
		{"new file", "echo 1 >out/a.json", "out/*.json", "out/a.json=1\n"},
		{"binary", `printf 'a\000\377' >a`, "a", "a=a\x00\xff"},
		{"empty file", ": >out/a.json", "out/*.json", "out/a.json="},
		{"overwritten", "echo 1 >out/old.json", "out/*.json", "out/old.json=1\n"},
		{"overwritten with the same", "echo old >out/old.json", "out/*.json", "out/old.json=old\n"},
		{"time of change turned back", "echo new >out/old.json; touch -r out/kept.json out/old.json", "out/*.json", "out/old.json=new\n"},
		{"replaced", "echo old >out/x; touch -r out/old.json out/x; mv out/x out/old.json", "out/*.json", "out/old.json=old\n"},
		{"by name", "for i in c a b; do mkdir -p out/$i; echo $i >out/$i/x.json; done", "**/x.json", "out/a/x.json=a\n out/b/x.json=b\n out/c/x.json=c\n"},
		{"not those that do not match", "echo 1 >out/a.txt; echo 2 >out/a.json", "out/*.json", "out/a.json=2\n"},
		{"no folders", "mkdir out/a.json; echo 1 >out/b.json", "out/*", "out/b.json=1\n"},
		{"alternatives", "echo 1 >out/a.x; echo 2 >out/a.y", "./out/*.{x,y}", "out/a.x=1\n out/a.y=2\n"},
		{"a link and its file are one", "echo 1 >out/run-1.json; ln -s run-1.json out/latest.json", "out/*.json", "out/run-1.json=1\n"},
		{"a link to a file that does not match", "echo 1 >one; ln -s ../one out/latest.json", "out/*.json", "out/latest.json=1\n"},
		{"an old link to a new file", "echo 1 >here", "link", "link=1\n"},

		{"nothing written", ":", "out/*.json", `wrote no file that matches --results "out/*.json"; older ones (2) do not count: check that the command writes there`},
		{"nothing there", ":", "none/*.json", `wrote no file that matches --results "none/*.json": check that the command writes there, in its working directory`},
		{"removed", "rm out/*.json", "out/*.json", `wrote no file that matches --results "out/*.json": check that the command writes there, in its working directory`},
		{"a folder that leads out", "echo 1 >out/away/a.json", "out/away/*.json", `wrote no file that matches --results "out/away/*.json"; out/away cannot be looked into, or leads out of the working directory: write results below it`},
		{"not through such folders", "echo 1 >out/away/a.json", "**/a.json", `wrote no file that matches --results "**/a.json": check that the command writes there, in its working directory`},
		{"a link that leads out", "ln -s /etc/passwd out/a.json", "out/*.json", "result file out/a.json: a symbolic link that leads nowhere, or out of the working directory: write the file itself there"},
		{"a link in a loop", "ln -s a.json out/a.json", "out/*.json", "result file out/a.json: a symbolic link that leads nowhere, or out of the working directory: write the file itself there"},
		{"a FIFO", "mkfifo out/a.json", "out/*.json", "result file out/a.json: want a regular file, have p---------: match only the files that hold results"},
		{"too large", "head -c 2000 /dev/zero >out/a.json", "out/*.json", `wrote more than 1 KiB in the files that match --results "out/*.json": match only the files that hold results`},
		{"too large together", "for i in 1 2 3; do head -c 500 /dev/zero >out/$i.json; done", "out/*.json", `wrote more than 1 KiB in the files that match --results "out/*.json": match only the files that hold results`},
		{"too many", "cd out; seq 1001 | sed s/$/.json/ | xargs touch", "out/*.json", `wrote 1001 files that match --results "out/*.json", which is more than 1000: match fewer`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sh(t, tt.command)
			s.Results, s.MaxOutput = tt.glob, 1<<10
			setUp := sh(t, "mkdir out; echo old >out/old.json; echo kept >out/kept.json; ln -s "+t.TempDir()+" out/away; ln -s here link; mkfifo out/pipe")
			setUp.Dir = s.Dir
			if _, err := once(t, setUp); err != nil {
				t.Fatal(err)
			}
			r, err := once(t, s)
			var got []string
			for _, f := range r.Files {
				got = append(got, f.Name+"="+string(f.Data))
			}
			if err != nil {
				var e *Error
				if !errors.As(err, &e) || e.Kind != NoResults {
					t.Errorf("got %v, want kind NoResults", err)
				}
				got = []string{strings.TrimPrefix(err.Error(), fmt.Sprintf("run 1 of %q: ", s))}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if tt.name != "removed" {
				if _, err := os.Stat(filepath.Join(s.Dir, "out/kept.json")); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestResultsOfEachRun overwrites one file, of one size, again and again: faster
// than file systems tell time.
func TestResultsOfEachRun(t *testing.T) {
	s := sh(t, "echo x >>n; wc -l <n >r")
	s.Results = "r"
	var got []string
	for r, err := range repeat(t.Context(), s, 1, 8, nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSpace(string(r.Files[0].Data)))
	}
	if strings.Join(got, " ") != "2 3 4 5 6 7 8 9" {
		t.Errorf("got %q", got)
	}
}

func TestResultsBelowAnAbsolutePath(t *testing.T) {
	s := sh(t, "echo 1 >a.json")
	s.Results = filepath.Join(s.Dir, "*.json")
	r, err := once(t, s)
	if err != nil || len(r.Files) != 1 || r.Files[0].Name != "a.json" {
		t.Errorf("got %v, %v, want a.json", r.Files, err)
	}
	s.Results = "/etc/*"
	if _, err := once(t, s); err == nil || !strings.Contains(err.Error(), "results: want a glob below the working directory") {
		t.Errorf("got %v for %s", err, s.Results)
	}
}

func TestTimedOutRunHasNoFiles(t *testing.T) {
	s := sh(t, "echo 1 >a.json; sleep 60")
	s.Results, s.Timeout = "*.json", 100*time.Millisecond
	if r, _ := fails(t, s, TimedOut); r.Files != nil {
		t.Errorf("got %v", r.Files)
	}
}
