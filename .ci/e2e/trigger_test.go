//go:build e2e && linux

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/github"
	"github.com/noslower/noslower/pkg/github/githubtest"
)

// A trigger is what makes act run a workflow.
type trigger struct {
	workflow, event string
	sha, ref        string // what the run checks out
	payload         map[string]any
	run             githubtest.Run // as the API tells of it
	token           string
	image           string   // that the job runs in; "" for the usual one
	args            []string // of act, besides
}

// act runs a workflow, and hands what it left in act's artifact service to the
// fake GitHub, where later runs find it.
func (s *sample) act(t *testing.T, by trigger) ended {
	t.Helper()
	s.git(t, "checkout", "--quiet", "--detach", by.sha)
	path := ".github/workflows/" + by.workflow
	by.run.Workflow, by.run.Event = path, by.event
	run := s.AddRun(by.run)
	s.grants.begin(parseWorkflow(t, read(t, filepath.Join(s.dir, path))), by)

	repository := s.Owner + "/" + s.Name
	by.payload["repository"] = map[string]any{"id": s.RepositoryID, "full_name": repository, "default_branch": "main"}
	event, err := json.Marshal(by.payload)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		by.event, "--json", "--rm", "--directory", s.dir, "--workflows", filepath.Join(s.dir, path),
		"--eventpath", place(t, filepath.Join(t.TempDir(), "event.json"), string(event)),
		"--platform", "ubuntu-latest=" + cmp.Or(by.image, job), "--pull=false", "--no-cache-server",
		"--artifact-server-path", s.artifacts, "--artifact-server-addr", "127.0.0.1", "--artifact-server-port", freePort(t),
		// The action by its own name, and nothing of the workflow need be changed.
		"--local-repository", "noslower/noslower@v0=" + s.action, "--action-cache-path", t.TempDir(),
		// What act would hide of a leak is to be seen here.
		"--secret", "GITHUB_TOKEN=" + by.token, "--insecure-secrets",
	}
	for name, value := range map[string]string{
		"GITHUB_API_URL": s.APIURL, "GITHUB_RUN_ID": fmt.Sprint(run.ID), "GITHUB_RUN_NUMBER": fmt.Sprint(run.Number), "GITHUB_RUN_ATTEMPT": fmt.Sprint(run.Attempt),
		// Which act lacks.
		"GITHUB_WORKFLOW_REF": repository + "/" + path + "@" + by.ref,
	} {
		args = append(args, "--env", name+"="+value)
	}
	args = append(args, by.args...)
	cmd := exec.Command(actProgram(t), args...)
	// No setting of the user is to change what is run.
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	e := ended{status: cmd.ProcessState.ExitCode(), run: run, steps: readLog(t, stdout), artifacts: s.take(t, run.ID)}
	e.looseTokens(t, stdout)
	if len(e.steps) == 0 {
		t.Fatalf("act: %v\n%s", err, stderr.Bytes())
	}
	return e
}

// take adds what a run left in act's artifact service to the fake GitHub.
func (s *sample) take(t *testing.T, run int64) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.artifacts, fmt.Sprint(run), "*", "*.zip"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		data := []byte(read(t, file))
		s.AddArtifact(run, name, data)
		for _, entry := range []string{"record.json", "measurements.json"} {
			if entries, err := github.ReadArchive(data, github.DefaultArchiveLimits, entry); err == nil && looseToken.Match(entries[0].Data) {
				t.Errorf("a token is in the artifact %s", name)
			}
		}
		names = append(names, name)
	}
	return names
}

// artifact returns what a run left in act's artifact service.
func (s *sample) artifact(t *testing.T, run int64, name string) []byte {
	t.Helper()
	return []byte(read(t, filepath.Join(s.artifacts, fmt.Sprint(run), name, name+".zip")))
}

// freePort is one that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// An ended is what became of a run.
type ended struct {
	status    int // of act
	run       githubtest.Run
	steps     steps // the last is the action's
	artifacts []string
}

// want checks the action's step and the run: conclusion is "success" or
// "failure", and says what the log has, however its lines are broken.
func (e ended) want(t *testing.T, conclusion string, says ...string) {
	t.Helper()
	action := e.steps[len(e.steps)-1]
	if action.result != conclusion || (e.status == 0) != (conclusion == "success") {
		t.Errorf("the step ended in %q and act with %d, want %s", action.result, e.status, conclusion)
	}
	said := strings.Join(strings.Fields(action.log), " ")
	for _, say := range says {
		if !strings.Contains(said, say) {
			t.Errorf("the log does not say %q", say)
		}
	}
	if !t.Failed() {
		return
	}
	for _, s := range e.steps {
		t.Logf("%s/%s: %s, outputs %v\n%s", s.job, s.id, s.result, s.outputs, s.log)
	}
	t.FailNow() // each part of the story needs those before it
}

// A looseToken is one of a job, or one of act's for its artifact service, which
// are JSON Web Tokens.
var looseToken = regexp.MustCompile(`ghs_story\w*|eyJ[\w-]{16,}\.[\w-]*`)

// looseTokens looks for tokens in all that act logged.
func (e ended) looseTokens(t *testing.T, log []byte) {
	t.Helper()
	masks := 0
	for line := range bytes.Lines(log) {
		var m struct{ Command string }
		// The one place for a token is the command that hides it, which a runner
		// takes out of the log.
		if json.Unmarshal(line, &m) == nil && m.Command == "add-mask" {
			masks++
			continue
		}
		if looseToken.Match(line) {
			t.Errorf("a token is in the log: %s", line)
		}
	}
	if masks == 0 {
		t.Error("no token was hidden, so this test does not see what the step is given")
	}
	for _, s := range e.steps {
		if looseToken.MatchString(s.summary + fmt.Sprint(s.outputs)) {
			t.Errorf("a token is in the summary or the outputs of step %s", s.id)
		}
	}
}
