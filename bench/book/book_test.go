package book_test

import (
	"testing"
	"time"

	"holdfast/bench/book"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/ops/verify"
	"holdfast/internal/testkit/apptest"
)

// TestABookIsSound: verify passes on a book, and the first booking created afterwards gets the next id.
func TestABookIsSound(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		reported := int64(0)
		size := book.Size{Bookings: 45, Payments: 2}
		b, err := book.Make(t.Context(), h.DB, h.App, civil.DayOf(h.Now.Read()), size, func(done int64) { reported = done })
		if err != nil {
			t.Fatal(err)
		}
		if err := book.Fold(t.Context(), h.App, b.SiteID); err != nil {
			t.Fatal(err)
		}
		// The limits job only takes changes that have been visible for some seconds. The first use is on the book's day.
		for range 2 {
			for more := true; more; {
				if more, err = h.Limits.Recompute(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			h.Now.Move(10 * time.Second)
		}
		report, err := h.Verify.Run(t.Context(), access.System(0), verify.Query{Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			t.Errorf("%s: %s %d: %s is %s, should be %s", f.Check, f.Table, f.ID, f.Field, f.Stored, f.Should)
		}
		rows := map[string]int64{}
		for _, l := range report.Lines {
			rows[l.Check] += l.Rows
		}
		currency, total, country, words := b.Currency(0), int64(100), "FR", "ada@example.org"
		end := civil.DayOf(h.Now.Read()) + 90
		channel := b.FirstChannel
		made, err := h.Bookings.Create(t.Context(), access.System(b.SiteID), booking.BookingFields{
			ChannelID: &channel, Currency: &currency, Total: &total, End: &end, Country: &country,
			Content: &words, Firstname: &words, Surname: &words, Email: &words,
		})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Same(t, "reported, checked, next id", []any{reported, rows["premium lines"] > 80, rows["limit uses"] > 0, made.ID}, []any{45, true, true, 46})
	})
}
