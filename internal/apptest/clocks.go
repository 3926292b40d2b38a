package apptest

import (
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

// MoveClock moves the clock of the world's site, and lets the actor act by it from then on.
func (w *World) MoveClock(to time.Time) {
	w.t.Helper()
	if _, err := w.App.Clocks.Move(w.t.Context(), w.Actor, to); err != nil {
		w.t.Fatal(err)
	}
	site, err := w.App.Sites.At(w.t.Context(), auth.System(0), w.Site.Path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Actor = merchants.SystemAt(site)
}

// OtherSandbox makes a second sandbox, whose clock nobody moves.
func (w *World) OtherSandbox() auth.Actor {
	w.t.Helper()
	path, name, currency := "other", "Other", w.Site.Policy.Currency
	made, err := w.App.Sites.Create(w.t.Context(), auth.System(0),
		travel.SiteFields{Path: &path, Name: &name, Currency: &currency, Sandbox: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return merchants.SystemAt(made)
}
