package bookings_test

import (
	"sync"
	"testing"

	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/travel"
)

// Totals that fall, payments that arrive and deletions, all at once: what is held never passes the total, and what was
// deleted has no transactions. Whoever comes too late is refused, and told why.
func TestNoInterleavingBreaksABooking(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		channel := w.Channel(travel.ModeProtectionOnly, money.EUR)
		for range 4 {
			b := w.Booking(channel, 10_00, "2024-09-14")
			var wg sync.WaitGroup
			race := func(what string, do func() error, refusals ...fault.Kind) {
				wg.Go(func() {
					err := do()
					for _, kind := range refusals {
						if fault.Is(err, kind) {
							return
						}
					}
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
				})
			}
			for n := range int64(4) {
				race("pay", func() error {
					_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Report(travel.Purchase, b, 3_00))
					return err
				}, fault.Invalid)
				race("lower the total", func() error {
					_, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, travel.BookingFields{Total: new(9_00 - 2_00*n)})
					return err
				}, fault.Invalid, fault.RecordNotFound)
			}
			race("delete", func() error { return w.App.Bookings.Delete(t.Context(), w.Actor, b.ID, 0) }, fault.InUse)
			wg.Wait()
			checkAfterTheRace(t, w, b.ID)
		}
	})
}

func checkAfterTheRace(t *testing.T, w *apptest.World, id int64) {
	t.Helper()
	payments, err := w.App.Payments.ListPayments(t.Context(), w.Actor, travel.PaymentFilter{Bookings: []int64{id}},
		travel.Page{Number: 1, Size: 100, Offset: -1})
	if err != nil {
		t.Fatal(err)
	}
	var paid int64
	for _, p := range payments.Items {
		paid += p.Total
	}
	b, err := w.App.Bookings.Get(t.Context(), w.Actor, id)
	switch {
	case fault.Is(err, fault.RecordNotFound):
		if paid != 0 {
			t.Errorf("booking %d was deleted with payments of %d", id, paid)
		}
	case err != nil:
		t.Error(err)
	case b.Sums.Held != paid || b.Sums.Net != paid || paid > b.Total || len(b.TransactionIDs) != len(payments.Items):
		t.Errorf("booking %d of %d: payments of %d, sums %+v, transactions %v", id, b.Total, paid, b.Sums, b.TransactionIDs)
	}
}

func TestABookingMovesToWhereItFits(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		euro, draft := w.Channel(travel.ModeProtectionOnly, money.EUR), w.Channel(travel.ModeDraft, money.EUR)
		pound, closed := w.Channel(travel.ModeProtectionOnly, "GBP"), w.Channel(travel.ModeTest, money.EUR)
		b := w.Booking(euro, 10_00, "2024-09-14")
		inClosed := w.Booking(closed, 10_00, "2024-09-14")
		_, err := w.App.Channels.Change(t.Context(), w.Actor, closed.ID, travel.ChannelFields{Mode: new(travel.ModeClosed)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			id     int64
			change travel.BookingFields
			wrong  bool
		}{
			{"another currency alone", b.ID, travel.BookingFields{Currency: new(money.Currency("GBP"))}, true},
			{"a channel of another currency", b.ID, travel.BookingFields{ChannelID: &pound.ID}, true},
			{"a closed channel", b.ID, travel.BookingFields{ChannelID: &closed.ID}, true},
			{"an unknown channel", b.ID, travel.BookingFields{ChannelID: new(int64(999))}, true},
			{"another channel of the same currency", b.ID, travel.BookingFields{ChannelID: &draft.ID}, false},
			{"a correction in a closed channel", inClosed.ID, travel.BookingFields{Surname: new("King")}, false},
			{"out of a closed channel, both", inClosed.ID, travel.BookingFields{ChannelID: &pound.ID, Currency: &pound.Currency}, false},
		} {
			_, err := w.App.Bookings.Update(t.Context(), w.Actor, c.id, c.change)
			if c.wrong != fault.Is(err, fault.Invalid) || !c.wrong && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// A natural key is unique in its channel, so that an imported booking cannot move onto another one's.
func TestAnImportedBookingKeepsItsKeyToItself(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		first, second := w.Channel(travel.ModeProtectionOnly, money.EUR), w.Channel(travel.ModeDraft, money.EUR)
		var made []travel.Booking
		for _, c := range []travel.Channel{first, second} {
			b, err := w.App.Bookings.Create(t.Context(), w.Actor, travel.BookingFields{
				ChannelID: &c.ID, Content: new("x"), Firstname: new("Ada"), Surname: new("Byron"), Email: new("ada@example.org"),
				End: new(w.Booking(c, 1, "2024-09-14").End), Total: new(int64(1)), Currency: &c.Currency, Country: new("PT"),
				ImportKey: "B-1",
			})
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, b)
		}
		move := travel.BookingFields{ChannelID: &second.ID}
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, made[0].ID, move); !fault.Is(err, fault.Invalid) {
			t.Errorf("moved onto the key of another booking: %v", err)
		}
		if err := w.App.Bookings.Delete(t.Context(), w.Actor, made[1].ID, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, made[0].ID, move); err != nil {
			t.Errorf("the key is free again: %v", err)
		}
	})
}

func TestWhoMayDoWhatWithBookings(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(travel.ModeDraft, money.EUR), 1, "2024-09-14")
		for _, role := range []auth.Role{auth.ReadOnly, auth.Finance, auth.MemberAdmin, auth.Operator} {
			mayWrite := role == auth.MemberAdmin || role == auth.Operator
			actor := auth.Actor{SiteID: w.Site.ID, UserID: 1, Username: "u", Role: role}
			if _, err := w.App.Bookings.Get(t.Context(), actor, b.ID); err != nil {
				t.Errorf("%s reads: %v", role, err)
			}
			_, err := w.App.Bookings.Update(t.Context(), actor, b.ID, travel.BookingFields{})
			if mayWrite && err != nil || !mayWrite && !fault.Is(err, fault.Forbidden) {
				t.Errorf("%s writes: %v", role, err)
			}
		}
		stranger := auth.Actor{SiteID: w.Site.ID + 1, UserID: 1, Username: "u", Role: auth.MemberAdmin}
		if _, err := w.App.Bookings.Get(t.Context(), stranger, b.ID); !fault.Is(err, fault.RecordNotFound) {
			t.Errorf("another site's: %v", err)
		}
		nobody := auth.Actor{SiteID: w.Site.ID}
		if _, err := w.App.Bookings.List(t.Context(), nobody, travel.BookingFilter{}, travel.Page{Size: 1}); !fault.Is(err, fault.Forbidden) {
			t.Errorf("without a role: %v", err)
		}
	})
}
