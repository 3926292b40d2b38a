package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// writer generates each type once, in the section of the first operation that uses it.
type writer struct {
	api     *api
	section string
	done    map[string]bool
	structs map[string]bool     // the types that are structs
	blocks  map[string][]string // the declarations of each section
}

// operations generates the types of all operations.
func (w *writer) operations() error {
	for _, o := range w.api.operations {
		w.section = o.section
		if len(o.parameters) > 0 {
			w.query(o)
		}
		if o.body != nil {
			if o.body.Ref == "" {
				return fmt.Errorf("the body of %s has no name", o.id)
			}
			w.reference(last(o.body.Ref), true)
		}
		for _, answer := range o.answers {
			if answer.Ref == "" && !answer.Types.has("array") {
				return fmt.Errorf("the answer of %s has no name", o.id)
			}
			w.typeOf(answer, goName(o.id), false)
		}
	}
	return nil
}

func (w *writer) put(text string) { w.blocks[w.section] = append(w.blocks[w.section], text) }

// query generates the struct of an operation's parameters.
func (w *writer) query(o operation) {
	name := queryName(o.id)
	lines := []string{}
	for _, p := range o.parameters {
		kind := w.typeOf(p.Schema, name+goName(p.Name), false)
		if kind == "bool" && !p.Required {
			kind = "*bool"
		}
		lines = append(lines, comment(cmp.Or(p.Description, w.described(p.Schema)), "\t"),
			fmt.Sprintf("\t%s %s `query:%q`\n", goName(p.Name), kind, p.Name))
	}
	w.put(fmt.Sprintf("\n// %s are the parameters of the operation %s. Empty fields are omitted.\ntype %s struct {\n%s}\n",
		name, o.id, name, strings.Join(lines, "")))
}

// described is the description of a schema: its own, or the first sentence of the schema that it refers to, unless that
// has a type with this description.
func (w *writer) described(s *schema) string {
	if s == nil || s.Description != "" || s.Ref == "" {
		return text(s)
	}
	name := last(s.Ref)
	target := w.api.schemas[name]
	if own[name] != "" || target == nil || len(target.Enum) > 0 || len(target.Properties) > 0 {
		return ""
	}
	first, _, _ := strings.Cut(text(target), ". ")
	if first == "" {
		return ""
	}
	return strings.TrimSuffix(first, ".") + "."
}

func text(s *schema) string {
	if s == nil {
		return ""
	}
	return s.Description
}

// reference is the type of a named schema. It generates the type on first use.
func (w *writer) reference(name string, input bool) string {
	if kind := own[name]; kind != "" {
		return kind
	}
	s := w.api.schemas[name]
	switch {
	case s == nil:
		panic("the description has no schema " + name) // the linters reject such a reference
	case len(s.Properties) > 0 || len(s.AllOf) > 0:
		if !w.done[name] {
			w.done[name] = true
			w.object(name, s, input)
		}
		return name
	case s.Discriminator != nil:
		if !w.done[name] {
			w.done[name] = true
			w.object(name, w.base(s), input)
		}
		return name
	case len(s.Enum) > 0 && s.Types.has("string"):
		if !w.done[name] {
			w.done[name] = true
			w.enumeration(name, s)
		}
		return name
	default:
		return w.typeOf(s, name, input)
	}
}

// base is what all variants of a value share: the named part of the first one. Fields that differ between them are raw
// JSON in it.
func (w *writer) base(s *schema) *schema {
	made := schema{Types: types{names: []string{"object"}}}
	for _, part := range w.api.schemas[last(s.OneOf[0].Ref)].AllOf {
		if part.Ref != "" {
			made = *w.api.schemas[last(part.Ref)]
		}
	}
	made.Description = s.Description
	return &made
}

