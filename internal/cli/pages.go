package cli

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/web"
	"holdfast/internal/web/certificate"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/kit"
	"holdfast/internal/web/modal"
	"holdfast/internal/web/outbox"
)

// withPages serves the web pages in addition to the API: the front page, the documentation, the dashboard, the payment modal,
// certificates, the sandbox processor's challenges and, in the demo, a shop and its mails.
func (p *program) withPages(service api.Service) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		page := func(h http.Handler, route string) {
			if p.readsDatabase(r) {
				h = service.Admit(p.classOf(r), kit.MaxForm, h)
			}
			service.Page(w, r, route, func(w http.ResponseWriter) bool { return p.showPage(w, r, h) })
		}
		switch {
		case api.Oversized(r):
			service.ServeHTTP(w, r)
		case strings.HasPrefix(path, sandbox.ChallengePath):
			page(p.bank, sandbox.ChallengePath+"{challenge}")
		case isModalPage(r):
			page(p.modal, modal.Path+"{file}")
		case strings.HasPrefix(path, certificates.Path):
			page(p.certificates, certificates.Path+"{key}")
		case path == "/robots.txt":
			page(robots, path)
		case p.shop != nil && (path == checkout.Path || strings.HasPrefix(path, checkout.Path+"/")):
			page(p.shop, checkout.Path)
		case p.outbox != nil && (path == outbox.Path || strings.HasPrefix(path, outbox.Path+"/")):
			page(p.outbox, outbox.Path)
		case p.dashboard.Serves(r):
			_, route, _ := strings.Cut(p.dashboard.Route(r), " ") // without its method
			page(p.dashboard, cmp.Or(route, kit.Path+"/{page}"))
		case path == "/":
			page(p.pages, path)
		case p.pages.Serves(r):
			page(p.pages, web.Path+"/{page}")
		default:
			service.ServeHTTP(w, r)
		}
	})
}

// readsDatabase reports whether a page needs the database. Such pages share the API's request limiter. Files do not, nor does
// the shop: it makes its own API requests, and would wait for them while holding a slot.
func (p *program) readsDatabase(r *http.Request) bool {
	path := r.URL.Path
	switch path {
	case modal.Path + "frame", modal.Path + "return":
		return true
	default:
		return strings.HasPrefix(path, sandbox.ChallengePath) || strings.HasPrefix(path, outbox.Path) ||
			strings.HasPrefix(path, certificates.Path) || p.dashboard.Serves(r) && !p.dashboard.IsAsset(r)
	}
}

// pageClasses are the request classes of dashboard pages that are not in the default class.
var pageClasses = map[string]api.Class{
	"POST " + kit.Path + "/sign-in":                      api.ClassLogins,
	"POST " + kit.Path + "/prove":                        api.ClassLogins,
	"POST " + kit.Path + "/password":                     api.ClassLogins,
	"POST " + kit.Path + "/account/password":             api.ClassLogins,
	"POST " + kit.Path + "/account/second-factor/remove": api.ClassLogins,

	"POST " + kit.Path + "/sites/{site}/bookings/import":                    api.ClassUploads,
	"POST " + kit.Path + "/sites/{site}/channels/{id}/protection/documents": api.ClassUploads,
	"GET " + kit.Path + "/sites/{site}/imports/{id}/refused":                api.ClassRefusedRows,
}

// classOf returns the request class of a page.
func (p *program) classOf(r *http.Request) api.Class {
	if !p.dashboard.Serves(r) {
		return api.ClassOrdinary
	}
	return pageClasses[p.dashboard.Route(r)]
}

// robots serves robots.txt.
var robots = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.WriteHeader(http.StatusMethodNotAllowed)
		_, _ = io.WriteString(w, "") // the API has a better message
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = io.WriteString(w, certificate.Robots) // an error means that the crawler has disconnected
})

// showPage serves a web page. It returns false if the page does not exist: then the API responds, so that errors for programs have
// one format. So does that of a wrong method.
func (p *program) showPage(w http.ResponseWriter, r *http.Request, pages http.Handler) bool {
	held := &heldRefusal{ResponseWriter: w}
	pages.ServeHTTP(held, r)
	switch {
	case held.status == 0:
	case !held.bare:
		w.WriteHeader(held.status)
	case held.status == http.StatusMethodNotAllowed:
		api.RefuseMethod(p.app, w, r)
	default:
		return false
	}
	return true
}

// heldRefusal holds back responses with status 404 or 405. Only pages for people may send their own.
type heldRefusal struct {
	http.ResponseWriter
	status int  // held back; 0 if none
	bare   bool // the text is generic: the API has a better one
}

// Unwrap is for http.ResponseController, which sets connection deadlines.
func (h *heldRefusal) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (h *heldRefusal) WriteHeader(status int) {
	if status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
		h.status = status
		return
	}
	h.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (h *heldRefusal) Write(p []byte) (int, error) {
	if h.status != 0 {
		if h.status == http.StatusMethodNotAllowed || string(p) == "404 page not found\n" {
			h.bare = true
			return len(p), nil
		}
		h.ResponseWriter.WriteHeader(h.status)
		h.status = 0
	}
	return h.ResponseWriter.Write(p)
}

// isModalPage reports whether a request is for a file of the modal. Other requests under the same path go to the API.
func isModalPage(r *http.Request) bool {
	name, ok := strings.CutPrefix(r.URL.Path, modal.Path)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return ok && reads && (strings.HasPrefix(name, "assets/") || !strings.Contains(name, "/"))
}

// modalSite returns a site for the payment modal.
func (p *program) modalSite(ctx context.Context, path string) (modal.Site, error) {
	site, err := p.app.Sites.At(ctx, access.System(0), path)
	if errs.Is(err, errs.SettingNotFound) {
		return modal.Site{}, nil // the same response as for a site that allows no origins
	}
	return modal.Site{Name: site.Name, Origins: site.PermittedURLs}, err
}

// modalCards returns the sandbox processor's test cards for the payment modal.
func modalCards() (list []api.TestCard) {
	for _, c := range sandbox.Cards {
		list = append(list, api.TestCard{Number: c.Number, Token: c.Token, Scheme: c.Scheme, What: c.What})
	}
	return list
}
