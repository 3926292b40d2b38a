package modal

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
)

// page is the data of the templates.
type page struct {
	Assets  string   // path of the frame's files
	Script  string   // URL of the tokenizer's hosted fields script; "" for none
	Site    string   // name of the site
	Modules []string // scripts to preload, so that none waits for another one's import
}

// Values of the frame's tokenizer parameter: which hosted fields it shows.
const (
	testTokenizer = "test"
	liveTokenizer = "live"
)

// serveFrame serves the document in which cards are entered. The browser enforces, through the CSP, that the page around it
// has a permitted origin. The origin parameter only gives a better message and is not trusted: anyone can set it.
func (m *Modal) serveFrame(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	site, ok := m.site(w, r, query.Get("path"))
	if !ok {
		return
	}
	if !slices.Contains(site.Origins, query.Get("origin")) {
		m.show(w, http.StatusForbidden, "refused.html", page{}, strictPolicy("'none'"))
		return
	}
	script := map[string]string{testTokenizer: m.cfg.TestScript, liveTokenizer: m.cfg.LiveScript}[query.Get("tokenizer")]
	if query.Has("tokenizer") && script == "" {
		http.Error(w, "Unknown tokenizer.", http.StatusNotFound)
		return
	}
	modules := m.modules
	if texts := "texts/" + query.Get("language") + ".js"; m.files[texts].text != nil {
		modules = append(slices.Clone(modules), texts)
	}
	p := page{Assets: m.assets(), Script: script, Site: site.Name, Modules: modules}
	m.show(w, http.StatusOK, "frame.html", p, framePolicy(site.Origins, script))
}

// serveReturn serves the page to which the bank sends the shopper after a challenge. It is shown inside the frame, which is
// inside the merchant's page.
func (m *Modal) serveReturn(w http.ResponseWriter, r *http.Request) {
	site, ok := m.site(w, r, r.URL.Query().Get("path"))
	if !ok {
		return
	}
	ancestors := strings.Join(append([]string{"'self'"}, site.Origins...), " ")
	m.show(w, http.StatusOK, "return.html", page{Assets: m.assets()}, strictPolicy(ancestors))
}

// stored reads a site by its path. An unknown site has no origins: the response is the same as for a site that permits none.
func (m *Modal) stored(ctx context.Context, path string) (site, error) {
	found, err := m.cfg.Sites.At(ctx, access.System(0), path)
	if errs.Is(err, errs.SettingNotFound) {
		return site{}, nil
	}
	return site{found.Name, found.PermittedURLs}, err
}

// site reads the site again for each page, so that changed origins take effect immediately.
func (m *Modal) site(w http.ResponseWriter, r *http.Request, path string) (found site, ok bool) {
	found, err := m.find(r.Context(), path)
	if err != nil {
		w.Header().Set("Cache-Control", never)
		http.Error(w, "The payment service is unavailable. Try again.", http.StatusServiceUnavailable)
		return site{}, false
	}
	return found, true
}

func (m *Modal) assets() string { return Path + "assets/" + m.version }

func (m *Modal) show(w http.ResponseWriter, status int, name string, p page, policy string) {
	var text bytes.Buffer
	if err := m.pages.ExecuteTemplate(&text, name, p); err != nil {
		http.Error(w, "The page could not be loaded.", http.StatusInternalServerError)
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
	_, _ = text.WriteTo(w) // an error means that the client has disconnected
}

// strictPolicy allows only our own files.
func strictPolicy(ancestors string) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors " + ancestors
}

// framePolicy is the frame's policy. It allows inner frames of any origin, because any bank may show its challenge there.
// Scripts are our own and, with hosted fields, the tokenizer's.
func framePolicy(origins []string, script string) string {
	host, trusted := "", "; require-trusted-types-for 'script'; trusted-types 'none'"
	if u, err := url.Parse(script); script != "" && err == nil {
		// The tokenizer's script does not work with trusted types.
		host, trusted = " "+u.Scheme+"://"+u.Host, ""
	}
	return "default-src 'none'; script-src 'self'" + host + "; style-src 'self'; connect-src 'self'; " +
		"frame-src 'self' https:" + host + "; base-uri 'none'; form-action 'none'" + trusted +
		"; frame-ancestors " + strings.Join(origins, " ")
}
