package report_test

import (
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/report"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// recordEnds runs the job that records the end of protection.
func recordEnds(t *testing.T, w *apptest.World) {
	t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.App.Ends.Record(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// wantDetails compares the sums of a list with those of the report, which knows nothing of open and closed.
func wantDetails(t *testing.T, w *apptest.World, when string, q report.ExposureQuery) (items int) {
	t.Helper()
	type figures struct {
		exposure.Figures
		exposure.Memo
	}
	var got, want figures
	for _, row := range w.Exposure(q).Rows {
		want.Allocations, want.E1, want.E2 = want.Allocations+row.Allocations, want.E1+row.E1, want.E2+row.E2
		want.E4, want.E5 = want.E4+row.E4, want.E5+row.E5
	}
	list := details(t, w, report.DetailsQuery{ExposureQuery: q})
	for _, d := range list {
		got.Allocations, got.E1, got.E2 = got.Allocations+d.Allocations, got.E1+d.E1, got.E2+d.E2
		got.E4, got.E5 = got.E4+d.E4, got.E5+d.E5
	}
	if got != want {
		t.Errorf("%s: the list has %+v and the report %+v", when, got, want)
	}
	return len(list)
}

// closedNow is how many allocations a list of today leaves unread.
func closedNow(t *testing.T, w *apptest.World) (n int) {
	t.Helper()
	err := w.App.DB.Store.Read(t.Context(), store.Deployment, func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT COUNT(*) FROM allocations WHERE closed`, nil, &n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDetailsOfABookOfYears: a list without closed allocations has everything that the report counts, also after trips
// moved, for the past, and just before midnight.
func TestDetailsOfABookOfYears(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		h := apptest.NewHistory(w, 11)
		h.NewBooking()
		found := 0
		for range 3 {
			for range 25 {
				h.Step()
			}
			w.Advance(75 * 24 * time.Hour)
			recordEnds(t, w)
			for range 3 {
				h.Change()
			}
			found += wantDetails(t, w, "today", report.ExposureQuery{})
			wantDetails(t, w, "yesterday", report.ExposureQuery{Moment: ledger.Moment{AsOf: new(civil.DayOf(w.Now()) - 1)}})
			wantDetails(t, w, "a minute ago", report.ExposureQuery{Moment: ledger.Moment{KnownAt: w.Now().Add(-time.Minute)}})
		}
		if found == 0 || closedNow(t, w) == 0 {
			t.Errorf("%d were listed and %d are closed: the book shows too little", found, closedNow(t, w))
		}
	})
}

// TestDetailsKeepWhatIsStillToBePaid: the last day of dispute can be before the trip, if a scheme caps it. The unpaid
// amount of the booking counts until the trip.
func TestDetailsKeepWhatIsStillToBePaid(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 1000, "2026-06-20")
		in := apptest.Report(payment.Purchase, b, 400)
		in.CardType = "visa"
		w.Must(in)
		w.At("2026-06-15")
		recordEnds(t, w)
		if n := wantDetails(t, w, "before the trip", report.ExposureQuery{}); n != 1 {
			t.Errorf("%d items are listed", n)
		}
		country := "ES"
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Country: &country}); err != nil {
			t.Fatal(err)
		}
		if n := closedNow(t, w); n != 0 {
			t.Errorf("%d allocations are closed before the trip", n)
		}
	})
}

// TestAProcessThatIsBehind: another process, whose clock is past midnight, has closed what still counts today.
func TestAProcessThatIsBehind(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.SQLite(t))
	b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 1000, "2024-07-20")
	w.Must(apptest.Report(payment.Purchase, b, 1000))
	last := details(t, w, report.DetailsQuery{})[0].Terms.LastDay
	w.SetClock(last.End().Add(time.Second))
	recordEnds(t, w)
	if closedNow(t, w) != 1 {
		t.Fatal("the allocation is not closed after its last day")
	}
	w.SetClock(last.End().Add(-time.Second))
	if n := wantDetails(t, w, "before midnight", report.ExposureQuery{}); n != 1 {
		t.Errorf("%d items are listed on the last day", n)
	}
}
