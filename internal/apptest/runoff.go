package apptest

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/money"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

func (w *World) RunOff(q reports.ExposureQuery) reports.RunOffReport {
	w.t.Helper()
	r, err := w.App.Exposure.RunOff(w.t.Context(), w.Actor, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *World) Ageing(q reports.ExposureQuery) reports.AgeingReport {
	w.t.Helper()
	r, err := w.App.Exposure.Ageing(w.t.Context(), w.Actor, q)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *World) Movement(from string, q reports.ExposureQuery) reports.MovementReport {
	w.t.Helper()
	day, err := civil.ParseDay(from)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := w.App.Exposure.Movement(w.t.Context(), w.Actor, reports.MovementQuery{ExposureQuery: q, From: &day})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// ALife is a payment of EUR 600.00 that is partly refunded, then moved; and one of EUR 100.00 that was logged late.
func (w *World) ALife() {
	w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85"})
	w.Fix("2024-06-14", map[money.Currency]string{"GBP": "0.90"})
	b := w.Booking(w.Channel(travel.ModeProtectionOnly, "EUR"), 70000, "2024-09-14")
	p := w.Must(Report(travel.Purchase, b, 60000)) // on 2024-06-03
	w.SetClock(time.Date(2024, 6, 10, 12, 0, 0, 0, time.UTC))
	w.Must(Linked(travel.Refund, p, b, 10000))
	taken := Report(travel.Purchase, b, 10000)
	taken.EffectiveAt = time.Date(2024, 6, 4, 8, 0, 0, 0, time.UTC)
	w.Must(taken) // covered from the 10th on
	w.SetClock(time.Date(2024, 6, 20, 12, 0, 0, 0, time.UTC))
	end := civil.Date(2024, time.July, 31)
	if _, err := w.App.Bookings.Update(w.t.Context(), w.Actor, b.ID, travel.BookingFields{End: &end}); err != nil {
		w.t.Fatal(err)
	}
	w.Advance(time.Minute)
}
