// Package web serves the home page, the guides and the API reference. The payment modal and the demo shop are in its
// subpackages.
//
// The pages are generated at run time from the OpenAPI description and the files in docs, so they always match this version
// and this deployment. They load nothing from other servers, and everything but search-as-you-type works without JavaScript. Start
// reading at New.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"holdfast/docs"
)

// Path is path of the pages about the API.
const Path = "/docs"

// IconPath is where browsers look for the icon of a page.
const IconPath = "/favicon.ico"

//go:embed pages assets
var files embed.FS

//go:embed favicon.ico
var icon []byte

// Config describes the deployment for the pages.
type Config struct {
	Description []byte // OpenAPI 3.1, with this deployment's path segments
	BaseURL     string // public URL, without a trailing slash
	Checkout    string // URL of a checkout page; "" for none
}

// Pages serves the home page and the documentation. Their sources are parsed on the first request, because that takes a
// tenth of a second and would slow down startup.
type Pages struct {
	made func() (*library, error)
	icon document
}

// New returns the pages of an API description.
func New(cfg Config) *Pages {
	return &Pages{
		made: sync.OnceValues(func() (*library, error) { return newLibrary(cfg) }),
		icon: newDocument(icon, "image/x-icon", "public, max-age=86400"),
	}
}

// library holds all pages, ready to serve.
type library struct {
	manual manual
	config Config
	layout *template.Template
	assets string                              // path of style and script, with their digest
	pages  map[string]func() (document, error) // by path; rendered on first request
	index  []entry
}

// view is the data of a template.
type view struct {
	Assets string
	Title  string
	Here   string // path of the page
	Query  string // search query
	Manual manual
	Config Config
	// One of these is set, depending on the page.
	Section *section
	Guide   *guide
	Found   []entry
	More    int // number of hits not shown
}

func newLibrary(cfg Config) (*library, error) {
	content, err := readDescription(cfg.Description, cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("the description of the API cannot be read: %w", err)
	}
	p := &library{config: cfg, pages: map[string]func() (document, error){}}
	p.layout, err = template.New("").Funcs(template.FuncMap{"address": address, "long": long, "listed": listed}).ParseFS(files, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("the templates of the pages about the API: %w", err)
	}
	if err := p.addAssets(); err != nil {
		return nil, err
	}
	if err := content.readGuides(p.assets); err != nil {
		return nil, err
	}
	p.manual = content
	p.index = content.entries()
	views := []view{
		{Here: "/", Title: "holdfast"},
		{Here: Path, Title: "Introduction"},
		{Here: address("errors"), Title: "Error codes"},
	}
	for i := range content.Sections {
		s := &content.Sections[i]
		views = append(views, view{Here: address(s.Anchor), Title: s.Name, Section: s})
	}
	for _, list := range [][]guide{content.Guides, content.Handbook} {
		for i := range list {
			views = append(views, view{Here: list[i].Address, Title: list[i].Name, Guide: &list[i]})
		}
	}
	for _, v := range views {
		p.pages[v.Here] = sync.OnceValues(func() (document, error) {
			page, err := p.render(v)
			if err != nil {
				return document{}, err
			}
			return newDocument(page, "text/html; charset=utf-8", "no-cache"), nil
		})
	}
	return p, nil
}

// address returns the path of an API page.
func address(name string) string { return Path + "/" + name }

// shelf is a list of guides in the menu.
type shelf struct {
	Pages []guide
	Here  string
}

func listed(pages []guide, here string) shelf { return shelf{pages, here} }

// long reports whether a table starts collapsed, to keep the page short.
func long(rows []field) bool { return len(rows) > 8 }

// picture is the media type of images.
const picture = "image/svg+xml"

// addAssets adds style, script and images. Their path has a digest of all of them, so browsers may cache them forever.
func (p *library) addAssets() error {
	digest := sha256.New()
	kinds := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": picture,
	}
	contents := map[string][]byte{}
	for _, from := range []struct {
		files  embed.FS
		folder string
	}{{files, "assets"}, {docs.Pages, "pictures"}} {
		list, err := from.files.ReadDir(from.folder)
		if err != nil {
			return err
		}
		for _, file := range list {
			content, err := from.files.ReadFile(from.folder + "/" + file.Name())
			if err != nil {
				return err
			}
			digest.Write(content)
			contents[file.Name()] = content
		}
	}
	p.assets = address("assets/" + hex.EncodeToString(digest.Sum(nil)[:8]))
	for name, content := range contents {
		p.pages[p.assets+"/"+name] = sync.OnceValues(func() (document, error) {
			return newDocument(content, kinds[path.Ext(name)], "public, max-age=31536000, immutable"), nil
		})
	}
	return nil
}

