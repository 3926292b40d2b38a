package payments_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

// TestPaymentsInAWithdrawnCurrency: payments made while the kuna was in use count, and their adjustments are recorded.
// Later payments are rejected.
func TestPaymentsInAWithdrawnCurrency(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2022-12-29", map[money.Currency]string{"HRK": "7.5365", "GBP": "0.88549"})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "HRK"), 2000000, "2099-09-14")
		on := func(in payment.NewTransaction, year int, month time.Month, day int) payment.NewTransaction {
			in.EffectiveAt = time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
			return in
		}
		p := w.Must(on(apptest.Report(payment.Purchase, b, 753650), 2022, 12, 31))
		a := w.Must(on(apptest.Report(payment.Authorize, b, 753650), 2022, 12, 31))
		w.Refused(on(apptest.Report(payment.Purchase, b, 100), 2023, 1, 1), errs.Invalid, "effective_at")
		w.Refused(on(apptest.Report(payment.Authorize, b, 100), 2023, 1, 1), errs.Invalid, "effective_at")
		w.Refused(apptest.Report(payment.Purchase, b, 100), errs.Invalid, "currencies")

		w.Must(on(apptest.Linked(payment.Capture, a, b, 753650), 2023, 1, 3))
		w.Must(on(apptest.Linked(payment.Refund, p, b, 376825), 2023, 2, 1))
		w.Must(apptest.Linked(payment.Chargeback, p, b, 376825))
		r := w.Exposure(report.ExposureQuery{Valuation: exposure.Locked})
		if r.Total.E1 != 88549 { // the capture alone, HRK 7,536.50 = EUR 1,000.00
			t.Errorf("E1 is %d, pending %+v", r.Total.E1, r.PendingRate)
		}
		gone, today := money.Currency("LTL"), civil.DayOf(w.Now())
		_, err := w.App.Policies.Set(t.Context(), w.Actor, terms.PolicyFields{From: &today, Currency: &gone})
		if f := errs.KindOf(err); f != errs.Invalid {
			t.Errorf("a policy in a withdrawn currency is answered with %v", err)
		}
		path, name := "past", "Past"
		_, err = w.App.Sites.Create(t.Context(), w.Actor, merchant.SiteFields{Path: &path, Name: &name, Currency: &gone})
		if f := errs.KindOf(err); f != errs.Invalid {
			t.Errorf("a site in a withdrawn currency is answered with %v", err)
		}
	})
}
