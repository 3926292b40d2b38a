// Package analyst serves the pages of the dashboard about exposure: from the whole book down to one allocation, and a merchant
// by itself. All of them are reports, which have one template. Begin reading at Add; the settings of a report are in settings.go.
package analyst

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

// Add adds the pages to a frame.
func Add(f *shell.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /exposure", auth.Read, p.exposure)
	f.Site("GET /exposure/details", auth.Read, p.details)
	f.Site("GET /exposure/payments/{id}", auth.Read, p.payment)
	f.Site("GET /exposure/merchants", auth.Read, p.merchants)
	f.Site("GET /exposure/limits", auth.Read, p.limits)
	f.Site("GET /exposure/ageing", auth.Read, p.ageing)
	f.Site("GET /exposure/model", auth.Read, p.model)
	f.Site("GET /exposure/what-if", auth.Read, p.whatIf)
	f.Site("GET /channels/{id}", auth.Read, p.merchant)
	f.Site("GET /channels/{id}/record", auth.Read, p.record)
	f.Site("GET /exposure/run-off", auth.Read, p.runOff)
	f.Site("GET /exposure/movement", auth.Read, p.movement)
	return nil
}
