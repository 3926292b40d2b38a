package payments_test

import (
	"crypto/rand"
	"log/slog"
	"sync"
	"testing"

	"holdfast/internal/app"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"

	"github.com/google/uuid"
)

// anotherProcess is a second program over the database of a world.
func anotherProcess(t *testing.T, w *apptest.World) *app.App {
	t.Helper()
	other := app.New(app.Config{
		Store: dbtest.Open(t, w.URL, w.Now), Clock: w.Now, Random: rand.Reader, NewUUID: uuid.NewString,
		Log: slog.New(slog.DiscardHandler), Keys: apptest.Keys,
	})
	t.Cleanup(other.Close)
	return other
}

// TestTwoProcessesRefundPartsOfOnePayment: the parts are of different bookings, so nothing but the payment itself makes one refund wait
// for the other.
func TestTwoProcessesRefundPartsOfOnePayment(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		const payments, refunds = 8, 4
		other := anotherProcess(t, w)
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		for range payments {
			first, second := w.Booking(c, 1000, "2024-09-14"), w.Booking(c, 1000, "2024-09-14")
			both, total := apptest.Report(payment.Purchase, first, 500), int64(1000)
			both.Total = &total
			both.Items = &[]payment.Item{{BookingID: first.ID, Currency: "EUR", Total: 500}, {BookingID: second.ID, Currency: "EUR", Total: 500}}
			p := w.Must(both)
			var all sync.WaitGroup
			for of, b := range map[*app.App]booking.Booking{w.App: first, other: second} {
				all.Go(func() {
					for range refunds {
						if _, _, err := of.Payments.Create(t.Context(), w.Actor, apptest.Linked(payment.Refund, p, b, 10)); err != nil {
							t.Errorf("booking %d: %v", b.ID, err)
						}
					}
				})
			}
			all.Wait()
			if got := w.ReadTransaction(p.ID); got.Remaining != total-2*refunds*10 || len(got.Adjustments) != 2*refunds {
				t.Errorf("%d remain of %d after %d refunds of 10", got.Remaining, total, len(got.Adjustments))
			}
		}
	})
}

// TestWhatAnotherProcessChangesIsSeenAtOnce: a process caches channels, policies and rates. Changes by another process
// still apply to its next payment.
func TestWhatAnotherProcessChangesIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		other := anotherProcess(t, w)
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		pay := func() (protected, priced bool) {
			t.Helper()
			in := apptest.Report(payment.Purchase, w.Booking(c, 60000, "2024-09-14"), 60000)
			made, _, err := other.Payments.Create(t.Context(), w.Actor, in)
			if err != nil {
				t.Fatal(err)
			}
			x, err := w.App.Protection.Explain(t.Context(), w.Actor, made.ID, report.ProtectionQuery{})
			if err != nil {
				t.Fatal(err)
			}
			return x.Allocations[0].Decision.Protected, x.Allocations[0].HasValue
		}
		for range 2 { // the second one remembers
			if protected, priced := pay(); !protected || priced {
				t.Fatalf("at first: protected %v, priced %v", protected, priced)
			}
		}
		w.Fix("2024-05-31", map[money.Currency]string{"GBP": "0.85365"})
		if _, priced := pay(); !priced {
			t.Error("a rate that arrived in between is not seen")
		}
		locked := true
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{Locked: &locked}); err != nil {
			t.Fatal(err)
		}
		if protected, _ := pay(); protected {
			t.Error("a payment of a locked channel is protected")
		}
	})
}
