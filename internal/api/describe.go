package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"holdfast/docs"

	"go.yaml.in/yaml/v3"
)

// neededContent is where the description requires content for a new booking. Only the protection-only profile does.
const neededContent = "required: [content, firstname,"

// Description returns the API description (docs/openapi.yaml) with the path segments of this deployment, and the fields that its profile
// requires.
func Description(cfg Config) []byte {
	cfg = cfg.withDefaults()
	// The first text that matches is replaced, so the longer login path comes before the shorter one.
	text := strings.NewReplacer(
		"/auth/rest/jwt-auth/", "/"+cfg.AuthSegment+"/"+cfg.RESTRoot+"/jwt-auth/",
		"/rest/jwt-auth/", "/"+cfg.RESTRoot+"/jwt-auth/",
		"/rest/svc/v2", "/"+cfg.RESTRoot+"/"+cfg.Namespace+"/v2",
	).Replace(string(docs.OpenAPI))
	if cfg.Profile.Processes() {
		text = strings.Replace(text, neededContent, strings.Replace(neededContent, "content, ", "", 1), 1)
	}
	return []byte(text)
}

// Error is one row of the catalogue of errors.
type Error struct {
	Code   string
	Status int
}

// Errors is the catalogue of errors: all codes that the API answers with, and their statuses.
func Errors() []Error {
	var rows []Error
	for _, answer := range catalogue {
		rows = append(rows, Error{answer.code, answer.status})
	}
	return rows
}

// document is a form of the description of the API, made once.
type document struct {
	text []byte
	kind string // its media type
	tag  string // its ETag
}

func newDocument(kind string, text []byte) document {
	sum := sha256.Sum256(text)
	return document{text: text, kind: kind, tag: `"` + hex.EncodeToString(sum[:tagBytes]) + `"`}
}

// describeYAML and describeJSON answer with the description of the API.
func (s *server) describe(c *call) error { return c.document(s.yaml()) }

func (s *server) describeJSON(c *call) error { return c.document(s.json()) }

// inJSON writes a YAML document as JSON.
func inJSON(text []byte) []byte {
	var tree any
	err := yaml.Unmarshal(text, &tree)
	written, failed := json.Marshal(tree)
	if err := errors.Join(err, failed); err != nil {
		panic("the description of the API cannot be written as JSON: " + err.Error()) // it is a part of the program
	}
	return append(written, '\n')
}

func (c *call) document(d document) error {
	c.Header().Set("Content-Type", d.kind)
	c.Header().Set("ETag", d.tag)
	// It has no personal data, so caches may store it if they revalidate it each time.
	c.Header().Set("Cache-Control", "no-cache")
	// These would make answers without a body, or with a text that is no JSON.
	for _, name := range []string{"If-Match", "If-Unmodified-Since", "Range"} {
		c.r.Header.Del(name)
	}
	http.ServeContent(c, c.r, "", time.Time{}, bytes.NewReader(d.text))
	return nil
}
