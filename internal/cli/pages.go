package cli

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/book/certificates"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/web"
	"holdfast/internal/web/certificate"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/kit"
	"holdfast/internal/web/modal"
	"holdfast/internal/web/outbox"
)

// pageSet is a set of pages under one prefix. The log has the route instead of the URL.
type pageSet struct {
	serves func(r *http.Request) bool
	route  func(r *http.Request) string
	pages  http.Handler
	class  func(r *http.Request) api.Class
}

// pageSets are all pages outside the API: the front page, the documentation, the dashboard, the payment modal, certificates, the sandbox
// processor's challenges and, in the demo, a shop and its e-mails. The first set that serves a request answers it.
func (p *program) pageSets() []pageSet {
	below := func(path string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.URL.Path == path || strings.HasPrefix(r.URL.Path, path+"/") }
	}
	under := func(prefix string) func(*http.Request) bool {
		return func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, prefix) }
	}
	always := func(class api.Class) func(*http.Request) api.Class {
		return func(*http.Request) api.Class { return class }
	}
	named := func(route string) func(*http.Request) string { return func(*http.Request) string { return route } }
	sets := []pageSet{
		{under(sandbox.ChallengePath), named(sandbox.ChallengePath + "{challenge}"), p.bank, always(api.ClassOrdinary)},
		{isModalPage, named(modal.Path + "{file}"), p.modal, classOfModal},
		{under(certificates.Path), named(certificates.Path + "{key}"), p.certificates, always(api.ClassOrdinary)},
		{func(r *http.Request) bool { return r.URL.Path == "/robots.txt" }, named("/robots.txt"), robots, always(api.ClassFiles)},
		{p.dashboard.Serves, p.routeOfDashboard, p.dashboard, p.classOfDashboard},
		{p.pages.Serves, routeOfGuide, p.pages, always(api.ClassFiles)},
	}
	if p.shop != nil { // it calls the API itself, so it must not hold one of the API's slots
		sets = append(sets, pageSet{below(checkout.Path), named(checkout.Path), p.shop, always(api.ClassFiles)})
	}
	if p.outbox != nil {
		sets = append(sets, pageSet{below(outbox.Path), named(outbox.Path), p.outbox, always(api.ClassOrdinary)})
	}
	return sets
}

// withPages serves the pages in addition to the API, and logs them. Like API requests, each request waits at the limiter of its class.
func (p *program) withPages(service api.Service) http.Handler {
	sets := p.pageSets()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := slices.IndexFunc(sets, func(s pageSet) bool { return s.serves(r) })
		if at < 0 || api.Oversized(r) {
			service.ServeHTTP(w, r)
			return
		}
		pages := service.Admit(sets[at].class(r), kit.MaxForm, sets[at].pages)
		service.Page(w, r, sets[at].route(r), func(w http.ResponseWriter) bool {
			from := r.WithContext(r.Context())
			from.RemoteAddr = service.AddressOf(r) // the client's, not the proxy's
			return p.showPage(w, from, pages)
		})
	})
}

// routeOfDashboard returns the route of a dashboard page, without its method.
func (p *program) routeOfDashboard(r *http.Request) string {
	_, route, _ := strings.Cut(p.dashboard.Route(r), " ")
	return cmp.Or(route, kit.Path+"/{page}")
}

// routeOfGuide returns the route of a documentation page, or of the front page.
func routeOfGuide(r *http.Request) string {
	if r.URL.Path == "/" {
		return "/"
	}
	return web.Path + "/{page}"
}

// classOfModal returns the request class of a file of the modal. Its pages read the site from the database.
func classOfModal(r *http.Request) api.Class {
	switch r.URL.Path {
	case modal.Path + "frame", modal.Path + "return":
		return api.ClassOrdinary
	}
	return api.ClassFiles
}

// pageClasses are the request classes of dashboard pages that are not in the default class.
var pageClasses = map[string]api.Class{
	"POST " + kit.Path + "/sign-in":                      api.ClassLogins,
	"POST " + kit.Path + "/prove":                        api.ClassLogins,
	"POST " + kit.Path + "/password":                     api.ClassLogins,
	"POST " + kit.Path + "/account/password":             api.ClassLogins,
	"POST " + kit.Path + "/account/second-factor/remove": api.ClassLogins,

	"POST " + kit.Path + "/sites/{site}/bookings/import":                    api.ClassUploads,
	"POST " + kit.Path + "/sites/{site}/dispute-files":                      api.ClassUploads,
	"POST " + kit.Path + "/sites/{site}/channels/{id}/protection/documents": api.ClassUploads,
	"POST " + kit.Path + "/sites/{site}/disputes/{id}/evidence":             api.ClassUploads,
	"GET " + kit.Path + "/sites/{site}/imports/{id}/refused":                api.ClassRefusedRows,
}

// classOfDashboard returns the request class of a page or file of the dashboard.
func (p *program) classOfDashboard(r *http.Request) api.Class {
	if p.dashboard.IsAsset(r) {
		return api.ClassFiles
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

// showPage serves a web page. It returns false if the page does not exist: then the API responds, so that errors for programs have one
// format. The API also responds to wrong methods.
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

// modalCards returns the sandbox processor's test cards for the payment modal.
func modalCards() (list []api.TestCard) {
	for _, c := range sandbox.Cards {
		list = append(list, api.TestCard{Number: c.Number, Token: c.Token, Scheme: c.Scheme, What: c.What})
	}
	return list
}
