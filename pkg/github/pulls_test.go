package github

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

func TestPullRequest(t *testing.T) {
	f := start(t)
	f.AddPull(githubtest.Pull{SHA: "a1", Branch: "topic", BaseSHA: "m1", Draft: true, HeadRepositoryID: 2002, HeadRepository: "someone/sample"})
	f.Label(1, "perf-regression-accepted", "maintainer")
	got, err := client(t, f).PullRequest(t.Context(), 1)
	want := PullRequest{
		Number: 1, State: "open", Draft: true, HeadSHA: "a1", HeadRef: "topic", HeadRepositoryID: ptr(int64(2002)), HeadRepository: "someone/sample",
		BaseSHA: "m1", BaseRef: "main", BaseRepositoryID: 1001, Labels: []string{"perf-regression-accepted"},
		URL: "https://github.invalid/noslower/sample/pull/1",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("pull request\n%+v, %v, want\n%+v", got, err, want)
	}
	if _, err := client(t, f).PullRequest(t.Context(), 404); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v, want %v", err, ErrNotFound)
	}
}

// TestPullRequestOf has a run of the fork someone/sample, branch main, commit a1.
func TestPullRequestOf(t *testing.T) {
	fork := githubtest.Pull{SHA: "a1", Branch: "main", HeadRepositoryID: 2002, HeadRepository: "someone/sample"}
	with := func(change func(*githubtest.Pull)) githubtest.Pull {
		p := fork
		change(&p)
		return p
	}
	for _, tt := range []struct {
		name  string
		pulls []githubtest.Pull
		want  int
		err   error
	}{
		{"the one", []githubtest.Pull{fork}, 1, nil},
		{"none", nil, 0, ErrNoPullRequest},
		{"closed", []githubtest.Pull{with(func(p *githubtest.Pull) { p.State = "closed" })}, 0, ErrNoPullRequest},
		{"its head has moved on", []githubtest.Pull{with(func(p *githubtest.Pull) { p.SHA = "a2" })}, 0, ErrHeadMoved},
		{"into two branches", []githubtest.Pull{fork, with(func(p *githubtest.Pull) { p.Base = "release" })}, 0, ErrAmbiguous},
		{"the same commit of our own branch", []githubtest.Pull{
			with(func(p *githubtest.Pull) { p.HeadRepositoryID, p.HeadRepository = 1001, "noslower/sample" }),
		}, 0, ErrNoPullRequest},
		{"the same commit of another fork of the owner", []githubtest.Pull{
			with(func(p *githubtest.Pull) { p.HeadRepositoryID, p.HeadRepository = 3003, "someone/sample-2" }), fork,
		}, 2, nil},
		{"the same commit of another branch", []githubtest.Pull{with(func(p *githubtest.Pull) { p.Branch = "topic" }), fork}, 2, nil},
	} {
		for host, gitea := range map[string]bool{"GitHub": false, "Gitea": true} {
			t.Run(tt.name+"/"+host, func(t *testing.T) {
				f := start(t)
				f.Gitea = gitea
				for _, p := range tt.pulls {
					f.AddPull(p)
				}
				got, err := client(t, f).PullRequestOf(t.Context(), Run{ID: 9, HeadBranch: "main", HeadSHA: "a1", HeadRepositoryID: ptr(int64(2002)), HeadRepository: "someone/sample"})
				if got.Number != tt.want || !is(err, tt.err) {
					t.Errorf("pull request %d, %v, want %d, %v", got.Number, err, tt.want, tt.err)
				}
			})
		}
	}
	if _, err := client(t, start(t)).PullRequestOf(t.Context(), Run{ID: 9, HeadBranch: "main", HeadSHA: "a1"}); !errors.Is(err, ErrNoPullRequest) {
		t.Errorf("no head repository: error %v, want %v", err, ErrNoPullRequest)
	}
}

func TestMergeGroupPull(t *testing.T) {
	f := start(t)
	f.AddPull(githubtest.Pull{SHA: "a1"})
	f.AddPull(githubtest.Pull{SHA: "a1", State: "closed"})
	c := client(t, f)
	for _, tt := range []struct {
		group MergeGroup
		want  error
	}{
		{MergeGroup{Number: 1, BaseRef: "main"}, nil},
		{MergeGroup{Number: 1, BaseRef: "release"}, ErrNoPullRequest},
		{MergeGroup{Number: 2, BaseRef: "main"}, ErrNoPullRequest},
		{MergeGroup{BaseRef: "main"}, ErrNoPullRequest},
		{MergeGroup{Number: 404, BaseRef: "main"}, ErrNotFound},
	} {
		p, err := c.MergeGroupPull(t.Context(), tt.group)
		if !is(err, tt.want) || err == nil && p.Number != tt.group.Number {
			t.Errorf("MergeGroupPull(%+v) = #%d, %v, want %v", tt.group, p.Number, err, tt.want)
		}
	}
}

func TestLabel(t *testing.T) {
	const label = "perf-regression-accepted"
	for name, set := range map[string]func(*githubtest.Fake){"GitHub": func(*githubtest.Fake) {}, "small pages": func(f *githubtest.Fake) { f.MostPerPage = 2 }} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			set(f)
			f.AddPull(githubtest.Pull{SHA: "a1"})
			f.AddPull(githubtest.Pull{SHA: "b1"})
			c := client(t, f)
			expect := func(want Labeling, on bool) {
				t.Helper()
				got, ok, err := c.Label(t.Context(), 1, label)
				if err != nil || ok != on || got.By != want.By || !got.At.Equal(want.At) {
					t.Errorf("Label = %+v, %v, %v, want %+v, %v", got, ok, err, want, on)
				}
			}
			expect(Labeling{}, false)
			f.Label(1, "other", "someone")
			f.Label(2, label, "someone")
			expect(Labeling{}, false)
			first := f.Label(1, label, "maintainer")
			f.Unlabel(1, "other", "someone")
			expect(Labeling{"maintainer", first}, true)
			f.Unlabel(1, label, "someone")
			expect(Labeling{}, false)
			second := f.Label(1, "Perf-Regression-Accepted", "lead") // a label has no case
			expect(Labeling{"lead", second}, true)
		})
	}
}

