package github

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

func newResults(t *testing.T, f *githubtest.Fake, run githubtest.Run, o Options) *Results {
	t.Helper()
	r, err := NewResults(environ(map[string]string{
		// The path is not part of the address.
		"ACTIONS_RESULTS_URL": f.ResultsURL + "/some/path", "ACTIONS_RUNTIME_TOKEN": f.RuntimeToken(run.ID),
	}), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func environ(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

func TestNoResultsService(t *testing.T) {
	token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"scp":"Actions.Results:1:2"}`)) + ".x"
	for name, env := range map[string]map[string]string{
		"a run step":          {},
		"no address":          {"ACTIONS_RUNTIME_TOKEN": token},
		"no token":            {"ACTIONS_RESULTS_URL": "https://results"},
		"no URL":              {"ACTIONS_RESULTS_URL": "results", "ACTIONS_RUNTIME_TOKEN": token},
		"a token of no parts": {"ACTIONS_RESULTS_URL": "https://results", "ACTIONS_RUNTIME_TOKEN": "secret"},
		"a token of no scope": {"ACTIONS_RESULTS_URL": "https://results", "ACTIONS_RUNTIME_TOKEN": "e30.e30.secret"},
	} {
		_, err := NewResults(environ(env), Options{})
		if !errors.Is(err, ErrNoResultsService) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want %v without the token", name, err, ErrNoResultsService)
		}
	}
}

func TestBackendIDs(t *testing.T) {
	for scope, want := range map[string][2]string{
		"Actions.Results:1:1": {"1", "1"},
		"a Actions.Results:ce7f54c7-61c7-4aae-887f-30da475f5f1a:ca395085-040a-526b-2ce8-bdc85f692774 b:c": {
			"ce7f54c7-61c7-4aae-887f-30da475f5f1a", "ca395085-040a-526b-2ce8-bdc85f692774",
		},
		"Actions.Results:1 Actions.Results:2:3":  {"2", "3"},
		"Actions.Results:1:2:3":                  {},
		"Actions.ResultsX:1:2 Actions.Results::": {},
		"":                                       {},
	} {
		run, job, err := backendIDs("e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"scp":"`+scope+`"}`)) + ".x")
		if run != want[0] || job != want[1] || (err == nil) != (want[0] != "") {
			t.Errorf("scope %q: %q, %q, %v, want %q", scope, run, job, err, want)
		}
	}
}

func TestUpload(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), (2*blockSize+17)/16) // three blocks
	for name, set := range map[string]func(*githubtest.Fake){
		"GitHub": func(*githubtest.Fake) {}, "camel case": func(f *githubtest.Fake) { f.Camel = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			set(f)
			run := f.AddRun(githubtest.Run{})
			o := newClock().options()
			var masked []string
			o.Mask = func(s string) { masked = append(masked, s) }
			r := newResults(t, f, run, o)
			for name, data := range map[string][]byte{"small": []byte("x"), "large": large} {
				if f.Camel && name == "large" {
					continue // the spelling changes nothing of the blocks
				}
				got, err := r.Upload(t.Context(), Upload{Name: name, Data: data, Attempt: 1, Expires: newClock().now})
				if want := (Uploaded{got.ID, name, digestOf(data)}); err != nil || got != want || got.ID == 0 {
					t.Fatalf("uploaded %+v, %v, want %+v", got, err, want)
				}
				c := client(t, f)
				there, err := c.Artifacts(t.Context(), Run{ID: run.ID}, name)
				if err != nil || len(there) != 1 || there[0].ID != got.ID {
					t.Fatalf("artifacts %+v, %v, want the one uploaded", there, err)
				}
				if back, err := c.Download(t.Context(), there[0], 1<<30); err != nil || !bytes.Equal(back, data) {
					t.Errorf("downloaded %d bytes, %v, want %d", len(back), err, len(data))
				}
				listed, err := r.List(t.Context(), name)
				if err != nil || len(listed) != 1 || listed[0].ID != got.ID || listed[0].Digest != got.Digest || listed[0].Created.IsZero() {
					t.Errorf("listed %+v, %v", listed, err)
				}
			}
			if want := []string{"c2ln%2bbmF0dXJl%3D", "c2ln+bmF0dXJl="}; !slices.Equal(masked[:2], want) {
				t.Errorf("masked %q, want %q", masked, want)
			}
		})
	}
}

