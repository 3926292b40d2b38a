// Package developers serves the pages of the dashboard about what developers set up: API tokens, webhooks, events and permitted
// origins. Begin reading at Add.
package developers

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/auth"
	"holdfast/internal/web/shell"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *shell.Frame
	shell.Pages
}

// menu is the entry of the side bar to which all these pages belong.
const menu = "/developers"

// Add adds the pages to a frame.
func Add(f *shell.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /developers", auth.Read, p.tokens)
	f.Site("GET /developers/tokens/new", auth.ManageTokens, p.newToken)
	f.Site("POST /developers/tokens", auth.ManageTokens, p.makeToken)
	f.Site("GET /developers/tokens/{id}/delete", auth.ManageTokens, p.deleteToken)
	f.Site("POST /developers/tokens/{id}/delete", auth.ManageTokens, p.deleteToken)

	f.Site("GET /developers/webhooks", auth.Read, p.webhooks)
	f.Site("GET /developers/webhooks/new", auth.WriteSite, p.newWebhook)
	f.Site("POST /developers/webhooks", auth.WriteSite, p.makeWebhook)
	f.Site("GET /developers/webhooks/{id}", auth.Read, p.webhook)
	f.Site("GET /developers/webhooks/{id}/edit", auth.WriteSite, p.editWebhook)
	f.Site("POST /developers/webhooks/{id}", auth.WriteSite, p.changeWebhook)
	f.Site("POST /developers/webhooks/{id}/state", auth.WriteSite, p.switchWebhook)
	f.Site("POST /developers/webhooks/{id}/test", auth.WriteSite, p.testWebhook)
	f.Site("GET /developers/webhooks/{id}/secret", auth.WriteSite, p.rotateWebhook)
	f.Site("POST /developers/webhooks/{id}/secret", auth.WriteSite, p.rotateWebhook)
	f.Site("GET /developers/webhooks/{id}/delete", auth.WriteSite, p.deleteWebhook)
	f.Site("POST /developers/webhooks/{id}/delete", auth.WriteSite, p.deleteWebhook)
	f.Site("GET /developers/webhooks/{id}/replay", auth.WriteSite, p.replay)
	f.Site("POST /developers/webhooks/{id}/replay", auth.WriteSite, p.replay)
	f.Site("GET /developers/webhooks/{id}/deliveries/{delivery}", auth.Read, p.delivery)

	f.Site("GET /developers/events", auth.Read, p.events)

	f.Site("GET /developers/origins", auth.Read, p.origins)
	f.Site("POST /developers/origins", auth.WriteSite, p.changeOrigins)
	return nil
}

// page is a page of this package with the links to the others above it.
func page(v *shell.Visit, title, below string, data any, acts ...shell.Link) shell.Page {
	return shell.Page{Title: title, Menu: menu, Parts: v.Parts("developers", below), Data: data, Acts: acts}
}
