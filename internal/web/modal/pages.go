package modal

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// page is what the templates are filled in with.
type page struct {
	Assets string // where the frame's files are
	Script string // of the tokenizer's hosted fields; "" without them
}

// tokenizers are the values of the frame's parameter tokenizer: whose hosted fields it shows.
const (
	testTokenizer = "test"
	liveTokenizer = "live"
)

// serveFrame answers with the document in which cards are entered, to pages of the site's permitted origins. Whether the
// page is one is for the browser to find out, by the policy: a parameter can say anything.
func (m *Modal) serveFrame(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	origins, ok := m.origins(w, r, query.Get("path"))
	if !ok {
		return
	}
	if !slices.Contains(origins, query.Get("origin")) {
		m.show(w, http.StatusForbidden, "refused.html", page{}, strictPolicy("'none'"))
		return
	}
	script := map[string]string{testTokenizer: m.cfg.TestScript, liveTokenizer: m.cfg.LiveScript}[query.Get("tokenizer")]
	if query.Has("tokenizer") && script == "" {
		http.Error(w, "This deployment has no such tokenizer.", http.StatusNotFound)
		return
	}
	m.show(w, http.StatusOK, "frame.html", page{Assets: m.assets(), Script: script}, framePolicy(origins, script))
}

// serveReturn answers with the page on which a shopper lands after a challenge. It lies inside the frame, and both lie
// inside the merchant's page.
func (m *Modal) serveReturn(w http.ResponseWriter, r *http.Request) {
	origins, ok := m.origins(w, r, r.URL.Query().Get("path"))
	if !ok {
		return
	}
	ancestors := strings.Join(append([]string{"'self'"}, origins...), " ")
	m.show(w, http.StatusOK, "return.html", page{Assets: m.assets()}, strictPolicy(ancestors))
}

// origins are the site's, read anew for each page: a change of the list counts at once.
func (m *Modal) origins(w http.ResponseWriter, r *http.Request, site string) ([]string, bool) {
	origins, err := m.cfg.Origins(r.Context(), site)
	if err != nil {
		w.Header().Set("Cache-Control", never)
		http.Error(w, "The payment service cannot be reached. Try again.", http.StatusServiceUnavailable)
		return nil, false
	}
	return origins, true
}

func (m *Modal) assets() string { return Path + "assets/" + m.version }

func (m *Modal) show(w http.ResponseWriter, status int, name string, p page, policy string) {
	var text bytes.Buffer
	if err := m.pages.ExecuteTemplate(&text, name, p); err != nil {
		http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", never)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	w.WriteHeader(status)
	_, _ = text.WriteTo(w) // an error here is a reader who has gone
}

// strictPolicy lets a page have our own files and nothing else.
func strictPolicy(ancestors string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors " + ancestors
}

// framePolicy is the policy of the frame. Challenges may come from any bank, so that frames inside it may too; scripts are
// our own, and the tokenizer's where its fields take the card.
func framePolicy(origins []string, script string) string {
	host, trusted := "", "; require-trusted-types-for 'script'; trusted-types 'none'"
	if u, err := url.Parse(script); script != "" && err == nil {
		// The tokenizer's script writes into the document as it likes.
		host, trusted = " "+u.Scheme+"://"+u.Host, ""
	}
	return "default-src 'none'; script-src 'self'" + host + "; style-src 'self'; connect-src 'self'; " +
		"frame-src 'self' https:" + host + "; base-uri 'none'; form-action 'none'" + trusted +
		"; frame-ancestors " + strings.Join(origins, " ")
}
