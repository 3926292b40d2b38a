package apptest

import (
	"testing"
	"time"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
)

// Now is the time on the world's clock.
func (w *World) Now() time.Time { return time.UnixMicro(w.micros.Load()).UTC() }

// SetClock sets the world's clock, forwards or backwards.
func (w *World) SetClock(at time.Time) { w.micros.Store(at.UnixMicro()) }

// Advance moves the world's clock forward.
func (w *World) Advance(d time.Duration) { w.micros.Add(d.Microseconds()) }

// At sets the clock to noon on a day.
func (w *World) At(day string) { w.SetClock(DayPtr(w.t, day).Start().Add(12 * time.Hour)) }

// MoveClock moves the clock of the world's site. The actor uses it from then on.
func (w *World) MoveClock(to time.Time) {
	w.t.Helper()
	if _, err := w.App.Rates.MoveClock(w.t.Context(), w.Actor, to); err != nil {
		w.t.Fatal(err)
	}
	site, err := w.App.Sites.At(w.t.Context(), access.System(0), w.Site.Path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.Actor = merchants.SystemAt(site)
}

// DayPtr parses a day into a pointer, as input fields need it.
func DayPtr(t testing.TB, s string) *civil.Day {
	t.Helper()
	d, err := civil.ParseDay(s)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

// AuthorisationLife is how long an authorisation can be captured if its channel has the default setting.
const AuthorisationLife = merchant.DefaultAuthorisationDays * 24 * time.Hour
