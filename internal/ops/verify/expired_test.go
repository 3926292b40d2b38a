package verify_test

import (
	"testing"
	"time"

	"holdfast/internal/book/rates"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
)

// TestAQuoteExpiresByTheSitesClock: prices are correct after a sandbox has moved past the end of a quote.
func TestAQuoteExpiresByTheSitesClock(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		today := w.Now().Format(time.DateOnly)
		yesterday := w.Now().AddDate(0, 0, -1).Format(time.DateOnly)
		expires := w.Now().Add(24 * time.Hour).Truncate(time.Second)
		for day, ends := range map[string]*time.Time{yesterday: nil, today: &expires} {
			pounds, rate, id := money.Currency("GBP"), "0.8"+day[9:], "desk "+day
			_, err := w.App.Rates.Quote(t.Context(), w.Actor, rates.QuoteFields{
				Currency: &pounds, Day: apptest.DayPtr(t, day), Rate: &rate, QuoteID: &id, Expires: ends, Reason: "A quote of the desk.",
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.MoveClock(w.Now().AddDate(0, 0, 3))
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 100_000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 10_000))
		wantClean(t, w)
	})
}
