// Package terms serves the pages of the dashboard about the terms of a site: policies, rate cards, limits, collateral, exchange rates, mails and the audit.
// Begin reading at Add.
package terms

import (
	"embed"

	"holdfast/internal/app"
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
	_ = &pages{a, f, templates}
	return nil
}
