package web

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"holdfast/docs"
)

// thePage makes the page of the real description, as a browser gets it.
func thePage(t *testing.T) (http.Header, string) {
	t.Helper()
	handler, err := Docs(docs.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/docs", nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("answered with %d", recorder.Code)
	}
	return recorder.Header(), recorder.Body.String()
}

func all(text, pattern string) []string {
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

func TestEveryLinkInThePageLeadsSomewhere(t *testing.T) {
	_, page := thePage(t)
	ids := all(page, ` id="([^"]*)"`)
	slices.Sort(ids)
	if once := slices.Compact(slices.Clone(ids)); len(once) != len(ids) {
		t.Errorf("%d ids are %d different ones: %v", len(ids), len(once), ids)
	}
	links := all(page, ` href="#([^"]*)"`)
	if len(links) < 100 {
		t.Errorf("only %d links", len(links))
	}
	for _, link := range links {
		if _, ok := slices.BinarySearch(ids, link); !ok {
			t.Errorf("#%s leads nowhere", link)
		}
	}
}

func TestThePageNeedsNoNetworkAndNoScript(t *testing.T) {
	header, page := thePage(t)
	for _, forbidden := range []string{"<script", "<link", "<img", "<iframe", "<form", " src=", " style=", " onclick=", "@import", "url("} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the page has %q", forbidden)
		}
	}
	if hrefs := all(page, ` href="([^#"][^"]*)"`); !slices.Equal(hrefs, []string{"openapi.yaml"}) {
		t.Errorf("the page leads to %v", hrefs)
	}
	styles := all(page, `(?s)<style>(.*?)</style>`)
	if len(styles) != 1 {
		t.Fatalf("%d styles", len(styles))
	}
	sum := sha256.Sum256([]byte(styles[0]))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if policy := header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, want) {
		t.Errorf("the policy %q does not let the style in: %q", policy, want)
	}
}

func TestThePageTellsEverything(t *testing.T) {
	_, page := thePage(t)
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
			if !strings.Contains(page, `<article id="`+anchor(op.at("operationId").text())+`">`) {
				t.Errorf("%s %s is not on the page", method, path)
			}
		}
	}
	if operations < 30 {
		t.Errorf("only %d operations", operations)
	}
	for _, row := range root.at("x-error-catalogue").items() {
		if id := "error-" + anchor(row.at("code").text()+" "+row.at("status").text()); !strings.Contains(page, `<tr id="`+id+`">`) {
			t.Errorf("%s is not on the page", id)
		}
	}
	for name := range root.at("components", "schemas", "Booking", "properties").fields() {
		if !strings.Contains(page, `<code class="name">`+name+`</code>`) {
			t.Errorf("the field %s of a booking is not on the page", name)
		}
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

// What the page shows as an example must be one.
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
		if _, err := Docs([]byte(text)); err == nil {
			t.Errorf("%q was taken for a description", text)
		}
	}
}

// What has no effect yet is marked in the tables, and is listed in the introduction and in the README.
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
	marked := []string{"read_payouts", "sign_off_payout", "export"} // rights, which are values and no fields
	for _, schema := range root.at("components", "schemas").fields() {
		for name, field := range schema.at("properties").fields() {
			if field.is(noEffect) {
				marked = append(marked, name)
			}
		}
	}
	slices.Sort(marked)
	marked = slices.Compact(marked)
	if len(marked) < 10 {
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
