package apptest

import (
	"strings"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/ledger"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// Lines reads the whole premium ledger, in the order in which it was written.
func (w *World) Lines(f protection.PremiumFilter) []protection.PremiumLine {
	w.t.Helper()
	list, err := w.App.Premiums.List(w.t.Context(), w.Actor, f, travel.Page{Number: 1, Size: 1000, Offset: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// Move gives a booking another end.
func (w *World) Move(b travel.Booking, end civil.Day) {
	w.t.Helper()
	if _, err := w.App.Bookings.Update(w.t.Context(), w.Actor, b.ID, travel.BookingFields{End: &end}); err != nil {
		w.t.Fatal(err)
	}
}

// Policy adds a policy.
func (w *World) Policy(in travel.PolicyFields) travel.Policy {
	w.t.Helper()
	made, err := w.App.Policies.Set(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

func (w *World) At(day string) { w.SetClock(DayPtr(w.t, day).Start().Add(12 * time.Hour)) }

// ExplainsPremium checks what is known of a payment's premium at an instant.
func (w *World) ExplainsPremium(id int64, known time.Time, premium, booked, retained int64, texts ...string) {
	w.t.Helper()
	x, err := w.App.Protection.Explain(w.t.Context(), w.Actor, id, reports.ProtectionQuery{Moment: ledger.Moment{KnownAt: known}})
	if err != nil {
		w.t.Fatal(err)
	}
	p := x.Allocations[0].Premium
	if p.State.Premium != premium || p.Booked != booked || p.Retained != retained {
		w.t.Errorf("premium %d, booked %d, retained %d; want %d, %d, %d", p.State.Premium, p.Booked, p.Retained, premium, booked, retained)
	}
	var all strings.Builder
	for _, s := range p.Steps {
		all.WriteString(s.Rule + " " + s.Name + ": " + s.Text + "\n")
	}
	for _, text := range texts {
		if !strings.Contains(all.String(), text) {
			w.t.Errorf("the steps lack %q:\n%s", text, all.String())
		}
	}
}
