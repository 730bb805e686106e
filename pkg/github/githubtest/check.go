package githubtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
)

// A description is GitHub's own of its API.
type description struct {
	doc    *openapi3.T
	router routers.Router
}

func readDescription(data []byte) (*description, error) {
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	doc.Servers = nil // paths alone count: the fake is served anywhere
	router, err := legacy.NewRouter(doc)
	if err != nil {
		return nil, fmt.Errorf("description of the API: %w", err)
	}
	return &description{doc, router}, nil
}

// Defaults would be written into the request that is looked at.
var options = &openapi3filter.Options{SkipSettingDefaults: true}

func (d *description) input(r *http.Request, body []byte) (*openapi3filter.RequestValidationInput, error) {
	clone := r.Clone(r.Context())
	clone.Body = io.NopCloser(bytes.NewReader(body))
	// GitHub's {path} spans segments, which the router's may not.
	if head, path, ok := strings.Cut(clone.URL.Path, "/contents/"); ok {
		clone.URL.Path = head + "/contents/" + strings.ReplaceAll(path, "/", ":")
	}
	route, params, err := d.router.FindRoute(clone)
	if err != nil {
		return nil, fmt.Errorf("%w: testdata/github/subset.mjs lists what is called", err)
	}
	return &openapi3filter.RequestValidationInput{Request: clone, PathParams: params, Route: route, Options: options}, nil
}

// checkRequest says what in a request is not as described, unknown parameters
// and fields included, which the validator lets pass.
func (d *description) checkRequest(r *http.Request, body []byte) error {
	in, err := d.input(r, body)
	if err != nil {
		return err
	}
	operation := in.Route.Operation
	for name := range r.URL.Query() {
		// Gitea's name for per_page is sent along everywhere.
		if name != "limit" && operation.Parameters.GetByInAndName("query", name) == nil {
			return fmt.Errorf("no such parameter: %q", name)
		}
	}
	if operation.RequestBody != nil {
		var fields map[string]any
		if err := json.Unmarshal(body, &fields); err != nil {
			return err
		}
		known := operation.RequestBody.Value.Content.Get("application/json").Schema.Value.Properties
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if known[name] == nil {
				return fmt.Errorf("no such field: %q", name)
			}
		}
	} else if len(body) > 0 {
		return errors.New("a body is not described")
	}
	return openapi3filter.ValidateRequest(r.Context(), in)
}

// checkAnswer says what in an answer is not as described.
func (d *description) checkAnswer(r *http.Request, body []byte, a answer) error {
	in, err := d.input(r, body)
	if err != nil {
		return err
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: a.status, Header: a.header, Options: options}
	return openapi3filter.ValidateResponse(r.Context(), out.SetBodyBytes(a.body))
}

// blank returns the smallest object of a schema: all that is required, and
// nothing in it. Fields are laid over it.
func (d *description) blank(name string, fields map[string]any) map[string]any {
	schema := d.doc.Components.Schemas[name]
	if schema == nil {
		panic(fmt.Sprintf("githubtest: the description has no schema %q", name)) // a bug of the fake
	}
	out, ok := smallest(schema.Value).(map[string]any)
	if !ok {
		panic(fmt.Sprintf("githubtest: the schema %q is of no object", name))
	}
	maps.Copy(out, fields)
	return out
}

// smallest returns the smallest value of a schema.
func smallest(s *openapi3.Schema) any {
	is := func(t string) bool { return s.Type != nil && s.Type.Is(t) }
	switch {
	case s.Nullable:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AnyOf) > 0:
		return smallest(s.AnyOf[0].Value)
	case len(s.OneOf) > 0:
		return smallest(s.OneOf[0].Value)
	case is("array"):
		return []any{}
	case is("boolean"):
		return false
	case is("integer"), is("number"):
		return 0
	case is("string"):
		return map[string]string{
			"date-time": "2026-11-30T12:00:00Z", "uri": "https://github.invalid/",
		}[s.Format]
	}
	out := map[string]any{}
	for _, part := range s.AllOf {
		if o, ok := smallest(part.Value).(map[string]any); ok {
			maps.Copy(out, o)
		}
	}
	for _, name := range s.Required {
		if p := s.Properties[name]; p != nil {
			out[name] = smallest(p.Value)
		}
	}
	return out
}

// page returns the part of a list that a request asks for, and the headers that
// lead to the rest.
func page[T any](f *Fake, r *http.Request, all []T) ([]T, http.Header) {
	q := r.URL.Query()
	number := func(name string, otherwise int) int {
		var n int
		if _, err := fmt.Sscan(q.Get(name), &n); err != nil || n < 1 {
			return otherwise
		}
		return n
	}
	per, most := number("per_page", 30), cmp.Or(f.MostPerPage, 100)
	if f.Gitea {
		per, most = number("limit", 30), 50
	}
	per = min(per, most)
	n := number("page", 1)
	from, to := min((n-1)*per, len(all)), min(n*per, len(all))
	header := http.Header{}
	if to < len(all) && !f.Gitea {
		next := url.URL{Path: r.URL.Path}
		q.Set("page", fmt.Sprint(n+1))
		next.RawQuery = q.Encode()
		header.Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, f.APIURL, next.String()))
	} else if n > 1 && !f.Gitea {
		header.Set("Link", fmt.Sprintf(`<%s%s>; rel="first"`, f.APIURL, r.URL.Path))
	}
	return all[from:to], header
}
