package rates_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestRatesGoOnInASandbox: its clock is moved past the last rate, and later payments do not wait forever. Outside a
// sandbox nothing is made up.
func TestRatesGoOnInASandbox(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365", "USD": "1.0852"})
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 100000, "2025-09-14")
		to := time.Date(2025, 3, 4, 9, 0, 0, 0, time.UTC)
		if _, err := w.App.Rates.MoveClock(t.Context(), w.Actor, to); err != nil {
			t.Fatal(err)
		}
		w.Actor.Ahead = to.Sub(apptest.Began)
		paid := apptest.Report(payment.Purchase, b, 1000)
		paid.EffectiveAt = to.AddDate(0, -2, 0) // any day in between also has a rate
		w.Must(paid)
		w.Must(apptest.Report(payment.Purchase, b, 1000))
		if r := w.Exposure(report.ExposureQuery{}); len(r.PendingRate) > 0 || r.Total.E1 != 1707 {
			t.Errorf("E1 is %d, pending %+v", r.Total.E1, r.PendingRate)
		}
		page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
		demo := fx.Filter{Providers: []fx.Provider{fx.Demo}, First: civil.NoDay, Last: civil.NoDay}
		list, err := w.App.Rates.List(t.Context(), w.Actor, demo, page)
		if err != nil || len(list.Items) != 100 || list.Items[0].SiteID != w.Site.ID {
			t.Errorf("%d made-up rates, %v", len(list.Items), err)
		}
		path, name, currency := "real", "Real", money.Currency("GBP")
		site, err := w.App.Sites.Create(t.Context(), access.System(0), merchant.SiteFields{Path: &path, Name: &name, Currency: &currency})
		if err != nil {
			t.Fatal(err)
		}
		w.SetClock(to)
		if err := w.App.Rates.GoOn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list, err := w.App.Rates.List(t.Context(), access.System(site.ID), demo, page); err != nil || len(list.Items) > 0 {
			t.Errorf("a real site has made-up rates: %v, %v", list.Items, err)
		}
	})
}
