package githubtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An artifact is what a run left behind, as the API and the service both show it.
type artifact struct {
	id      int64
	run     int64
	name    string
	data    []byte
	expired bool
	created time.Time
}

// An upload is an artifact that is not yet one: its name is taken.
type upload struct {
	id     int64
	run    int64
	name   string
	blocks map[string][]byte
	blob   []byte // nil before a list of blocks
}

// AddArtifact adds an artifact to a run and returns its number.
func (f *Fake) AddArtifact(run int64, name string, data []byte) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := &artifact{f.id(), run, name, data, false, f.Now()}
	f.artifacts = append(f.artifacts, a)
	return a.id
}

// Expire makes an artifact one that is gone.
func (f *Fake) Expire(id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.artifacts {
		if a.id == id {
			a.expired = true
		}
	}
}

// Corrupt changes what the storage has of an artifact, and not its digest.
func (f *Fake) Corrupt(id int64, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.corrupt[id] = data
}

// ArtifactNames returns the names of a run's artifacts, in the order made.
func (f *Fake) ArtifactNames(run int64) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, a := range f.artifacts {
		if a.run == run {
			names = append(names, a.name)
		}
	}
	return names
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (f *Fake) artifact(a *artifact) object {
	doc := object{
		"id": a.id, "name": a.name, "size_in_bytes": len(a.data), "expired": a.expired, "created_at": a.created, "digest": digest(a.data),
	}
	for _, r := range f.runs {
		if r.ID == a.run {
			doc["workflow_run"] = object{
				"id": r.ID, "repository_id": f.RepositoryID, "head_repository_id": r.HeadRepositoryID, "head_branch": r.Branch, "head_sha": r.SHA,
			}
			if f.Gitea {
				doc["workflow_run"] = object{"id": r.ID, "repository_id": f.RepositoryID, "head_sha": r.SHA}
			}
		}
	}
	if f.Gitea {
		delete(doc, "digest")
		return doc
	}
	return f.description.blank("artifact", doc)
}

func (f *Fake) listArtifacts(r *http.Request, _ Request) answer {
	run, name := value(r, "id"), r.URL.Query().Get("name")
	var of []*artifact
	for _, a := range f.artifacts {
		if a.run == run && match(name, a.name) {
			of = append(of, a)
		}
	}
	return listed(f, r, "artifacts", of, f.artifact)
}

// find returns an artifact by its number, nil for none.
func (f *Fake) find(id int64) *artifact {
	i := slices.IndexFunc(f.artifacts, func(a *artifact) bool { return a.id == id })
	if i < 0 {
		return nil
	}
	return f.artifacts[i]
}

func (f *Fake) getArchive(r *http.Request, _ Request) answer {
	a := f.find(value(r, "id"))
	switch {
	case a == nil, a.expired && f.Gitea:
		return notFound()
	case a.expired:
		return refuse(http.StatusGone, "Artifact has expired")
	}
	return answer{http.StatusFound, http.Header{"Location": {f.signed("artifact", a.id)}}, nil}
}

// signed returns a URL of the storage whose signature does not survive being
// decoded and encoded again.
func (f *Fake) signed(what string, id int64) string {
	return fmt.Sprintf("%s/%s/%d?se=2026-11-30T12%%3a01%%3a00Z&sig=c2ln%%2bbmF0dXJl%%3D", f.StorageURL, what, id)
}