// TestHeadPushed goes through the ways to make a head look older than a label
// that was put on another one.
func TestHeadPushed(t *testing.T) {
	run := func(f *githubtest.Fake, sha string) time.Time {
		return f.AddRun(githubtest.Run{Event: "pull_request", Branch: "topic", SHA: sha, HeadRepositoryID: 2002, HeadRepository: "someone/sample"}).Created
	}
	for _, tt := range []struct {
		name string
		do   func(f *githubtest.Fake) (want time.Time)
	}{
		{"pushed once", func(f *githubtest.Fake) time.Time {
			at := f.Push(1, "a1", false)
			run(f, "a1")
			return at
		}},
		{"pushed again", func(f *githubtest.Fake) time.Time {
			f.Push(1, "a1", false)
			run(f, "a1")
			at := f.Push(1, "a2", false)
			run(f, "a2")
			return at
		}},
		{"back to an earlier one by force", func(f *githubtest.Fake) time.Time {
			f.Push(1, "a1", false)
			run(f, "a1")
			f.Push(1, "a2", false)
			run(f, "a2")
			at := f.Push(1, "a1", true)
			run(f, "a1")
			return at
		}},
		{"back by force from one that starts no run", func(f *githubtest.Fake) time.Time {
			f.Push(1, "a1", false)
			run(f, "a1")
			f.Push(1, "a2", false)
			at := f.Push(1, "a1", true)
			run(f, "a1")
			return at
		}},
		{"pushed to another branch before", func(f *githubtest.Fake) time.Time {
			f.AddRun(githubtest.Run{Event: "pull_request", Branch: "other", SHA: "a1", HeadRepositoryID: 2002, HeadRepository: "someone/sample"})
			f.AddRun(githubtest.Run{Event: "pull_request", Branch: "topic", SHA: "a1"}) // of our own repository
			f.AddRun(githubtest.Run{Event: "push", Branch: "topic", SHA: "a1"})
			at := f.Push(1, "a1", false)
			run(f, "a1")
			return at
		}},
		{"run again by a label", func(f *githubtest.Fake) time.Time {
			at := f.Push(1, "a1", false)
			run(f, "a1")
			f.Label(1, "accepted", "maintainer")
			run(f, "a1")
			return at
		}},
	} {
		for how, forget := range map[string]bool{"by the log": false, "by runs": true} {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				f := start(t)
				f.AddPull(githubtest.Pull{Branch: "topic", HeadRepositoryID: 2002, HeadRepository: "someone/sample"})
				want := tt.do(f)
				if forget {
					f.ForgetActivity()
				}
				c := client(t, f)
				p, err := c.PullRequest(t.Context(), 1)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.HeadPushed(t.Context(), p)
				// A run begins within seconds of the push.
				if late := got.Sub(want); err != nil || late < 0 || late > 2*time.Second || !forget && late != 0 {
					t.Errorf("HeadPushed = %v, %v, want %v", got, err, want)
				}
			})
		}
	}
}

func TestHeadPushedUnknown(t *testing.T) {
	f := start(t)
	f.AddPull(githubtest.Pull{Branch: "topic", HeadRepositoryID: 2002, HeadRepository: "someone/sample"})
	f.Push(1, "a1", false)
	c := client(t, f)
	p, err := c.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	p.HeadSHA = "a2" // the log ends at another commit, and no run is of this one
	if at, err := c.HeadPushed(t.Context(), p); !errors.Is(err, ErrPushUnknown) {
		t.Errorf("HeadPushed = %v, %v, want %v", at, err, ErrPushUnknown)
	}
	p.HeadRepositoryID, p.HeadRepository = nil, "" // deleted
	if at, err := c.HeadPushed(t.Context(), p); !errors.Is(err, ErrPushUnknown) {
		t.Errorf("HeadPushed = %v, %v, want %v", at, err, ErrPushUnknown)
	}
	f.Inject(githubtest.Fault{Status: 403, Body: `{"message":"no"}`, Match: func(r githubtest.Request) bool { return r.Method == http.MethodGet }})
	if at, err := c.HeadPushed(t.Context(), p); !errors.Is(err, ErrForbidden) {
		t.Errorf("HeadPushed = %v, %v, want %v", at, err, ErrForbidden)
	}
}

// TestHeadPushedLongAgo has more runs of the head than are looked at: the time
// is then too late, never too early.
func TestHeadPushedLongAgo(t *testing.T) {
	f := start(t)
	f.AddPull(githubtest.Pull{Branch: "topic", SHA: "a1"})
	var created []time.Time
	for i := range 150 {
		created = append(created, f.AddRun(githubtest.Run{Event: "pull_request", Branch: "topic", SHA: "a1", Workflow: fmt.Sprintf(".github/workflows/%d.yml", i)}).Created)
	}
	c := client(t, f)
	p, err := c.PullRequest(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.HeadPushed(t.Context(), p); err != nil || !got.Equal(created[50]) {
		t.Errorf("HeadPushed = %v, %v, want the 100th newest, %v", got, err, created[50])
	}
}
