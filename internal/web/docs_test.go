package web

import (
	"compress/gzip"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/docs"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// pages are those of the real description.
var pages = New(Config{Description: docs.OpenAPI, BaseURL: "https://api.example", Checkout: "/checkout"})

// theLibrary returns these pages, rendered.
func theLibrary(t *testing.T) *library {
	t.Helper()
	made, err := pages.made()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// get asks for a page, with more headers as names and values.
func get(t *testing.T, p *Pages, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if !p.Serves(r) {
		t.Fatalf("%s is not served", path)
	}
	recorder := httptest.NewRecorder()
	p.ServeHTTP(recorder, r)
	return recorder
}

// everyPage returns the text of each page, by its address. A search is one of them.
func everyPage(t *testing.T, p *Pages) map[string]string {
	t.Helper()
	pages := map[string]string{}
	for _, path := range append(slices.Collect(maps.Keys(theLibrary(t).pages)), "/docs/search?q=total") {
		if strings.Contains(path, "/assets/") {
			continue
		}
		answer := get(t, p, path)
		if answer.Code != http.StatusOK {
			t.Fatalf("%s is answered with %d", path, answer.Code)
		}
		pages[path] = answer.Body.String()
	}
	if len(pages) < 15 {
		t.Fatalf("only %d pages", len(pages))
	}
	return pages
}

func all(text, pattern string) []string {
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, html.UnescapeString(m[1]))
	}
	return found
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	p := pages
	pages := everyPage(t, p)
	ids := map[string]bool{}
	for path, page := range pages {
		known := all(page, ` id="([^"]*)"`)
		slices.Sort(known)
		if once := slices.Compact(slices.Clone(known)); len(once) != len(known) {
			t.Errorf("%s: %d ids are %d different ones: %v", path, len(known), len(once), known)
		}
		for _, id := range known {
			ids[path+"#"+id] = true
		}
	}
	links := 0
	for path, page := range pages {
		for _, link := range all(page, ` (?:href|src|action)="([^"]*)"`) {
			links++
			if strings.HasPrefix(link, "#") {
				link = path + link
			}
			target, _, marked := strings.Cut(link, "#")
			_, served := theLibrary(t).pages[target]
			served = served || pages[target] != ""
			switch {
			case strings.HasPrefix(link, "https://"): // a reader may follow it; the page loads nothing from there
			case link == "/openapi.yaml" || link == "/checkout" || link == IconPath || link == "/dashboard" || link == "/docs/search":
			case !served, marked && !ids[link]:
				t.Errorf("%s: the link %s leads nowhere", path, link)
			}
		}
	}
	if links < 1000 {
		t.Errorf("only %d links", links)
	}
}

func TestThePagesNeedNothingFromElsewhere(t *testing.T) {
	p := pages
	for path, page := range everyPage(t, p) {
		for _, source := range all(page, `<img src="([^"]*)"`) {
			if !strings.HasPrefix(source, theLibrary(t).assets+"/") {
				t.Errorf("%s shows the picture %s", path, source)
			}
		}
		for _, forbidden := range []string{"<iframe", " style=", " onclick=", "<style", "@import"} {
			if strings.Contains(page, forbidden) {
				t.Errorf("%s has %q, which its policy forbids", path, forbidden)
			}
		}
		if n := strings.Count(page, "<script"); n != 1 || strings.Contains(page, `<script>`) {
			t.Errorf("%s has %d scripts", path, n)
		}
	}
	policy := get(t, p, "/docs").Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("the policy is %q", policy)
	}
	for _, name := range []string{"docs.css", "docs.js"} {
		file := get(t, p, theLibrary(t).assets+"/"+name)
		if file.Code != http.StatusOK || !strings.Contains(file.Header().Get("Cache-Control"), "immutable") ||
			regexp.MustCompile(`https?:|url\(|@import`).MatchString(file.Body.String()) {
			t.Errorf("%s: %d %s", name, file.Code, file.Header().Get("Cache-Control"))
		}
	}
}

