package book_test

import (
	"testing"

	"holdfast/bench/book"
	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/travel"
	"holdfast/internal/verify"
)

// TestABookIsSound: verify finds nothing in a book, and the first booking of a client goes on behind it.
func TestABookIsSound(t *testing.T) {
	t.Parallel()
	apptest.OnBothHouses(t, func(t *testing.T, h *apptest.House) {
		told := int64(0)
		size := book.Size{Bookings: 45, Payments: 2}
		b, err := book.Make(t.Context(), h.DB, h.App, civil.DayOf(h.Now.Read()), size, func(done int64) { told = done })
		if err != nil {
			t.Fatal(err)
		}
		if err := book.Fold(t.Context(), h.App); err != nil {
			t.Fatal(err)
		}
		report, err := h.Verify.Run(t.Context(), auth.System(0), verify.Query{Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			t.Errorf("%s: %s %d: %s is %s, should be %s", f.Check, f.Table, f.ID, f.Field, f.Stored, f.Should)
		}
		var payments int64
		for _, l := range report.Lines {
			if l.Check == "premium lines" {
				payments += l.Rows
			}
		}
		currency, total, country, words := b.Currency(0), int64(100), "FR", "ada@example.org"
		end := civil.DayOf(h.Now.Read()) + 90
		channel := b.FirstChannel
		made, err := h.Bookings.Create(t.Context(), auth.System(b.SiteID), travel.BookingFields{
			ChannelID: &channel, Currency: &currency, Total: &total, End: &end, Country: &country,
			Content: &words, Firstname: &words, Surname: &words, Email: &words,
		})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Same(t, "told, checked, next", []any{told, payments > 80, made.ID}, []any{45, true, 46})
	})
}
