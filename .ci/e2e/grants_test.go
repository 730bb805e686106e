//go:build e2e && linux

package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// The grants hold a workflow to its permissions, which act does not.
type grants struct {
	mu      sync.Mutex
	granted map[string]string            // to the run that goes on
	used    map[string]map[string]string // by the workflow's file
	file    string
}

// begin grants what a workflow asks for, or what GitHub leaves of it to a fork.
func (g *grants) begin(w workflow, by trigger) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.file, g.granted = by.workflow, maps.Clone(w.Permissions)
	if g.used == nil {
		g.used = map[string]map[string]string{}
	}
	if g.used[g.file] == nil {
		g.used[g.file] = map[string]string{}
	}
	if by.token == readToken {
		for scope := range g.granted {
			g.granted[scope] = "read"
		}
	}
}

// guard refuses what is not granted, as GitHub does.
func (g *grants) guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scope, access := needs(r)
		g.mu.Lock()
		granted := scope == "" || g.granted[scope] == "write" || g.granted[scope] == access
		if granted && scope != "" && g.used[g.file][scope] != "write" {
			g.used[g.file][scope] = access
		}
		g.mu.Unlock()
		if granted {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"Resource not accessible by integration"}`)
	})
}

// needs is the permission that GitHub wants for a request,
// https://docs.github.com/rest/authentication/permissions-required-for-github-apps.
func needs(r *http.Request) (scope, access string) {
	access = "write"
	if r.Method == http.MethodGet {
		access = "read"
	}
	parts := strings.Split(r.URL.Path, "/") // "", repos, owner, name, …
	if len(parts) < 5 {
		return "", access // metadata, which every token may read
	}
	switch part := parts[4]; {
	case part == "actions":
		return "actions", access
	case slices.Contains([]string{"issues", "pulls"}, part):
		return "pull-requests", access
	}
	return "contents", access
}