// TestNameTaken goes through what a 409 may mean.
func TestNameTaken(t *testing.T) {
	for _, tt := range []struct {
		name    string
		rerun   bool
		since   bool // the attempt's beginning is known
		there   string
		when    string // "before" or "after" the re-run
		want    []string
		wantErr error
	}{
		{"another job of the attempt", false, true, "other", "before", []string{"base"}, ErrNameTaken},
		{"the same bytes", false, true, "mine", "before", []string{"base"}, nil},
		{"an earlier attempt", true, true, "other", "before", []string{"base", "base-a2"}, nil},
		{"an earlier attempt, times unknown", true, false, "other", "before", []string{"base", "base-a2"}, nil},
		{"another job of the second attempt", true, true, "other", "after", []string{"base"}, ErrNameTaken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			run := f.AddRun(githubtest.Run{})
			if tt.when == "before" {
				f.AddArtifact(run.ID, "base", []byte(tt.there))
			}
			if tt.rerun {
				run = f.Rerun(run.ID)
			}
			if tt.when == "after" {
				f.AddArtifact(run.ID, "base", []byte(tt.there))
			}
			u := Upload{Name: "base", Data: []byte("mine"), Attempt: run.Attempt}
			if tt.since {
				u.Started = run.Started
			}
			got, err := newResults(t, f, run, newClock().options()).Upload(t.Context(), u)
			if !is(err, tt.wantErr) {
				t.Errorf("error %v, want %v", err, tt.wantErr)
			}
			if names := f.ArtifactNames(run.ID); !slices.Equal(names, tt.want) {
				t.Errorf("artifacts %q, want %q", names, tt.want)
			}
			if err == nil && got.Name != tt.want[len(tt.want)-1] {
				t.Errorf("uploaded %+v", got)
			}
		})
	}
	t.Run("overwriting service", func(t *testing.T) {
		f := start(t)
		f.Overwrites = true
		run := f.AddRun(githubtest.Run{})
		f.AddArtifact(run.ID, "base", []byte("other"))
		_, err := newResults(t, f, run, newClock().options()).Upload(t.Context(), Upload{Name: "base", Data: []byte("mine"), Attempt: 1})
		if names := f.ArtifactNames(run.ID); err != nil || !slices.Equal(names, []string{"base"}) {
			t.Errorf("artifacts %q, %v", names, err)
		}
	})
}

func TestUploadRefused(t *testing.T) {
	on := func(host, end string) func(githubtest.Request) bool {
		return func(r githubtest.Request) bool {
			return r.Host == host && (strings.HasSuffix(r.Path, end) || r.Query.Get("comp") == end)
		}
	}
	for _, tt := range []struct {
		name  string
		fault githubtest.Fault
		want  error
	}{
		{"no storage left", githubtest.Fault{Match: on("results", "CreateArtifact"), Status: 403, Body: `{"code":"resource_exhausted","msg":"Failed: insufficient usage to create artifact"}`}, ErrStorageFull},
		{"no storage left, as 429", githubtest.Fault{Match: on("results", "CreateArtifact"), Status: 429, Body: `{"msg":"Artifact storage quota has been hit: Insufficient usage"}`}, ErrStorageFull},
		{"a token that is over", githubtest.Fault{Match: on("results", "CreateArtifact"), Status: 401}, ErrUnauthorized},
		{"not ok", githubtest.Fault{Match: on("results", "CreateArtifact"), Status: 200, Body: `{"ok":false}`}, errAny},
		{"no JSON", githubtest.Fault{Match: on("results", "CreateArtifact"), Status: 200, Body: `<html>`}, errAny},
		{"429 for an hour", githubtest.Fault{Match: on("results", "CreateArtifact"), Status: 429, Header: http.Header{"Retry-After": {"3600"}}}, ErrRateLimited},
		{"a block refused", githubtest.Fault{Match: on("storage", "block"), Status: 403, Body: "<Code>AuthenticationFailed</Code>"}, errAny},
		{"a list refused", githubtest.Fault{Match: on("storage", "blocklist"), Status: 400}, errAny},
		{"finalized as not ok", githubtest.Fault{Match: on("results", "FinalizeArtifact"), Status: 200, Body: `{"ok":false}`}, errAny},
		{"another size", githubtest.Fault{Match: on("results", "FinalizeArtifact"), Status: 400, Body: `{"msg":"the size differs"}`}, errAny},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			run := f.AddRun(githubtest.Run{})
			f.Inject(tt.fault)
			_, err := newResults(t, f, run, newClock().options()).Upload(t.Context(), Upload{Name: "base", Data: []byte("mine"), Attempt: 1})
			if !is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if s := err.Error(); strings.Contains(s, "c2ln") || strings.Contains(s, f.RuntimeToken(run.ID)) {
				t.Errorf("the error shows a secret: %s", s)
			}
			if names := f.ArtifactNames(run.ID); len(names) != 0 {
				t.Errorf("artifacts %q of an upload that was refused", names)
			}
		})
	}
}

