package db_test

import (
	"fmt"
	"testing"

	"holdfast/internal/apptest"
	"holdfast/internal/auth"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// paidAtOnce reports payments whose writes all wait for one transaction.
func paidAtOnce(t *testing.T, w *apptest.World, list ...travel.NewTransaction) (made []travel.Transaction, errs []error, ran int) {
	t.Helper()
	made = make([]travel.Transaction, len(list))
	calls := make([]func() error, len(list))
	for i, in := range list {
		calls[i] = func() (err error) {
			made[i], _, err = w.App.Payments.Create(t.Context(), auth.System(w.Site.ID), in)
			return err
		}
	}
	errs, statements := callsAtOnce(t, w.Core.Store, func(int) {}, calls...)
	return made, errs, len(statements)
}

// TestPaymentsAtOnce: payments that share a transaction are stored as if each came alone: none takes what another one has taken of
// their booking, and one that is reported twice is one.
func TestPaymentsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(travel.ModeProtectionOnly, "GBP")
		w.Must(apptest.Report(travel.Purchase, w.Booking(c, 60000, "2024-09-14"), 100)) // what is read for the first time is remembered

		const many = 8
		var list []travel.NewTransaction
		for n := range many {
			in := apptest.Report(travel.Purchase, w.Booking(c, 60000, "2024-09-14"), 20000)
			in.PSP, in.Reference = "stripe", fmt.Sprint("one of many ", n)
			list = append(list, in)
		}
		_, errs, ran := paidAtOnce(t, w, list...)
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
		if most := many * 13; ran > most { // as many as if each came alone
			t.Errorf("%d payments at once ran %d statements, at most %d are allowed", many, ran, most)
		}

		b := w.Booking(c, 60000, "2024-09-14")
		_, errs, _ = paidAtOnce(t, w, apptest.Report(travel.Purchase, b, 20000), apptest.Report(travel.Purchase, b, 20000),
			apptest.Report(travel.Purchase, b, 20001))
		if errs[0] != nil || errs[1] != nil || !fault.Is(errs[2], fault.Invalid) {
			t.Errorf("two thirds of a booking are paid, and more than the last third: %v", errs)
		}
		if got := w.ReadBooking(b.ID); got.Sums.Net != 40000 || got.Payments != 2 || got.Version != b.Version+2 {
			t.Errorf("the booking has %+v, %d payments, version %d", got.Sums, got.Payments, got.Version)
		}

		b = w.Booking(c, 60000, "2024-09-14")
		in := apptest.Report(travel.Purchase, b, 20000)
		in.PSP, in.Reference = "stripe", "ch_1"
		other := apptest.Report(travel.Purchase, b, 10000)
		other.PSP, other.Reference = "stripe", "ch_1"
		made, errs, _ := paidAtOnce(t, w, in, in, other)
		if errs[0] != nil || errs[1] != nil || made[0].ID != made[1].ID || !fault.Is(errs[2], fault.ReferenceExists) {
			t.Errorf("one payment is reported twice, and another one under its reference: %d, %d, %v", made[0].ID, made[1].ID, errs)
		}
		if got := w.ReadBooking(b.ID); got.Sums.Net != 20000 {
			t.Errorf("the booking has %+v", got.Sums)
		}
	})
}
