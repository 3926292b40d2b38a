// Package developers serves the dashboard pages for developers: API tokens, webhooks, events and permitted
// origins. Start reading at Add.
package developers

import (
	"embed"

	"holdfast/internal/app"
	"holdfast/internal/domain/access"
	"holdfast/internal/web/kit"
)

//go:embed pages
var files embed.FS

// pages are the handlers of this package.
type pages struct {
	app   *app.App
	frame *kit.Frame
	kit.Pages
}

// menu is the sidebar entry of these pages.
const menu = "/developers"

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /developers", access.Read, p.tokens)
	f.Site("GET /developers/tokens/new", access.ManageTokens, p.newToken)
	f.Site("POST /developers/tokens", access.ManageTokens, p.makeToken)
	f.Site("GET /developers/tokens/{id}/delete", access.ManageTokens, p.deleteToken)
	f.Site("POST /developers/tokens/{id}/delete", access.ManageTokens, p.deleteToken)

	f.Site("GET /developers/webhooks", access.Read, p.webhooks)
	f.Site("GET /developers/webhooks/new", access.WriteSite, p.newWebhook)
	f.Site("POST /developers/webhooks", access.WriteSite, p.makeWebhook)
	f.Site("GET /developers/webhooks/{id}", access.Read, p.webhook)
	f.Site("GET /developers/webhooks/{id}/edit", access.WriteSite, p.editWebhook)
	f.Site("POST /developers/webhooks/{id}", access.WriteSite, p.changeWebhook)
	f.Site("POST /developers/webhooks/{id}/state", access.WriteSite, p.switchWebhook)
	f.Site("POST /developers/webhooks/{id}/test", access.WriteSite, p.testWebhook)
	f.Site("GET /developers/webhooks/{id}/secret", access.WriteSite, p.rotateWebhook)
	f.Site("POST /developers/webhooks/{id}/secret", access.WriteSite, p.rotateWebhook)
	f.Site("GET /developers/webhooks/{id}/delete", access.WriteSite, p.deleteWebhook)
	f.Site("POST /developers/webhooks/{id}/delete", access.WriteSite, p.deleteWebhook)
	f.Site("GET /developers/webhooks/{id}/replay", access.WriteSite, p.replay)
	f.Site("POST /developers/webhooks/{id}/replay", access.WriteSite, p.replay)
	f.Site("GET /developers/webhooks/{id}/deliveries/{delivery}", access.Read, p.delivery)

	f.Site("GET /developers/events", access.Read, p.events)

	f.Site("GET /developers/origins", access.Read, p.origins)
	f.Site("POST /developers/origins", access.WriteSite, p.changeOrigins)
	return nil
}

// page returns a page of this package, with its tabs.
func page(v *kit.Visit, title, below string, data any, acts ...kit.Link) kit.Page {
	return kit.Page{Title: title, Menu: menu, Parts: v.Parts("developers", below), Data: data, Acts: acts}
}