// blobs returns the handler of the storage: Azure's block blobs, as far as
// artifacts need them, https://learn.microsoft.com/rest/api/storageservices.
func (f *Fake) blobs() func(*http.Request, Request) answer {
	bad := func(status int, code string) answer {
		return answer{status, http.Header{"Content-Type": {"application/xml"}}, fmt.Appendf(nil, `<?xml version="1.0"?><Error><Code>%s</Code></Error>`, code)}
	}
	return func(r *http.Request, req Request) answer {
		if !strings.HasPrefix(r.URL.RawQuery, "se=2026-11-30T12%3a01%3a00Z&sig=c2ln%2bbmF0dXJl%3D") {
			return bad(http.StatusForbidden, "AuthenticationFailed")
		}
		what, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return bad(http.StatusNotFound, "BlobNotFound")
		}
		if what == "artifact" && r.Method == http.MethodGet {
			a := f.find(id)
			if a == nil {
				return bad(http.StatusNotFound, "BlobNotFound")
			}
			data := a.data
			if other, ok := f.corrupt[id]; ok {
				data = other
			}
			return answer{http.StatusOK, http.Header{"Content-Type": {"application/zip"}}, data}
		}
		i := slices.IndexFunc(f.uploads, func(u *upload) bool { return u.id == id })
		if what != "upload" || r.Method != http.MethodPut || i < 0 {
			return bad(http.StatusNotFound, "BlobNotFound")
		}
		u := f.uploads[i]
		if r.Header.Get("x-ms-version") == "" || r.ContentLength < 0 {
			return bad(http.StatusBadRequest, "MissingRequiredHeader")
		}
		switch req.Query.Get("comp") {
		case "block":
			blockID := req.Query.Get("blockid")
			if raw, err := base64.StdEncoding.DecodeString(blockID); err != nil || len(raw) == 0 || len(raw) > 64 {
				return bad(http.StatusBadRequest, "InvalidQueryParameterValue")
			}
			for other := range u.blocks {
				if len(other) != len(blockID) {
					return bad(http.StatusBadRequest, "InvalidBlobOrBlock")
				}
			}
			u.blocks[blockID] = bytes.Clone(req.Body)
		case "blocklist":
			var list struct {
				XMLName xml.Name `xml:"BlockList"`
				Latest  []string
			}
			if err := xml.Unmarshal(req.Body, &list); err != nil {
				return bad(http.StatusBadRequest, "InvalidXmlDocument")
			}
			blob := []byte{}
			for _, blockID := range list.Latest {
				block, ok := u.blocks[blockID]
				if !ok {
					return bad(http.StatusBadRequest, "InvalidBlockList")
				}
				blob = append(blob, block...)
			}
			u.blob = blob
		default:
			// A whole blob in one request: taken, and nothing kept of it, as act does.
		}
		return answer{status: http.StatusCreated}
	}
}

// backendID is what the service calls a run or a job.
func backendID(n int64) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// fault answers as Twirp does when it says no.
func fault(status int, code, message string) answer {
	return say(status, object{"code": code, "msg": message})
}

// twirp returns the handler of the artifact service.
func (f *Fake) twirp() func(*http.Request, Request) answer {
	const service = "/twirp/github.actions.results.api.v1.ArtifactService/"
	type request struct {
		Run     string          `json:"workflow_run_backend_id"`
		Job     string          `json:"workflow_job_run_backend_id"`
		Name    string          `json:"name"`
		Version int             `json:"version"`
		Expires *time.Time      `json:"expires_at"`
		Size    json.RawMessage `json:"size"`
		Hash    string          `json:"hash"`
		Filter  string          `json:"name_filter"`
	}
	fields := map[string][]string{
		"CreateArtifact":   {"name", "version", "expires_at"},
		"FinalizeArtifact": {"name", "size", "hash"},
		"ListArtifacts":    {"name_filter"},
		"DeleteArtifact":   {"name"},
	}
	return func(r *http.Request, req Request) answer {
		method, ok := strings.CutPrefix(r.URL.Path, service)
		known := fields[method]
		if !ok || known == nil || r.Method != http.MethodPost {
			return fault(http.StatusNotFound, "bad_route", "no such method")
		}
		run := f.tokenRun(req.Header.Get("Authorization"))
		if run == 0 {
			return fault(http.StatusUnauthorized, "unauthenticated", "the token is not accepted")
		}
		if req.Header.Get("Content-Type") != "application/json" {
			return fault(http.StatusUnsupportedMediaType, "malformed", "unexpected content type")
		}
		var raw map[string]json.RawMessage
		var q request
		if json.Unmarshal(req.Body, &raw) != nil || json.Unmarshal(req.Body, &q) != nil {
			return fault(http.StatusBadRequest, "malformed", "the request is no JSON of this method")
		}
		for name := range raw {
			if !slices.Contains(known, name) && name != "workflow_run_backend_id" && name != "workflow_job_run_backend_id" {
				return answer{status: http.StatusInternalServerError} // as act does
			}
		}
		if q.Run != backendID(run) || q.Job == "" {
			return fault(http.StatusForbidden, "permission_denied", "another run's")
		}
		switch method {
		case "CreateArtifact":
			return f.create(run, q.Name, q.Version)
		case "FinalizeArtifact":
			return f.finalize(run, q.Name, strings.Trim(string(q.Size), `"`), q.Hash)
		case "ListArtifacts":
			return f.list(run, q.Filter)
		}
		i := slices.IndexFunc(f.artifacts, func(a *artifact) bool { return a.run == run && a.name == q.Name })
		if i < 0 {
			return fault(http.StatusNotFound, "not_found", "no such artifact")
		}
		id := f.artifacts[i].id
		f.artifacts = slices.Delete(f.artifacts, i, i+1)
		return say(http.StatusOK, f.spelled(object{"ok": true, "artifact_id": id}))
	}
}

