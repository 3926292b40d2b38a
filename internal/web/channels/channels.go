// Package channels serves the pages of the dashboard about channels and what belongs to one: asking for protection, its secret, its integration and its settings; suppliers; and statements.
// Begin reading at Add.
package channels

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
