package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"holdfast/docs"
)

// Description is the description of the API (docs/openapi.yaml) with the segments of this deployment in its addresses.
func Description(cfg Config) []byte {
	cfg = cfg.withDefaults()
	// The first text that matches is replaced, so the longer login path comes before the shorter one.
	text := strings.NewReplacer(
		"/auth/rest/jwt-auth/", "/"+cfg.AuthSegment+"/"+cfg.RESTRoot+"/jwt-auth/",
		"/rest/jwt-auth/", "/"+cfg.RESTRoot+"/jwt-auth/",
		"/rest/svc/v2", "/"+cfg.RESTRoot+"/"+cfg.Namespace+"/v2",
	).Replace(string(docs.OpenAPI))
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

// describe answers with the description of the API.
func (s *server) describe(c *call) error {
	description := Description(s.cfg)
	sum := sha256.Sum256(description)
	c.Header().Set("Content-Type", "application/yaml")
	c.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	// It holds no data of anybody, so caches may keep it, if they ask each time whether it is still the same.
	c.Header().Set("Cache-Control", "no-cache")
	// These would make answers without a body, or with a text that is no JSON.
	for _, name := range []string{"If-Match", "If-Unmodified-Since", "Range"} {
		c.r.Header.Del(name)
	}
	http.ServeContent(c, c.r, "", time.Time{}, bytes.NewReader(description))
	return nil
}
