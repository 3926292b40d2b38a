package rates_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestWhatWaitsIsLeftAlone while there is no new rate: many may wait, and checking all of them each minute would delay
// others.
func TestWhatWaitsIsLeftAlone(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 100000, "2024-09-14")
		w.Must(apptest.Report(payment.Purchase, b, 1000))
		var looks atomic.Int64
		w.App.DB.Store.Watch(func(query string, _ []any) {
			if strings.Contains(query, "FROM allocations a WHERE a.site_id = $1 AND a.id > $2 AND a.priced_at IS NULL") {
				looks.Add(1)
			}
		})
		looked := func(after time.Duration, want bool, what string) {
			t.Helper()
			w.Advance(after)
			looks.Store(0)
			priced, err := w.App.Rates.PricePending(t.Context())
			if err != nil || priced != 0 || looks.Load() > 0 != want {
				t.Errorf("%s: %d priced, %d looks, %v", what, priced, looks.Load(), err)
			}
		}
		looked(0, true, "the first time")
		looked(time.Minute, true, "a write that began before may have ended since")
		looked(time.Minute, true, "and the last one of these")
		looked(time.Minute, false, "nothing has come")
		looked(58*time.Minute, false, "nothing has come")
		looked(2*time.Minute, true, "once in an hour")
		looked(time.Minute, false, "nothing has come")

		w.Fix("2024-05-30", map[money.Currency]string{"USD": "1.0852"}) // which looks, too, and prices nothing
		looked(time.Minute, true, "a rate has come")
		looked(time.Minute, true, "a rate has come")
		looked(time.Minute, false, "nothing has come")

		soon := w.Now().Add(10 * time.Minute) // by the clock of another machine
		err := w.App.DB.Store.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
			_, err := tx.Exec(`INSERT INTO fixings (site_id, provider, currency, day, rate, recorded_at, quote_id)
				VALUES (0, 'ecb', 'GBP', 19874, '0.85', $1, '')`, store.Micros(soon))
			return errors.Join(err, sites.RatesChanged(tx))
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			looked(time.Minute, true, "a rate is on file that does not count yet")
		}
		looked(time.Minute, false, "it does not count yet")
		w.SetClock(soon.Add(time.Second))
		looks.Store(0)
		if priced, err := w.App.Rates.PricePending(t.Context()); err != nil || priced != 1 {
			t.Errorf("the rate counts now: %d priced, %v", priced, err)
		}
	})
}
