//go:build e2e && linux

// Package e2e runs the action as its users do: the image by Docker alone, as
// GitHub's runner starts it, and the action in a workflow, by act.
//
// It needs a Docker engine and the images that the script beside it sees to.
package e2e

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	image = "noslower-e2e"
	job   = "noslower-e2e-job" // made by the script images
	act   = "github.com/nektos/act@v0.2.89"
)

// TestImage builds the image of the action and looks at what is in it.
func TestImage(t *testing.T) {
	build(t)

	t.Run("entrypoint", func(t *testing.T) {
		var c struct {
			User       string
			Entrypoint []string
			Labels     map[string]string
		}
		out := output(t, "docker", "image", "inspect", "--format", "{{json .Config}}", image)
		if err := json.Unmarshal([]byte(out), &c); err != nil {
			t.Fatal(err)
		}
		// A shell in between would drop inputs with a hyphen in their name, and
		// another user could not write to the workspace.
		if want := []string{"/usr/local/bin/noslower"}; !slices.Equal(c.Entrypoint, want) {
			t.Errorf("entrypoint %q, want %q", c.Entrypoint, want)
		}
		if c.User != "" {
			t.Errorf("user %q, want none", c.User)
		}
		for _, l := range []string{"title", "source", "licenses"} {
			if c.Labels["org.opencontainers.image."+l] == "" {
				t.Errorf("no label org.opencontainers.image.%s", l)
			}
		}
	})

	t.Run("static", func(t *testing.T) {
		container := strings.TrimSpace(output(t, "docker", "create", image))
		defer output(t, "docker", "rm", container)
		file := filepath.Join(t.TempDir(), "noslower")
		output(t, "docker", "cp", container+":/usr/local/bin/noslower", file)
		f, err := elf.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Error("the program wants a dynamic loader")
			}
		}
		if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
			t.Errorf("imported libraries %q, %v, want none", libs, err)
		}
	})

	t.Run("version", func(t *testing.T) {
		if out := run(t, "--version"); !strings.Contains(out, "noslower") {
			t.Errorf("have %q, want the name and version", out)
		}
	})

	t.Run("formats", func(t *testing.T) {
		out := run(t, "formats")
		for _, f := range []string{"scylla", "seastar", "go"} {
			if !regexp.MustCompile(`(?m)^\W*` + f + `\b`).MatchString(out) {
				t.Errorf("no format %s in\n%s", f, out)
			}
		}
	})

	t.Run("tools", func(t *testing.T) {
		tool := func(name string, args ...string) string {
			return output(t, "docker", slices.Concat([]string{"run", "--rm", "--entrypoint", name, image}, args)...)
		}
		tool("git", "--version")
		tool("test", "-s", "/etc/ssl/certs/ca-certificates.crt")
		// Valgrind counts without a privilege that a container lacks.
		tool("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "/bin/true")
	})
}

// A runner starts the image as GitHub's does, which act does not quite: the
// workspace belongs to another user and lies at another path, and HOME is a
// folder without the git configuration of the user.
type runner struct {
	folder    string // mounted as /github
	workspace string
	sha       string
}

// runnerUser is the user of hosted runners.
const runnerUser = 1001