func TestThePagesDescribeEverything(t *testing.T) {
	p := pages
	pages := everyPage(t, p)
	root, err := parse(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	operations := 0
	for path, methods := range root.at("paths").fields() {
		for method, op := range methods.fields() {
			if method == "parameters" {
				continue
			}
			operations++
			page := pages[address(anchor(op.at("tags").texts()[0]))]
			_, article, found := strings.Cut(page, `<article id="`+anchor(op.at("operationId").text())+`">`)
			article, _, _ = strings.Cut(article, "</article>")
			curl := all(article, `(?s)<pre class="curl"[^>]*><code>(.*?)</code>`)
			response := all(article, `(?s)<pre class="response"[^>]*><code>(.*?)</code>`)
			if !found || len(curl) != 1 || len(response) != 1 || response[0] == "" || !strings.HasPrefix(curl[0], "curl -sS") ||
				!strings.Contains(curl[0], "'https://api.example/") || strings.Contains(curl[0], "{id}") {
				t.Errorf("%s %s: %q is answered with %q", method, path, curl, response)
			}
		}
	}
	if operations < 70 {
		t.Errorf("only %d operations", operations)
	}
	for _, row := range root.at("x-error-catalogue").items() {
		id := "error-" + anchor(row.at("code").text()+" "+row.at("status").text())
		if !strings.Contains(pages["/docs/errors"], `<tr id="`+id+`">`) {
			t.Errorf("%s is not on the page", id)
		}
	}
	for name := range root.at("components", "schemas", "Booking", "properties").fields() {
		if !strings.Contains(pages["/docs/bookings"], `<tr id="object-booking.`+name+`"`) {
			t.Errorf("the field %s of a booking is not on the page", name)
		}
	}
}

// Required fields are marked for requests only, not for responses.
func TestRequiredIsSaidOfInputOnly(t *testing.T) {
	inputs := 0
	for path, page := range everyPage(t, pages) {
		for _, article := range strings.Split(page, "<article ")[1:] {
			marks := strings.Count(article, `class="mark required"`)
			if strings.Contains(article[:100], `class="object"`) && marks > 0 {
				t.Errorf("%s says that fields of an answer are required: %.60s", path, article)
			}
			inputs += marks
		}
	}
	if inputs < 50 {
		t.Errorf("only %d fields of requests are required", inputs)
	}
}

// On a page, long tables are folded, so that readers see its structure without much scrolling.
func TestNoPageIsLong(t *testing.T) {
	p := pages
	for path, page := range everyPage(t, p) {
		if strings.Count(page, `aria-current="page"`) != 1 && path != "/" && !strings.Contains(path, "search") {
			t.Errorf("%s marks %d places as the present one", path, strings.Count(page, `aria-current="page"`))
		}
		folded := regexp.MustCompile(`(?s)<details>.*?</details>`).ReplaceAllString(page, "")
		if rows := strings.Count(folded, "<tr"); rows > 130 { // the rules with their worked numbers are the longest
			t.Errorf("%s shows %d rows", path, rows)
		}
		if n := strings.Count(page, "<article"); n > 16 {
			t.Errorf("%s has %d operations and objects", path, n)
		}
		if z := get(t, p, path, "Accept-Encoding", "gzip").Body.Len(); z > 25_000 {
			t.Errorf("%s has %d bytes, compressed", path, z)
		}
	}
}

// TestTheIcon: it is at the path that browsers request, and small.
func TestTheIcon(t *testing.T) {
	t.Parallel()
	p := New(Config{}) // without building the documentation
	for _, method := range []string{"GET", "HEAD"} {
		r := httptest.NewRequestWithContext(t.Context(), method, IconPath, nil)
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if !p.Serves(r) || w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/x-icon" || !strings.Contains(w.Header().Get("Cache-Control"), "max-age") {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
		if n := w.Body.Len(); n > 1024 || (n > 0) != (method == "GET") || n > 0 && !strings.HasPrefix(w.Body.String(), "\x00\x00\x01\x00") {
			t.Errorf("%s: %d bytes", method, n)
		}
	}
}

func TestPagesAreCompressed(t *testing.T) {
	p := pages
	plain := get(t, p, "/docs/bookings")
	for _, accepts := range []string{"gzip", "br, gzip;q=0.5", "deflate,gzip , br"} {
		zipped := get(t, p, "/docs/bookings", "Accept-Encoding", accepts)
		r, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatalf("%s: %v", accepts, err)
		}
		if content, err := io.ReadAll(r); err != nil || string(content) != plain.Body.String() ||
			zipped.Header().Get("Content-Encoding") != "gzip" || zipped.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: other content, or %v, %v", accepts, err, zipped.Header())
		}
		tag := zipped.Header().Get("ETag")
		if tag == plain.Header().Get("ETag") {
			t.Error("both forms have the same ETag")
		}
		if again := get(t, p, "/docs/bookings", "Accept-Encoding", accepts, "If-None-Match", tag); again.Code != http.StatusNotModified {
			t.Errorf("unchanged, and answered with %d", again.Code)
		}
	}
	for _, refuses := range []string{"", "br", "gzip;q=0", "gzip; q=0.000", "identity"} {
		if got := get(t, p, "/docs/bookings", "Accept-Encoding", refuses); got.Header().Get("Content-Encoding") != "" {
			t.Errorf("%q: compressed", refuses)
		}
	}
	whole := get(t, p, "/docs/bookings", "Accept-Encoding", "gzip", "Range", "bytes=0-9")
	if whole.Code != http.StatusOK {
		t.Errorf("a part of a compressed page: %d", whole.Code)
	}
}

