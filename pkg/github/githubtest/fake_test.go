package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// start returns a fake whose violations are what is looked at.
func start(t *testing.T) *Fake {
	t.Helper()
	d, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(d)
	f.Now = Start(t).Now
	f.APIURL, f.ResultsURL, f.StorageURL = "http://api", "http://results", "http://storage"
	f.AddToken("writer", Identity{Login: "someone"})
	f.AddToken("fork", Identity{Login: "github-actions[bot]", Installation: true, ReadOnly: true})
	return f
}

// ask sends a request as noslower would, but for the header given.
func ask(f *Fake, method, target, body string, header ...string) (int, string) {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("User-Agent", "noslower")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	h := map[string]http.Handler{"api": f.API(), "results": f.Results(), "storage": f.Storage()}[r.URL.Host]
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	said, _ := io.ReadAll(w.Body)
	return w.Code, string(said)
}

// TestStrict shows that the fake can find fault with a request.
func TestStrict(t *testing.T) {
	const repo = "http://api/repos/noslower/sample"
	for _, tt := range []struct {
		name, method, target, body, want string
		header                           []string
	}{
		{"an operation that is not described", "GET", repo + "/actions/caches", "", "subset.mjs", nil},
		{"an unknown parameter", "GET", repo + "/actions/runs?brnch=main", "", `no such parameter: "brnch"`, nil},
		{"a parameter of another type", "GET", repo + "/actions/runs?per_page=many", "", "per_page", nil},
		{"a number that is none", "GET", repo + "/actions/runs/latest", "", "run_id", nil},
		{"a state that is none", "GET", repo + "/pulls?state=opened", "", "state", nil},
		{"an unknown field", "POST", repo + "/issues/1/comments", `{"body":"x","text":"y"}`, `no such field: "text"`, nil},
		{"a field that is missing", "POST", repo + "/issues/1/comments", `{}`, "body", nil},
		{"a field of another type", "PATCH", repo + "/issues/comments/1", `{"body":5}`, "body", nil},
		{"a body that is none", "POST", repo + "/issues/1/comments", ``, "unexpected end", nil},
		{"a body where none belongs", "DELETE", repo + "/issues/comments/1", `{}`, "a body is not described", nil},
		{"another user agent", "GET", repo, "", "user agent", []string{"User-Agent", "curl"}},
		{"a token for the storage", "GET", "http://storage/artifact/1", "", "shown a token", []string{"Authorization", "Bearer x"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			f.AddPull(Pull{SHA: "a1"})
			ask(f, tt.method, tt.target, tt.body, append([]string{"Authorization", "Bearer writer"}, tt.header...)...)
			if v := f.Violations(); len(v) == 0 || !strings.Contains(strings.Join(v, "\n"), tt.want) {
				t.Errorf("violations %q, want one with %q", v, tt.want)
			}
		})
	}
}

// TestAnswersAreChecked shows that the fake can find fault with itself.
func TestAnswersAreChecked(t *testing.T) {
	f := start(t)
	f.AddPull(Pull{SHA: "a1", State: "ajar"})
	ask(f, "GET", "http://api/repos/noslower/sample/pulls/1", "", "Authorization", "Bearer writer")
	if v := f.Violations(); len(v) != 1 || !strings.Contains(v[0], "the fake's answer") {
		t.Errorf("violations %q, want one of the answer", v)
	}
}

func TestTokens(t *testing.T) {
	f := start(t)
	f.AddPull(Pull{SHA: "a1"})
	const comments = "http://api/repos/noslower/sample/issues/1/comments"
	for _, tt := range []struct {
		method, target, token string
		want                  int
	}{
		{"GET", comments, "", 200},
		{"GET", comments, "Bearer fork", 200},
		{"GET", comments, "Bearer unknown", 401},
		{"GET", comments, "Basic writer", 401},
		{"POST", comments, "", 401},
		{"POST", comments, "Bearer fork", 403},
		{"POST", comments, "Bearer writer", 201},
		{"GET", "http://api/user", "", 401},
		{"GET", "http://api/user", "Bearer fork", 403},
		{"GET", "http://api/user", "Bearer writer", 200},
	} {
		body := ""
		if tt.method == "POST" {
			body = `{"body":"x"}`
		}
		if got, said := ask(f, tt.method, tt.target, body, "Authorization", tt.token); got != tt.want {
			t.Errorf("%s %s by %q: status %d, want %d: %s", tt.method, tt.target, tt.token, got, tt.want, said)
		}
	}
	if v := f.Violations(); len(v) != 0 {
		t.Errorf("violations %q", v)
	}
}

