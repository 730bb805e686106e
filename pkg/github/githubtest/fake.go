// Package githubtest is a GitHub for tests: the part of the REST API and of the
// artifact service that noslower calls, with the refusals of the real ones.
//
// It is strict where GitHub is, and stricter where GitHub forgives and others do
// not: every request and every answer of the REST API is held against GitHub's
// own description of it, testdata/github/openapi.json. It never talks to a
// network.
package githubtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Fake is one repository with all that is in it, its artifact service and
// their storage. Its methods may be called from any goroutine; its fields are to
// be set before the first request.
type Fake struct {
	Owner, Name   string
	RepositoryID  int64
	DefaultBranch string

	// Gitea leaves out what Gitea 1.27 does: fields of runs and artifacts,
	// Link headers, paging of comments; per_page is called limit, and at most 50.
	// Nothing is held against GitHub's description then.
	Gitea bool
	// Camel makes the artifact service answer as protojson does by default, as
	// act and Gitea do: names in camel case, numbers in strings.
	Camel bool
	// Overwrites makes the artifact service take a name twice, as act does.
	Overwrites bool
	// MostPerPage bounds the pages of lists; 0 is 100, as with GitHub.
	MostPerPage int
	// Now is the time of the server.
	Now func() time.Time

	// Where the handlers are reached, without a slash at the end. StorageURL is
	// to be another host than the others: it must not see their tokens.
	APIURL, ResultsURL, StorageURL string

	description *description
	mu          sync.Mutex
	nextID      int64
	tokens      map[string]Identity
	commits     []commit
	branches    map[string]string
	tags        []tag
	files       map[string][]byte // by "ref:path"
	runs        []Run
	artifacts   []*artifact
	uploads     []*upload
	pulls       []Pull
	comments    []Comment
	events      []event
	activity    []activity
	faults      []*Fault
	log         []Request
	corrupt     map[int64][]byte
	violations  []string
}

// An Identity is whom a token belongs to.
type Identity struct {
	Login string
	// Installation: the token of an app, as GITHUB_TOKEN is, which may not ask
	// who it is.
	Installation bool
	// ReadOnly: as a pull request from a fork has it.
	ReadOnly bool
}

// A Request is what was asked, in order.
type Request struct {
	Host   string // "api", "results" or "storage"
	Method string
	Path   string // without the base of the API
	Query  url.Values
	Header http.Header
	Body   []byte
}

// A Fault is something that goes wrong.
type Fault struct {
	// Match says which requests go wrong; nil is all.
	Match func(Request) bool
	// Skip requests that match are answered first; then Times go wrong, 0 is all.
	Skip, Times int
	// Processed: the request takes effect, and only its answer goes wrong.
	Processed bool
	// Break cuts the connection off: before the answer, or with Processed in its
	// middle.
	Break bool
	// Otherwise this is the answer.
	Status int
	Header http.Header
	Body   string
}

// New returns a fake of the repository noslower/sample with a default branch
// main. description is testdata/github/openapi.json.
func New(description []byte) (*Fake, error) {
	d, err := readDescription(description)
	if err != nil {
		return nil, err
	}
	return newFake(d), nil
}

func newFake(d *description) *Fake {
	return &Fake{
		Owner: "noslower", Name: "sample", RepositoryID: 1001, DefaultBranch: "main",
		Now: time.Now, description: d, nextID: 5000,
		tokens: map[string]Identity{}, branches: map[string]string{}, files: map[string][]byte{}, corrupt: map[int64][]byte{},
	}
}

// ours reads the description once for all tests of a process.
var ours = sync.OnceValues(func() (*description, error) {
	data, err := os.ReadFile(filepath.Join("testdata", "github", "openapi.json"))
	for up := ".."; errors.Is(err, fs.ErrNotExist) && len(up) < 40; up = filepath.Join(up, "..") {
		data, err = os.ReadFile(filepath.Join(up, "testdata", "github", "openapi.json"))
	}
	if err != nil {
		return nil, err
	}
	return readDescription(data)
})

// Start returns a fake that is served until the test ends, and fails the test
// for each of its violations. Its clock stands still but for a second with every
// thing made.
func Start(t testing.TB) *Fake {
	t.Helper()
	d, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(d)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	f.Now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
	f.APIURL = open(t, http.StripPrefix("/api/v3", f.API())) + "/api/v3"
	f.ResultsURL = open(t, f.Results())
	f.StorageURL = open(t, f.Storage())
	t.Cleanup(func() {
		for _, v := range f.Violations() {
			t.Error("githubtest: " + v)
		}
	})
	return f
}

