package api_test

import (
	"slices"
	"strings"
	"testing"

	"holdfast/docs"

	"go.yaml.in/yaml/v3"
)

// The description allows unknown fields, because responses may get new ones. But our own responses have no undescribed
// fields. So the tests use a description with closed response schemas.

// closedAnswers returns the description with every response object closed: undescribed fields are errors.
func closedAnswers(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	root := document.Content[0]
	c := closer{root: root, done: map[*yaml.Node]bool{}}
	c.answers(valueOf(root, "paths"))
	c.answers(valueOf(root, "components", "responses"))
	return yaml.Marshal(&document)
}

// closer closes the schemas of responses. Schemas of requests stay open: unknown fields of input are ignored.
type closer struct {
	root *yaml.Node
	done map[*yaml.Node]bool
}

// answers finds schemas in a part of the description, except in request bodies.
func (c closer) answers(node *yaml.Node) {
	for key, value := range pairs(node) {
		switch {
		case key == "requestBody" || key == "parameters":
		case key == "schema":
			c.close(value)
		default:
			c.answers(value)
		}
	}
}

// close closes a schema and all schemas in it.
func (c closer) close(schema *yaml.Node) { c.visit(c.target(schema), true) }

// target follows a reference.
func (c closer) target(schema *yaml.Node) *yaml.Node {
	if reference := valueOf(schema, "$ref"); reference != nil {
		return valueOf(c.root, strings.Split(strings.TrimPrefix(reference.Value, "#/"), "/")...)
	}
	return schema
}

// visit closes a schema. For a part of an allOf, the whole is closed instead.
func (c closer) visit(schema *yaml.Node, shut bool) {
	if schema == nil || schema.Kind != yaml.MappingNode || c.done[schema] {
		return
	}
	c.done[schema] = true
	for _, value := range pairs(valueOf(schema, "properties")) {
		c.close(value)
	}
	c.close(valueOf(schema, "items"))
	c.close(valueOf(schema, "additionalProperties"))
	if choices := valueOf(schema, "oneOf"); choices != nil {
		for _, choice := range choices.Content {
			c.close(choice)
		}
	}
	parts := valueOf(schema, "allOf")
	if parts != nil {
		for i, part := range parts.Content {
			parts.Content[i] = cloned(c.target(part)) // also used elsewhere, where it is closed
			c.visit(parts.Content[i], false)
		}
	}
	switch {
	case !shut || valueOf(schema, "additionalProperties") != nil:
	case parts != nil:
		setFalse(schema, "unevaluatedProperties")
	case valueOf(schema, "properties") != nil:
		setFalse(schema, "additionalProperties")
	}
}

// cloned returns a copy of a schema that is not closed itself.
func cloned(node *yaml.Node) *yaml.Node {
	twin := *node
	twin.Content = nil
	for _, child := range node.Content {
		twin.Content = append(twin.Content, cloned(child))
	}
	if n := len(twin.Content); n > 1 && twin.Content[n-2].Value == "additionalProperties" && twin.Content[n-1].Value == "false" {
		twin.Content = twin.Content[:n-2]
	}
	return &twin
}

func setFalse(object *yaml.Node, name string) {
	object.Content = append(object.Content,
		&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
}

// valueOf returns the value under a path of names, or nil.
func valueOf(node *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		next := (*yaml.Node)(nil)
		for key, value := range pairs(node) {
			if key == name {
				next = value
			}
		}
		node = next
	}
	return node
}

// pairs returns the fields of an object. Anything else has none.
func pairs(node *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if node == nil || node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i].Value, node.Content[i+1]) {
				return
			}
		}
	}
}

func TestAnswersAreOpenToClientsAndClosedToTests(t *testing.T) {
	if strings.Contains(string(docs.OpenAPI), "additionalProperties: false") ||
		strings.Contains(string(docs.OpenAPI), "unevaluatedProperties") {
		t.Error("docs/openapi.yaml closes an object: clients would break on a new field")
	}
	closed, err := closedAnswers(docs.OpenAPI)
	must(t, err)
	var document yaml.Node
	must(t, yaml.Unmarshal(closed, &document))
	for name, schema := range pairs(valueOf(document.Content[0], "components", "schemas")) {
		input := strings.HasSuffix(name, "Create") || strings.HasSuffix(name, "Change") ||
			slices.Contains([]string{"ModalBooking", "Credentials", "TokenInput"}, name)
		shut := valueOf(schema, "additionalProperties") != nil || valueOf(schema, "unevaluatedProperties") != nil
		if input && shut {
			t.Errorf("%s is closed, and requests may have more fields", name)
		}
		if slices.Contains([]string{"Booking", "Channel", "Transaction", "Statement", "Error", "ExplainedLine", "TaxCode"}, name) && !shut {
			t.Errorf("%s is open to the tests", name)
		}
	}
}