func (f *Fake) tokenRun(header string) int64 {
	for _, r := range f.runs {
		if header == "Bearer "+f.RuntimeToken(r.ID) {
			return r.ID
		}
	}
	return 0
}

// spelled returns a document as the service writes it.
func (f *Fake) spelled(doc object) object {
	if !f.Camel {
		return doc
	}
	out := object{}
	for k, v := range doc {
		parts := strings.Split(k, "_")
		for i := range parts[1:] {
			parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
		}
		if n, ok := v.(int64); ok {
			v = strconv.FormatInt(n, 10)
		}
		out[strings.Join(parts, "")] = v
	}
	return out
}

func (f *Fake) create(run int64, name string, version int) answer {
	switch {
	case version != 4 && version != 7:
		return fault(http.StatusBadRequest, "invalid_argument", "no such version")
	case name == "" || strings.ContainsAny(name, "\":<>|*?\r\n\\/"):
		return fault(http.StatusBadRequest, "invalid_argument", "the artifact name is not valid")
	}
	taken := func(n string, of int64) bool { return n == name && of == run }
	if f.Overwrites {
		f.artifacts = slices.DeleteFunc(f.artifacts, func(a *artifact) bool { return taken(a.name, a.run) })
		f.uploads = slices.DeleteFunc(f.uploads, func(u *upload) bool { return taken(u.name, u.run) })
	}
	if slices.ContainsFunc(f.artifacts, func(a *artifact) bool { return taken(a.name, a.run) }) ||
		slices.ContainsFunc(f.uploads, func(u *upload) bool { return taken(u.name, u.run) }) {
		return fault(http.StatusConflict, "already_exists", "an artifact with this name already exists on the workflow run")
	}
	u := &upload{f.id(), run, name, map[string][]byte{}, nil}
	f.uploads = append(f.uploads, u)
	return say(http.StatusOK, f.spelled(object{"ok": true, "signed_upload_url": f.signed("upload", u.id)}))
}

func (f *Fake) finalize(run int64, name, size, hash string) answer {
	i := slices.IndexFunc(f.uploads, func(u *upload) bool { return u.run == run && u.name == name })
	if i < 0 {
		return fault(http.StatusNotFound, "not_found", "no such upload")
	}
	u := f.uploads[i]
	switch {
	case u.blob == nil:
		return fault(http.StatusBadRequest, "failed_precondition", "the blob does not exist")
	case size != strconv.Itoa(len(u.blob)):
		return fault(http.StatusBadRequest, "invalid_argument", "the size differs")
	case hash != digest(u.blob):
		return fault(http.StatusBadRequest, "invalid_argument", "the hash differs")
	}
	f.uploads = slices.Delete(f.uploads, i, i+1)
	f.artifacts = append(f.artifacts, &artifact{u.id, run, name, u.blob, false, f.Now()})
	return say(http.StatusOK, f.spelled(object{"ok": true, "artifact_id": u.id}))
}

func (f *Fake) list(run int64, name string) answer {
	docs := []object{}
	for _, a := range f.artifacts {
		if a.run == run && match(name, a.name) {
			docs = append(docs, f.spelled(object{
				"workflow_run_backend_id": backendID(run), "workflow_job_run_backend_id": backendID(run + 1),
				"database_id": a.id, "name": a.name, "size": int64(len(a.data)), "created_at": a.created.Format(time.RFC3339), "digest": digest(a.data),
			}))
		}
	}
	return say(http.StatusOK, object{"artifacts": docs})
}
