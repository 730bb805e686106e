package github

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// What the artifact service may say no with.
var (
	// ErrNoResultsService: this step has none. GitHub gives it to actions, not
	// to "run:" steps, and GitHub Enterprise Server to none: write the file, and
	// say that a step with actions/upload-artifact uploads it.
	ErrNoResultsService = errors.New("no artifact service in this step")
	// ErrNameTaken: another job of this attempt has uploaded under the name.
	// Each job needs a name of its own.
	ErrNameTaken = errors.New("an artifact of this name exists in this run")
	// ErrStorageFull: the owner's quota is used up. No fault of the gate: warn.
	ErrStorageFull = errors.New("the storage for artifacts is full")
)

// blockSize is how much of an artifact a request carries, as GitHub's own
// client does.
const blockSize = 8 << 20

// Results is the service that takes the artifacts of the run that a step
// belongs to; those of other runs it does not reach. It speaks the protocol of
// upload-artifact v4, which act and Gitea speak too:
// https://github.com/actions/toolkit/tree/main/packages/artifact/src/internal.
type Results struct {
	origin     string
	token      string
	run, job   string // what the service calls them
	mask       func(string)
	api, blobs *http.Client
	pause      *pause
}

// NewResults returns the artifact service that the environment names by
// ACTIONS_RESULTS_URL and ACTIONS_RUNTIME_TOKEN, or ErrNoResultsService.
func NewResults(getenv func(string) string, o Options) (*Results, error) {
	address, token := getenv("ACTIONS_RESULTS_URL"), getenv("ACTIONS_RUNTIME_TOKEN")
	for name, value := range map[string]string{"ACTIONS_RESULTS_URL": address, "ACTIONS_RUNTIME_TOKEN": token} {
		if value == "" {
			return nil, fmt.Errorf("%w: %s is not set: GitHub gives it to actions, not to run: steps", ErrNoResultsService, name)
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%w: ACTIONS_RESULTS_URL: want a URL", ErrNoResultsService)
	}
	run, job, err := backendIDs(token)
	if err != nil {
		return nil, fmt.Errorf("%w: ACTIONS_RUNTIME_TOKEN: %w", ErrNoResultsService, err)
	}
	o = o.withDefaults()
	p := &pause{o: o}
	// The path of the URL is not part of it: config.ts, getResultsServiceUrl.
	origin := originOf(u)
	api := &retrier{pause: p, origin: origin, token: token, most: maxAnswer, timeout: cmp.Or(o.Timeout, 30*time.Second)}
	blobs := &retrier{pause: p, most: maxAnswer, timeout: cmp.Or(o.Timeout, 2*time.Minute)}
	return &Results{origin, token, run, job, o.Mask, &http.Client{Transport: api}, &http.Client{Transport: blobs}, p}, nil
}

// backendIDs reads what the service calls the run and the job from the scope of
// a runtime token, "Actions.Results:RUN:JOB" among others: util.ts,
// getBackendIdsFromToken. Whether the token is genuine is the service's to check.
func backendIDs(token string) (run, job string, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", "", errors.New("want a JSON Web Token of three parts")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return "", "", errors.New("want a payload in base64")
	}
	var claims struct {
		Scope string `json:"scp"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return "", "", errors.New("want a payload in JSON")
	}
	for scope := range strings.FieldsSeq(claims.Scope) {
		f := strings.Split(scope, ":")
		if f[0] == "Actions.Results" && len(f) == 3 && f[1] != "" && f[2] != "" {
			return f[1], f[2], nil
		}
	}
	return "", "", errors.New("want the scope Actions.Results:RUN:JOB")
}

// An Upload says what to upload and when a name counts as taken.
type Upload struct {
	Name string
	Data []byte // a zip, as WriteArchive makes it
	// Attempt is that of the run, from 1, and Started when it began, by the API;
	// zero is unknown.
	Attempt int
	Started time.Time
	// Expires is when the artifact may be deleted; zero leaves it to the
	// repository's settings.
	Expires time.Time
}

// Uploaded is an artifact that the service has taken whole.
type Uploaded struct {
	ID     int64  // 0 where the answer that told it was lost
	Name   string // Upload.Name, or with the attempt's suffix
	Digest string // "sha256:…"
}

// Upload uploads an artifact. Until its last request nothing of it can be seen,
// so that one broken off leaves nothing to be taken for a whole one.
//
// A name belongs to one artifact of a run. Where it is taken,
//   - by the same bytes, the upload is done: its answer was lost;
//   - by an earlier attempt, or by this upload's own first request, whose
//     answer was lost, it is uploaded as NAME-aATTEMPT, where Client.Artifacts
//     looks too;
//   - by another job of this attempt, the error is ErrNameTaken.
//
// The earlier attempt's artifact is not overwritten: that would be to delete it
// before its successor is there.
func (r *Results) Upload(ctx context.Context, u Upload) (Uploaded, error) {
	if err := checkArtifactName(u.Name); err != nil {
		return Uploaded{}, err
	}
	name, digest := u.Name, digestOf(u.Data)
	lost := false // an answer, so that the name may be taken by this very upload
	for n := 0; ; n++ {
		signed, err := r.create(ctx, name, u.Expires)
		switch {
		case err == nil:
			id, err := r.fill(ctx, name, signed, u.Data, digest)
			if err != nil {
				return Uploaded{}, err
			}
			return Uploaded{id, name, digest}, nil
		case errors.Is(err, ErrNameTaken):
			have, listErr := r.List(ctx, name)
			if listErr != nil {
				return Uploaded{}, listErr
			}
			for _, a := range have {
				if a.Digest == digest {
					return Uploaded{a.ID, name, digest}, nil
				}
			}
			own := lost && len(have) == 0
			if name != u.Name || !own && u.ofThisAttempt(have) {
				return Uploaded{}, err
			}
			name, lost = attemptName(u.Name, max(u.Attempt, 1)), false
		case unclear(err) && n < attempts-1:
			lost = true
			if err := r.pause.backoff(ctx, n); err != nil {
				return Uploaded{}, err
			}
		default:
			return Uploaded{}, err
		}
	}
}

// ofThisAttempt says whether a name that these artifacts have, perhaps none that
// is whole, was taken by the attempt that u belongs to. In the first attempt it
// was; in a later one, only if one of them is newer than its beginning, as far
// as that is known.
func (u Upload) ofThisAttempt(have []ResultsArtifact) bool {
	if u.Attempt <= 1 {
		return true
	}
	return !u.Started.IsZero() && slices.ContainsFunc(have, func(a ResultsArtifact) bool { return a.Created.After(u.Started) })
}

// create reserves a name and returns where the bytes go.
func (r *Results) create(ctx context.Context, name string, expires time.Time) (string, error) {
	// Version 4, and no MIME type: newer servers take it, older ones nothing
	// else. act answers an unknown field with status 500.
	body := map[string]any{"name": name, "version": 4}
	if !expires.IsZero() {
		body["expires_at"] = expires.UTC().Format(time.RFC3339)
	}
	var answer struct {
		OK   bool   `json:"ok"`
		URL  string `json:"signed_upload_url"`
		URL2 string `json:"signedUploadUrl"`
	}
	if err := r.call(ctx, "CreateArtifact", body, &answer); err != nil {
		return "", err
	}
	signed := cmp.Or(answer.URL, answer.URL2)
	if !answer.OK || signed == "" {
		return "", &Error{Call: "CreateArtifact", Status: http.StatusOK, Message: "refused without a reason"}
	}
	maskSignature(signed, r.mask)
	return signed, nil
}

// maskSignature hands the signature of a URL, as written and as meant, to mask.
func maskSignature(signed string, mask func(string)) {
	u, err := url.Parse(signed)
	if err != nil {
		return
	}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		if written, ok := strings.CutPrefix(pair, "sig="); ok && written != "" {
			mask(written)
			if meant, err := url.QueryUnescape(written); err == nil && meant != written {
				mask(meant)
			}
		}
	}
}

// fill uploads the bytes in blocks and makes the artifact visible.
//
// One request with the whole is shorter, and stores nothing at act and Gitea.
// The blocks go one after the other: act keeps them in the order they come.
func (r *Results) fill(ctx context.Context, name, signed string, data []byte, digest string) (int64, error) {
	var list struct {
		XMLName xml.Name `xml:"BlockList"`
		Latest  []string
	}
	for block := range slices.Chunk(data, blockSize) {
		// https://learn.microsoft.com/rest/api/storageservices/put-block: ids of
		// one length, in base64.
		id := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%06d", len(list.Latest)))
		if err := r.put(ctx, signed, "comp=block&blockid="+url.QueryEscape(id), block, "application/octet-stream"); err != nil {
			return 0, err
		}
		list.Latest = append(list.Latest, id)
	}
	doc, err := xml.Marshal(list)
	if err != nil {
		return 0, err
	}
	doc = append([]byte(`<?xml version="1.0" encoding="utf-8"?>`), doc...)
	if err := r.put(ctx, signed, "comp=blocklist", doc, "application/xml"); err != nil {
		return 0, err
	}
	var answer struct {
		OK  bool     `json:"ok"`
		ID  looseInt `json:"artifact_id"`
		ID2 looseInt `json:"artifactId"`
	}
	err = r.call(context.WithValue(ctx, repeatable{}, true), "FinalizeArtifact", map[string]any{
		"name": name, "size": strconv.Itoa(len(data)), "hash": digest,
	}, &answer)
	if err != nil {
		// Done, and the answer lost? A second one may be told that there is
		// nothing left to finalize.
		have, listErr := r.List(ctx, name)
		i := slices.IndexFunc(have, func(a ResultsArtifact) bool { return a.Digest == digest })
		if listErr != nil || i < 0 {
			return 0, err
		}
		return have[i].ID, nil
	}
	if !answer.OK {
		return 0, &Error{Call: "FinalizeArtifact", Status: http.StatusOK, Message: "refused without a reason"}
	}
	return int64(cmp.Or(answer.ID, answer.ID2)), nil
}

// put sends a block or the list of blocks. The signed URL is only appended to:
// decoded and encoded again, act's no longer fits its signature.
func (r *Results) put(ctx context.Context, signed, query string, body []byte, contentType string) error {
	call := "PUT " + query
	separator := "&"
	if !strings.Contains(signed, "?") {
		separator = "?"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, signed+separator+query, bytes.NewReader(body))
	if err != nil {
		return &Error{Call: call, Message: "the signed URL is none"}
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("x-ms-version", "2024-05-04")
	if contentType == "application/xml" {
		req.Header.Set("x-ms-blob-content-type", "application/zip")
	}
	resp, err := r.blobs.Do(req)
	if err != nil {
		return r.fault(call, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(resp.Body)
		return &Error{Call: call, Status: resp.StatusCode, Message: "the storage says " + oneLine(cmp.Or(string(said), http.StatusText(resp.StatusCode)))}
	}
	return nil
}

// A ResultsArtifact is an artifact of this run, as the service lists it.
type ResultsArtifact struct {
	ID      int64
	Name    string
	Created time.Time // zero where it is not told
	Digest  string    // "" where it is not told
}

// List returns the artifacts of this run with a name, the newest first.
func (r *Results) List(ctx context.Context, name string) ([]ResultsArtifact, error) {
	type doc struct {
		ID       looseInt  `json:"database_id"`
		ID2      looseInt  `json:"databaseId"`
		Created  time.Time `json:"created_at"`
		Created2 time.Time `json:"createdAt"`
		Name     string    `json:"name"`
		Digest   string    `json:"digest"`
	}
	var answer struct {
		Artifacts []doc `json:"artifacts"`
	}
	err := r.call(context.WithValue(ctx, repeatable{}, true), "ListArtifacts", map[string]any{"name_filter": name}, &answer)
	if err != nil {
		return nil, err
	}
	var list []ResultsArtifact
	for _, d := range answer.Artifacts {
		if d.Name == name {
			list = append(list, ResultsArtifact{
				ID: int64(cmp.Or(d.ID, d.ID2)), Name: d.Name, Created: cmp.Or(d.Created, d.Created2), Digest: d.Digest,
			})
		}
	}
	slices.SortFunc(list, func(a, b ResultsArtifact) int { return cmp.Compare(b.ID, a.ID) })
	return list, nil
}

// call calls a method of the service. Its names are those of the protocol's
// description, with underscores, which every server takes; answers come with
// those or in camel case.
func (r *Results) call(ctx context.Context, method string, body map[string]any, v any) error {
	body["workflow_run_backend_id"], body["workflow_job_run_backend_id"] = r.run, r.job
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	const service = "/twirp/github.actions.results.api.v1.ArtifactService/"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.origin+service+method, bytes.NewReader(data))
	if err != nil {
		return &Error{Call: method, Message: "ACTIONS_RESULTS_URL is no URL"}
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.api.Do(req)
	if err != nil {
		return r.fault(method, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return r.fault(method, err)
	}
	if resp.StatusCode != http.StatusOK {
		message := messageOf(answer)
		e := &Error{Call: method, Status: resp.StatusCode, Message: r.redact(oneLine(cmp.Or(message, http.StatusText(resp.StatusCode)))), cause: causeOf(resp.StatusCode, message)}
		switch {
		case quota(message):
			e.cause, e.Hint = ErrStorageFull, "delete artifacts, or raise the quota"
		case resp.StatusCode == http.StatusConflict:
			e.cause = ErrNameTaken
		}
		return e
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return &Error{Call: method, Status: resp.StatusCode, Message: "want JSON for an answer"}
	}
	return nil
}

func (r *Results) fault(call string, err error) error {
	err = plain(err)
	return &Error{Call: call, Message: r.redact(oneLine(err.Error())), cause: err}
}

func (r *Results) redact(s string) string { return strings.ReplaceAll(s, r.token, "***") }

// quota says whether a message of the service means that storage is full:
// errors.ts, UsageError.
func quota(message string) bool {
	return strings.Contains(strings.ToLower(message), "insufficient usage")
}

// checkArtifactName says whether GitHub takes a name for an artifact:
// path-and-artifact-name-validation.ts, and at most 255 bytes, which Forgejo
// wants, with room for an attempt's suffix.
func checkArtifactName(name string) error {
	const most = 255 - len("-a999")
	if name == "" || len(name) > most {
		return fmt.Errorf("artifact name: want 1 to %d bytes, have %d", most, len(name))
	}
	bad := func(c rune) bool {
		return strings.ContainsRune(`":<>|*?\/`, c) || unicode.IsControl(c) || c == unicode.ReplacementChar
	}
	if i := strings.IndexFunc(name, bad); i >= 0 {
		return fmt.Errorf("artifact name %q: want none of \" : < > | * ? \\ / and no control character", name)
	}
	return nil
}
