package github

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/noslower/noslower/pkg/github/githubtest"
)

func pullWith(t *testing.T) *githubtest.Fake {
	t.Helper()
	f := start(t)
	f.AddPull(githubtest.Pull{SHA: "a1", Branch: "topic"})
	return f
}

func sticky(run int) Sticky {
	return Sticky{PullRequest: 1, Suites: []string{"read"}, RunNumber: run, Attempt: 1, SHA: "a1"}
}

func texts(f *githubtest.Fake) (out []string) {
	for _, c := range f.Comments(1) {
		_, text, _ := strings.Cut(c.Body, "\n")
		out = append(out, text)
	}
	return out
}

func requestsBy(f *githubtest.Fake, method string) (n int) {
	for _, r := range f.Requests() {
		if r.Method == method {
			n++
		}
	}
	return n
}

func TestComment(t *testing.T) {
	f := pullWith(t)
	c := client(t, f)
	put := func(s Sticky, text string, want Outcome, left ...string) Comment {
		t.Helper()
		got, err := c.PutComment(t.Context(), s, text)
		if err != nil || got.Outcome != want || got.ID == 0 || got.URL == "" && want != Created {
			t.Errorf("PutComment(%+v, %q) = %+v, %v, want outcome %v", s, text, got, err, want)
		}
		if have := texts(f); !slices.Equal(have, left) {
			t.Errorf("comments %q, want %q", have, left)
		}
		return got
	}
	first := put(sticky(1), "slow", Created, "slow")
	if got := f.Comments(1)[0]; got.Body != "<!-- noslower:v1 suite=read run=1.1 sha=a1 -->\nslow" || got.Author != actionsBot {
		t.Errorf("comment %+v", got)
	}
	if second := put(sticky(2), "fast", Edited, "fast"); second.ID != first.ID {
		t.Errorf("another comment is edited: %+v, want %+v", second, first)
	}
	writes := requestsBy(f, "PATCH")
	put(sticky(2), "fast", Unchanged, "fast")
	if n := requestsBy(f, "PATCH"); n != writes {
		t.Error("a comment that says the same was edited")
	}
	put(sticky(1), "late", Newer, "fast")
	again := sticky(2)
	again.Attempt = 2
	put(again, "again", Edited, "again")
	put(sticky(2), "of the first attempt", Newer, "again")
	other := sticky(1)
	other.Suites = []string{"readwrite"}
	put(other, "another suite", Created, "again", "another suite")

	if got, err := c.EditComment(t.Context(), sticky(3), "edited"); err != nil || got.Outcome != Edited {
		t.Errorf("EditComment = %+v, %v", got, err)
	}
	none := sticky(4)
	none.Suites = []string{"none"}
	if got, err := c.EditComment(t.Context(), none, "edited"); err != nil || got.Outcome != Absent || len(texts(f)) != 2 {
		t.Errorf("EditComment of none = %+v, %v", got, err)
	}
}

// TestCommentOfOthers leaves alone what anyone can write.
func TestCommentOfOthers(t *testing.T) {
	f := pullWith(t)
	planted := sticky(99).line() + "\nplanted"
	f.AddComment(1, "someone", planted)
	f.AddComment(1, "other-app[bot]", planted)
	f.AddComment(1, actionsBot, "quoted: "+planted)
	f.AddComment(1, actionsBot, strings.ToUpper(planted))
	got, err := client(t, f).PutComment(t.Context(), sticky(1), "mine")
	if err != nil || got.Outcome != Created || len(f.Comments(1)) != 5 {
		t.Errorf("PutComment = %+v, %v, want one created beside the others", got, err)
	}
}

// TestCommentIdentity finds its own comments with every kind of token.
func TestCommentIdentity(t *testing.T) {
	for name, i := range map[string]struct {
		token string
		who   githubtest.Identity
	}{
		"GITHUB_TOKEN":        {botToken, githubtest.Identity{Login: actionsBot, Installation: true}},
		"a person":            {userToken, githubtest.Identity{Login: "someone"}},
		"another app":         {"ghs_other", githubtest.Identity{Login: "other-app[bot]", Installation: true}},
		"a token of old form": {"v1.0123", githubtest.Identity{Login: "other-app[bot]", Installation: true}},
	} {
		t.Run(name, func(t *testing.T) {
			f := pullWith(t)
			f.AddToken(i.token, i.who)
			c := newClient(t, f, i.token, newClock().options())
			for run := range 3 {
				if _, err := c.PutComment(t.Context(), sticky(run+1), "text"); err != nil {
					t.Fatal(err)
				}
			}
			if got := f.Comments(1); len(got) != 1 || got[0].Author != i.who.Login || !strings.Contains(got[0].Body, "run=3.1") {
				t.Errorf("comments %+v, want one of the last run", got)
			}
		})
	}
}

