package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

const (
	botToken  = "ghs_0123456789abcdef"
	forkToken = "ghs_fork"
	userToken = "ghp_0123456789abcdef"
)

// A clock is moved by sleeping alone.
type clock struct {
	now    time.Time
	sleeps []time.Duration
}

func (c *clock) options() Options {
	return Options{
		Now:  func() time.Time { return c.now },
		Rand: func() float64 { return 0.5 }, // the middle of the jitter
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.now = c.now.Add(d)
			c.sleeps = append(c.sleeps, d)
			return ctx.Err()
		},
	}
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func start(t *testing.T) *githubtest.Fake {
	t.Helper()
	f := githubtest.Start(t)
	f.AddToken(botToken, githubtest.Identity{Login: actionsBot, Installation: true})
	f.AddToken(forkToken, githubtest.Identity{Login: actionsBot, Installation: true, ReadOnly: true})
	f.AddToken(userToken, githubtest.Identity{Login: "someone"})
	return f
}

func contextOf(f *githubtest.Fake) Context {
	return Context{APIURL: f.APIURL, Owner: f.Owner, Repository: f.Name, RepositoryID: f.RepositoryID}
}

func newClient(t *testing.T, f *githubtest.Fake, token string, o Options) *Client {
	t.Helper()
	c, err := New(contextOf(f), token, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// client returns a client of the bot with a clock of its own.
func client(t *testing.T, f *githubtest.Fake) *Client {
	return newClient(t, f, botToken, newClock().options())
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []Context{
		{APIURL: "api.github.com", Owner: "o", Repository: "r"},
		{APIURL: "ftp://api.github.com", Owner: "o", Repository: "r"},
		{APIURL: "https://api.github.com"},
	} {
		if _, err := New(c, "", Options{}); err == nil {
			t.Errorf("New(%+v) is taken", c)
		}
	}
}

// TestBase shows that the API is where GITHUB_API_URL says, whatever its shape.
func TestBase(t *testing.T) {
	for api, want := range map[string]string{
		"":                                "https://api.github.com/repos/o/r",
		"https://api.github.com":          "https://api.github.com/repos/o/r",
		"https://ghes.example.com/api/v3": "https://ghes.example.com/api/v3/repos/o/r",
		"https://api.corp.ghe.com/":       "https://api.corp.ghe.com/repos/o/r",
		"http://gitea:3000/root/api/v1":   "http://gitea:3000/root/api/v1/repos/o/r",
	} {
		var got string
		o := newClock().options()
		o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return nil, errors.New("enough seen")
		})
		c, err := New(Context{APIURL: api, Owner: "o", Repository: "r"}, "", o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Repository(t.Context()); err == nil || got != want {
			t.Errorf("with %q, %s is asked, want %s", api, got, want)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRepository(t *testing.T) {
	f := start(t)
	got, err := client(t, f).Repository(t.Context())
	if want := (Repository{1001, "main"}); err != nil || got != want {
		t.Errorf("Repository() = %+v, %v, want %+v", got, err, want)
	}
}

// TestRetry says which trouble a question survives, and how long it waits.
func TestRetry(t *testing.T) {
	header := func(kv ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(kv); i += 2 {
			h.Set(kv[i], kv[i+1])
		}
		return h
	}
	reset := fmt.Sprint(newClock().now.Add(30 * time.Second).Unix())
	for _, tt := range []struct {
		name   string
		fault  githubtest.Fault
		sleeps []time.Duration
		want   error // nil: the question is answered
	}{
		{"502 twice", githubtest.Fault{Times: 2, Status: 502}, seconds(1, 2), nil},
		{"broken before the answer", githubtest.Fault{Times: 2, Break: true}, seconds(1, 2), nil},
		{"broken in the middle of the answer", githubtest.Fault{Times: 1, Break: true, Processed: true}, seconds(1), nil},
		{"429 with Retry-After", githubtest.Fault{Times: 1, Status: 429, Header: header("Retry-After", "7")}, seconds(7), nil},
		{"429 with a date", githubtest.Fault{Times: 1, Status: 429, Header: header("Retry-After", "Mon, 30 Nov 2026 12:00:09 GMT")}, seconds(9), nil},
		{"503 with Retry-After", githubtest.Fault{Times: 1, Status: 503, Header: header("Retry-After", "3")}, seconds(3), nil},
		{"primary limit", githubtest.Fault{Times: 1, Status: 403, Header: header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset)}, seconds(1, 30), nil},
		{
			"secondary limit without a time",
			githubtest.Fault{Times: 1, Status: 403, Body: `{"message":"You have exceeded a secondary rate limit."}`}, seconds(60), nil,
		},
		{"429 for an hour", githubtest.Fault{Status: 429, Header: header("Retry-After", "3600")}, nil, ErrRateLimited},
		{"primary limit for an hour", githubtest.Fault{Status: 403, Header: header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1796050000")}, seconds(1), ErrRateLimited},
		{"429 for ever", githubtest.Fault{Status: 429}, seconds(1, 2, 4, 8), ErrRateLimited},
		{"403", githubtest.Fault{Status: 403, Body: `{"message":"Resource not accessible by integration"}`}, nil, ErrForbidden},
		{"404", githubtest.Fault{Status: 404}, nil, ErrNotFound},
		{"401", githubtest.Fault{Status: 401}, nil, ErrUnauthorized},
		{"500 for ever", githubtest.Fault{Status: 500}, seconds(1, 2, 4, 8), errAny},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t)
			f.Inject(tt.fault)
			clock := newClock()
			_, err := newClient(t, f, botToken, clock.options()).Repository(t.Context())
			if !is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if !slices.EqualFunc(clock.sleeps, tt.sleeps, about) {
				t.Errorf("waited %v, want %v", clock.sleeps, tt.sleeps)
			}
		})
	}
}

// about allows for the second that is added to a limit's own time, and for
// net/http, which by itself repeats a question on a connection that was kept.
func about(have, want time.Duration) bool { return (have - want).Abs() <= time.Second }

func seconds(n ...int) (d []time.Duration) {
	for _, s := range n {
		d = append(d, time.Duration(s)*time.Second)
	}
	return d
}

var errAny = errors.New("any error")

func is(err, want error) bool {
	if want == errAny || want == nil {
		return (err != nil) == (want != nil)
	}
	return errors.Is(err, want)
}

// TestUsedUp shows that the call after the last allowed one waits for the limit
// to be renewed, and does not count as refused.
func TestUsedUp(t *testing.T) {
	f := start(t)
	clock := newClock()
	o := clock.options()
	base := http.DefaultTransport
	first := true
	o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(r)
		if err == nil && first {
			first = false
			resp.Header.Set("X-RateLimit-Remaining", "0")
			resp.Header.Set("X-RateLimit-Reset", fmt.Sprint(clock.now.Add(20*time.Second).Unix()))
		}
		return resp, err
	})
	c := newClient(t, f, botToken, o)
	for range 2 {
		if _, err := c.Repository(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(clock.sleeps, seconds(21)) {
		t.Errorf("waited %v, want 21s", clock.sleeps)
	}
}

// TestWaitIsBounded shows that the waits of all calls together have a bound.
func TestWaitIsBounded(t *testing.T) {
	f := start(t)
	f.Inject(githubtest.Fault{Status: 429, Header: http.Header{"Retry-After": {"10"}}})
	clock := newClock()
	o := clock.options()
	o.MaxWait = 25 * time.Second
	c := newClient(t, f, botToken, o)
	for range 5 {
		if _, err := c.Repository(t.Context()); !errors.Is(err, ErrRateLimited) {
			t.Fatalf("error %v, want %v", err, ErrRateLimited)
		}
	}
	if !slices.Equal(clock.sleeps, seconds(10, 10)) {
		t.Errorf("waited %v, want 20s in all", clock.sleeps)
	}
}

func TestCancelled(t *testing.T) {
	f := start(t)
	f.Inject(githubtest.Fault{Status: 502})
	ctx, cancel := context.WithCancel(t.Context())
	o := newClock().options()
	o.Sleep = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}
	_, err := newClient(t, f, botToken, o).Repository(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if n := len(f.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestTimeout shows that a server that never answers does not hold up a gate.
func TestTimeout(t *testing.T) {
	o := newClock().options()
	o.Timeout = time.Millisecond
	o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	c, err := New(Context{APIURL: "http://silent", Owner: "o", Repository: "r"}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Repository(t.Context()); err == nil || !strings.Contains(err.Error(), "no answer within 1ms") {
		t.Errorf("error %v, want one that says the time", err)
	}
	if !unclear(err) {
		t.Errorf("%v does not count as a lost answer", err)
	}
}

// TestTokenStaysHome shows that no error holds the token, even if the server
// sends it back, and that it goes nowhere but to the API.
func TestTokenStaysHome(t *testing.T) {
	f := start(t)
	for _, body := range []string{
		`{"message":"bad token ` + botToken + `"}`,
		`{"message":"` + strings.Repeat("long ", 1000) + `"}`,
	} {
		f.Inject(githubtest.Fault{Times: 1, Status: 403, Body: body})
		_, err := client(t, f).Repository(t.Context())
		if err == nil || strings.Contains(err.Error(), botToken) || len(err.Error()) > 700 {
			t.Errorf("error %v, want a short one without the token", err)
		}
	}
	elsewhere := f.StorageURL + "/elsewhere" // fails the test if it sees a token
	f.Inject(githubtest.Fault{Times: 1, Status: 301, Header: http.Header{"Location": {elsewhere}}})
	if _, err := client(t, f).Repository(t.Context()); err == nil {
		t.Error("no error from another host")
	}
	requests := f.Requests()
	if last := requests[len(requests)-1]; last.Host != "storage" {
		t.Errorf("the last request is to %s, want one to the storage", last.Host)
	}
}

func TestErrorIsOneLine(t *testing.T) {
	f := start(t)
	f.Inject(githubtest.Fault{Times: 1, Status: 404, Body: `{"message":"no\n::error::x\r\u001b[31m"}`})
	_, err := client(t, f).Repository(t.Context())
	if err == nil || strings.ContainsAny(err.Error(), "\n\r\x1b") {
		t.Errorf("error %q, want one line", err)
	}
}

// TestPaging reads lists that are paged in every way known.
func TestPaging(t *testing.T) {
	for name, set := range map[string]func(*githubtest.Fake){
		"GitHub":                        func(*githubtest.Fake) {},
		"pages smaller than asked for":  func(f *githubtest.Fake) { f.MostPerPage = 10 },
		"Gitea, no Link and all at one": func(f *githubtest.Fake) { f.Gitea = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t)
			set(f)
			f.AddPull(githubtest.Pull{SHA: "a1"})
			run := f.AddRun(githubtest.Run{})
			for i := range 230 {
				f.AddComment(1, "someone", fmt.Sprint(i))
				f.AddArtifact(run.ID, fmt.Sprint("a", i), nil)
			}
			s := Sticky{PullRequest: 1, Suites: []string{"s"}, RunNumber: 1, Attempt: 1, SHA: "a1"}
			mine := f.AddComment(1, actionsBot, s.line())
			c := client(t, f)
			own, err := c.notes(t.Context(), s, actionsBot)
			if err != nil || len(own) != 1 || own[0].id != mine.ID {
				t.Errorf("notes = %v, %v, want the last comment", own, err)
			}
			artifacts, err := c.Artifacts(t.Context(), Run{ID: run.ID}, "")
			if err != nil || len(artifacts) != 230 {
				t.Errorf("%d artifacts, %v, want 230", len(artifacts), err)
			}
		})
	}
}

// TestEndlessList shows that a list that never ends does.
func TestEndlessList(t *testing.T) {
	n := 0
	o := newClock().options()
	o.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
		n++
		return &http.Response{
			StatusCode: 200, Header: http.Header{"Link": {`<x>; rel="next"`}},
			Body: http.NoBody,
		}, nil
	})
	c, err := New(Context{APIURL: "http://endless", Owner: "o", Repository: "r"}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Commits(t.Context(), "main", 1); err == nil {
		t.Error("an empty answer is taken for a list")
	}
	id := 0
	o.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
		n++
		id++
		return &http.Response{
			StatusCode: 200, Header: http.Header{"Link": {`<x>; rel="next"`}},
			Body: body(fmt.Sprintf(`[{"id":%d}]`, id)),
		}, nil
	})
	c, err = New(Context{APIURL: "http://endless", Owner: "o", Repository: "r"}, botToken, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.PutComment(t.Context(), Sticky{PullRequest: 1}, "x"); !errors.Is(err, ErrTooBig) {
		t.Errorf("error %v, want %v", err, ErrTooBig)
	}
	if n > maxPages+1 {
		t.Errorf("%d requests, want at most %d", n, maxPages+1)
	}
}

func TestSleep(t *testing.T) {
	if err := sleep(t.Context(), 1); err != nil {
		t.Errorf("sleep(1ns) = %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("sleep = %v, want %v", err, context.Canceled)
	}
}
