package api_test

import (
	"strings"
	"sync"
	"testing"

	"holdfast/docs"

	"go.yaml.in/yaml/v3"
)

// parameter is one of an operation, as the description has it.
type parameter struct {
	In     string    `yaml:"in"` // path, query or header
	Name   string    `yaml:"name"`
	Schema yaml.Node `yaml:"schema"`
}

// spoken is the description as a tree, for the descriptions of requests.
var spoken = sync.OnceValues(func() (*yaml.Node, error) {
	var document yaml.Node
	err := yaml.Unmarshal(docs.OpenAPI, &document)
	return &document, err
})

// operationNode is an operation by method and address, as in the table of routes.
func operationNode(t *testing.T, method, pattern string) *yaml.Node {
	t.Helper()
	document, err := spoken()
	must(t, err)
	pattern = strings.ReplaceAll(pattern, "{site}", "{site_path}")
	found := valueOf(document.Content[0], "paths", pattern, strings.ToLower(method))
	if found == nil {
		t.Fatalf("%s %s is not described", method, pattern)
	}
	return found
}

// parametersOf are the parameters of an operation and of its address.
func parametersOf(t *testing.T, method, pattern string) (list []parameter) {
	t.Helper()
	document, err := spoken()
	must(t, err)
	c := closer{root: document.Content[0]}
	path := valueOf(c.root, "paths", strings.ReplaceAll(pattern, "{site}", "{site_path}"))
	for _, nodes := range []*yaml.Node{
		valueOf(path, "parameters"), valueOf(operationNode(t, method, pattern), "parameters"),
	} {
		if nodes == nil {
			continue
		}
		for _, node := range nodes.Content {
			var p parameter
			must(t, c.target(node).Decode(&p))
			list = append(list, p)
		}
	}
	return list
}

// fieldsOf are the names of the fields of an operation's body, those of objects in lists as bookings.id.
func fieldsOf(t *testing.T, method, pattern string) (names []string) {
	t.Helper()
	document, err := spoken()
	must(t, err)
	c := closer{root: document.Content[0]}
	var visit func(schema *yaml.Node, before string, depth int)
	visit = func(schema *yaml.Node, before string, depth int) {
		schema = c.target(schema)
		if schema == nil || depth > 4 {
			return
		}
		for name, value := range pairs(valueOf(schema, "properties")) {
			names = append(names, before+name)
			visit(valueOf(c.target(value), "items"), before+name+".", depth+1)
		}
		for _, choice := range []string{"allOf", "oneOf"} {
			if parts := valueOf(schema, choice); parts != nil {
				for _, part := range parts.Content {
					visit(part, before, depth+1)
				}
			}
		}
	}
	visit(valueOf(operationNode(t, method, pattern), "requestBody", "content", "application/json", "schema"), "", 0)
	return names
}
