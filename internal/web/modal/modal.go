// Package modal serves the payment modal: the script that a merchant's page loads, and the frame that this script opens
// over the page. Only the frame has card fields, so card data never reaches the merchant's page.
//
// Scripts and styles are embedded unchanged; the texts come from package i18n. The merchant's script is served under a fixed
// name and under one with its digest. The frame's files have a common digest in their path, so browsers can cache them
// forever and they still find each other by name. Start reading at New.
package modal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/money"
	"holdfast/internal/lib/i18n"
)

// Path is the prefix of all paths of the modal.
const Path = "/modal/v1/"

//go:embed assets
var embedded embed.FS

//go:embed frame.html brands.html return.html refused.html
var pages embed.FS

// Config is the deployment's configuration.
type Config struct {
	Sites *merchants.Sites
	// TestScript and LiveScript are the URLs of the tokenizer's hosted fields script, for test and live cards; "" for none.
	TestScript, LiveScript string
}

// site is what the modal needs to know about a site.
type site struct {
	Name    string   // shown if the merchant's name is not known
	Origins []string // origins that may open the modal, as browsers send them
}

// file is one served file.
type file struct {
	text   []byte
	kind   string
	digest string
}

// Modal serves the payment modal.
type Modal struct {
	cfg       Config
	find      func(ctx context.Context, path string) (site, error) // stored, unless in a test
	files     map[string]file                                      // the frame's files, by name below version
	version   string
	modules   []string // the scripts that every frame needs
	pages     *template.Template
	script    file
	hashed    string // name of the script with its digest
	integrity string
	types     file
	mux       *http.ServeMux
}

// apart are the scripts that the frame does not load as modules.
var apart = []string{"frame.js", "modal.js", "return.js"}

// kinds are the content types by file extension.
var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".ts": "text/plain; charset=utf-8"}

// New returns a Modal, which serves everything under Path.
func New(cfg Config) (*Modal, error) {
	for _, script := range []string{cfg.TestScript, cfg.LiveScript} {
		if u, err := url.Parse(script); err != nil || script != "" && (u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
			return nil, fmt.Errorf("%q is not the address of a script", script)
		}
	}
	m := &Modal{cfg: cfg, files: map[string]file{}, mux: http.NewServeMux()}
	m.find = m.stored
	if err := m.load(); err != nil {
		return nil, fmt.Errorf("the files of the payment modal: %w", err)
	}
	var err error
	if m.pages, err = template.ParseFS(pages, "*.html"); err != nil {
		return nil, fmt.Errorf("the pages of the payment modal: %w", err)
	}
	m.mux.HandleFunc("GET "+Path+"modal.js", func(w http.ResponseWriter, r *http.Request) { m.serveScript(w, r, changing) })
	m.mux.HandleFunc("GET "+Path+m.hashed, func(w http.ResponseWriter, r *http.Request) { m.serveScript(w, r, lasting) })
	m.mux.HandleFunc("GET "+Path+"modal.d.ts", func(w http.ResponseWriter, r *http.Request) { m.types.serve(w, r, changing) })
	m.mux.HandleFunc("GET "+Path+"frame", m.serveFrame)
	m.mux.HandleFunc("GET "+Path+"return", m.serveReturn)
	m.mux.HandleFunc("GET "+Path+"assets/{version}/{name...}", m.serveAsset)
	return m, nil
}

// ServeHTTP implements http.Handler.
func (m *Modal) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }

// Script returns the name of the merchant's script with its digest, and the value for the integrity attribute, with which a
// page accepts exactly this script.
func (m *Modal) Script() (name, integrity string) { return m.hashed, m.integrity }

// load reads the embedded files and computes their digests.
func (m *Modal) load() error {
	all := sha256.New()
	err := fs.WalkDir(embedded, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "assets/")
		m.add(name, text, all)
		return nil
	})
	if err != nil {
		return err
	}
	for _, made := range []func(io.Writer) error{m.makeCurrencies, m.makeTexts} {
		if err := made(all); err != nil {
			return err
		}
	}
	m.version = hex.EncodeToString(all.Sum(nil)[:8])
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if path.Ext(name) == ".js" && path.Dir(name) == "." && !slices.Contains(apart, name) {
			m.modules = append(m.modules, name)
		}
	}
	m.script, m.types = m.files["modal.js"], m.files["modal.d.ts"]
	delete(m.files, "modal.js") // both have their own paths
	delete(m.files, "modal.d.ts")
	m.hashed = "modal." + m.script.digest + ".js"
	sum := sha512.Sum384(m.script.text)
	m.integrity = "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
	return nil
}

func newFile(name string, text []byte) file {
	sum := sha256.Sum256(text)
	return file{text: text, kind: kinds[path.Ext(name)], digest: hex.EncodeToString(sum[:8])}
}

// makeCurrencies generates a script with the number of decimals of every currency. Browsers only know the customary number,
// which differs for some currencies.
func (m *Modal) makeCurrencies(all io.Writer) error {
	exponents := map[money.Currency]int{}
	for _, c := range money.Currencies() {
		exponents[c] = c.Exponent()
	}
	text, err := json.Marshal(exponents)
	text = fmt.Appendf(nil, "// How many decimals each currency has, by ISO 4217.\nexport const exponents = %s;\n", text)
	m.add("currencies.js", text, all)
	return err
}

// makeTexts generates a script with the texts of each language, from the catalogue shared with e-mails and statements.
func (m *Modal) makeTexts(all io.Writer) error {
	for _, code := range i18n.Codes() {
		text, err := json.MarshalIndent(i18n.Of(code).Section("modal"), "", " ")
		if err != nil {
			return err
		}
		m.add("texts/"+code+".js", fmt.Appendf(nil, "export default %s;\n", text), all)
	}
	return nil
}

// add adds a file generated at startup. all collects the input of the common digest.
func (m *Modal) add(name string, text []byte, all io.Writer) {
	m.files[name] = newFile(name, text)
	fmt.Fprintf(all, "%s %s\n", name, m.files[name].digest)
}

// Cache lifetimes. Files with a digest in their name never change. Files without one may change, which browsers notice
// within minutes. Pages are never cached.
const (
	lasting  = "public, max-age=31536000, immutable"
	changing = "public, max-age=300"
	never    = "no-store"
)

func (f file) serve(w http.ResponseWriter, r *http.Request, cache string) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", cache)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", `"`+f.digest+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
}

// serveScript lets pages of any origin load the script. Pages that use integrity need these headers.
func (m *Modal) serveScript(w http.ResponseWriter, r *http.Request, cache string) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	m.script.serve(w, r, cache)
}

// serveAsset serves a file of the frame. It rejects other versions: files of two versions must not be mixed, and no browser
// may cache a file under the wrong name.
func (m *Modal) serveAsset(w http.ResponseWriter, r *http.Request) {
	f, ok := m.files[r.PathValue("name")]
	if !ok || r.PathValue("version") != m.version {
		w.Header().Set("Cache-Control", never)
		http.NotFound(w, r)
		return
	}
	f.serve(w, r, lasting)
}