func (p *library) render(v view) ([]byte, error) {
	v.Assets, v.Manual, v.Config = p.assets, p.manual, p.config
	name := map[string]string{"/": "front.html", Path: "introduction.html", address("errors"): "errors.html"}[v.Here]
	switch {
	case v.Section != nil:
		name = "section.html"
	case v.Guide != nil:
		name = "guide.html"
	case name == "":
		name = "search.html"
	}
	var page bytes.Buffer
	if err := p.layout.ExecuteTemplate(&page, name, v); err != nil {
		return nil, fmt.Errorf("the page %s: %w", v.Here, err)
	}
	return page.Bytes(), nil
}

// Serves reports whether a request is for one of these pages.
func (p *Pages) Serves(r *http.Request) bool {
	return r.URL.Path == "/" || r.URL.Path == IconPath || r.URL.Path == Path || strings.HasPrefix(r.URL.Path, Path+"/")
}

// policy lets the pages load their own styles, scripts and images, and send requests to their own server. Everything else is
// blocked. An image opened on its own may use its inline styles.
const (
	policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
)

// ServeHTTP serves a page.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "Only GET and HEAD are allowed.", http.StatusMethodNotAllowed)
		return
	}
	if r.URL.Path == IconPath {
		p.icon.serve(w, r, http.StatusOK)
		return
	}
	made, err := p.made()
	if err != nil {
		http.Error(w, "The pages could not be created: "+err.Error()+".", http.StatusInternalServerError)
		return
	}
	made.serve(w, r)
}

// serve handles GET and HEAD requests.
func (p *library) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	asked := r.URL.Path
	if len(asked) > 1 {
		asked = strings.TrimSuffix(asked, "/")
	}
	if page, ok := p.pages[asked]; ok {
		found, err := page()
		if err != nil {
			http.Error(w, "This page could not be loaded.", http.StatusInternalServerError)
			return
		}
		if found.kind == picture {
			h.Set("Content-Security-Policy", picturePolicy)
		}
		found.serve(w, r, http.StatusOK)
		return
	}
	status, v := http.StatusOK, view{Here: address("search"), Title: "Search", Query: cut(r.URL.Query().Get("q"))}
	if asked != v.Here {
		status, v.Title, v.Query = http.StatusNotFound, "Page not found", ""
	}
	v.Found, v.More = find(p.index, v.Query)
	page, err := p.render(v)
	if err != nil {
		http.Error(w, "This page could not be loaded.", http.StatusInternalServerError)
		return
	}
	newDocument(page, "text/html; charset=utf-8", "no-store").serve(w, r, status)
}

// document is a response, plain and compressed.
type document struct {
	plain, zipped       []byte
	kind, cache, digest string
}

func newDocument(content []byte, kind, cache string) document {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(content) // writing to a buffer never fails
	_ = z.Close()
	sum := sha256.Sum256(content)
	return document{content, zipped.Bytes(), kind, cache, hex.EncodeToString(sum[:8])}
}

func (d document) serve(w http.ResponseWriter, r *http.Request, status int) {
	h, content, tag := w.Header(), d.plain, d.digest
	h.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		content, tag = d.zipped, d.digest+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", d.kind)
	h.Set("Cache-Control", d.cache)
	if status != http.StatusOK {
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(content) // the client has disconnected
		}
		return
	}
	h.Set("ETag", `"`+tag+`"`)
	// A range of a compressed page is useless, so none is offered.
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reads the header Accept-Encoding.
func acceptsGzip(header string) bool {
	for choice := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(choice), ";")
		if strings.TrimSpace(name) == "gzip" {
			return strings.TrimRight(strings.ReplaceAll(weight, " ", ""), "0.") != "q="
		}
	}
	return false
}
