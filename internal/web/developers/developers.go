// Package developers serves the pages of the dashboard about what developers set up: API tokens, webhooks, events and permitted origins.
// Begin reading at Add.
package developers

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