func TestSearch(t *testing.T) {
	p := pages
	for query, want := range map[string]string{
		"total_unpaid":                "/docs/bookings#object-booking.total_unpaid",
		"create a BOOKING":            "/docs/bookings#createbooking",
		"POST channels":               "/docs/channels#createchannel",
		"run-off":                     "/docs/exposure#getrunoff",
		"refund":                      "/docs/transactions#createtransaction",
		"idempotency_mismatch":        "/docs/errors#error-idempotency-mismatch-422",
		"idempotency 422":             "/docs/errors#error-idempotency-mismatch-422",
		"idempotency and concurrency": "/docs#about-idempotency-and-concurrency",
		"bordereaux/premium":          "/docs/bordereaux#getpremiumbordereau",
	} {
		page := get(t, p, "/docs/search?q="+url.QueryEscape(query)).Body.String()
		_, results, _ := strings.Cut(page, `<div id="results">`)
		if links := all(results, `<li><a href="([^"]*)">`); len(links) == 0 || links[0] != want {
			t.Errorf("%q finds %v, want %s first", query, links[:min(3, len(links))], want)
		}
	}
	for query, want := range map[string]string{
		"": "Search for an operation", "zzzz": "No results for “zzzz”", "<b>": "No results for “&lt;b&gt;”", "e": "more results. Add a word",
		strings.Repeat("x", 500): "“" + strings.Repeat("x", mostQuery) + "”",
	} {
		answer := get(t, p, "/docs/search?q="+url.QueryEscape(query))
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%q: %d, without %q", query, answer.Code, want)
		}
	}
	if answer := get(t, p, "/docs/nothing"); answer.Code != http.StatusNotFound || !strings.Contains(answer.Body.String(), "Page not found") {
		t.Errorf("an unknown page is answered with %d", answer.Code)
	}
	post := httptest.NewRecorder()
	p.ServeHTTP(post, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/docs", nil))
	if post.Code != http.StatusMethodNotAllowed || post.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST is answered with %d", post.Code)
	}
}