// newRunner makes a runner whose workspace has the sample.
func newRunner(t *testing.T) runner {
	t.Helper()
	folder := t.TempDir()
	r := runner{folder: folder, workspace: filepath.Join(folder, "workspace")}
	for _, d := range []string{"workspace", "home", "file_commands", "workflow"} {
		if err := os.Mkdir(filepath.Join(folder, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(r.workspace, "bench.sh"), read(t, "../../testdata/e2e/bench.sh"))
	write(t, filepath.Join(r.workspace, "cost"), "51658\n")
	r.sha = commit(t, r.workspace)
	own(t, r.workspace, runnerUser)
	return r
}

// step runs one step of a push, with more in its environment and for Docker, and
// returns what it logs and its exit status.
func (r runner) step(t *testing.T, inputs, more map[string]string, docker ...string) (log string, status int) {
	t.Helper()
	env := map[string]string{
		"HOME": "/github/home", "GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_WORKSPACE": "/github/workspace",
		"GITHUB_EVENT_NAME": "push", "GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main", "GITHUB_SHA": r.sha,
	}
	for _, file := range []string{"output", "step_summary", "env", "path", "state"} {
		write(t, r.commandFile(file), "")
		env["GITHUB_"+strings.ToUpper(file)] = "/github/file_commands/" + file
	}
	for name, value := range inputs {
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	maps.Copy(env, more)
	args := append([]string{"run", "--rm", "--workdir", "/github/workspace", "-v", r.folder + ":/github"}, docker...)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "-e", name+"="+env[name])
	}
	log, status = try(t, "docker", append(args, image)...)
	t.Logf("exit status %d\n%s", status, log)
	return log, status
}

func (r runner) commandFile(name string) string {
	return filepath.Join(r.folder, "file_commands", name)
}

// TestRunner gates as a runner's container does.
func TestRunner(t *testing.T) {
	build(t)
	r := newRunner(t)
	step := func(t *testing.T, inputs map[string]string) (int, map[string]string, string) {
		_, status := r.step(t, inputs, nil)
		return status, outputs(t, r.commandFile("output")), read(t, r.commandFile("step_summary"))
	}
	inputs := map[string]string{
		"command": "./bench.sh", "runs": "5", "mode": "gate",
		"baseline": "dir:.noslower", "save-baseline": "true",
	}

	t.Run("no baseline", func(t *testing.T) {
		status, out, summary := step(t, inputs)
		want(t, status, 0, out, "inconclusive")
		if !strings.Contains(summary, "No baseline") {
			t.Errorf("the summary does not say that there is no baseline:\n%s", summary)
		}
	})
	t.Run("same", func(t *testing.T) {
		status, out, _ := step(t, inputs)
		want(t, status, 0, out, "same")
	})
	t.Run("kept", func(t *testing.T) {
		// What the action leaves behind is the runner's to read and to delete.
		kept := 0
		err := filepath.WalkDir(filepath.Join(r.workspace, ".noslower"), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if uid := owner(t, path); uid != runnerUser {
				t.Errorf("%s belongs to user %d, want %d", path, uid, runnerUser)
			}
			if d.Type().IsRegular() && strings.Contains(read(t, path), r.sha) {
				kept++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if kept == 0 {
			t.Errorf("no kept file names the commit %s", r.sha)
		}
	})
	t.Run("slower", func(t *testing.T) {
		write(t, filepath.Join(r.workspace, "cost"), "53208\n")
		status, out, summary := step(t, inputs)
		want(t, status, 1, out, "regressed")
		if !strings.Contains(summary, "instructions_per_op") {
			t.Errorf("the summary does not name the metric:\n%s", summary)
		}
	})
}

// TestAction runs the sample workflow and reads back what its steps said.
func TestAction(t *testing.T) {
	dir := repository(t)
	cmd := exec.Command(actProgram(t), "push", "--json", "--rm",
		"--directory", dir,
		"--workflows", filepath.Join(dir, "testdata/e2e/workflow.yml"),
		"--eventpath", filepath.Join(dir, "testdata/e2e/event.json"),
		"--platform", "ubuntu-latest="+job, "--pull=false", "--no-cache-server",
		// The sample is no repository of GitHub's: nobody answers there.
		"--env", "GITHUB_API_URL=http://127.0.0.1:9",
	)
	// Nobody is to be asked which image to take, and no setting of the user is to
	// change what is run.
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	steps := readLog(t, stdout)
	for _, s := range steps {
		t.Logf("%s/%s: %s, outputs %v\n%s", s.job, s.id, s.result, s.outputs, s.log)
	}
	if len(steps) == 0 || t.Failed() {
		t.Fatalf("act: %v\n%s", err, stderr.Bytes())
	}
	if err == nil {
		t.Error("act: the workflow passed, want it stopped by the regression of its second job")
	}

	for _, tt := range []struct {
		job, id string
		result  string
		outputs map[string]string
		summary []string // what the job summary says
	}{
		{"gate", "first", "success", judged("inconclusive", 0, 0), []string{"No baseline"}},
		{"gate", "same", "success", judged("same", 0, 0), []string{"No regression", "instructions_per_op"}},
		{"gate", "slower", "failure", judged("regressed", 1, 1), []string{"instructions_per_op", "3 % worse"}},
		{"gate", "broken", "failure", nil, nil},
		{"gate", "none", "failure", judged("inconclusive", 3, 0), []string{"No baseline"}},
		{"gate", "wrong", "failure", nil, nil},
		{"gate", "environment", "success", judged("inconclusive", 0, 0), []string{"No baseline"}},
		{"stops", "keep", "success", judged("inconclusive", 0, 0), nil},
		{"stops", "stop", "failure", judged("regressed", 1, 1), []string{"3 % worse"}},
	} {
		t.Run(tt.job+"/"+tt.id, func(t *testing.T) {
			s := steps.find(tt.job, tt.id)
			if s == nil || s.result == "" {
				t.Fatal("was not run")
			}
			if s.result != tt.result {
				t.Errorf("ended in %s, want %s", s.result, tt.result)
			}
			for name, want := range tt.outputs {
				if have := s.outputs[name]; have != want {
					t.Errorf("output %s is %q, want %q", name, have, want)
				}
			}
			// What is compared is what has a base; how much that is, the formats say.
			n, err := strconv.Atoi(s.outputs["comparisons"])
			if tt.outputs != nil && (err != nil || (n > 0) != (tt.outputs["outcome"] != "inconclusive")) {
				t.Errorf("output comparisons is %q", s.outputs["comparisons"])
			}
			for _, say := range tt.summary {
				if !strings.Contains(s.summary, say) {
					t.Errorf("the summary does not say %q:\n%s", say, s.summary)
				}
			}
		})
	}

	t.Run("messages", func(t *testing.T) {
		for _, tt := range []struct{ id, say string }{
			{"first", "No baseline"},
			{"slower", "instructions_per_op 3 % worse"},
			{"slower", "::error title=noslower::"},
			{"after", "slower: regressed 1 1"}, // a later step sees the outputs
			{"after", "3 % worse"},             // and the report written to a file
			{"broken", "no result here"},       // the last lines of what failed
			{"broken", "exit status 7"},
			{"wrong", `have "many"`}, // every fault at once,
			{"wrong", `have "0.05"`}, // so that one push mends them
		} {
			if s := steps.find("gate", tt.id); s == nil || !strings.Contains(s.log, tt.say) {
				t.Errorf("step %s does not say %q", tt.id, tt.say)
			}
		}
	})
	t.Run("stops/unreached", func(t *testing.T) {
		if s := steps.find("stops", "unreached"); s != nil && s.result != "" && s.result != "skipped" {
			t.Errorf("the step after the regression was run")
		}
	})
}

// judged is the outputs of a step that came to a verdict.
func judged(outcome string, status, regressions int) map[string]string {
	return map[string]string{"outcome": outcome, "status": strconv.Itoa(status), "regressions": strconv.Itoa(regressions)}
}

// A step is what one step of a workflow came to, as act logs it.
type step struct {
	job, id string
	result  string // "success" or "failure"; empty if it was not run
	outputs map[string]string
	summary string
	log     string
}

type steps []*step

func (s steps) find(job, id string) *step {
	i := slices.IndexFunc(s, func(s *step) bool { return s.job == job && s.id == id })
	if i < 0 {
		return nil
	}
	return s[i]
}

// readLog reads what act prints with --json, one message a line.
func readLog(t *testing.T, log []byte) steps {
	var all steps
	for line := range bytes.Lines(log) {
		var m struct {
			JobID, Stage, Command, Name, Arg, Content, StepResult, Msg, Level string
			StepID                                                            []string
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Errorf("act said %q: %v", line, err)
			continue
		}
		if len(m.StepID) != 1 || m.Stage != "Main" {
			continue
		}
		s := all.find(m.JobID, m.StepID[0])
		if s == nil {
			s = &step{job: m.JobID, id: m.StepID[0], outputs: map[string]string{}}
			all = append(all, s)
		}
		switch {
		case m.Command == "set-output":
			s.outputs[m.Name] = m.Arg
		case m.Command == "summary":
			s.summary = m.Content
		case m.StepResult != "":
			s.result = m.StepResult
		}
		s.log += strings.TrimRight(m.Msg, "\n") + "\n"
	}
	return all
}

// actProgram installs act where it is not yet, and returns its path.
func actProgram(t *testing.T) string {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(act, "@")
	bin := filepath.Join(cache, "noslower-e2e", "act-"+version)
	program := filepath.Join(bin, "act")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	cmd := exec.Command("go", "install", act)
	cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return program
}

// repository copies this repository, as it lies here, to a new one with one
// commit: act takes branch and commit from there, and what the test does to its
// files is done to the copy.
func repository(t *testing.T) string {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "sample")
	files := output(t, "git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for f := range strings.SplitSeq(strings.TrimRight(files, "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, f))
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted since, or no file
		}
		data, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, dir)
	return dir
}

