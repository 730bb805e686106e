package run

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestNoLauncher: where the system lets the launcher not be made, or not be run, all
// is as ever but for the peak memory, which is not known.
func TestNoLauncher(t *testing.T) {
	before := launcher
	t.Cleanup(func() { launcher = before })
	for name, none := range map[string]func() (*os.File, error){
		"not made": func() (*os.File, error) { return nil, errors.New("no memory is given out") },
		"not run":  func() (*os.File, error) { return os.Open(os.DevNull) },
		"no program": func() (*os.File, error) {
			f, err := os.CreateTemp(t.TempDir(), "")
			if err == nil {
				err = f.Chmod(0o700)
			}
			return f, err
		},
	} {
		launcher = none
		r, err := once(t, Spec{Args: []string{"echo", "printed"}})
		if err != nil || string(r.Output) != "printed\n" || r.MaxRSS != 0 || r.Wall == 0 {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
		var e *Error
		if _, err := once(t, Spec{Args: []string{"./nosuch"}}); !errors.As(err, &e) || e.Kind != NotStarted {
			t.Errorf("%s: got %v for what is not there, want NotStarted", name, err)
		}
	}
}

// TestLauncherLeavesNothing: the command is as if we had started it ourselves, with
// the same words, files, parent, and a group of its own.
func TestLauncherLeavesNothing(t *testing.T) {
	const look = `ls /proc/$$/fd; tr "\0" " " </proc/$$/cmdline; echo; echo $PPID; [ $(cut -d" " -f 5 /proc/$$/stat) = $$ ] && echo leads`
	by := launcher
	t.Cleanup(func() { launcher = by })
	var seen []string
	for _, l := range []func() (*os.File, error){by, func() (*os.File, error) { return nil, errors.New("none") }} {
		launcher = l
		r, err := once(t, sh(t, look))
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, string(r.Output))
	}
	if seen[0] != seen[1] {
		t.Errorf("with the launcher it sees\n%s\nand without\n%s", seen[0], seen[1])
	}
	if want := fmt.Sprintf("%d\nleads\n", os.Getpid()); !strings.HasSuffix(seen[0], want) {
		t.Errorf("got\n%s\nwant %q at its end", seen[0], want)
	}
}
