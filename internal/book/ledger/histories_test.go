package ledger_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/testkit/dbtest"
)

// historySite is a site with five allocations in its two channels, one of them simulated, each recorded a day after
// the one before. Of each something becomes known a day later: it is moved, and partly refunded.
func historySite(t *testing.T, s *dbtest.BookingSite, clock *atomic.Int64) {
	t.Helper()
	for i := range 5 {
		channel := s.Channel
		if i%2 == 1 {
			channel = s.Locked
		}
		s.Write(t, func(tx *store.Tx) error {
			booking, err := bookings.Insert(tx, s.Booking(func(b *booking.Booking) { b.ChannelID = channel }))
			if err != nil {
				return err
			}
			paid := payment.Transaction{
				SiteID: s.ID, UUID: fmt.Sprintf("history-%d", i), ChannelID: channel, Type: payment.Purchase, Currency: "EUR",
				BaseCurrency: "EUR", Total: 1000, BaseTotal: 1000, Status: payment.StatusComplete, Method: payment.CreditCard,
				EffectiveAt: tx.Now, Payments: []payment.Payment{{BookingID: booking, Currency: "EUR", Total: 1000}},
			}
			if paid, err = payments.InsertTransaction(tx, paid); err != nil {
				return err
			}
			err = ledger.InsertAllocation(tx, protection.Allocation{
				SiteID: s.ID, ID: paid.Payments[0].ID, ChannelID: channel, BookingID: booking, TransactionID: paid.ID,
				Currency: "EUR", Amount: 1000, Scheme: card.Visa, EffectiveAt: tx.Now, RecordedAt: tx.Now, PolicyCurrency: "GBP",
				Decision: protection.Decision{Protected: true, Simulated: i == 4, CoverFrom: tx.Now},
			}, protection.Terms{Start: dbtest.StartDay, End: dbtest.StartDay + 100, LastDay: dbtest.StartDay + 220, Country: "PT"})
			return errors.Join(err, ledger.SaveChanges(tx))
		})
		clock.Add(24 * time.Hour.Microseconds())
	}
	s.Write(t, func(tx *store.Tx) error {
		err := ledger.Histories(tx, s.ID, civil.LastDay, tx.Now, nil, func(h protection.History) error {
			err := ledger.InsertTerms(tx, s.ID, h.ID, protection.Terms{Start: dbtest.StartDay, End: dbtest.StartDay + 50, LastDay: dbtest.StartDay + 170})
			// The second of the two takes effect first.
			for k, day := range []civil.Day{9, 8} {
				if err == nil {
					err = ledger.InsertEvent(tx, s.ID, h.ID, protection.Event{
						TransactionID: h.TransactionID, Kind: payment.Refund, Amount: int64(10 + k), EffectiveAt: (dbtest.StartDay + day).Start(),
					})
				}
			}
			return err
		})
		return errors.Join(err, ledger.SaveChanges(tx))
	})
}

func TestHistoriesAreReadInPages(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	now := func() time.Time { return time.UnixMicro(clock.Load()).UTC() }
	dbtest.OnBothWithBookings(t, now, func(t *testing.T, s *dbtest.BookingSite) {
		clock.Store(dbtest.Start.UnixMicro())
		historySite(t, s, &clock)
		known := now()
		read := func(size int, day civil.Day, known time.Time, channels ...int64) (list []protection.History) {
			t.Helper()
			err := s.DB.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
				return ledger.HistoriesInPages(tx, size, s.ID, day, known, channels, func(h protection.History) error {
					list = append(list, h)
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		all := read(1000, dbtest.StartDay+30, known)
		if len(all) != 4 || len(all[0].Terms) != 2 || len(all[0].Events) != 2 || all[0].Events[0].Amount != 11 {
			t.Fatalf("read %+v", all)
		}
		for size := 1; size < 5; size++ {
			if got := read(size, dbtest.StartDay+30, known); !reflect.DeepEqual(got, all) {
				t.Errorf("in pages of %d: %+v", size, got)
			}
		}
		// The rows of the other channel are in between.
		ofOne := slices.DeleteFunc(slices.Clone(all), func(h protection.History) bool { return h.ChannelID != s.Channel })
		if got := read(2, dbtest.StartDay+30, known, s.Channel); len(got) != 2 || !reflect.DeepEqual(got, ofOne) {
			t.Errorf("of one channel: %+v", got)
		}
		// On the eighth day one of the events counts; before the change was recorded neither does; on earlier days the
		// new terms do not count, the first ones always do.
		for name, c := range map[string]struct {
			day           civil.Day
			known         time.Time
			terms, events int
		}{
			"the eighth day":         {dbtest.StartDay + 8, known, 2, 1},
			"before it was recorded": {dbtest.StartDay + 30, known.Add(-time.Microsecond), 1, 0},
			"before it took effect":  {dbtest.StartDay + 4, known, 1, 0},
		} {
			got := read(1000, c.day, c.known)
			if len(got) != 4 || len(got[0].Terms) != c.terms || len(got[0].Events) != c.events {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if got := read(1000, dbtest.StartDay, known); len(got) != 1 {
			t.Errorf("on the first day there are %d", len(got))
		}
	})
}

// TestWritersOfOneAllocationTakeTurns: a write that locks an allocation sees all earlier changes.
func TestWritersOfOneAllocationTakeTurns(t *testing.T) {
	var clock atomic.Int64
	now := func() time.Time { return time.UnixMicro(clock.Load()).UTC() }
	dbtest.OnBothWithBookings(t, now, func(t *testing.T, s *dbtest.BookingSite) {
		clock.Store(dbtest.Start.UnixMicro())
		historySite(t, s, &clock)
		const writers, id = 10, 1 // of the first allocation, of which two refunds are known
		var all sync.WaitGroup
		for range writers {
			all.Go(func() {
				err := s.DB.Write(t.Context(), store.Deployment, func(tx *store.Tx) error {
					a, err := ledger.LockAllocation(tx, s.ID, id)
					before, err2 := ledger.Events(tx, s.ID, id)
					if err := errors.Join(err, err2); err != nil {
						return err
					}
					return errors.Join(ledger.InsertEvent(tx, s.ID, id, protection.Event{
						TransactionID: a.TransactionID, Kind: payment.Chargeback, Amount: int64(len(before)), EffectiveAt: tx.Now,
					}), ledger.SaveChanges(tx))
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s.Write(t, func(tx *store.Tx) error {
			events, err := ledger.Events(tx, s.ID, id)
			var seen []int64
			for _, e := range events {
				if e.Kind == payment.Chargeback {
					seen = append(seen, e.Amount)
				}
			}
			slices.Sort(seen)
			if !slices.Equal(seen, []int64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
				t.Errorf("the writers saw so many before them: %v", seen)
			}
			return err
		})
	})
}
