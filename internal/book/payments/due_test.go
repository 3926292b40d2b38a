package payments_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/book/imports"
	"holdfast/internal/book/payments"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// TestAnAuthorisationEndsWhenItsTimeIsOver: every reader finds it ended, although the job that ends authorisations has
// not run. Each reader is the first one after the seven days.
func TestAnAuthorisationEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
		var b booking.Booking
		var a payment.Transaction
		listed := func(status payment.TransactionStatus) bool {
			list, err := w.App.Payments.List(t.Context(), w.Actor,
				payments.TransactionFilter{Bookings: []int64{b.ID}, Statuses: []payment.TransactionStatus{status}}, page)
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items) == 1
		}
		late := func(row *imports.ImportedPayment) {
			row.Channel, row.ChannelID, row.Booking.ImportKey = "", c.ID, b.ImportKey
			row.Payment.EffectiveAt = w.Now().Truncate(time.Second)
		}
		for name, ended := range map[string]func() bool{
			"GET": func() bool {
				got := w.ReadTransaction(a.ID)
				return got.Status == payment.StatusExpired && got.TotalRemaining() == 0
			},
			"the list of expired ones":  func() bool { return listed(payment.StatusExpired) },
			"the list of complete ones": func() bool { return !listed(payment.StatusComplete) },
			"the booking":               func() bool { return w.ReadBooking(b.ID).Sums == (booking.BookingSums{}) },
			"the list of bookings": func() bool {
				list, err := w.App.Bookings.List(t.Context(), w.Actor,
					bookings.BookingFilter{Statuses: []booking.BookingStatus{booking.BookingAuthorized}}, store.Of([]int64{b.ID}))
				return err == nil && len(list.Items) == 0
			},
			"a capture": func() bool {
				return slices.Contains(w.Must(apptest.Linked(payment.Capture, a, b, 1)).Flags, payment.FlagLateCapture)
			},
			"a void": func() bool {
				w.Must(apptest.Linked(payment.Void, a, b, 1)) // it holds nothing any more
				return w.ReadBooking(b.ID).Sums == (booking.BookingSums{})
			},
			"a payment of all that the booking costs": func() bool {
				return len(w.Must(apptest.Report(payment.Purchase, b, 120_000)).Flags) == 0
			},
			"a smaller total": func() bool {
				total := int64(1)
				_, err := w.App.Bookings.Update(t.Context(), w.Actor, b.ID, booking.BookingFields{Total: &total})
				return err == nil
			},
			"an import": func() bool {
				report, refused := w.Imported(imports.ImportOptions{}, apptest.ARow(2, "due", late, apptest.Paying(120_000)))
				return report.Payments.Created == 1 && len(refused) == 0
			},
		} {
			report, refused := w.Imported(imports.ImportOptions{}, apptest.ARow(2, name, late, func(row *imports.ImportedPayment) {
				authorize := payment.Authorize
				row.Booking.ImportKey, row.Payment.Type = "B-"+name, &authorize
			}, apptest.Paying(120_000)))
			if report.Payments.Created != 1 {
				t.Fatalf("%s: %v", name, refused)
			}
			list, err := w.App.Payments.List(t.Context(), w.Actor, payments.TransactionFilter{Reference: "P-" + name}, page)
			if err != nil {
				t.Fatal(err)
			}
			a = list.Items[0]
			b = w.ReadBooking(a.Payments[0].BookingID)
			w.Advance(a.EffectiveAt.Add(apptest.AuthorisationLife).Sub(w.Now()) - time.Microsecond)
			if listed(payment.StatusExpired) || w.ReadTransaction(a.ID).Status != payment.StatusComplete {
				t.Errorf("%s: it has ended too early", name)
			}
			w.Advance(time.Microsecond)
			if !ended() {
				t.Errorf("%s: the authorisation has not ended", name)
			}
			if got := w.ReadTransaction(a.ID); got.Status != payment.StatusExpired {
				t.Errorf("%s: it is %s afterwards", name, got.Status)
			}
		}
	})
}

// TestTheLifeOfAnAuthorisationIsTheChannels: each authorisation keeps the life that its channel had when it was
// created.
func TestTheLifeOfAnAuthorisationIsTheChannels(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "EUR")
		b := w.Booking(c, 120_000, "2024-09-14")
		week := w.Must(apptest.Report(payment.Authorize, b, 10_000))
		days := int64(30)
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{AuthorisationDays: &days}); err != nil {
			t.Fatal(err)
		}
		month := w.Must(apptest.Report(payment.Authorize, b, 10_000))
		w.Advance(8 * 24 * time.Hour)
		late, inTime := w.Must(apptest.Linked(payment.Capture, week, b, 10_000)), w.Must(apptest.Linked(payment.Capture, month, b, 4_000))
		if !slices.Contains(late.Flags, payment.FlagLateCapture) || len(inTime.Flags) != 0 {
			t.Errorf("after eight days: %v and %v", late.Flags, inTime.Flags)
		}
		w.Advance(22 * 24 * time.Hour)
		if _, err := w.App.Payments.ExpireAuthorisations(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.ReadTransaction(month.ID); got.Status != payment.StatusExpired {
			t.Errorf("after thirty days: %s", got.Status)
		}
		for _, wrong := range []int64{0, -1, 91} {
			_, err := w.App.Channels.Change(t.Context(), w.Actor, c.ID, merchant.ChannelFields{AuthorisationDays: &wrong})
			apptest.WantKind(t, err, errs.Invalid, "longer than any scheme allows")
		}
	})
}
