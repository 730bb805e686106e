package githubtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// mostComment is how many characters a comment may have.
const mostComment = 65536

type object = map[string]any

// rest returns the handler of the API.
func (f *Fake) rest() func(*http.Request, Request) answer {
	mux := http.NewServeMux()
	const repo = "/repos/{owner}/{repo}"
	for pattern, h := range map[string]func(*http.Request, Request) answer{
		"GET " + repo: f.getRepository,
		"GET " + repo + "/actions/workflows/{workflow}/runs": f.listRuns,
		"GET " + repo + "/actions/runs":                      f.listRuns,
		"GET " + repo + "/actions/runs/{id}":                 f.getRun,
		"GET " + repo + "/actions/runs/{id}/artifacts":       f.listArtifacts,
		"GET " + repo + "/actions/artifacts/{id}/zip":        f.getArchive,
		"GET " + repo + "/commits":                           f.listCommits,
		"GET " + repo + "/tags":                              f.listTags,
		"GET " + repo + "/contents/{path...}":                f.getFile,
		"GET " + repo + "/compare/{basehead...}":             f.compare,
		"GET " + repo + "/issues/{number}/comments":          f.listComments,
		"POST " + repo + "/issues/{number}/comments":         f.createComment,
		"PATCH " + repo + "/issues/comments/{id}":            f.editComment,
		"DELETE " + repo + "/issues/comments/{id}":           f.deleteComment,
		"GET " + repo + "/issues/{number}/events":            f.listEvents,
		"GET " + repo + "/pulls":                             f.listPulls,
		"GET " + repo + "/pulls/{number}":                    f.getPull,
		"GET " + repo + "/activity":                          f.listActivity,
		"GET /user":                                          f.getUser,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			a := h(r, Request{Header: r.Header})
			for k, v := range a.header {
				w.Header()[k] = v
			}
			w.WriteHeader(a.status)
			_, _ = w.Write(a.body)
		})
	}
	return func(r *http.Request, req Request) answer {
		if _, ok := f.identity(req); !ok {
			return refuse(http.StatusUnauthorized, "Bad credentials")
		}
		here := strings.HasPrefix(r.URL.Path, "/repos/"+f.Owner+"/"+f.Name)
		if !here && strings.HasPrefix(r.URL.Path, "/repos/") && !strings.HasSuffix(r.URL.Path, "/activity") {
			return refuse(http.StatusNotFound, "Not Found")
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return answer{w.Code, w.Header(), w.Body.Bytes()}
	}
}

// mayWrite answers a request that its token may not make.
func (f *Fake) mayWrite(req Request) (answer, bool) {
	who, _ := f.identity(req)
	switch {
	case req.Header.Get("Authorization") == "":
		return refuse(http.StatusUnauthorized, "Requires authentication"), false
	case who.ReadOnly:
		return refuse(http.StatusForbidden, "Resource not accessible by integration"), false
	}
	return answer{}, true
}

