package web

import (
	"slices"
	"strings"
)

// curl returns a command to paste into a shell, with $TOKEN for the caller's token. It has the path parameters and all
// required ones.
func (m manual) curl(path, method string, parameters []part, op part) string {
	var query []string
	for _, p := range parameters {
		name, value := p.at("name").text(), sampleValue(p.at("schema").whole())
		switch {
		case p.at("in").text() == "path":
			path = strings.ReplaceAll(path, "{"+name+"}", value)
		case p.at("in").text() == "query" && p.is("required"):
			query = append(query, name+"="+value)
		}
	}
	address := m.base + path
	if len(query) > 0 {
		address += "?" + strings.Join(query, "&")
	}
	parts := []string{"curl -sS"}
	if token := m.tokenOf(op); token != "" {
		parts = append(parts, `-H "Authorization: Bearer `+token+`"`)
	}
	body := op.at("requestBody", "content", "application/json")
	file := op.at("requestBody", "content", "text/csv")
	if body.exists() {
		parts = append(parts, "-H 'Content-Type: application/json'")
	}
	if file.exists() {
		parts = append(parts, "-H 'Content-Type: text/csv'")
	}
	if method != "get" && (method != "post" || !body.exists() && !file.exists()) {
		parts[0] += " -X " + strings.ToUpper(method)
	}
	parts[0] += saved(op)
	parts = append(parts, "'"+address+"'")
	if body.exists() {
		parts = append(parts, "-d '"+strings.ReplaceAll(bodySample(body), "'", `'\''`)+"'")
	}
	if file.exists() {
		parts = append(parts, "--data-binary '"+strings.TrimSuffix(file.at("example").text(), "\n")+"'")
	}
	return strings.Join(parts, " \\\n  ")
}

// tokenOf returns the shell variable with the token that an operation needs, or "".
func (m manual) tokenOf(op part) string {
	security := op.field("security")
	if !security.exists() {
		return "$TOKEN"
	}
	names := map[string]string{"bearer": "$TOKEN", "refreshToken": "$REFRESH_TOKEN", "modal": "$SESSION"}
	for _, way := range security.items() {
		for name := range way.fields() {
			return names[name]
		}
	}
	return ""
}

// saved returns the option that saves a file, if the operation returns one.
func saved(op part) string {
	for kind := range op.at("responses", "200", "content").fields() {
		if kind == "application/pdf" {
			return " -o statement.pdf"
		}
	}
	return ""
}

// bodySample returns an example of a body: the description's, or one generated from the schema.
func bodySample(body part) string {
	if given := body.at("example"); given.exists() {
		return given.json("")
	}
	return example(body.at("schema"), "")
}

// sampleValue returns an example of a parameter, encoded for a URL.
func sampleValue(schema part) string {
	text := example(schema, "")
	if given := schema.at("examples").items(); len(given) > 0 && schema.at("items").exists() {
		return strings.Join(given[0].texts(), ",")
	}
	return strings.Trim(text, `"[]`)
}

// sample returns an example of a response.
func sample(response part) string {
	for kind, content := range response.at("content").fields() {
		schema := content.field("schema")
		switch {
		case content.at("example").exists() && slices.Contains([]string{"text/csv", "application/yaml"}, plainKind(kind)):
			return content.at("example").text()
		case kind == "application/json":
			return example(schema, "")
		default:
			return "(" + plainKind(kind) + ")"
		}
	}
	for name, header := range response.at("headers").fields() {
		if name == "Location" {
			return name + ": " + sampleValue(header.at("schema").whole())
		}
	}
	return ""
}

// plainKind returns a media type without its parameters.
func plainKind(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}
