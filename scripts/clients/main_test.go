package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheTypesAreThoseOfTheAPI fails if docs/openapi.yaml has changed but the client has not.
func TestTheTypesAreThoseOfTheAPI(t *testing.T) {
	text, err := os.ReadFile("../../" + description)
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(text)
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Glob("../../" + target + "/" + prefix + "*.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(there) != len(files) {
		t.Errorf("there are %d files, but the description generates %d: run make clients", len(there), len(files))
	}
	for name, want := range files {
		if got, err := os.ReadFile("../../" + target + "/" + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("client/%s does not match the description: run make clients (%v)", name, err)
		}
	}
}

// small is a description with each kind of field.
const small = `
paths:
  /things:
    parameters: []
    get:
      operationId: listThings
      tags: [Some things]
      parameters:
        - {name: kinds, in: query, explode: false, schema: {type: array, items: {$ref: "#/components/schemas/Kind"}}}
        - {name: over, in: query, description: Only large ones., schema: {type: boolean}}
        - {name: page, in: query, schema: {type: integer}}
        - {name: If-Match, in: header, schema: {type: string}}
      responses: {"200": {content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Thing"}}}}}}
    put:
      operationId: changeThing
      tags: [Some things]
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/ThingChange"}}}}
      responses: {"200": {content: {application/json: {schema: {$ref: "#/components/schemas/Thing"}}}}}
components:
  schemas:
    Kind: {type: string, enum: [round, very-round, ""]}
    Code: {type: string, description: A code. It has more to say.}
    Thing:
      type: object
      required: [id, kind, code, parts, none, left]
      properties:
        id: {type: integer, description: The id.}
        kind: {$ref: "#/components/schemas/Kind"}
        code: {$ref: "#/components/schemas/Code"}
        parts: {type: array, items: {type: object, required: [rate_ppm], properties: {rate_ppm: {type: integer}}}}
        none: {type: [string, "null"]}
        left: {oneOf: [{$ref: "#/components/schemas/Code"}, {type: "null"}]}
        more: {type: object, properties: {on: {type: boolean}}}
        any: {}
        share: {type: number}
        rates: {type: object, additionalProperties: {type: number}}
    ThingChange:
      type: object
      properties:
        name: {type: string}
        total: {type: [integer, string]}
        parts: {type: array, items: {type: integer}}
`

func TestWhatFieldsBecome(t *testing.T) {
	files, err := generate([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(files["types_some_things.go"])), " ")
	for _, want := range []string{
		"Kinds []Kind `query:\"kinds\"`", "// Only large ones. Over *bool `query:\"over\"` }",
		"KindVeryRound Kind = \"very-round\" )", "// The id. ID int64 `json:\"id\"` Kind Kind `json:\"kind\"` // A code. Code string `json:\"code\"`",
		"Parts []ThingPart `json:\"parts\"`", "RatePPM int64 `json:\"rate_ppm\"`", "None *string `json:\"none\"` Left *string `json:\"left\"`",
		"More *ThingMore `json:\"more,omitzero\"` Any json.RawMessage `json:\"any,omitzero\"`", "Rates map[string]json.Number",
		"type ThingChange struct { Name *string `json:\"name,omitzero\"` Total json.RawMessage", "Parts []int64 `json:\"parts,omitzero\"`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s in\n%s", want, files["types_some_things.go"])
		}
	}
	if strings.Contains(text, "If-Match") || strings.Contains(text, "Page") {
		t.Error("headers and paging parameters are not left out")
	}
}

func TestLongSectionsHaveSeveralFiles(t *testing.T) {
	block := strings.Repeat("x\n", fileLines/2)
	if got := pack([]string{block, block, block, "y\n"}); len(got) != 2 || got[0] != block+block || got[1] != block+"y\n" {
		t.Errorf("packed into %d files", len(got))
	}
}
