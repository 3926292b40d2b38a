package claims_test

import (
	"slices"
	"testing"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// disputeIDs are the disputes of a world, in the order in which they were recorded.
func (f *failed) disputeIDs() (ids []int64) {
	f.t.Helper()
	list, err := f.App.Disputes.List(f.t.Context(), f.Actor, disputes.Filter{}, store.Page{Number: 1, Size: 10, OrderBy: "id"})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range list.Items {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestTheEvidenceOfARepresentment: exactly the evidence on record against a dispute.
func TestTheEvidenceOfARepresentment(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 3) // journeys on 2024-09-14; the last day of dispute is 2025-01-12
		refund := apptest.Linked(payment.Refund, f.payments[0], f.bookings[0], 100_000)
		refund.Reference = "REF-1"
		f.Must(refund)
		f.dispute(0, 60_000, 10) // refunded in full before
		f.dispute(1, 60_000, 10) // payable in full
		page, err := w.App.Certificates.Of(t.Context(), w.Actor, f.bookings[2].ID)
		if err == nil {
			err = w.App.Certificates.TakeNote(t.Context(), page.Key, certificates.Note{Asked: certificates.AskedInsurer})
		}
		if err != nil {
			t.Fatal(err)
		}
		f.dispute(2, 60_000, 10)
		f.dispute(2, 90_000, 1000) // too late, and more than remains
		if list := f.make(); len(list) != 4 {
			t.Fatalf("%+v", list)
		}
		ids := f.disputeIDs()
		read := func(i int) (claims.Representment, error) {
			return w.App.Claims.Represented(t.Context(), w.Actor, ids[i])
		}

		r, err := read(0)
		if err != nil || len(r.Refunds) != 1 || r.Refunds[0].Reference != "REF-1" || r.Refunds[0].Total != 100_000 ||
			!slices.Equal(r.Grounds(), []claims.Ground{claims.GroundRefunded}) || len(r.Claims) != 1 || r.Claims[0].Represent != 60_000 {
			t.Errorf("%v, %+v, %v", r.Grounds(), r, err)
		}
		if s := r.Bookings[0].Service; s.Provided != 0 || s.By != f.insolvency.Failure().Day()-1 {
			t.Errorf("a failed merchant has provided nothing: %+v", s)
		}
		if _, err := read(1); errs.KindOf(err) != errs.ActionNotPossible {
			t.Errorf("payable in full: %v", err)
		}
		if _, err := w.App.Claims.Represented(t.Context(), w.Actor, 99); errs.KindOf(err) != errs.RecordNotFound {
			t.Errorf("no such dispute: %v", err)
		}
		r, err = read(3)
		if err != nil || !slices.Equal(r.Grounds(), []claims.Ground{claims.GroundLate, claims.GroundDuplicate}) || len(r.Others) != 1 ||
			r.Others[0].ID != ids[2] {
			t.Errorf("%v, %+v, %v", r.Grounds(), r, err)
		}
		if b := r.Bookings[0]; b.DaysLate != int64(b.Disputed-b.LastDay) || b.DaysLate <= 0 || !b.PaidByOthers() {
			t.Errorf("%+v", b)
		}

		all, err := w.App.Claims.Sums(t.Context(), w.Actor, claims.Filter{})
		if err != nil || !slices.Equal(all, []claims.Sums{{Currency: "GBP", Claims: 4, Disputed: 270_000, Payable: 120_000, Represent: 150_000}}) {
			t.Errorf("%+v, %v", all, err)
		}
		list, err := w.App.Claims.List(t.Context(), w.Actor, claims.Filter{ToRepresent: true}, store.Page{Number: 1, Size: 10, OrderBy: "id"})
		if err != nil || len(list.Items) != 2 || list.Items[1].Reason != claim.LateDispute {
			t.Errorf("%+v, %v", list.Items, err)
		}
		if _, err := w.App.Disputes.Accept(t.Context(), w.Actor, ids[0], ""); err != nil {
			t.Fatal(err)
		}
		open, err := w.App.Claims.Sums(t.Context(), w.Actor, claims.Filter{ToRepresent: true})
		if err != nil || len(open) != 1 || open[0].Claims != 1 || open[0].Represent != 90_000 {
			t.Errorf("an accepted dispute is not represented: %+v, %v", open, err)
		}
	})
}

// TestTheServiceOfASolventMerchant counts up to the day of the dispute.
func TestTheServiceOfASolventMerchant(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := &failed{World: w, t: t}
		c := w.Channel(merchant.ModeProtectionOnly, "GBP")
		b := w.Booking(c, 100_000, "2024-09-14")
		paid := w.Must(apptest.Report(payment.Purchase, b, 100_000))
		end, err := civil.ParseDay("2024-09-14")
		if err != nil {
			t.Fatal(err)
		}
		w.SetClock(end.Start().Add(36 * time.Hour))
		w.Must(apptest.Linked(payment.Chargeback, paid, b, 100_000))
		r, err := w.App.Claims.Represented(t.Context(), w.Actor, f.disputeIDs()[0])
		if err != nil || !slices.Equal(r.Grounds(), []claims.Ground{claims.GroundProvided}) || r.Bookings[0].Service.By != end ||
			r.Bookings[0].Service.Provided != r.Bookings[0].Service.Days || r.Payment.ID != paid.ID || r.Dispute.FirstDay() != end+1 {
			t.Errorf("%v, %+v, %v", r.Grounds(), r, err)
		}
	})
}
