// Package outbox shows the demo's e-mails, which are never sent: a page with the latest ones, and a page for each as its
// recipient would see it. Only the demo serves it, because it needs no sign-in. Start reading at New.
package outbox

import (
	"bytes"
	_ "embed" // embeds the pages and their style
	"html/template"
	"net/http"
	"strconv"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/store"
)

// Path is the path of the outbox.
const Path = "/outbox"

// shown is the maximum number of e-mails listed.
const shown = 50

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle []byte

// Pages serves the outbox.
type Pages struct {
	mails  *mail.Mails
	reader access.Actor
	page   *template.Template
	mux    *http.ServeMux
}

// New returns the pages with the e-mails that reader may see.
func New(mails *mail.Mails, reader access.Actor) (*Pages, error) {
	page, err := template.New("outbox").Funcs(template.FuncMap{"instant": civil.FormatInstant}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	p := &Pages{mails, reader, page, http.NewServeMux()}
	p.mux.HandleFunc("GET "+Path, p.list)
	p.mux.HandleFunc("GET "+Path+"/{id}", p.show)
	p.mux.HandleFunc("GET "+Path+"/{id}/html", p.html)
	p.mux.HandleFunc("GET "+Path+"/page.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(pageStyle) // an error means that the browser has disconnected
	})
	return p, nil
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'")
	p.mux.ServeHTTP(w, r)
}

// letter is an e-mail with its text, for the page.
type letter struct {
	mail.Mail
	mail.Message
}

func (p *Pages) list(w http.ResponseWriter, r *http.Request) {
	newest := store.Page{Number: 1, Size: shown, Offset: -1, OrderBy: "id", Descending: true}
	found, err := p.mails.List(r.Context(), p.reader, mail.Filter{}, newest)
	if err != nil {
		unreachable(w)
		return
	}
	var list []letter
	for _, m := range found.Items {
		_, text, err := p.mails.Get(r.Context(), p.reader, m.ID)
		if err != nil {
			unreachable(w)
			return
		}
		list = append(list, letter{m, text})
	}
	p.write(w, map[string]any{"List": list, "Path": Path})
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request) {
	if one, ok := p.read(w, r); ok {
		p.write(w, map[string]any{"One": one, "Path": Path})
	}
}

// html serves only the e-mail, for an iframe. It cannot run scripts, submit forms or load anything.
func (p *Pages) html(w http.ResponseWriter, r *http.Request) {
	one, ok := p.read(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; "+
		"style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'")
	_, _ = w.Write([]byte(one.Page())) // an error means that the browser has disconnected
}

func (p *Pages) read(w http.ResponseWriter, r *http.Request) (one letter, ok bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err == nil {
		one.Mail, one.Message, err = p.mails.Get(r.Context(), p.reader, id)
	}
	switch {
	case errs.Is(err, errs.Unavailable):
		unreachable(w)
	case err != nil || one.Forgotten:
		http.Error(w, "E-mail not found.", http.StatusNotFound)
	default:
		return one, true
	}
	return one, false
}

func (p *Pages) write(w http.ResponseWriter, with any) {
	var text bytes.Buffer
	if err := p.page.Execute(&text, with); err != nil {
		http.Error(w, "The page could not be loaded.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = text.WriteTo(w) // an error means that the browser has disconnected
}

func unreachable(w http.ResponseWriter) {
	http.Error(w, "The e-mails could not be loaded. Try again.", http.StatusServiceUnavailable)
}
