// Package exposure serves the dashboard's exposure pages: from the whole book down to one allocation, and per merchant. All
// are reports with the same template. Start reading at Add; report settings are in query.go.
package exposure

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

// Add adds the pages to a frame.
func Add(f *kit.Frame, a *app.App) error {
	templates, err := f.Pages(files)
	if err != nil {
		return err
	}
	p := &pages{a, f, templates}
	f.Site("GET /exposure", access.Read, p.exposure)
	f.Site("GET /exposure/details", access.Read, p.details)
	f.Site("GET /exposure/payments/{id}", access.Read, p.payment)
	f.Site("GET /exposure/merchants", access.Read, p.merchants)
	f.Site("GET /exposure/limits", access.Read, p.limits)
	f.Site("GET /exposure/ageing", access.Read, p.ageing)
	f.Site("GET /exposure/model", access.Read, p.model)
	f.Site("GET /exposure/what-if", access.Read, p.whatIf)
	f.Site("GET /exposure/merchants/{id}", access.Read, p.merchant)
	f.Site("GET /exposure/merchants/{id}/record", access.Read, p.record)
	f.Site("GET /exposure/run-off", access.Read, p.runOff)
	f.Site("GET /exposure/movement", access.Read, p.movement)
	return nil
}