// The front page only links to existing pages.
func TestTheFrontPage(t *testing.T) {
	page := get(t, pages, "/").Body.String()
	for _, want := range []string{`href="/docs"`, `href="/checkout"`, "holdfast exposure"} {
		if !strings.Contains(page, want) {
			t.Errorf("it has no %s", want)
		}
	}
	without := New(Config{Description: docs.OpenAPI})
	if page := get(t, without, "/").Body.String(); strings.Contains(page, "heckout</a>") {
		t.Error("it leads to a checkout that is not there")
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"One\ntwo.\n\nThree.":     "<p>One\ntwo.</p>\n<p>Three.</p>\n",
		"## A heading, & more":    `<h3 id="about-a-heading-more">A heading, &amp; more</h3>` + "\n",
		"- one `a<b`\n- **two**":  "<ul>\n<li>one <code>a&lt;b</code></li>\n<li><strong>two</strong></li>\n</ul>\n",
		"<script>alert</script>":  "<p>&lt;script&gt;alert&lt;/script&gt;</p>\n",
		"`<i>` and **<b>** alike": "<p><code>&lt;i&gt;</code> and <strong>&lt;b&gt;</strong> alike</p>\n",
	} {
		if got := string(prose(text)); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// Examples on the page must be valid.
func TestEveryExampleFitsItsSchema(t *testing.T) {
	root, err := parse(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(root.json("")))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	schemas := 0
	for name := range root.at("components", "schemas").fields() {
		schema, err := compiler.Compile("openapi.json#/components/schemas/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := example(root.at("components", "schemas", name), "")
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: the example is not JSON: %v\n%s", name, err, text)
			continue
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		schemas++
	}
	if schemas < 40 {
		t.Errorf("only %d schemas", schemas)
	}
	bodies := 0
	for path, methods := range root.at("paths").fields() {
		for method, op := range methods.fields() {
			body := op.at("requestBody", "content", "application/json")
			if body.field("schema").reference() == "" || method == "parameters" {
				continue
			}
			bodies++
			schema, err := compiler.Compile("openapi.json#/components/schemas/" + body.field("schema").reference())
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(bodySample(body)))
			if err != nil || !body.at("example").exists() {
				t.Errorf("%s %s: the example of the body: %v", method, path, err)
			} else if err := schema.Validate(value); err != nil {
				t.Errorf("%s %s: %v", method, path, err)
			}
		}
	}
	if bodies < 20 {
		t.Errorf("only %d bodies", bodies)
	}
}

const small = `
components:
  schemas:
    Money: {type: integer, minimum: 0, maximum: 10, description: Cents., examples: [7]}
    Base:
      type: object
      properties:
        kind: {type: string, enum: [a, b], default: b}
        total: {$ref: "#/components/schemas/Money", description: The total., readOnly: true}
    Whole:
      required: [kind]
      allOf: [{$ref: "#/components/schemas/Base"}]
      properties:
        parts:
          type: array
          items:
            type: object
            required: [id]
            properties:
              id: {type: [integer, "null"], deprecated: true}
        names: {type: array, items: {type: string, maxLength: 9}, examples: [["x", "y\"z"]]}
`

func TestFieldsAndExampleOfAnObject(t *testing.T) {
	root, err := parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	schema := root.at("components", "schemas", "Whole")
	want := []field{
		{Name: "kind", Type: "string", Required: true, Values: []string{"a", "b"}, Default: "b"},
		{Name: "total", Type: "integer, 0 to 10", ReadOnly: true, About: "The total.", Example: "7"},
		{Name: "parts", Type: "array of object"},
		{Name: "parts[].id", Type: "integer or null", Required: true, Deprecated: true},
		{Name: "names", Type: "array of string, at most 9 characters", Example: `["x", "y\"z"]`},
	}
	got := fieldsOf(schema, "")
	slices.SortFunc(got, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(want, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	if len(got) != len(want) {
		t.Fatalf("%d fields: %+v", len(got), got)
	}
	for i := range want {
		if g, w := got[i], want[i]; g.Name != w.Name || g.Type != w.Type || g.Required != w.Required || g.ReadOnly != w.ReadOnly ||
			g.Deprecated != w.Deprecated || g.About != w.About || !slices.Equal(g.Values, w.Values) || g.Default != w.Default || g.Example != w.Example {
			t.Errorf("field %+v, want %+v", g, w)
		}
	}
	const text = `{
  "kind": "b",
  "total": 7,
  "parts": [
    {
      "id": null
    }
  ],
  "names": ["x", "y\"z"]
}`
	if got := example(schema, ""); got != text {
		t.Errorf("example\n%s\nwant\n%s", got, text)
	}
}

func TestWhatIsNoDescription(t *testing.T) {
	for _, text := range []string{"", "[1, 2]", "a: [", "\t"} {
		answer := get(t, New(Config{Description: []byte(text)}), "/docs")
		if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), "could not be created") {
			t.Errorf("%q was taken for a description: %d", text, answer.Code)
		}
	}
}

// Fields without an effect are marked in the tables, and listed in the introduction and in the README.
func TestWhatHasNoEffectIsListed(t *testing.T) {
	root, err := parse(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const heading = "## What has no effect yet"
	var marked []string
	for _, schema := range root.at("components", "schemas").fields() {
		for name, field := range schema.at("properties").fields() {
			if field.is(noEffect) {
				marked = append(marked, name)
			}
		}
	}
	slices.Sort(marked)
	marked = slices.Compact(marked)
	if len(marked) < 6 {
		t.Errorf("only %v are marked", marked)
	}
	for where, text := range map[string]string{"README.md": string(readme), "the introduction": root.at("info", "description").text()} {
		_, list, _ := strings.Cut(text, heading)
		list, _, _ = strings.Cut(list, "\n## ")
		for _, name := range marked {
			if !strings.Contains(list, "`"+name+"`") {
				t.Errorf("%s does not say that %s has no effect yet", where, name)
			}
		}
	}
}