// TestCommentRace has another run create its comment at the worst time: after
// this one has looked, before it creates its own.
func TestCommentRace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		other int // its run
		want  string
	}{
		{"with an older run", 1, "mine"},
		{"with a newer run", 3, "theirs"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := pullWith(t)
			o := newClock().options()
			o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					f.AddComment(1, actionsBot, sticky(tt.other).line()+"\ntheirs")
				}
				return http.DefaultTransport.RoundTrip(r)
			})
			_, err := newClient(t, f, botToken, o).PutComment(t.Context(), sticky(2), "mine")
			if err != nil || !slices.Equal(texts(f), []string{tt.want}) {
				t.Errorf("comments %q, %v, want %q", texts(f), err, tt.want)
			}
		})
	}
}

func TestCommentDuplicates(t *testing.T) {
	f := pullWith(t)
	first := f.AddComment(1, actionsBot, sticky(1).line()+"\none")
	f.AddComment(1, "someone", "between")
	f.AddComment(1, actionsBot, sticky(2).line()+"\ntwo")
	got, err := client(t, f).PutComment(t.Context(), sticky(3), "three")
	if err != nil || got.ID != first.ID || !slices.Equal(texts(f), []string{"three", ""}) {
		t.Errorf("PutComment = %+v, %v; comments %q", got, err, texts(f))
	}
}

// TestCommentDeletedMeanwhile has a person delete it after it was listed.
func TestCommentDeletedMeanwhile(t *testing.T) {
	f := pullWith(t)
	old := f.AddComment(1, actionsBot, sticky(1).line()+"\none")
	o := newClock().options()
	o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPatch {
			f.RemoveComment(old.ID)
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	got, err := newClient(t, f, botToken, o).PutComment(t.Context(), sticky(2), "two")
	if err != nil || got.Outcome != Created || !slices.Equal(texts(f), []string{"two"}) {
		t.Errorf("PutComment = %+v, %v; comments %q", got, err, texts(f))
	}
}

func TestCommentRefused(t *testing.T) {
	f := pullWith(t)
	fork := newClient(t, f, forkToken, newClock().options())
	_, err := fork.PutComment(t.Context(), sticky(1), "text")
	if !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "pull-requests: write") {
		t.Errorf("from a fork: error %v, want %v and the permission", err, ErrForbidden)
	}
	c := client(t, f)
	for _, n := range []int{65_536 - len(sticky(1).line()), 70_000} {
		_, err := c.PutComment(t.Context(), sticky(1), strings.Repeat("ä", n))
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%d characters: error %v, want %v", n, err, ErrTooLarge)
		}
	}
	if _, err := c.PutComment(t.Context(), sticky(1), strings.Repeat("ä", 65_000)); err != nil {
		t.Errorf("65,000 characters: %v", err)
	}
	if _, err := c.PutComment(t.Context(), Sticky{PullRequest: 404}, "text"); !errors.Is(err, ErrNotFound) {
		t.Errorf("no pull request: error %v, want %v", err, ErrNotFound)
	}
}

func TestCommentText(t *testing.T) {
	f := pullWith(t)
	c := client(t, f)
	for i, want := range []Outcome{Created, Unchanged} { // GitHub keeps U+FFFD for what is not UTF-8
		if got, err := c.PutComment(t.Context(), sticky(1), "a\xffb <&> \u2028\n"); err != nil || got.Outcome != want {
			t.Errorf("time %d: %+v, %v, want %v", i, got, err, want)
		}
	}
}

// TestMarker shows that no suite's name gets out of its marker, or into another's.
func TestMarker(t *testing.T) {
	seen := map[string]string{}
	for _, suite := range []string{
		"", "read", "read-write", "read write", "readwrite", "read--write", "-->", "--!>", "a -->\n<script>", "%2D", "-", "--", "---", "a-", "run=9.9", "Read",
		"\x00", "ü", "\xff", strings.Repeat("x", 1000), "suite=read run=1.1 ", "a\nb", "<!-- noslower:v1 suite=read -->", "a%20b", "a b",
	} {
		s := Sticky{Suites: []string{suite}, RunNumber: 12, Attempt: 3, SHA: "-->"}
		line := s.line()
		inner := strings.TrimSuffix(strings.TrimPrefix(line, "<!-- "), " -->")
		if strings.ContainsAny(inner, "<>\n\x00") || strings.Contains(inner, "--") || len(strings.Fields(inner)) != 4 || len(line) > 160 {
			t.Errorf("suite %q: marker %q", suite, line)
		}
		merged := s
		merged.Suites = []string{"other", suite, "~"}
		for _, line := range []string{line, merged.line()} {
			if m, ok := s.markerOf(line + "\ntext"); !ok || m.runNumber != 12 || m.attempt != 3 {
				t.Errorf("suite %q: marker %+v, %v of %q", suite, m, ok, line)
			}
		}
		name := s.names()[0]
		if other, ok := seen[name]; ok {
			t.Errorf("%q and %q have one name in a marker", suite, other)
		}
		seen[name] = suite
	}
}