// typeOf is the type of a value. name is used for an unnamed object.
func (w *writer) typeOf(s *schema, name string, input bool) string {
	if s == nil {
		return "json.RawMessage"
	}
	if s.Ref != "" {
		return w.reference(last(s.Ref), input)
	}
	if len(s.OneOf) == 2 && slices.ContainsFunc(s.OneOf, func(o *schema) bool { return o.Ref == "" && len(o.Types.names) == 0 }) {
		return pointer(w.typeOf(s.OneOf[0], name, input))
	}
	var kind string
	switch {
	case len(s.Types.names) != 1:
		return "json.RawMessage"
	case s.Types.has("array"):
		return "[]" + w.typeOf(s.Items, single(name), input)
	case len(s.Properties) > 0:
		if !w.done[name] {
			w.done[name] = true
			w.object(name, s, input)
		}
		kind = name
	case s.Types.has("object") && s.Extra != nil && (s.Extra.Ref != "" || len(s.Extra.Types.names) > 0):
		return "map[string]" + w.typeOf(s.Extra, name, input)
	case s.Types.has("object"):
		return "json.RawMessage"
	default:
		kind = map[string]string{"string": "string", "integer": "int64", "boolean": "bool", "number": "json.Number"}[s.Types.names[0]]
	}
	if s.Types.nullable {
		return pointer(kind)
	}
	return kind
}

func pointer(kind string) string {
	if strings.HasPrefix(kind, "*") || strings.HasPrefix(kind, "[]") || kind == "json.RawMessage" {
		return kind
	}
	return "*" + kind
}

// object generates a struct, after the types that its fields need.
func (w *writer) object(name string, s *schema, input bool) {
	lines := w.fieldsOf(name, s, s.Required, input)
	w.structs[name] = true
	about := name + " is an answer of the API, or a part of one."
	if said := text(s); said != "" {
		about = name + ": " + said
	} else if input {
		about = name + " is an input of the API."
	}
	w.put("\n" + comment(about, "") + "type " + name + " struct {\n" + strings.Join(lines, "") + "}\n")
}

// fieldsOf are the lines of a struct. The parts of an allOf are inlined; in a response, named parts are embedded.
func (w *writer) fieldsOf(name string, s *schema, required []string, input bool) (lines []string) {
	for _, part := range s.AllOf {
		switch {
		case part.Ref == "":
			lines = append(lines, w.fieldsOf(name, part, part.Required, input)...)
		case input:
			lines = append(lines, w.fieldsOf(name, w.api.schemas[last(part.Ref)], required, input)...)
		default:
			lines = append(lines, "\t"+w.reference(last(part.Ref), input)+"\n")
		}
	}
	for _, f := range s.Properties {
		kind := w.typeOf(f.schema, name+goName(f.name), input)
		tag := f.name
		if !slices.Contains(required, f.name) {
			kind, tag = w.optional(name, f.name, kind, input), tag+",omitzero"
		}
		lines = append(lines, comment(w.described(f.schema), "\t"), fmt.Sprintf("\t%s %s `json:%q`\n", goName(f.name), kind, tag))
	}
	return lines
}

// optional is the type of a field that may be omitted. It is a pointer in changes, and wherever zero has a meaning.
func (w *writer) optional(object, name, kind string, input bool) string {
	switch {
	case nullable[object+"."+name]:
		return "Nullable[" + kind + "]"
	case kind == "json.RawMessage" || strings.HasPrefix(kind, "[]") || strings.HasPrefix(kind, "map["):
		return kind
	case input && (strings.HasSuffix(object, "Change") || strings.HasPrefix(object, "PolicyCreate") || pointers[object+"."+name]):
		return pointer(kind)
	case input:
		return strings.TrimPrefix(kind, "*")
	case !input && (kind == "int64" || w.structs[kind]):
		return pointer(kind)
	default:
		return kind
	}
}

// enumeration generates a string type and its values. Clients must accept unknown values, and this type does.
func (w *writer) enumeration(name string, s *schema) {
	about := name + " is one of these values. A later version of the API may have more."
	if s.Description != "" {
		about = name + ": " + s.Description
	}
	block := "\n" + comment(about, "") + "type " + name + " string\n" + fmt.Sprintf("\n// The values of %s.\nconst (\n", name)
	for _, value := range s.Enum {
		if text, ok := value.(string); ok && text != "" {
			block += fmt.Sprintf("\t%s%s %s = %q\n", name, goName(text), name, text)
		}
	}
	w.put(block + ")\n")
}

// width is the maximum width of a comment line.
const width = 112

// comment wraps a description into comment lines.
func comment(text, indent string) string {
	var made strings.Builder
	line := indent + "//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width && line != indent+"//" {
			made.WriteString(line + "\n")
			line = indent + "//"
		}
		line += " " + word
	}
	if line == indent+"//" {
		return ""
	}
	return made.String() + line + "\n"
}