func value(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func notFound() answer { return refuse(http.StatusNotFound, "Not Found") }

// listed returns a page of all as an answer, by itself or under a key.
func listed[T any](f *Fake, r *http.Request, key string, all []T, doc func(T) object) answer {
	part, header := page(f, r, all)
	docs := []object{}
	for _, item := range part {
		docs = append(docs, doc(item))
	}
	a := say(http.StatusOK, docs)
	if key != "" {
		a = say(http.StatusOK, object{"total_count": len(all), key: docs})
	}
	for k, v := range header {
		a.header[k] = v
	}
	return a
}

func (f *Fake) user(login string) object {
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return f.description.blank("simple-user", object{"login": login, "type": kind})
}

func (f *Fake) getUser(_ *http.Request, req Request) answer {
	who, _ := f.identity(req)
	switch {
	case who.Login == "":
		return refuse(http.StatusUnauthorized, "Requires authentication")
	case who.Installation:
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	return say(http.StatusOK, f.description.blank("public-user", object{"login": who.Login, "type": "User", "user_view_type": "public"}))
}

func (f *Fake) repository(id int64, fullName string) object {
	_, name, _ := strings.Cut(fullName, "/")
	return f.description.blank("minimal-repository", object{"id": id, "full_name": fullName, "name": name, "owner": f.user(strings.TrimSuffix(fullName, "/"+name))})
}

func (f *Fake) getRepository(*http.Request, Request) answer {
	full := f.Owner + "/" + f.Name
	return say(http.StatusOK, f.description.blank("full-repository", object{
		"id": f.RepositoryID, "name": f.Name, "full_name": full, "owner": f.user(f.Owner), "default_branch": f.DefaultBranch,
	}))
}

func (f *Fake) run(r Run) object {
	doc := object{
		"id": r.ID, "run_number": r.Number, "run_attempt": r.Attempt, "event": r.Event, "status": "completed", "conclusion": r.Conclusion,
		"created_at": r.Created, "run_started_at": r.Started, "path": r.Workflow, "workflow_id": 77, "head_branch": r.Branch, "head_sha": r.SHA,
		"html_url":   fmt.Sprintf("https://github.invalid/%s/%s/actions/runs/%d", f.Owner, f.Name, r.ID),
		"repository": f.repository(f.RepositoryID, f.Owner+"/"+f.Name), "head_repository": f.repository(r.HeadRepositoryID, r.HeadRepository),
		"actor": f.user("author"), "triggering_actor": f.user("author"), "pull_requests": []any{},
	}
	if f.Gitea {
		delete(doc, "head_repository")
		doc["path"] = r.Workflow + "@refs/heads/" + r.Branch
		doc["workflow_id"] = r.Workflow[strings.LastIndexByte(r.Workflow, '/')+1:]
		return doc
	}
	return f.description.blank("workflow-run", doc)
}

func (f *Fake) listRuns(r *http.Request, _ Request) answer {
	q := r.URL.Query()
	file := r.PathValue("workflow")
	known := file == ""
	var found []Run
	for _, run := range slices.Backward(f.runs) {
		if file != "" && !strings.HasSuffix(run.Workflow, "/"+file) {
			continue
		}
		known = true
		if match(q.Get("branch"), run.Branch) && match(q.Get("event"), run.Event) && match(q.Get("head_sha"), run.SHA) {
			found = append(found, run)
		}
	}
	if !known {
		return notFound()
	}
	return listed(f, r, "workflow_runs", found, f.run)
}

func match(want, have string) bool { return want == "" || want == have }

func (f *Fake) getRun(r *http.Request, _ Request) answer {
	for _, run := range f.runs {
		if run.ID == value(r, "id") {
			return say(http.StatusOK, f.run(run))
		}
	}
	return notFound()
}

func (f *Fake) listCommits(r *http.Request, _ Request) answer {
	return listed(f, r, "", f.history(r.URL.Query().Get("sha")), f.commit)
}

func (f *Fake) commit(c commit) object {
	if f.Gitea {
		return object{"sha": c.sha, "parents": f.parents(c)}
	}
	return f.description.blank("commit", object{"sha": c.sha, "parents": f.parents(c)})
}

func (f *Fake) parents(c commit) []object {
	out := []object{}
	for _, p := range c.parents {
		out = append(out, object{"sha": p, "url": "https://github.invalid/"})
	}
	return out
}

func (f *Fake) listTags(r *http.Request, _ Request) answer {
	return listed(f, r, "", f.tags, func(t tag) object {
		doc := object{"name": t.name, "commit": object{"sha": t.sha, "url": "https://github.invalid/"}}
		if f.Gitea {
			return doc
		}
		return f.description.blank("tag", doc)
	})
}

func (f *Fake) compare(r *http.Request, _ Request) answer {
	base, head, ok := strings.Cut(r.PathValue("basehead"), "...")
	behind, ahead := f.history(base), f.history(head)
	if !ok || len(behind) == 0 || len(ahead) == 0 {
		return notFound()
	}
	has := func(list []commit, sha string) bool {
		return slices.ContainsFunc(list, func(c commit) bool { return c.sha == sha })
	}
	var only []commit
	var common *commit
	for _, c := range ahead {
		if !has(behind, c.sha) {
			only = append(only, c)
		} else if common == nil {
			common = &c
		}
	}
	missing := 0
	for _, c := range behind {
		if !has(ahead, c.sha) {
			missing++
		}
	}
	if common == nil {
		return refuse(http.StatusNotFound, "No common ancestor")
	}
	if f.Gitea {
		return say(http.StatusOK, object{"total_commits": len(only), "commits": []any{}})
	}
	status := map[[2]bool]string{{false, false}: "identical", {true, false}: "ahead", {false, true}: "behind", {true, true}: "diverged"}
	return say(http.StatusOK, f.description.blank("commit-comparison", object{
		"status": status[[2]bool{len(only) > 0, missing > 0}], "ahead_by": len(only), "behind_by": missing, "total_commits": len(only),
		"base_commit": f.commit(behind[0]), "merge_base_commit": f.commit(*common),
	}))
}

func (f *Fake) getFile(r *http.Request, _ Request) answer {
	path := r.PathValue("path")
	data, ok := f.files[r.URL.Query().Get("ref")+":"+path]
	if !ok {
		return notFound()
	}
	return say(http.StatusOK, f.description.blank("content-file", object{
		"type": "file", "encoding": "base64", "size": len(data), "name": path[strings.LastIndexByte(path, '/')+1:], "path": path,
		"content": base64.StdEncoding.EncodeToString(data) + "\n",
	}))
}

func (f *Fake) comment(c Comment) object {
	return f.description.blank("issue-comment", object{
		"id": c.ID, "body": c.Body, "user": f.user(c.Author),
		"html_url": fmt.Sprintf("https://github.invalid/%s/%s/pull/%d#issuecomment-%d", f.Owner, f.Name, c.Pull, c.ID),
	})
}

func (f *Fake) pull(number int64) *Pull {
	for i := range f.pulls {
		if int64(f.pulls[i].Number) == number {
			return &f.pulls[i]
		}
	}
	return nil
}

func (f *Fake) listComments(r *http.Request, _ Request) answer {
	p := f.pull(value(r, "number"))
	if p == nil {
		return notFound()
	}
	of := slices.DeleteFunc(slices.Clone(f.comments), func(c Comment) bool { return c.Pull != p.Number })
	if f.Gitea { // all at once, whatever is asked
		docs := []object{}
		for _, c := range of {
			docs = append(docs, f.comment(c))
		}
		return say(http.StatusOK, docs)
	}
	return listed(f, r, "", of, f.comment)
}

// text reads the body of a comment that is sent.
func (f *Fake) text(r *http.Request) (string, answer, bool) {
	var doc struct{ Body string }
	if err := json.NewDecoder(r.Body).Decode(&doc); err != nil || doc.Body == "" {
		return "", refuse(http.StatusUnprocessableEntity, "Validation Failed"), false
	}
	if utf8.RuneCountInString(doc.Body) > mostComment {
		return "", say(http.StatusUnprocessableEntity, object{
			"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest",
			"errors": []object{{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"}},
		}), false
	}
	return doc.Body, answer{}, true
}

func (f *Fake) createComment(r *http.Request, req Request) answer {
	if a, ok := f.mayWrite(req); !ok {
		return a
	}
	p := f.pull(value(r, "number"))
	if p == nil {
		return notFound()
	}
	body, a, ok := f.text(r)
	if !ok {
		return a
	}
	who, _ := f.identity(req)
	c := Comment{f.id(), p.Number, who.Login, body}
	f.comments = append(f.comments, c)
	return say(http.StatusCreated, f.comment(c))
}

func (f *Fake) editComment(r *http.Request, req Request) answer {
	if a, ok := f.mayWrite(req); !ok {
		return a
	}
	body, a, ok := f.text(r)
	if !ok {
		return a
	}
	for i := range f.comments {
		if f.comments[i].ID == value(r, "id") {
			f.comments[i].Body = body
			return say(http.StatusOK, f.comment(f.comments[i]))
		}
	}
	return notFound()
}

func (f *Fake) deleteComment(r *http.Request, req Request) answer {
	if a, ok := f.mayWrite(req); !ok {
		return a
	}
	i := slices.IndexFunc(f.comments, func(c Comment) bool { return c.ID == value(r, "id") })
	if i < 0 {
		return notFound()
	}
	f.comments = slices.Delete(f.comments, i, i+1)
	return answer{status: http.StatusNoContent}
}

func (f *Fake) listEvents(r *http.Request, _ Request) answer {
	number := value(r, "number")
	of := slices.DeleteFunc(slices.Clone(f.events), func(e event) bool { return int64(e.pull) != number })
	return listed(f, r, "", of, func(e event) object {
		doc := object{"id": e.id, "event": e.what, "actor": f.user(e.actor), "created_at": e.at}
		if e.label == "" {
			// The description lists only some kinds of events. The others have no
			// fields of their own, as this one of them has none.
			return f.description.blank("locked-issue-event", doc)
		}
		doc["label"] = object{"name": e.label, "color": "ff0000"}
		return f.description.blank(e.what+"-issue-event", doc)
	})
}

func (f *Fake) listActivity(r *http.Request, _ Request) answer {
	full := r.PathValue("owner") + "/" + r.PathValue("repo")
	var of []activity
	for _, a := range slices.Backward(f.activity) {
		if a.repository == full && match(r.URL.Query().Get("ref"), a.ref) {
			of = append(of, a)
		}
	}
	if len(of) == 0 {
		return notFound()
	}
	return listed(f, r, "", of, func(a activity) object {
		return f.description.blank("activity", object{
			"ref": a.ref, "after": a.after, "before": strings.Repeat("0", 40), "timestamp": a.at.Format(time.RFC3339), "actor": f.user("author"),
		})
	})
}

func (f *Fake) pullDoc(schema string, p Pull) object {
	end := func(id int64, full, ref, sha string) object {
		owner, _, _ := strings.Cut(full, "/")
		return object{"label": owner + ":" + ref, "ref": ref, "sha": sha, "repo": f.description.blank("repository", object{
			"id": id, "full_name": full, "name": full[len(owner)+1:], "owner": f.user(owner), "default_branch": "main",
		}), "user": f.user(owner)}
	}
	labels := []object{}
	for _, l := range p.Labels {
		labels = append(labels, object{"id": 1, "node_id": "", "url": "https://github.invalid/", "name": l, "description": "", "color": "ff0000", "default": false})
	}
	return f.description.blank(schema, object{
		"number": p.Number, "state": p.State, "draft": p.Draft, "labels": labels, "user": f.user("author"),
		"html_url": fmt.Sprintf("https://github.invalid/%s/%s/pull/%d", f.Owner, f.Name, p.Number),
		"head":     end(p.HeadRepositoryID, p.HeadRepository, p.Branch, p.SHA),
		"base":     end(f.RepositoryID, f.Owner+"/"+f.Name, p.Base, p.BaseSHA),
	})
}

func (f *Fake) listPulls(r *http.Request, _ Request) answer {
	q := r.URL.Query()
	var of []Pull
	for _, p := range slices.Backward(f.pulls) {
		owner, _, _ := strings.Cut(p.HeadRepository, "/")
		// Gitea does not know the parameter "head".
		if match(q.Get("state"), p.State) && (f.Gitea || match(q.Get("head"), owner+":"+p.Branch)) {
			of = append(of, p)
		}
	}
	return listed(f, r, "", of, func(p Pull) object { return f.pullDoc("pull-request-simple", p) })
}

func (f *Fake) getPull(r *http.Request, _ Request) answer {
	p := f.pull(value(r, "number"))
	if p == nil {
		return notFound()
	}
	return say(http.StatusOK, f.pullDoc("pull-request", *p))
}