// TestCommentOfSeveral: a job that merges suites has one comment in place of all
// of theirs, and a job of one of them leaves it alone.
func TestCommentOfSeveral(t *testing.T) {
	f := pullWith(t)
	c := client(t, f)
	of := func(run int, merges bool, suites ...string) Sticky {
		s := sticky(run)
		s.Suites, s.Merges = suites, merges
		return s
	}
	put := func(s Sticky, text string, want Outcome, left ...string) {
		t.Helper()
		if got, err := c.PutComment(t.Context(), s, text); err != nil || got.Outcome != want {
			t.Errorf("PutComment(%+v) = %+v, %v, want outcome %v", s, got, err, want)
		}
		if have := texts(f); !slices.Equal(have, left) {
			t.Errorf("comments %q, want %q", have, left)
		}
	}
	f.AddComment(1, "someone", of(9, false, "read").line()+"\nplanted")
	put(of(1, false, "read"), "read", Created, "planted", "read")
	put(of(1, false, "write"), "write", Created, "planted", "read", "write")
	put(of(1, false, "scan"), "scan", Created, "planted", "read", "write", "scan")
	// It takes the place of what there is of its suites, and of nothing else.
	put(of(2, true, "read", "write"), "read and write", Edited, "planted", "read and write", "scan")
	put(of(2, true, "write", "read"), "read and write", Edited, "planted", "read and write", "scan")
	// A job of one of them does not cut it to that.
	put(of(3, false, "write"), "write alone", Wider, "planted", "read and write", "scan")
	put(of(1, true, "read", "write"), "late", Newer, "planted", "read and write", "scan")
	// One suite more, one less, and one alone: it is the same comment.
	put(of(3, true, "read", "write", "scan"), "all", Edited, "planted", "all")
	put(of(4, true, "read"), "read is left", Edited, "planted", "read is left")
	put(of(5, false, "read"), "read", Edited, "planted", "read")
	// One that a newer run wrote of a suite is not merged over.
	put(of(4, true, "read", "write"), "late", Newer, "planted", "read")
}

// TestCommentMergedMeanwhile has a job that merges edit the comment that a job of
// one suite has just created: that one is not taken for a duplicate.
func TestCommentMergedMeanwhile(t *testing.T) {
	f := pullWith(t)
	merges := sticky(2)
	merges.Suites, merges.Merges = []string{"read", "write"}, true
	o := newClock().options()
	created := false
	o.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet && created {
			created = false
			if _, err := client(t, f).PutComment(t.Context(), merges, "both"); err != nil {
				t.Error(err)
			}
		}
		created = created || r.Method == http.MethodPost
		return http.DefaultTransport.RoundTrip(r)
	})
	got, err := newClient(t, f, botToken, o).PutComment(t.Context(), sticky(2), "read")
	if err != nil || got.Outcome != Wider || !slices.Equal(texts(f), []string{"both"}) {
		t.Errorf("PutComment = %+v, %v; comments %q", got, err, texts(f))
	}
}

// TestCommentInterrupted breaks every request of each kind of change in turn, in
// every way: there is never a second comment, and the next run puts all right.
func TestCommentInterrupted(t *testing.T) {
	alone := []string{"read"}
	both := []string{"read", "write"}
	for name, tt := range map[string]struct {
		suites []string
		before [][]string // the suites of each comment there is
	}{
		"none there":       {alone, nil},
		"one there":        {alone, [][]string{alone}},
		"two there":        {alone, [][]string{alone, alone}},
		"merged, none":     {both, nil},
		"merged, of each":  {both, [][]string{alone, {"write"}}},
		"merged, and more": {both, [][]string{{"write"}, both, alone}},
	} {
		t.Run(name, func(t *testing.T) {
			interrupted(t, func(t *testing.T, inject func(*githubtest.Fake), lasting bool) int {
				f := pullWith(t)
				f.AddToken(userToken, githubtest.Identity{Login: "someone"})
				of := func(run int, suites []string) Sticky {
					s := sticky(run)
					s.Suites, s.Merges = suites, len(suites) > 1
					return s
				}
				for i, suites := range tt.before {
					f.AddComment(1, "someone", of(1+i%2, suites).line()+"\nold")
				}
				inject(f)
				_, err := newClient(t, f, userToken, newClock().options()).PutComment(t.Context(), of(3, tt.suites), "new")
				n := len(f.Requests())
				f.Heal()
				if most := max(1, len(tt.before)); len(f.Comments(1)) > most {
					t.Errorf("%d comments, %v, want at most %d", len(f.Comments(1)), err, most)
				}
				if !lasting && (err != nil || !slices.Equal(texts(f), []string{"new"})) {
					t.Errorf("comments %q, %v, want the new one", texts(f), err)
				}
				if _, err := newClient(t, f, userToken, newClock().options()).PutComment(t.Context(), of(4, tt.suites), "next"); err != nil || !slices.Equal(texts(f), []string{"next"}) {
					t.Errorf("after the next run: comments %q, %v", texts(f), err)
				}
				return n
			})
		})
	}
}
