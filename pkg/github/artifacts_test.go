package github

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

func names(artifacts []Artifact) (names []string) {
	for _, a := range artifacts {
		names = append(names, a.Name)
	}
	return names
}

func TestArtifacts(t *testing.T) {
	f := start(t)
	run := f.AddRun(githubtest.Run{SHA: "a1"})
	f.AddArtifact(run.ID, "base", []byte("one"))
	f.AddArtifact(run.ID, "base-other", []byte("two"))
	newer := f.AddArtifact(run.ID, "base", []byte("three")) // of a re-run
	f.AddArtifact(f.AddRun(githubtest.Run{}).ID, "base", []byte("of another run"))
	c := client(t, f)

	got, err := c.Artifacts(t.Context(), Run{ID: run.ID, Attempt: 1}, "base")
	if err != nil || !slices.Equal(names(got), []string{"base", "base"}) || got[0].ID != newer {
		t.Fatalf("artifacts %+v, %v, want two named base, the newer first", got, err)
	}
	a := got[0]
	if a.Size != 5 || a.Expired || a.Digest == nil || *a.Digest != digestOf([]byte("three")) || a.RunID != run.ID ||
		*a.RepositoryID != 1001 || *a.HeadRepositoryID != 1001 || *a.HeadBranch != "main" || *a.HeadSHA != "a1" || a.Created.IsZero() {
		t.Errorf("artifact %+v", a)
	}
	if got, err = c.Artifacts(t.Context(), Run{ID: run.ID}, ""); err != nil || len(got) != 3 {
		t.Errorf("artifacts %v, %v, want 3", names(got), err)
	}

	f.Gitea = true
	got, err = c.Artifacts(t.Context(), Run{ID: run.ID, Attempt: 1}, "base")
	if err != nil || len(got) != 2 {
		t.Fatalf("artifacts %v, %v, want 2", got, err)
	}
	if a := got[0]; a.Digest != nil || a.HeadRepositoryID != nil || a.HeadBranch != nil || *a.HeadSHA != "a1" {
		t.Errorf("artifact of Gitea %+v, want what it does not tell to be nil", a)
	}
}

// TestArtifactsOfAttempts finds what Upload made where the name was taken.
func TestArtifactsOfAttempts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		attempt int
		there   []string
		want    []string
	}{
		{"first attempt", 1, []string{"base"}, []string{"base"}},
		{"its answer was lost", 1, []string{"base-a1"}, []string{"base-a1"}},
		{"second attempt", 2, []string{"base", "base-a2"}, []string{"base-a2"}},
		{"second attempt did not run it", 2, []string{"base"}, []string{"base"}},
		{"none", 2, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			run := f.AddRun(githubtest.Run{})
			for _, n := range tt.there {
				f.AddArtifact(run.ID, n, nil)
			}
			got, err := client(t, f).Artifacts(t.Context(), Run{ID: run.ID, Attempt: tt.attempt}, "base")
			if err != nil || !slices.Equal(names(got), tt.want) {
				t.Errorf("artifacts %v, %v, want %v", names(got), err, tt.want)
			}
		})
	}
}

// TestDownload gets an artifact from a storage that must not see the token: the
// fake fails the test if it does.
func TestDownload(t *testing.T) {
	content := []byte("not really a zip")
	onStorage := func(r githubtest.Request) bool { return r.Host == "storage" }
	for _, tt := range []struct {
		name  string
		set   func(*githubtest.Fake, int64)
		most  int64
		wrong *string // a digest that is told instead
		want  error
	}{
		{name: "as it is"},
		{name: "broken in the middle", set: func(f *githubtest.Fake, _ int64) {
			f.Inject(githubtest.Fault{Match: onStorage, Times: 2, Processed: true, Break: true})
		}},
		{name: "late for the signature", set: func(f *githubtest.Fake, _ int64) {
			f.Inject(githubtest.Fault{Match: onStorage, Times: 1, Status: 403})
		}},
		{name: "500 of the storage", set: func(f *githubtest.Fake, _ int64) {
			f.Inject(githubtest.Fault{Match: onStorage, Times: 2, Status: 500})
		}},
		{name: "storage that is down", set: func(f *githubtest.Fake, _ int64) { f.Inject(githubtest.Fault{Match: onStorage, Break: true}) }, want: errAny},
		{name: "gone", set: func(f *githubtest.Fake, id int64) { f.Expire(id) }, want: ErrGone},
		{name: "no permission", set: func(f *githubtest.Fake, _ int64) {
			f.Inject(githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
		}, want: ErrForbidden},
		{name: "other bytes", set: func(f *githubtest.Fake, id int64) { f.Corrupt(id, []byte("other bytes")) }, want: ErrDigest},
		{name: "larger than it says", set: func(f *githubtest.Fake, id int64) { f.Corrupt(id, make([]byte, 1001)) }, most: 1000, want: ErrTooBig},
		{name: "larger than wanted", most: 5, want: ErrTooBig},
		{name: "another digest", wrong: ptr("sha256:00"), want: ErrDigest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			run := f.AddRun(githubtest.Run{})
			id := f.AddArtifact(run.ID, "base", content)
			c := client(t, f)
			found, err := c.Artifacts(t.Context(), Run{ID: run.ID}, "base")
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			if tt.set != nil {
				tt.set(f, id)
			}
			if tt.wrong != nil {
				found[0].Digest = tt.wrong
			}
			if tt.most == 0 {
				tt.most = 1000
			}
			got, err := c.Download(t.Context(), found[0], tt.most)
			if !is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if tt.want == nil && !bytes.Equal(got, content) || tt.want != nil && got != nil {
				t.Errorf("got %q", got)
			}
			if err != nil && bytes.Contains([]byte(err.Error()), []byte("sig=")) {
				t.Errorf("the error shows a signature: %v", err)
			}
		})
	}
	t.Run("expired as listed", func(t *testing.T) {
		f := start(t)
		if _, err := client(t, f).Download(t.Context(), Artifact{Expired: true}, 1000); !errors.Is(err, ErrGone) || len(f.Requests()) != 0 {
			t.Errorf("error %v after %d requests, want %v at once", err, len(f.Requests()), ErrGone)
		}
	})
	t.Run("a redirection to a place without TLS", func(t *testing.T) {
		f := start(t)
		f.Inject(githubtest.Fault{Status: 302, Header: map[string][]string{"Location": {"file:///etc/passwd"}}})
		if _, err := client(t, f).Download(t.Context(), Artifact{ID: 1}, 1000); err == nil {
			t.Error("a file is taken for a storage")
		}
	})
}
