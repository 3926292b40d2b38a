package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"holdfast/docs"
	"holdfast/internal/api"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/testkit/dbtest"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"go.yaml.in/yaml/v3"
)

// described is the part of the API description that tests need in addition to the validator.
type described struct {
	Paths      map[string]map[string]yaml.Node `yaml:"paths"`
	Catalogue  []errorRow                      `yaml:"x-error-catalogue"`
	Components struct {
		Schemas map[string]struct {
			Enum []string `yaml:"enum"`
		} `yaml:"schemas"`
	} `yaml:"components"`

	validator  validator.Validator
	operations map[string]operation // by method and path
}

type errorRow struct {
	Code      string `yaml:"code"`
	Status    int    `yaml:"status"`
	Condition string `yaml:"condition"`
}

type operation struct {
	address *regexp.Regexp // matches its path with every parameter filled in

	ID         string               `yaml:"operationId"`
	Tags       []string             `yaml:"tags"`
	Summary    string               `yaml:"summary"`
	Errors     []string             `yaml:"x-errors"`
	Parameters []reference          `yaml:"parameters"`
	Responses  map[string]yaml.Node `yaml:"responses"`
}

// reference refers to a shared part of the description.
type reference struct {
	Ref string `yaml:"$ref"`
}

// descriptions parses the description of each profile once for all tests.
var descriptions = map[merchant.Profile]func() (*described, error){
	merchant.ProtectionOnlyProfile: sync.OnceValues(func() (*described, error) { return readDescription(docs.OpenAPI) }),
	merchant.ServerToServerProfile: sync.OnceValues(func() (*described, error) {
		return readDescription(api.Description(api.Config{Profile: merchant.ServerToServerProfile}))
	}),
}

