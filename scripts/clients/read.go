package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// api is the parsed description, in its order.
type api struct {
	schemas    map[string]*schema
	parameters map[string]*parameter
	operations []operation
}

// operation is one method of one path, with its parameters, body and responses.
type operation struct {
	id         string
	section    string // the tag, as part of a file name
	parameters []*parameter
	body       *schema
	answers    []*schema
}

// parameter is a query parameter.
type parameter struct {
	Ref         string  `yaml:"$ref"`
	Name        string  `yaml:"name"`
	In          string  `yaml:"in"`
	Required    bool    `yaml:"required"`
	Description string  `yaml:"description"`
	Schema      *schema `yaml:"schema"`
}

// schema is the schema of a value, with the parts of JSON Schema that the description uses.
type schema struct {
	Ref           string    `yaml:"$ref"`
	Types         types     `yaml:"type"`
	Description   string    `yaml:"description"`
	Enum          []any     `yaml:"enum"`
	Required      []string  `yaml:"required"`
	Properties    fields    `yaml:"properties"`
	Extra         *schema   `yaml:"additionalProperties"`
	Items         *schema   `yaml:"items"`
	AllOf         []*schema `yaml:"allOf"`
	OneOf         []*schema `yaml:"oneOf"`
	Discriminator *struct{} `yaml:"discriminator"` // the field that selects one of OneOf
}

// types are the types that a value may have, except null, which sets nullable.
type types struct {
	names    []string
	nullable bool
}

// UnmarshalYAML implements yaml.Unmarshaler: a type is a string or a list.
func (t *types) UnmarshalYAML(node *yaml.Node) error {
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	for _, n := range list {
		if n.Value == "null" {
			t.nullable = true
		} else {
			t.names = append(t.names, n.Value)
		}
	}
	return nil
}

// has reports whether a value may have the type.
func (t types) has(name string) bool {
	for _, n := range t.names {
		if n == name {
			return true
		}
	}
	return false
}

// field is a property of an object.
type field struct {
	name   string
	schema *schema
}

// fields are properties in the order of the description.
type fields []field

// UnmarshalYAML implements yaml.Unmarshaler and keeps the order.
func (f *fields) UnmarshalYAML(node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		s := &schema{}
		if err := node.Content[i+1].Decode(s); err != nil {
			return err
		}
		*f = append(*f, field{node.Content[i].Value, s})
	}
	return nil
}

// UnmarshalYAML implements yaml.Unmarshaler: additionalProperties may be true, which sets nothing.
func (s *schema) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	type plain schema
	return node.Decode((*plain)(s))
}

// content is a body by media type.
type content map[string]struct {
	Schema *schema `yaml:"schema"`
}

// json is the schema of the JSON body, or nil.
func (c content) json() *schema { return c["application/json"].Schema }

// read parses the description.
func read(text []byte) (*api, error) {
	var root struct {
		Paths      yaml.Node `yaml:"paths"`
		Components struct {
			Schemas    map[string]*schema    `yaml:"schemas"`
			Parameters map[string]*parameter `yaml:"parameters"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	a := &api{schemas: root.Components.Schemas, parameters: root.Components.Parameters}
	for i := 0; i+1 < len(root.Paths.Content); i += 2 {
		methods := root.Paths.Content[i+1]
		for j := 0; j+1 < len(methods.Content); j += 2 {
			if methods.Content[j].Value == "parameters" {
				continue
			}
			if err := a.operation(methods.Content[j+1]); err != nil {
				return nil, fmt.Errorf("%s: %w", root.Paths.Content[i].Value, err)
			}
		}
	}
	return a, nil
}

func (a *api) operation(node *yaml.Node) error {
	var o struct {
		ID         string       `yaml:"operationId"`
		Tags       []string     `yaml:"tags"`
		Parameters []*parameter `yaml:"parameters"`
		Body       struct {
			Content content `yaml:"content"`
		} `yaml:"requestBody"`
		Responses map[string]struct {
			Content content `yaml:"content"`
		} `yaml:"responses"`
	}
	if err := node.Decode(&o); err != nil {
		return err
	}
	if leftOut[o.Tags[0]] {
		return nil
	}
	made := operation{id: o.ID, section: strings.ToLower(strings.ReplaceAll(o.Tags[0], " ", "_")), body: o.Body.Content.json()}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = a.parameters[last(p.Ref)]
		}
		if p == nil || p.Schema == nil {
			return fmt.Errorf("a parameter of %s is not described", o.ID)
		}
		if p.In == "query" && !paging[p.Name] {
			made.parameters = append(made.parameters, p)
		}
	}
	for _, status := range []string{"200", "201", "202"} {
		if answer := o.Responses[status].Content.json(); answer != nil {
			made.answers = append(made.answers, answer)
		}
	}
	a.operations = append(a.operations, made)
	return nil
}

// last is the last part of a reference.
func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
