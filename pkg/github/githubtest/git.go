package githubtest

import (
	"net/http"
	"net/http/cgi"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ServeGit makes an empty repository and serves it by git's protocol, as GitHub
// does a private one: to a token alone, and pushes to one that may write. It
// returns the repository's folder and what stands for GITHUB_SERVER_URL.
func (f *Fake) ServeGit(t testing.TB) (folder, serverURL string) {
	t.Helper()
	root := t.TempDir()
	folder = filepath.Join(root, f.Owner, f.Name)
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch", f.DefaultBranch, folder},
		{"--git-dir", folder, "config", "http.receivepack", "true"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"},
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	}
	return folder, open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token, _ := r.BasicAuth()
		f.mu.Lock()
		who, known := f.tokens[token]
		f.mu.Unlock()
		switch pushes := r.URL.Query().Get("service") == "git-receive-pack" || strings.HasSuffix(r.URL.Path, "/git-receive-pack"); {
		case len(r.Header["Authorization"]) > 1:
			// As of two settings for one address.
			http.Error(w, "Duplicate header: \"Authorization\"", http.StatusBadRequest)
		case !known:
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, "Bad credentials", http.StatusUnauthorized)
		case pushes && who.ReadOnly:
			http.Error(w, "Write access to repository not granted.", http.StatusForbidden)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
}
