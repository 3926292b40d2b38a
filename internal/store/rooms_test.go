package store_test

import (
	"fmt"
	"slices"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

// paidAtOnce reports payments whose writes all wait for one transaction.
func paidAtOnce(t *testing.T, w *apptest.World, list ...payment.NewTransaction) (made []payment.Transaction, errs []error, ran int) {
	t.Helper()
	made = make([]payment.Transaction, len(list))
	calls := make([]func() error, len(list))
	for i, in := range list {
		calls[i] = func() (err error) {
			made[i], _, err = w.App.Payments.Create(t.Context(), access.System(w.Site.ID), in)
			return err
		}
	}
	errs, statements := callsAtOnce(t, w.App.DB.Store, calls...)
	return made, errs, len(statements)
}

// TestPaymentsAtOnce: payments that share a transaction are stored as if each came alone: none takes an amount of the
// booking that another one has taken, and a repeated one is stored once.
func TestPaymentsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(payment.Purchase, w.Booking(c, 60000, "2024-09-14"), 100)) // values read for the first time are cached

		const many = 8
		var list []payment.NewTransaction
		for n := range many {
			in := apptest.Report(payment.Purchase, w.Booking(c, 60000, "2024-09-14"), 20000)
			in.PSP, in.Reference = "stripe", fmt.Sprint("one of many ", n)
			list = append(list, in)
		}
		_, failures, ran := paidAtOnce(t, w, list...)
		for _, err := range failures {
			if err != nil {
				t.Fatal(err)
			}
		}
		if most := many * 16; ran > most {
			t.Errorf("%d payments at once ran %d statements, at most %d are allowed", many, ran, most)
		}

		// On PostgreSQL their order is undefined.
		b := w.Booking(c, 60000, "2024-09-14")
		made, failures, _ := paidAtOnce(t, w, apptest.Report(payment.Purchase, b, 20000), apptest.Report(payment.Purchase, b, 20001),
			apptest.Report(payment.Purchase, b, 20002))
		sum, above := int64(0), 0
		for i, err := range failures {
			if sum += made[i].Total; err != nil {
				t.Error(err)
			}
			if slices.Contains(made[i].Flags, payment.FlagAboveTotal) {
				above++
			}
		}
		if above != 1 {
			t.Errorf("%d of three thirds and a little more are above the total", above)
		}
		if got := w.ReadBooking(b.ID); got.Sums.Net != sum || got.Payments != 3 || got.Version != b.Version+3 {
			t.Errorf("the booking has %+v, %d payments, version %d; %d were paid", got.Sums, got.Payments, got.Version, sum)
		}

		b = w.Booking(c, 60000, "2024-09-14")
		in := apptest.Report(payment.Purchase, b, 20000)
		in.PSP, in.Reference = "stripe", "ch_1"
		made, failures, _ = paidAtOnce(t, w, in, in)
		if failures[0] != nil || failures[1] != nil || made[0].ID != made[1].ID {
			t.Errorf("one payment is reported twice: %d, %d, %v", made[0].ID, made[1].ID, failures)
		}
		in.Total = new(int64(10000))
		in.Items = &[]payment.Item{{BookingID: b.ID, Currency: b.Currency, Total: 10000}}
		if _, failures, _ = paidAtOnce(t, w, in); !errs.Is(failures[0], errs.ReferenceExists) {
			t.Errorf("another payment under the same reference: %v", failures[0])
		}
		if got := w.ReadBooking(b.ID); got.Sums.Net != 20000 {
			t.Errorf("the booking has %+v", got.Sums)
		}
	})
}
