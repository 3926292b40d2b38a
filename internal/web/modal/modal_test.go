package modal_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/lib/i18n"
	"holdfast/internal/web/modal"
)

const shopOrigin = "https://shop.example"

func newModal(t *testing.T, cfg modal.Config) *modal.Modal {
	t.Helper()
	m, err := modal.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m.Finding(func(_ context.Context, path string) (name string, origins []string, err error) {
		if path != "sunny" {
			return "", nil, nil
		}
		return "Sunny & Travel", []string{shopOrigin, "http://localhost:3000"}, nil
	})
	return m
}

func get(t *testing.T, m *modal.Modal, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, modal.Path+path, nil))
	return w
}

func framePath(query string) string {
	return "frame?path=sunny&origin=https%3A%2F%2Fshop.example" + query
}

func TestTheScriptIsSmallAndHasTwoNames(t *testing.T) {
	m := newModal(t, modal.Config{})
	name, integrity := m.Script()
	plain, hashed := get(t, m, "modal.js"), get(t, m, name)
	for _, w := range []*httptest.ResponseRecorder{plain, hashed} {
		h := w.Header()
		if w.Code != http.StatusOK || h.Get("Content-Type") != "text/javascript; charset=utf-8" || h.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%d %v", w.Code, h)
		}
		sum := sha512.Sum384(w.Body.Bytes())
		if want := "sha384-" + base64.StdEncoding.EncodeToString(sum[:]); integrity != want {
			t.Errorf("the integrity is %s, of the script it is %s", integrity, want)
		}
	}
	if got := plain.Header().Get("Cache-Control"); got != "public, max-age=300" {
		t.Errorf("modal.js may be kept: %s", got)
	}
	if got := hashed.Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("%s may be kept: %s", name, got)
	}
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	if _, err := z.Write(plain.Body.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if small.Len() > 10_000 {
		t.Errorf("modal.js has %d bytes compressed", small.Len())
	}
	if w := get(t, m, "modal.0000000000000000.js"); w.Code != http.StatusNotFound {
		t.Errorf("a digest that is not the script's: %d", w.Code)
	}
	if w := get(t, m, "modal.d.ts"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "transaction_timeout") {
		t.Errorf("modal.d.ts: %d", w.Code)
	}
}

// TestTheDocsHaveTheIntegrity compares docs/modal.md with the script.
func TestTheDocsHaveTheIntegrity(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "modal.md"))
	if err != nil {
		t.Fatal(err)
	}
	name, integrity := newModal(t, modal.Config{}).Script()
	if !strings.Contains(string(page), "/modal/v1/"+name+`"`) || !strings.Contains(string(page), `integrity="`+integrity+`"`) {
		t.Errorf("docs/modal.md has to name %s with the integrity %s", name, integrity)
	}
}

func TestTheFrameOpensForPermittedOriginsOnly(t *testing.T) {
	m := newModal(t, modal.Config{})
	w := get(t, m, framePath(""))
	policy := w.Header().Get("Content-Security-Policy")
	if w.Code != http.StatusOK || !strings.HasSuffix(policy, "; frame-ancestors https://shop.example http://localhost:3000") {
		t.Errorf("%d %s", w.Code, policy)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%v", w.Header())
	}
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'"} {
		if !slices.Contains(strings.Split(policy, "; "), part) {
			t.Errorf("the policy lacks %s: %s", part, policy)
		}
	}
	for _, path := range []string{"frame?path=sunny&origin=https://evil.example", "frame?path=sunny", "frame?path=other&origin=https://shop.example", "frame"} {
		w := get(t, m, path)
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusForbidden || !strings.HasSuffix(policy, "frame-ancestors 'none'") || strings.Contains(w.Body.String(), "<script") {
			t.Errorf("%s: %d %s", path, w.Code, policy)
		}
	}
	down := newModal(t, modal.Config{})
	down.Finding(func(context.Context, string) (string, []string, error) { return "", nil, errors.New("no database") })
	for _, path := range []string{framePath(""), "return?path=sunny"} {
		if w := get(t, down, path); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "database") {
			t.Errorf("%s without a database: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestTheTokenizersScriptComesFromItsHostOnly(t *testing.T) {
	m := newModal(t, modal.Config{TestScript: "https://fields.example/v3.js?a=b&c"})
	w := get(t, m, framePath("&tokenizer=test"))
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "script-src 'self' https://fields.example;") || !strings.Contains(w.Body.String(), `<script src="https://fields.example/v3.js?a=b&amp;c"></script>`) {
		t.Errorf("%s\n%s", policy, w.Body)
	}
	if w := get(t, m, framePath("")); strings.Contains(w.Header().Get("Content-Security-Policy")+w.Body.String(), "fields.example") {
		t.Error("the tokenizer is let in where it is not asked for")
	}
	for _, other := range []string{"live", "", "https://evil.example"} {
		if w := get(t, m, framePath("&tokenizer="+other)); w.Code != http.StatusNotFound {
			t.Errorf("tokenizer %q: %d", other, w.Code)
		}
	}
	if _, err := modal.New(modal.Config{LiveScript: "fields.js"}); err == nil {
		t.Error("a script without a host is taken")
	}
}

func TestTheFramesFilesLastAndRunNothingInline(t *testing.T) {
	m := newModal(t, modal.Config{})
	for _, path := range []string{framePath(""), "return?path=sunny&transaction_id=7"} {
		page := get(t, m, path).Body.String()
		links := regexp.MustCompile(`(?:src|href)="/modal/v1/([^"]+)"`).FindAllStringSubmatch(page, -1)
		if len(links) < 2 {
			t.Errorf("%s has only the links %v", path, links)
		}
		for _, link := range links {
			w := get(t, m, link[1])
			if w.Code != http.StatusOK || !strings.HasSuffix(w.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", link[1], w.Code, w.Header())
			}
			old := regexp.MustCompile(`assets/[0-9a-f]+/`).ReplaceAllString(link[1], "assets/0123456789abcdef/")
			if w := get(t, m, old); w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %v", old, w.Code, w.Header())
			}
		}
		if found := regexp.MustCompile(`(?i)<style|<script>|<script type="module">| on[a-z]+=| style=`).FindString(page); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
	policy := get(t, m, "return?path=sunny").Header().Get("Content-Security-Policy")
	if !strings.HasSuffix(policy, "frame-ancestors 'self' https://shop.example http://localhost:3000") {
		t.Errorf("the way back from a bank may lie in: %s", policy)
	}
}

// TestTheFrameSaysWhatTheCatalogueHas: package texts compares the languages, so one of them is enough here.
func TestTheFrameSaysWhatTheCatalogueHas(t *testing.T) {
	english := i18n.Of("enGB").Section("modal")
	if len(english) < 70 {
		t.Fatalf("there are %d texts", len(english))
	}
	used := regexp.MustCompile(`(?:data-text|data-label|data-hint)="(\w+)"|say\("(\w+)"|return "((?:number|expiry|code|name)_\w+)"|"(decline_\w+)"`)
	for _, pattern := range []string{"*.html", "assets/*.js"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, use := range used.FindAllStringSubmatch(string(text), -1) {
				key := strings.Join(use[1:], "")
				if _, ok := english[key]; !ok {
					t.Errorf("%s says %s, which is in no language", name, key)
				}
			}
		}
	}
}
