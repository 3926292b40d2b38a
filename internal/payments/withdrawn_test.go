package payments_test

import (
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/civil"
	"holdfast/internal/exposure"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// TestPaymentsInAWithdrawnCurrency: what was paid while the kuna was in use counts, and what follows from it is recorded.
// Nothing is paid in it later.
func TestPaymentsInAWithdrawnCurrency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2022-12-29", map[money.Currency]string{"HRK": "7.5365", "GBP": "0.88549"})
		b := w.Booking(w.Channel(travel.ModeProtectionOnly, "HRK"), 2000000, "2099-09-14")
		on := func(in travel.NewTransaction, year int, month time.Month, day int) travel.NewTransaction {
			in.EffectiveAt = time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
			return in
		}
		p := w.Must(on(apptest.Report(travel.Purchase, b, 753650), 2022, 12, 31))
		a := w.Must(on(apptest.Report(travel.Authorize, b, 753650), 2022, 12, 31))
		w.Refused(on(apptest.Report(travel.Purchase, b, 100), 2023, 1, 1), fault.Invalid, "effective_at")
		w.Refused(on(apptest.Report(travel.Authorize, b, 100), 2023, 1, 1), fault.Invalid, "effective_at")
		w.Refused(apptest.Report(travel.Purchase, b, 100), fault.Invalid, "currencies")

		w.Must(on(apptest.Linked(travel.Capture, a, b, 753650), 2023, 1, 3))
		w.Must(on(apptest.Linked(travel.Refund, p, b, 376825), 2023, 2, 1))
		w.Must(apptest.Linked(travel.Chargeback, p, b, 376825))
		r := w.Exposure(reports.ExposureQuery{Valuation: exposure.Locked})
		if r.Total.E1 != 88549 { // the capture alone, HRK 7,536.50 = EUR 1,000.00
			t.Errorf("E1 is %d, pending %+v", r.Total.E1, r.PendingRate)
		}
		gone, today := money.Currency("LTL"), civil.DayOf(w.Now())
		_, err := w.App.Policies.Set(t.Context(), w.Actor, travel.PolicyFields{From: &today, Currency: &gone})
		if f := fault.KindOf(err); f != fault.Invalid {
			t.Errorf("a policy in a withdrawn currency is answered with %v", err)
		}
		path, name := "past", "Past"
		_, err = w.App.Sites.Create(t.Context(), w.Actor, travel.SiteFields{Path: &path, Name: &name, Currency: &gone})
		if f := fault.KindOf(err); f != fault.Invalid {
			t.Errorf("a site in a withdrawn currency is answered with %v", err)
		}
	})
}
