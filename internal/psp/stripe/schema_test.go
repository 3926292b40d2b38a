package stripe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"
	"github.com/stripe/stripe-mock/spec"
)

// calls are the processor's endpoints that the adapter uses. The mock knows six hundred, and takes its time to read them.
var calls = []string{
	"/v1/payment_methods", "/v1/payment_intents", "/v1/payment_intents/{intent}", "/v1/payment_intents/{intent}/confirm",
	"/v1/payment_intents/{intent}/capture", "/v1/payment_intents/{intent}/cancel",
	"/v1/refunds", "/v1/refunds/{refund}", "/v1/disputes", "/v1/events",
}

// shapes are the schemas that the adapter reads; other references are not followed.
var shapes = []string{
	"payment_intent", "payment_intent_next_action", "payment_intent_next_action_redirect_to_url", "error", "api_errors",
	"charge", "payment_method_details", "payment_method_details_card", "three_d_secure_details_charge",
	"payment_method", "payment_method_card", "refund", "event",
	"dispute", "dispute_evidence_details", "dispute_payment_method_details", "dispute_payment_method_details_card",
}

// description is the processor's own, as included in its mock server.
type description struct {
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
	Paths map[string]json.RawMessage `json:"paths"`
}

type processorSpec struct {
	mock     *spec.Spec
	fixtures *spec.Fixtures
	schemas  map[string]*jsonschema.Schema
}

var described = sync.OnceValues(func() (*processorSpec, error) {
	var d description
	if err := json.Unmarshal(embedded.OpenAPISpec, &d); err != nil {
		return nil, err
	}
	used := map[string]json.RawMessage{}
	for _, path := range calls {
		if d.Paths[path] == nil {
			return nil, fmt.Errorf("the description has no %s", path)
		}
		used[path] = d.Paths[path]
	}
	d.Paths = used
	small, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	p := &processorSpec{}
	if p.mock, err = server.LoadSpec(small, ""); err != nil {
		return nil, err
	}
	if p.fixtures, err = server.LoadFixtures(embedded.OpenAPIFixtures, ""); err != nil {
		return nil, err
	}
	p.schemas, err = compile(d)
	return p, err
})

// processor returns the description, read once for all tests.
func processor(t *testing.T) *processorSpec {
	t.Helper()
	p, err := described()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mock is the processor's own mock server: it rejects what the API would reject, such as unknown parameters, and
// returns fixtures.
func (p *processorSpec) server(t *testing.T, fixtures *spec.Fixtures) http.HandlerFunc {
	t.Helper()
	stub, err := server.NewStubServer(fixtures, p.mock, false, false)
	if err != nil {
		t.Fatal(err)
	}
	return stub.HandleRequest
}

// compile makes schemas of the shapes. A field that the description does not have is an error in them.
func compile(d description) (map[string]*jsonschema.Schema, error) {
	known := map[string]any{}
	for _, name := range shapes {
		decoder := json.NewDecoder(bytes.NewReader(d.Components.Schemas[name]))
		decoder.UseNumber()
		var schema any
		if err := decoder.Decode(&schema); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		known[name] = schema
	}
	for name, schema := range known {
		known[name] = plain(schema, known)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft4)
	const address = "https://processor.example.com/spec.json"
	all := map[string]any{"components": map[string]any{"schemas": known}}
	if err := compiler.AddResource(address, all); err != nil {
		return nil, err
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range shapes {
		schema, err := compiler.Compile(address + "#/components/schemas/" + name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		compiled[name] = schema
	}
	return compiled, nil
}

// plain writes OpenAPI 3.0 in the words of JSON Schema.
func plain(v any, known map[string]any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i], known)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && known[strings.TrimPrefix(ref, "#/components/schemas/")] == nil {
			return map[string]any{}
		}
		for key := range v {
			v[key] = plain(v[key], known)
		}
		if _, object := v["properties"].(map[string]any); object && v["type"] == "object" && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		if v["nullable"] == true {
			delete(v, "nullable")
			return map[string]any{"anyOf": []any{v, map[string]any{"type": "null"}}}
		}
	}
	return v
}

// validate compares a response with the description.
func (p *processorSpec) validate(t *testing.T, body []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	answered, _ := value.(map[string]any)
	kind, _ := answered["object"].(string)
	if answered["error"] != nil {
		kind = "error"
	}
	if kind == "list" {
		for _, item := range answered["data"].([]any) {
			text, err := json.Marshal(item)
			if err != nil {
				t.Error(err)
			}
			p.validate(t, text)
		}
		return
	}
	schema := p.schemas[kind]
	if schema == nil {
		t.Errorf("the description has no %q", kind)
		return
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("a recorded %s is not as the processor describes it: %v\n%s", kind, err, body)
	}
}
