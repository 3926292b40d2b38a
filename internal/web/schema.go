package web

import (
	"html/template"
	"slices"
	"strings"
)

// field is one row of a table of fields or parameters.
type field struct {
	Name       string // with the names of the objects around it, such as key.channel.id
	Anchor     string // anchor of the row; "" for a parameter
	In         string // of a parameter: path, query or header
	Type       string
	Required   bool
	ReadOnly   bool
	Deprecated bool
	NoEffect   bool // accepted and returned, without effect yet
	About      template.HTML
	Values     []string // of an enumeration
	Default    string
	Example    string
}

// noEffect marks fields in a description that are accepted and returned, but have no effect yet.
const noEffect = "x-no-effect-yet"

// fieldsOf lists an object's fields. The fields of a nested object follow that object.
func fieldsOf(schema part, prefix string) []field {
	schema = schema.whole()
	required := schema.at("required").texts()
	var rows []field
	for name, value := range schema.at("properties").fields() {
		value = value.whole()
		row := fieldOf(prefix+name, value)
		row.Required = slices.Contains(required, name)
		rows = append(rows, row)
		inner, mark := value, "."
		if items := value.at("items"); items.exists() {
			inner, mark = items.whole(), "[]."
		}
		rows = append(rows, fieldsOf(inner, prefix+name+mark)...)
	}
	return rows
}

func fieldOf(name string, schema part) field {
	f := field{
		Name: name, Type: typeOf(schema), ReadOnly: schema.is("readOnly"), Deprecated: schema.is("deprecated"),
		NoEffect: schema.is(noEffect), About: phrase(schema.at("description").text()), Values: distinct(schema.at("enum").texts()), Default: schema.at("default").text(),
	}
	if items := schema.at("items"); items.exists() && len(f.Values) == 0 {
		f.Values = items.whole().at("enum").texts()
	}
	if constant := schema.at("const").text(); constant != "" {
		f.Values = []string{constant}
	}
	// Multi-line examples are left out, because the nested fields have their own.
	if example := schema.at("examples").items(); len(example) > 0 {
		if text := example[0].json(""); !strings.Contains(text, "\n") {
			f.Example = text
		}
	}
	return f
}

// distinct removes duplicates, because true and "true" look the same to a reader.
func distinct(texts []string) []string {
	var list []string
	for _, text := range texts {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// choicesOf returns the alternative schemas of a value. An object with fields of its own has none: its alternatives only say which fields
// it needs.
func choicesOf(schema part) []part {
	if schema.at("properties").exists() {
		return nil
	}
	return append(schema.at("oneOf").items(), schema.at("anyOf").items()...)
}

// typeOf describes a value's type in words.
func typeOf(schema part) string {
	types := schema.at("type").texts()
	for _, alternative := range choicesOf(schema) {
		types = append(types, typeOf(alternative.whole()))
	}
	words := strings.Join(types, " or ")
	if items := schema.at("items"); words == "array" && items.exists() {
		words = "array of " + typeOf(items.whole())
	}
	if format := schema.at("format").text(); format != "" {
		words += ", " + format
	}
	if most := schema.at("maxLength").text(); most != "" {
		words += ", at most " + most + " characters"
	}
	low, high := schema.at("minimum").text(), schema.at("maximum").text()
	switch {
	case high != "":
		words += ", " + low + " to " + high
	case low != "" && low != "0":
		words += ", from " + low
	}
	return words
}

// example builds an example of a schema from the examples of its fields.
func example(schema part, indent string) string {
	schema = schema.whole()
	if given := schema.at("examples").items(); len(given) > 0 {
		return given[0].json(indent)
	}
	for _, name := range []string{"const", "default"} {
		if value := schema.at(name); value.exists() {
			return value.json(indent)
		}
	}
	if values := schema.at("enum").items(); len(values) > 0 {
		return values[0].json(indent)
	}
	// Show the first alternative. In this description, null is always last.
	if choices := choicesOf(schema); len(choices) > 0 {
		return example(choices[0], indent)
	}
	switch types := schema.at("type").texts(); {
	case slices.Contains(types, "object"), schema.at("properties").exists():
		return exampleObject(schema, indent)
	case slices.Contains(types, "null"):
		return "null"
	case slices.Contains(types, "array"):
		return exampleList(schema, indent)
	case slices.Contains(types, "boolean"):
		return "false"
	case slices.Contains(types, "integer"):
		return "0"
	default:
		return `""`
	}
}

func exampleObject(schema part, indent string) string {
	// Fields that are alternatives: show one of them.
	choice := schema.at("maxProperties").exists()
	var lines []string
	for name, value := range schema.at("properties").fields() {
		if !choice || len(lines) == 0 {
			lines = append(lines, indent+"  "+quoted(name)+": "+example(value, indent+"  "))
		}
	}
	if len(lines) == 0 {
		return "{}"
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
}

func exampleList(schema part, indent string) string {
	items := schema.at("items")
	if !items.exists() || schema.at("maxItems").text() == "0" {
		return "[]"
	}
	item := items.whole()
	if !item.at("properties").exists() && len(item.at("examples").items()) == 0 {
		return "[]"
	}
	return "[\n" + indent + "  " + example(item, indent+"  ") + "\n" + indent + "]"
}
