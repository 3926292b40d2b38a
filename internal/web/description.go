package web

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// part is a node of the API description: an object with ordered fields, a list, or a scalar. The zero part means missing, so
// that code can follow a path without checks.
type part struct {
	node *yaml.Node
	root *yaml.Node
}

// parse reads a description.
func parse(text []byte) (part, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return part{}, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return part{}, errors.New("it is not an object")
	}
	root := document.Content[0]
	return part{root, root}, nil
}

// exists reports whether the description contains the part.
func (p part) exists() bool { return p.node != nil }

// at returns the part at a path of names, following references.
func (p part) at(names ...string) part {
	for _, name := range names {
		next := part{}
		for key, value := range p.fields() {
			if key == name {
				next = value
			}
		}
		p = next.resolved()
	}
	return p
}

// fields returns an object's fields in order.
func (p part) fields() iter.Seq2[string, part] {
	return func(yield func(string, part) bool) {
		if p.node == nil || p.node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(p.node.Content); i += 2 {
			if !yield(p.node.Content[i].Value, part{p.node.Content[i+1], p.root}) {
				return
			}
		}
	}
}

// items returns a list's items, following references.
func (p part) items() []part {
	if p.node == nil || p.node.Kind != yaml.SequenceNode {
		return nil
	}
	list := make([]part, len(p.node.Content))
	for i, n := range p.node.Content {
		list[i] = part{n, p.root}.resolved()
	}
	return list
}

// text returns a scalar, or "" for any other part.
func (p part) text() string {
	if p.node == nil || p.node.Kind != yaml.ScalarNode {
		return ""
	}
	return p.node.Value
}

// texts returns a list of scalars. A single scalar is a list of one.
func (p part) texts() []string {
	if text := p.text(); text != "" {
		return []string{text}
	}
	var list []string
	for _, item := range p.items() {
		list = append(list, item.text())
	}
	return list
}

// is reports whether a field has the value true.
func (p part) is(name string) bool { return p.at(name).text() == "true" }

// reference returns the last segment of the part's $ref, or "".
func (p part) reference() string {
	for key, value := range p.fields() {
		if key == "$ref" {
			return value.text()[strings.LastIndexByte(value.text(), '/')+1:]
		}
	}
	return ""
}

// resolved follows the part's $ref. Fields next to the $ref override those of its target.
func (p part) resolved() part {
	for key, value := range p.fields() {
		if key != "$ref" {
			continue
		}
		path, ok := strings.CutPrefix(value.text(), "#/")
		if !ok {
			return part{}
		}
		target := part{p.root, p.root}.at(strings.Split(path, "/")...)
		return p.over(target)
	}
	return p
}

// over merges the fields of both parts. If both have a field, p's wins.
func (p part) over(target part) part {
	merged := &yaml.Node{Kind: yaml.MappingNode}
	for key, value := range target.fields() {
		if own := (part{p.node, p.root}).field(key); own.exists() {
			value = own
		}
		merged.Content = append(merged.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value.node)
	}
	for key, value := range p.fields() {
		if key != "$ref" && !target.field(key).exists() {
			merged.Content = append(merged.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value.node)
		}
	}
	return part{merged, p.root}
}

// field returns a field as written, without following references.
func (p part) field(name string) part {
	for key, value := range p.fields() {
		if key == name {
			return value
		}
	}
	return part{}
}

// whole merges a schema with the schemas of its allOf. It has the properties of all of them. On conflict, the schema itself
// wins, then the later one, which is more specific: a type of event after the base of all events.
func (p part) whole() part {
	p = p.resolved()
	for _, other := range slices.Backward(p.at("allOf").items()) {
		other = other.whole()
		properties := p.field("properties").over(other.field("properties"))
		p = p.over(other)
		if len(properties.node.Content) > 0 {
			p = part{oneField("properties", properties.node), p.root}.over(p)
		}
	}
	return p
}

// oneField returns an object with one field.
func oneField(name string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, value}}
}

// json formats a part as indented JSON, with its fields in order.
func (p part) json(indent string) string {
	switch {
	case p.node == nil:
		return "null"
	case p.node.Kind == yaml.MappingNode:
		var lines []string
		for key, value := range p.fields() {
			lines = append(lines, fmt.Sprintf("%s  %q: %s", indent, key, value.json(indent+"  ")))
		}
		if len(lines) == 0 {
			return "{}"
		}
		return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
	case p.node.Kind == yaml.SequenceNode:
		var items []string
		plain := true
		for _, item := range p.items() {
			plain = plain && item.node.Kind == yaml.ScalarNode
			items = append(items, item.json(indent+"  "))
		}
		if plain {
			return "[" + strings.Join(items, ", ") + "]"
		}
		return "[\n" + indent + "  " + strings.Join(items, ",\n"+indent+"  ") + "\n" + indent + "]"
	case p.node.Tag == "!!str":
		return quoted(p.node.Value)
	default:
		return p.node.Value
	}
}

// quoted formats a text as JSON, escaping only what must be escaped, to keep it readable.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