// commit makes a repository of the folder, with all of it in one commit, whose
// hash it returns.
func commit(t *testing.T, dir string) string {
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch", "main"},
		{"add", "--all"},
		{"-c", "user.name=sample", "-c", "user.email=sample@example.com", "commit", "--quiet", "--no-verify", "-m", "Sample"},
		{"remote", "add", "origin", "https://github.com/example/sample"},
	} {
		output(t, "git", append([]string{"-C", dir}, args...)...)
	}
	return strings.TrimSpace(output(t, "git", "-C", dir, "rev-parse", "HEAD"))
}

// build builds the image, which the engine remembers.
func build(t *testing.T) {
	t.Helper()
	output(t, "docker", "build", "--quiet", "--tag", image, "../..")
}

// run runs the image with the arguments and returns its standard output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, "docker", append([]string{"run", "--rm", image}, args...)...)
}

// output runs a command that must succeed and returns its standard output.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, stderr.Bytes())
	}
	return string(out)
}

// try runs a command that may fail and returns all it printed, and its exit
// status.
func try(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// outputs reads a runner's file of outputs: name=value, or name<<END, lines, END.
func outputs(t *testing.T, path string) map[string]string {
	out := map[string]string{}
	s := bufio.NewScanner(strings.NewReader(read(t, path)))
	for s.Scan() {
		if name, end, ok := strings.Cut(s.Text(), "<<"); ok {
			var lines []string
			for s.Scan() && s.Text() != end {
				lines = append(lines, s.Text())
			}
			out[name] = strings.Join(lines, "\n")
		} else if name, value, ok := strings.Cut(s.Text(), "="); ok {
			out[name] = value
		}
	}
	return out
}

// want checks a step's exit status, and the outputs that must agree with it.
func want(t *testing.T, status, wantStatus int, out map[string]string, outcome string) {
	t.Helper()
	if status != wantStatus {
		t.Errorf("exit status %d, want %d", status, wantStatus)
	}
	if have := out["status"]; have != strconv.Itoa(wantStatus) {
		t.Errorf("output status is %q, want %d", have, wantStatus)
	}
	if have := out["outcome"]; have != outcome {
		t.Errorf("output outcome is %q, want %q", have, outcome)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// write writes a file that may be executed, whoever owned it before.
func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o755); err != nil {
		t.Fatal(err)
	}
}

// own gives a folder and all in it to a user, as only root can.
func own(t *testing.T, dir string, uid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to the user of a runner")
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// owner is the user that a file belongs to.
func owner(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}
