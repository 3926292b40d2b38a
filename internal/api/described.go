package api

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"holdfast/docs"
	"holdfast/internal/api/input"
	"holdfast/internal/errs"
	"holdfast/internal/lib/nearest"

	"go.yaml.in/yaml/v3"
)

// fieldNames are the names of an object's fields, each with the names inside it; nil for a field that is no object.
type fieldNames map[string]fieldNames

// knownFields returns, by the name of an operation, the fields of its requests and answers: a client that sends back what it
// has read sends fields that are read-only, but known.
var knownFields = sync.OnceValue(func() map[string]fieldNames {
	var d description
	if err := yaml.Unmarshal(docs.OpenAPI, &d); err != nil {
		panic("the description of the API cannot be read: " + err.Error()) // it is a part of the program
	}
	found := map[string]fieldNames{}
	for _, methods := range d.Paths {
		for _, node := range methods {
			var o operation
			if node.Kind != yaml.MappingNode || node.Decode(&o) != nil || o.ID == "" {
				continue
			}
			names := fieldNames{}
			d.add(names, o.Body.Content.JSON.Schema, 0)
			for _, answer := range o.Responses {
				d.add(names, answer.Content.JSON.Schema, 0)
			}
			found[o.ID] = names
		}
	}
	return found
})

// description is what knownFields reads of the description of the API.
type description struct {
	Paths      map[string]map[string]yaml.Node `yaml:"paths"`
	Components struct {
		Schemas map[string]schema `yaml:"schemas"`
	} `yaml:"components"`
}

type operation struct {
	ID        string               `yaml:"operationId"`
	Body      described            `yaml:"requestBody"`
	Responses map[string]described `yaml:"responses"`
}

type described struct {
	Content struct {
		JSON struct {
			Schema schema `yaml:"schema"`
		} `yaml:"application/json"`
	} `yaml:"content"`
}

type schema struct {
	Ref        string            `yaml:"$ref"`
	Properties map[string]schema `yaml:"properties"`
	Items      *schema           `yaml:"items"`
	AllOf      []schema          `yaml:"allOf"`
	OneOf      []schema          `yaml:"oneOf"`
	AnyOf      []schema          `yaml:"anyOf"`
}

// add adds the fields of a schema to names.
func (d description) add(names fieldNames, s schema, depth int) {
	const deepest = 4 // no request nests deeper
	if depth > deepest {
		return
	}
	if s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	if s.Items != nil {
		d.add(names, *s.Items, depth)
	}
	for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		d.add(names, part, depth)
	}
	for name, property := range s.Properties {
		inside := names[name]
		if inside == nil {
			inside = fieldNames{}
		}
		d.add(inside, property, depth+1)
		names[name] = inside
	}
}

// unknownFields returns the names of the fields of a request that its operation does not know, each with the nearest
// known name, or "". With nested, it also checks the fields of objects in lists.
func unknownFields(operation string, in *input.Input, nested bool) (near map[string]string) {
	near = map[string]string{}
	collectUnknown(knownFields()[operation], in, "", nested, near)
	return near
}

func collectUnknown(known fieldNames, in *input.Input, prefix string, nested bool, near map[string]string) {
	for name := range in.Fields {
		inside, ok := known[name]
		if !ok {
			near[prefix+name] = nearest.Of(name, slices.Sorted(maps.Keys(known)))
		}
		if !nested || len(inside) == 0 {
			continue
		}
		for i, item := range in.Objects(name) {
			collectUnknown(inside, item, errs.Item(prefix+name, i, "")+".", nested, near)
		}
	}
}

// ignoredNames are how many names Holdfast-Ignored has at most.
const ignoredNames = 20

// plainName matches names that can be used in a header unchanged.
var plainName = regexp.MustCompile(`^[\w.\[\]-]{1,64}$`)

// tellUnknown names the fields of a request that are ignored because the API has no such fields, in the header
// Holdfast-Ignored. A caller who prefers strict handling (RFC 7240) is refused instead.
func (c *call) tellUnknown(in *input.Input) {
	strict := c.prefersStrict()
	if strict {
		c.Header().Set("Preference-Applied", "handling=strict")
		RefuseUnknown(c.operation, in)
		return
	}
	names := slices.Sorted(maps.Keys(unknownFields(c.operation, in, false)))
	if len(names) == 0 {
		return
	}
	names = names[:min(len(names), ignoredNames)]
	for i, name := range names {
		if !plainName.MatchString(name) {
			names[i] = strconv.QuoteToASCII(name[:min(len(name), 64)])
		}
	}
	c.Header().Set("Holdfast-Ignored", strings.Join(names, ", "))
}

// RefuseUnknown notes the fields of a request that its operation does not know as problems, each with the nearest known
// name.
func RefuseUnknown(operation string, in *input.Input) {
	for name, near := range unknownFields(operation, in, true) {
		if near == "" {
			in.Wrong(name, "There is no such field.")
		} else {
			in.Wrong(name, "There is no such field. Did you mean %s?", near)
		}
	}
}

// prefersStrict reports whether the header Prefer has handling=strict.
func (c *call) prefersStrict() bool {
	for _, preference := range strings.Split(strings.Join(c.r.Header.Values("Prefer"), ","), ",") {
		preference, _, _ = strings.Cut(preference, ";")
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "handling") {
			return strings.EqualFold(strings.Trim(strings.TrimSpace(value), `"`), "strict") // the first one counts
		}
	}
	return false
}