// open serves until the test ends.
func open(t testing.TB, h http.Handler) (url string) {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// Inject makes something go wrong from now on. Of several faults that match a
// request the first that is not used up is taken.
func (f *Fake) Inject(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &fault)
}

// Heal takes all faults away.
func (f *Fake) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

// Requests returns what was asked so far.
func (f *Fake) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

// Violations returns what broke a rule so far: a request or an answer that is
// not as GitHub describes it, a token shown to the storage.
func (f *Fake) Violations() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.violations)
}

// AddToken makes a token known.
func (f *Fake) AddToken(token string, i Identity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens[token] = i
}

// RuntimeToken returns the token of the artifact service for a run.
func (f *Fake) RuntimeToken(run int64) string {
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return encode(`{"alg":"none"}`) + "." +
		encode(fmt.Sprintf(`{"scp":"Actions.GenericRead:0:1 Actions.Results:%s:%s Actions.UploadArtifacts:0/1:1"}`, backendID(run), backendID(run+1))) + ".signature"
}

// API serves the REST API, to be mounted at APIURL.
func (f *Fake) API() http.Handler { return f.serve("api", f.rest()) }

// Results serves the artifact service.
func (f *Fake) Results() http.Handler { return f.serve("results", f.twirp()) }

// Storage serves what signed URLs point to.
func (f *Fake) Storage() http.Handler { return f.serve("storage", f.blobs()) }

// An answer is what a handler says, before it is sent.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// say returns an answer of v as JSON.
func say(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // a bug of the fake
	}
	return answer{status, http.Header{"Content-Type": {"application/json; charset=utf-8"}}, body}
}

// refuse answers as the API does when it says no.
func refuse(status int, message string) answer {
	return say(status, map[string]any{"message": message, "documentation_url": "https://docs.github.com/rest"})
}

// serve logs, applies faults, and holds requests and answers against the
// description.
func (f *Fake) serve(host string, h func(*http.Request, Request) answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		req := Request{host, r.Method, r.URL.Path, r.URL.Query(), r.Header.Clone(), body}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.log = append(f.log, req)
		described := host == "api" && !f.Gitea
		if described {
			if err := f.description.checkRequest(r, body); err != nil {
				f.violate(req, "%v", err)
			}
		}
		if host == "storage" && r.Header.Get("Authorization") != "" {
			f.violate(req, "the storage was shown a token")
		}
		if r.Header.Get("User-Agent") != "noslower" {
			f.violate(req, "the user agent is %q", r.Header.Get("User-Agent"))
		}
		fault := f.fault(req)
		var a answer
		if fault == nil || fault.Processed {
			a = h(r, req)
			if described {
				if err := f.description.checkAnswer(r, body, a); err != nil {
					f.violate(req, "the fake's answer: %v", err)
				}
			}
		}
		if fault != nil && !fault.Break {
			a = answer{fault.Status, fault.Header, []byte(fault.Body)}
		}
		for k, v := range a.header {
			w.Header()[k] = v
		}
		if fault != nil && fault.Break {
			if fault.Processed && len(a.body) > 1 {
				w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
				w.WriteHeader(a.status)
				_, _ = w.Write(a.body[:len(a.body)/2])
				_ = http.NewResponseController(w).Flush()
			}
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	})
}

func (f *Fake) violate(r Request, format string, args ...any) {
	f.violations = append(f.violations, fmt.Sprintf("%s %s %s: ", r.Host, r.Method, r.Path)+fmt.Sprintf(format, args...))
}

// fault returns what is to go wrong with a request.
func (f *Fake) fault(r Request) *Fault {
	for i, fault := range f.faults {
		if fault.Match != nil && !fault.Match(r) {
			continue
		}
		if fault.Skip > 0 {
			fault.Skip--
			continue
		}
		if fault.Times == 1 {
			f.faults = slices.Delete(f.faults, i, i+1)
		}
		if fault.Times > 1 {
			fault.Times--
		}
		return fault
	}
	return nil
}

// identity returns whom a request is by. Without a token one may read.
func (f *Fake) identity(r Request) (Identity, bool) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return Identity{ReadOnly: true}, true
	}
	token, ok := strings.CutPrefix(header, "Bearer ")
	i, known := f.tokens[token]
	return i, ok && known
}

func (f *Fake) id() int64 {
	f.nextID++
	return f.nextID
}