func readDescription(text []byte) (*described, error) {
	d := &described{operations: map[string]operation{}}
	if err := yaml.Unmarshal(text, d); err != nil {
		return nil, err
	}
	for path, methods := range d.Paths {
		for method, node := range methods {
			var op operation
			if method == "parameters" {
				continue
			}
			if err := node.Decode(&op); err != nil {
				return nil, err
			}
			op.address = regexp.MustCompile("^" + placeholder.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
			d.operations[strings.ToUpper(method)+" "+path] = op
		}
	}
	closed, err := closedAnswers(text)
	if err != nil {
		return nil, err
	}
	document, err := libopenapi.NewDocument(closed)
	if err != nil {
		return nil, err
	}
	var problems []error
	d.validator, problems = validator.NewValidator(document)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	return d, nil
}

func theDescription(t *testing.T) *described {
	t.Helper()
	return descriptionOf(t, merchant.ProtectionOnlyProfile)
}

func descriptionOf(t *testing.T, profile merchant.Profile) *described {
	t.Helper()
	d, err := descriptions[profile]()
	must(t, err)
	return d
}

// placeholder is a parameter in an address, after quoting.
var placeholder = regexp.MustCompile(`\\\{[a-z_]+\\\}`)

// find returns the operation for a request: the one with the fewest path parameters.
func (d *described) find(method, address string) (key string, op operation, found bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for k, candidate := range d.operations {
		m, _, _ := strings.Cut(k, " ")
		fewer := !found || strings.Count(k, "{") < strings.Count(key, "{")
		if m == method && fewer && candidate.address.MatchString(address) {
			key, op, found = k, candidate, true
		}
	}
	return key, op, found
}

// checkAgainstDescription checks an exchange against the API description: every response, and the request if it
// succeeded.
func checkAgainstDescription(t *testing.T, d *described, r *http.Request, asked []byte, response *http.Response, answered []byte) {
	t.Helper()
	request := r.Clone(t.Context())
	request.URL.Path = strings.TrimSuffix(request.URL.Path, "/") // the same resource
	key, op, found := d.find(request.Method, request.URL.Path)
	if !found {
		if response.StatusCode < 400 && r.Method != http.MethodOptions { // which every path has
			t.Errorf("%s %s is answered and not described", r.Method, r.URL.Path)
		}
		return
	}
	if response.StatusCode >= 400 && r.Method != http.MethodHead {
		checkCode(t, d, key, op, response.StatusCode, answered)
	}
	if r.Method == http.MethodHead || response.StatusCode == http.StatusNotModified { // no body to check
		return
	}
	if request.Header.Get("Content-Type") == "" { // the conversations leave out constant parts
		request.Header.Set("Content-Type", "application/json")
	}
	asked = withoutNulls(t, asked)
	if alreadyChecked(key, request, asked, response, answered) {
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(asked))
	whole := *response
	whole.Body = io.NopCloser(bytes.NewReader(answered))
	if response.StatusCode < 400 {
		_, problems := d.validator.ValidateHttpRequestSync(request)
		for _, p := range problems {
			t.Errorf("%s: the request is accepted and not as described: %s: %s", key, p.Message, p.Reason)
			for _, s := range p.SchemaValidationErrors {
				t.Errorf("  at %s: %s", s.FieldPath, s.Reason)
			}
		}
		request.Body = io.NopCloser(bytes.NewReader(asked))
	}
	_, problems := d.validator.ValidateHttpResponse(request, &whole)
	for _, p := range problems {
		t.Errorf("%s: the answer %d is not as described: %s: %s", key, response.StatusCode, p.Message, p.Reason)
		for _, s := range p.SchemaValidationErrors {
			t.Errorf("  at %s: %s", s.FieldPath, s.Reason)
		}
	}
}

// checked are the exchanges that were already compared with the description. Both engines return identical bytes, and
// conversations begin the same way, so this saves most of the validator's time.
var checked sync.Map

func alreadyChecked(
	key string, request *http.Request, asked []byte, response *http.Response, answered []byte,
) bool {
	exchange := sha256.New()
	fmt.Fprintf(exchange, "%s\n%s\n%q\n%q\n%d\n%q\n%q", key, request.URL, request.Header, asked, response.StatusCode,
		response.Header, answered)
	_, known := checked.LoadOrStore(string(exchange.Sum(nil)), true)
	return known
}

// withoutNulls removes null fields from a body: they count as omitted.
func withoutNulls(t *testing.T, body []byte) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil { // not an object: the validator has a better message
		return body
	}
	maps.DeleteFunc(fields, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	text, err := json.Marshal(fields)
	must(t, err)
	return text
}

// checkCode checks that an operation is described with this error.
func checkCode(t *testing.T, d *described, key string, op operation, status int, answered []byte) {
	t.Helper()
	var e struct{ Code string }
	must(t, json.Unmarshal(answered, &e))
	if !slices.Contains(op.Errors, e.Code) {
		t.Errorf("%s answers with %s, which is not among its x-errors", key, e.Code)
	}
	if !slices.ContainsFunc(d.Catalogue, func(row errorRow) bool { return row.Code == e.Code && row.Status == status }) {
		t.Errorf("%s with status %d is not in the catalogue of errors", e.Code, status)
	}
}

func TestTheDescriptionIsValid(t *testing.T) {
	valid, problems := theDescription(t).validator.ValidateDocument()
	for _, p := range problems {
		t.Errorf("%s: %s", p.Message, p.Reason)
		for _, s := range p.SchemaValidationErrors {
			t.Errorf("  at %s: %s", s.FieldPath, s.Reason)
		}
	}
	if !valid {
		t.Error("docs/openapi.yaml is not valid OpenAPI 3.1")
	}
}

func TestEveryRouteIsDescribedAndNothingElse(t *testing.T) {
	d := theDescription(t)
	routes := map[string]string{}
	for _, r := range api.Routes(api.Config{}) {
		routes[r.Method+" "+strings.ReplaceAll(r.Pattern, "{site}", "{site_path}")] = r.Name
	}
	for route, name := range routes {
		op, ok := d.operations[route]
		switch {
		case !ok:
			t.Errorf("%s is not described", route)
		case op.ID != name && op.ID != name+"AtSite":
			t.Errorf("%s is described as %s; its handler is %s", route, op.ID, name)
		}
	}
	for key := range d.operations {
		if routes[key] == "" {
			t.Errorf("%s is described and not there", key)
		}
	}
}

func TestEveryOperationIsDescribedInFull(t *testing.T) {
	d := theDescription(t)
	statusOf := map[string]string{}
	for _, row := range d.Catalogue {
		if row.Status != http.StatusMethodNotAllowed { // the response of a path, not of an operation
			statusOf[row.Code] = strconv.Itoa(row.Status)
		}
	}
	for key, op := range d.operations {
		if op.ID == "" || op.Summary == "" || len(op.Tags) != 1 || len(op.Errors) == 0 || !slices.IsSorted(op.Errors) {
			t.Errorf("%s needs an id, a summary, one tag and its errors in order", key)
		}
		want := map[string]bool{"414": true, "431": true} // for requests that are rejected before they are read
		for _, code := range op.Errors {
			if statusOf[code] == "" {
				t.Errorf("%s: %s is not in the catalogue of errors", key, code)
			}
			want[statusOf[code]] = true
		}
		for status := range op.Responses {
			if status >= "400" && !want[status] {
				t.Errorf("%s: no code of it has status %s", key, status)
			}
			delete(want, status)
		}
		for status := range want {
			t.Errorf("%s: the response %s of its codes is missing", key, status)
		}
	}
}

func TestTheCatalogueOfErrorsIsTheOneOfTheProgram(t *testing.T) {
	d := theDescription(t)
	program := map[string]bool{}
	for _, e := range api.Errors() {
		program[e.Code+" "+strconv.Itoa(e.Status)] = true
	}
	var codes []string
	for _, row := range d.Catalogue {
		key := row.Code + " " + strconv.Itoa(row.Status)
		if !program[key] {
			t.Errorf("%s is described, but the program has no such error", key)
		}
		if row.Condition == "" {
			t.Errorf("%s has no condition", key)
		}
		delete(program, key)
		codes = append(codes, row.Code)
	}
	for key := range program {
		t.Errorf("%s is not described", key)
	}
	slices.Sort(codes)
	if enum := d.Components.Schemas["ErrorCode"].Enum; !slices.Equal(slices.Compact(codes), enum) {
		t.Errorf("the schema ErrorCode lists\n%v\nand the catalogue\n%v", enum, codes)
	}
}

func TestTheDescriptionHasTheSegmentsOfTheDeployment(t *testing.T) {
	text := string(api.Description(api.Config{RESTRoot: "wp-json", Namespace: "tips", AuthSegment: "wp"}))
	for _, address := range []string{
		"/{site_path}/wp-json/tips/v2/channels:", "/wp/wp-json/jwt-auth/v1/token:", "/{site_path}/wp-json/jwt-auth/v1/token:",
	} {
		if !strings.Contains(text, "\n  "+address+"\n") {
			t.Errorf("%s is not in the description", address)
		}
	}
	for _, left := range []string{"/rest/", "/auth/"} {
		if strings.Contains(text, left) {
			t.Errorf("the description still has %s", left)
		}
	}
	if string(api.Description(api.Config{})) != string(docs.OpenAPI) {
		t.Error("with the default segments the description is changed")
	}
	if string(api.Description(api.Config{Profile: merchant.ServerToServerProfile})) == string(docs.OpenAPI) {
		t.Error("in the server-to-server profile a new booking still needs content")
	}
}

func TestTheDescriptionIsServed(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), io.Discard)
	handler := api.New(w.app, api.Config{BaseURL: baseURL})
	for address, kind := range map[string]string{"/openapi.yaml": "application/yaml", "/openapi.json": "application/json"} {
		get := func(etag string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			r.Header.Set("If-None-Match", etag)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			response := answer.Result()
			checkAgainstDescription(t, theDescription(t), r, nil, response, answer.Body.Bytes())
			return answer
		}
		first := get("")
		if first.Code != http.StatusOK || first.Header().Get("Content-Type") != kind || first.Body.Len() < 10_000 {
			t.Errorf("%s: %d %s, %d bytes", address, first.Code, first.Header().Get("Content-Type"), first.Body.Len())
		}
		if again := get(first.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%s, unchanged: %d, %d bytes", address, again.Code, again.Body.Len())
		}
	}
}