// TestResultsAreStrict goes through what the artifact service and its storage
// refuse.
func TestResultsAreStrict(t *testing.T) {
	f := start(t)
	run := f.AddRun(Run{})
	token := "Bearer " + f.RuntimeToken(run.ID)
	call := func(method, fields string, want int) map[string]any {
		t.Helper()
		body := fmt.Sprintf(`{"workflow_run_backend_id":%q,"workflow_job_run_backend_id":%q%s}`, backendID(run.ID), backendID(run.ID+1), fields)
		status, said := ask(f, "POST", "http://results/twirp/github.actions.results.api.v1.ArtifactService/"+method, body, "Authorization", token)
		if status != want {
			t.Errorf("%s%s: status %d, want %d: %s", method, fields, status, want, said)
		}
		var doc map[string]any
		_ = json.Unmarshal([]byte(said), &doc)
		return doc
	}
	put := func(signed, query, body string, want int) {
		t.Helper()
		status, said := ask(f, "PUT", signed+query, body, "x-ms-version", "2024-05-04", "x-ms-blob-type", "BlockBlob")
		if status != want {
			t.Errorf("PUT %s: status %d, want %d: %s", query, status, want, said)
		}
	}
	list := func(ids ...string) string {
		return "<BlockList><Latest>" + strings.Join(ids, "</Latest><Latest>") + "</Latest></BlockList>"
	}
	call("CreateArtifact", `,"name":"a","version":4,"mime_type":"application/zip"`, 500)
	call("CreateArtifact", `,"name":"a"`, 400)
	call("CreateArtifact", `,"name":"a/b","version":4`, 400)
	call("Upload", ``, 404)
	signed := call("CreateArtifact", `,"name":"a","version":4`, 200)["signed_upload_url"].(string)
	call("CreateArtifact", `,"name":"a","version":4`, 409)
	call("FinalizeArtifact", `,"name":"a","size":"0","hash":""`, 400)

	put(signed, "", "whole", 201) // taken, and not kept
	call("FinalizeArtifact", fmt.Sprintf(`,"name":"a","size":"5","hash":%q`, digest([]byte("whole"))), 400)
	put(strings.Replace(signed, "%3a", "%3A", 1), "&comp=block&blockid=MDAw", "x", 403)
	put(signed, "&comp=block&blockid=no+base64!", "x", 400)
	put(signed, "&comp=block&blockid=MDAw", "wo", 201)
	put(signed, "&comp=block&blockid=MDAwMDAw", "rld", 400) // of another length
	put(signed, "&comp=block&blockid=MDAx", "rld", 201)
	put(signed, "&comp=blocklist", list("MDAw", "MDAy"), 400) // never sent
	put(signed, "&comp=blocklist", "no XML", 400)
	put(signed, "&comp=blocklist", list("MDAx", "MDAw"), 201)
	call("FinalizeArtifact", fmt.Sprintf(`,"name":"a","size":"5","hash":%q`, digest([]byte("world"))), 400) // the order is the list's
	put(signed, "&comp=blocklist", list("MDAw", "MDAx"), 201)
	call("FinalizeArtifact", fmt.Sprintf(`,"name":"a","size":"6","hash":%q`, digest([]byte("world"))), 400)
	call("FinalizeArtifact", `,"name":"a","size":"5","hash":"sha256:00"`, 400)
	call("FinalizeArtifact", fmt.Sprintf(`,"name":"a","size":"5","hash":%q`, digest([]byte("world"))), 200)
	call("FinalizeArtifact", fmt.Sprintf(`,"name":"a","size":"5","hash":%q`, digest([]byte("world"))), 404)
	call("CreateArtifact", `,"name":"a","version":4`, 409)
	token = "Bearer " + f.RuntimeToken(run.ID+1)
	call("ListArtifacts", ``, 401)
	if v := f.Violations(); len(v) != 0 {
		t.Errorf("violations %q", v)
	}
}
