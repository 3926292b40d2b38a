// Package trade serves the pages of the dashboard about what a site sells: the overview, bookings, payments, the search and
// imports. Begin reading at Add.
package trade

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
	f.Site("GET /{$}", auth.Read, p.overview)
	f.Site("GET ", auth.Read, p.overview)
	f.Site("GET /bookings", auth.Read, p.bookings)
	return nil
}

func (p *pages) overview(v *shell.Visit) error {
	return v.Show(p.Pages, "overview.html", shell.Page{Title: "Overview", Menu: ""})
}