// TestUploadInterrupted breaks every request of an upload in turn, in every way.
// What is there afterwards is whole; and with a fault that passes, it is there.
func TestUploadInterrupted(t *testing.T) {
	data := []byte("the measurements")
	interrupted(t, func(t *testing.T, inject func(*githubtest.Fake), lasting bool) int {
		f := start(t)
		run := f.AddRun(githubtest.Run{})
		inject(f)
		got, err := newResults(t, f, run, newClock().options()).Upload(t.Context(), Upload{Name: "base", Data: data, Attempt: 1})
		if !lasting && err != nil {
			t.Errorf("upload: %v", err)
		}
		n := len(f.Requests())
		f.Heal()
		c := client(t, f)
		there, listErr := c.Artifacts(t.Context(), Run{ID: run.ID, Attempt: 1}, "base")
		if listErr != nil {
			t.Fatal(listErr)
		}
		if len(there) > 1 || err == nil && (len(there) != 1 || there[0].Name != got.Name || there[0].ID != got.ID) {
			t.Errorf("uploaded %+v, %v; artifacts %+v", got, err, there)
		}
		for _, a := range there {
			if back, err := c.Download(t.Context(), a, 1000); err != nil || !bytes.Equal(back, data) {
				t.Errorf("a half-written artifact: %q, %v", back, err)
			}
		}
		return n
	})
}

// interrupted calls do with every way to break one of its requests, the first
// to the last. do returns how many there were.
func interrupted(t *testing.T, do func(t *testing.T, inject func(*githubtest.Fake), lasting bool) int) {
	t.Helper()
	count := do(t, func(*githubtest.Fake) {}, false)
	if count < 3 {
		t.Fatalf("%d requests of an uninterrupted one", count)
	}
	for name, fault := range map[string]githubtest.Fault{
		"500 once":                       {Times: 1, Status: 500},
		"500 once, but done":             {Times: 1, Status: 500, Processed: true},
		"broken once":                    {Times: 1, Break: true},
		"answer lost once":               {Times: 1, Break: true, Processed: true},
		"429 once":                       {Times: 1, Status: 429},
		"500 from then on":               {Status: 500},
		"dead from then on":              {Break: true},
		"done, and dead from then on":    {Break: true, Processed: true},
		"rate limited from then on":      {Status: 429, Header: http.Header{"Retry-After": {"3600"}}},
		"everything done and never told": {Status: 502, Processed: true},
	} {
		for k := range count {
			t.Run(name+"/"+string(rune('a'+k)), func(t *testing.T) {
				fault := fault
				fault.Skip = k
				do(t, func(f *githubtest.Fake) { f.Inject(fault) }, fault.Times == 0)
			})
		}
	}
}

func TestCheckArtifactName(t *testing.T) {
	for name, ok := range map[string]bool{
		"noslower-read": true, "nöslower (a, b) [1]": true, strings.Repeat("x", 250): true,
		"": false, strings.Repeat("x", 251): false, "a/b": false, `a\b`: false, "a:b": false, "a\nb": false, "a\x00b": false,
		`a"b`: false, "a<b": false, "a>b": false, "a|b": false, "a*b": false, "a?b": false, "a\rb": false, "a\x7fb": false, "a\xffb": false,
	} {
		if err := checkArtifactName(name); (err == nil) != ok {
			t.Errorf("checkArtifactName(%q) = %v", name, err)
		}
	}
	f := start(t)
	run := f.AddRun(githubtest.Run{})
	_, err := newResults(t, f, run, newClock().options()).Upload(t.Context(), Upload{Name: "a/b"})
	if err == nil || len(f.Requests()) != 0 {
		t.Errorf("error %v after %d requests, want one before any", err, len(f.Requests()))
	}
}

// TestMaskBeforeUse shows that the signature is masked before the first request
// that has it, so that no log of a proxy or of a test can come first.
func TestMaskBeforeUse(t *testing.T) {
	f := start(t)
	run := f.AddRun(githubtest.Run{})
	o := newClock().options()
	o.Mask = func(string) {
		for _, r := range f.Requests() {
			if r.Host == "storage" {
				t.Error("the storage was asked before the signature was masked")
			}
		}
	}
	if _, err := newResults(t, f, run, o).Upload(t.Context(), Upload{Name: "base", Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	maskSignature(":", func(string) { t.Error("masked what is no URL") })
	maskSignature("https://x?sig=&a=b", func(string) { t.Error("masked nothing") })
}
