// Package web serves the page about the API. The pages of the payment modal and of the demo's shop are in the packages
// below it.
//
// The page is made from the API's description when the program starts. So it always fits this version and this
// deployment. It needs no network and runs no script. Begin to read at Docs.
package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the template and the style
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"time"
)

//go:embed docs.html
var docsTemplate string

//go:embed docs.css
var docsStyle string

// Docs makes a page for people of a description in OpenAPI 3.1, and returns the handler that serves it.
func Docs(description []byte) (http.Handler, error) {
	content, err := readDescription(description)
	if err != nil {
		return nil, fmt.Errorf("the description of the API cannot be read: %w", err)
	}
	t, err := template.New("docs").Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("the template of the page about the API: %w", err)
	}
	var page bytes.Buffer
	err = t.Execute(&page, struct {
		manual
		Style template.CSS
	}{content, template.CSS(docsStyle)})
	if err != nil {
		return nil, fmt.Errorf("the page about the API: %w", err)
	}
	return servePage(page.Bytes()), nil
}

// servePage serves a page that has its style inside. The policy forbids everything else.
func servePage(page []byte) http.Handler {
	style := sha256.Sum256([]byte(docsStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(style[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	sum := sha256.Sum256(page)
	etag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		// Browsers may keep the page, but must ask whether it has changed.
		h.Set("Cache-Control", "no-cache")
		h.Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
	})
}
