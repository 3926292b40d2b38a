package main

import (
	"context"
	"net/http"
	"strings"

	"holdfast/internal/api"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/modal"
)

// withPages serves the pages for people beside the API: the front page, the documentation, the payment modal, the challenges
// of the sandbox processor and, in the demo, a shop.
func (p *program) withPages(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		switch {
		case strings.HasPrefix(path, sandbox.ChallengePath):
			p.bank.ServeHTTP(w, r)
		case isModalPage(r):
			p.modal.ServeHTTP(w, r)
		case p.shop != nil && (path == checkout.Path || strings.HasPrefix(path, checkout.Path+"/")):
			p.shop.ServeHTTP(w, r)
		case p.pages.Serves(r):
			p.pages.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// isModalPage says whether a request is for a file of the modal. Other requests under the same path are for the API.
func isModalPage(r *http.Request) bool {
	name, ok := strings.CutPrefix(r.URL.Path, modal.Path)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return ok && reads && (strings.HasPrefix(name, "assets/") || !strings.Contains(name, "/"))
}

// modalSite is a site as the payment modal needs it.
func (p *program) modalSite(ctx context.Context, path string) (modal.Site, error) {
	site, err := p.app.Sites.At(ctx, auth.System(0), path)
	if fault.Is(err, fault.SettingNotFound) {
		return modal.Site{}, nil // the same answer as for a site that permits no origin
	}
	return modal.Site{Name: site.Name, Origins: site.PermittedURLs}, err
}

// modalCards are the test cards of the sandbox processor, in the form that the payment modal gets.
func modalCards() (list []api.TestCard) {
	for _, c := range sandbox.Cards {
		list = append(list, api.TestCard{Number: c.Number, Token: c.Token, Scheme: c.Scheme, What: c.What})
	}
	return list
}
