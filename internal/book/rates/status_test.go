package rates_test

import (
	"fmt"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/testkit/apptest"
)

// TestStatusOfRates: the last fixing of each currency, whether it counts, which days lack one, and what is waiting.
func TestStatusOfRates(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		today := civil.DayOf(w.Now())
		rate, err := money.ParseRate("2")
		if err != nil {
			t.Fatal(err)
		}
		var list []fx.Fixing
		for c, ages := range map[money.Currency][]civil.Day{"SEK": {0, 1, 8}, "NOK": {7}, "DKK": {8}, "USD": {61}} {
			for _, age := range ages {
				list = append(list, fx.Fixing{Provider: fx.ECB, Currency: c, Day: today - age, Rate: rate})
			}
		}
		if _, err := w.App.Rates.Add(t.Context(), access.System(0), list); err != nil {
			t.Fatal(err)
		}
		c := w.Channel(merchant.ModeProtectionOnly, "PLN")
		for range 2 {
			w.Must(apptest.Report(payment.Purchase, w.Booking(c, 10000, "2024-09-14"), 10000))
		}
		s, err := w.App.Rates.Status(t.Context(), w.Actor)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range s.Latest {
			got = append(got, lineOf(l.Currency, l.Age, l.Counts, l.Missing))
		}
		apptest.Same(t, "latest", got, []string{
			lineOf("DKK", 8, false, 3), lineOf("NOK", 7, true, 3), lineOf("SEK", 0, true, 1),
		})
		apptest.Same(t, "pending", s.Pending, "[{PLN GBP 2 20000 "+today.String()+"}]")
		apptest.Same(t, "more", []any{s.More, s.MaxAge}, []any{false, 7})
	})
}

func lineOf(c money.Currency, age int64, counts bool, missing int) string {
	return fmt.Sprint(c, age, counts, missing)
}
