package ledger_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"holdfast/internal/apptest"
	"holdfast/internal/civil"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

func TestBucketSumsEqualLineSums(t *testing.T) {
	for seed := range apptest.Histories(t, 4) {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
				h := apptest.NewHistory(w, seed)
				if seed%2 == 1 {
					start, from := travel.RecognitionStartDate, civil.DayOf(w.Now())+10
					if _, err := w.App.Policies.Set(t.Context(), w.Actor, travel.PolicyFields{From: &from, Recognition: &start}); err != nil {
						t.Fatal(err)
					}
				}
				h.NewBooking()
				days := func() []civil.Day {
					return []civil.Day{h.Day(-40, 30), h.Day(-5, 5), h.Day(0, 1), h.Day(1, 40), h.Day(41, 100), h.Day(141, 60)}
				}
				for range 3 {
					for range 25 {
						h.Step()
					}
					h.FoldSome(t.Context(), h.Random.IntN(40))
					h.CheckBuckets("partly folded", days())
				}
				w.Fix("2024-06-02", map[money.Currency]string{"JPY": "171.94"}) // late, for what was paid before
				h.CheckBuckets("priced", days())
				h.FoldAll()
				h.CheckBuckets("folded", days())
			})
		})
	}
}

// TestBucketsWhileManyWrite: payments, refunds, changes, late rates and folding at once, also two that fold.
func TestBucketsWhileManyWrite(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		books := make([]*apptest.History, 6)
		for i := range books {
			books[i] = apptest.NewHistory(w, uint64(100+i))
			for range 3 {
				books[i].NewBooking()
			}
			books[i].Bookings = append(books[i].Bookings, books[0].Bookings...) // all write to these
		}
		var all sync.WaitGroup
		for i, h := range books {
			all.Go(func() {
				for n := range 25 {
					switch {
					case i < 2 && n%4 == 0:
						h.FoldSome(t.Context(), 10)
					case i == 2 && n == 12:
						h.Fix("2024-06-02", map[money.Currency]string{"JPY": "171.94"})
					case n%3 == 0:
						h.Change()
					case n%3 == 1:
						h.Pay()
					default:
						h.Adjust()
					}
				}
			})
		}
		all.Wait()
		books[0].CheckBuckets("all have written", []civil.Day{books[0].Day(-10, 5), books[0].Day(0, 1), books[0].Day(10, 40)})
	})
}

// TestATotalThatChangedBeforeTheFirstPayment: the payment counts from a day on which the total was still the old one.
func TestATotalThatChangedBeforeTheFirstPayment(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 1)
		b := w.Booking(h.Channels[0], 50000, "2024-09-14")
		paid := w.Now().Add(24 * time.Hour)
		w.Advance(3 * 24 * time.Hour)
		total := int64(80000)
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, travel.BookingFields{Total: &total}); err != nil {
			t.Fatal(err)
		}
		in := apptest.Report(travel.Purchase, b, 10000)
		in.EffectiveAt = paid
		w.Must(in)
		for days, e4 := range map[civil.Day]int64{-2: 40000, 0: 70000} {
			day := civil.DayOf(w.Now()) + days
			r := w.Exposure(reports.ExposureQuery{Moment: ledger.Moment{AsOf: &day}})
			if len(r.Instalments) != 1 || r.Instalments[0].E1 != e4 {
				t.Errorf("%s: %+v, want %d", day, r.Instalments, e4)
			}
			h.Same("paid late", reports.ExposureQuery{Moment: ledger.Moment{AsOf: &day}, By: protection.ByChannel, Valuation: protection.Spot})
		}
	})
}
