package bookings_test

import (
	"sync"
	"testing"

	"holdfast/internal/app"
	"holdfast/internal/book/bookings"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// Totals that fall, payments that arrive and deletions, all at once: held amounts never exceed the total, and deleted
// bookings have no transactions. Late writers get an error with the reason.
func TestNoInterleavingBreaksABooking(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.With(func(cfg *app.Config) { cfg.Profile = merchant.ServerToServerProfile }) // payments taken by holdfast are bounded
		channel := w.Channel(merchant.ModeTest, money.EUR)
		for range 4 {
			b := w.Booking(channel, 10_00, "2024-09-14")
			var wg sync.WaitGroup
			race := func(what string, do func() error, refusals ...errs.Kind) {
				wg.Go(func() {
					err := do()
					for _, kind := range refusals {
						if errs.Is(err, kind) {
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
					in := apptest.Report(payment.Purchase, b, 3_00)
					in.PSP, in.Token = payment.TestPSP, payment.TestToken
					_, _, err := w.App.Payments.Create(t.Context(), w.Actor, in)
					return err
				}, errs.Invalid)
				race("lower the total", func() error {
					_, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Total: new(9_00 - 2_00*n)})
					return err
				}, errs.Invalid, errs.RecordNotFound)
			}
			race("delete", func() error { return w.App.Bookings.Delete(t.Context(), w.Actor, b.ID, 0) }, errs.InUse)
			wg.Wait()
			checkAfterTheRace(t, w, b.ID)
		}
	})
}

func checkAfterTheRace(t *testing.T, w *apptest.World, id int64) {
	t.Helper()
	payments, err := w.App.Payments.ListPayments(t.Context(), w.Actor, payments.PaymentFilter{Bookings: []int64{id}},
		store.Page{Number: 1, Size: 100, Offset: -1})
	if err != nil {
		t.Fatal(err)
	}
	var paid int64
	for _, p := range payments.Items {
		paid += p.Total
	}
	b, err := w.App.Bookings.Get(t.Context(), w.Actor, id)
	switch {
	case errs.Is(err, errs.RecordNotFound):
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
		euro, draft := w.Channel(merchant.ModeProtectionOnly, money.EUR), w.Channel(merchant.ModeDraft, money.EUR)
		pound, closed := w.Channel(merchant.ModeProtectionOnly, "GBP"), w.Channel(merchant.ModeTest, money.EUR)
		b := w.Booking(euro, 10_00, "2024-09-14")
		inClosed := w.Booking(closed, 10_00, "2024-09-14")
		_, err := w.App.Channels.Change(t.Context(), w.Actor, closed.ID, merchant.ChannelFields{Mode: new(merchant.ModeClosed)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			id     int64
			change booking.BookingFields
			wrong  bool
		}{
			{"another currency alone", b.ID, booking.BookingFields{Currency: new(money.Currency("GBP"))}, true},
			{"a channel of another currency", b.ID, booking.BookingFields{ChannelID: &pound.ID}, true},
			{"a closed channel", b.ID, booking.BookingFields{ChannelID: &closed.ID}, true},
			{"an unknown channel", b.ID, booking.BookingFields{ChannelID: new(int64(999))}, true},
			{"another channel of the same currency", b.ID, booking.BookingFields{ChannelID: &draft.ID}, false},
			{"a correction in a closed channel", inClosed.ID, booking.BookingFields{Surname: new("King")}, false},
			{"out of a closed channel, both", inClosed.ID, booking.BookingFields{ChannelID: &pound.ID, Currency: &pound.Currency}, false},
		} {
			_, err := w.App.Bookings.Update(t.Context(), w.Actor, c.id, c.change)
			if c.wrong != errs.Is(err, errs.Invalid) || !c.wrong && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

// A natural key is unique in its channel, so that an imported booking cannot move onto another one's.
func TestAnImportedBookingKeepsItsKeyToItself(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		first, second := w.Channel(merchant.ModeProtectionOnly, money.EUR), w.Channel(merchant.ModeDraft, money.EUR)
		var made []booking.Booking
		for _, c := range []merchant.Channel{first, second} {
			b, err := w.App.Bookings.Create(t.Context(), w.Actor, booking.BookingFields{
				ChannelID: &c.ID, Content: new("x"), Firstname: new("Ada"), Surname: new("Byron"), Email: new("ada@example.org"),
				End: new(w.Booking(c, 1, "2024-09-14").End), Total: new(int64(1)), Currency: &c.Currency, Country: new("PT"),
				ImportKey: "B-1",
			})
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, b)
		}
		move := booking.BookingFields{ChannelID: &second.ID}
		if _, err := w.App.Bookings.Update(t.Context(), w.Actor, made[0].ID, move); !errs.Is(err, errs.Invalid) {
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
		b := w.Booking(w.Channel(merchant.ModeDraft, money.EUR), 1, "2024-09-14")
		for _, role := range []access.Role{access.ReadOnly, access.Finance, access.MemberAdmin, access.Operator} {
			mayWrite := role == access.MemberAdmin || role == access.Operator
			actor := access.Actor{SiteID: w.Site.ID, UserID: 1, Username: "u", Role: role}
			if _, err := w.App.Bookings.Get(t.Context(), actor, b.ID); err != nil {
				t.Errorf("%s reads: %v", role, err)
			}
			_, err := w.App.Bookings.Update(t.Context(), actor, b.ID, booking.BookingFields{})
			if mayWrite && err != nil || !mayWrite && !errs.Is(err, errs.Forbidden) {
				t.Errorf("%s writes: %v", role, err)
			}
		}
		stranger := access.Actor{SiteID: w.Site.ID + 1, UserID: 1, Username: "u", Role: access.MemberAdmin}
		if _, err := w.App.Bookings.Get(t.Context(), stranger, b.ID); !errs.Is(err, errs.RecordNotFound) {
			t.Errorf("another site's: %v", err)
		}
		nobody := access.Actor{SiteID: w.Site.ID}
		if _, err := w.App.Bookings.List(t.Context(), nobody, bookings.BookingFilter{}, store.Page{Size: 1}); !errs.Is(err, errs.Forbidden) {
			t.Errorf("without a role: %v", err)
		}
	})
}
