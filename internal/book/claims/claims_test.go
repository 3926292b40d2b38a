package claims_test

import (
	"testing"
	"time"

	"holdfast/internal/book/certificates"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// failed is a world in which a merchant has failed with payments of 1,000.00 for journeys to come.
type failed struct {
	*apptest.World
	t          *testing.T
	insolvency insolvencies.Insolvency
	payments   []payment.Transaction
	bookings   []booking.Booking
}

func fail(t *testing.T, w *apptest.World, payments int) *failed {
	t.Helper()
	f := &failed{World: w, t: t}
	c := w.Channel(merchant.ModeProtectionOnly, "GBP")
	for range payments {
		b := w.Booking(c, 100_000, "2024-09-14")
		f.bookings = append(f.bookings, b)
		f.payments = append(f.payments, w.Must(apptest.Report(payment.Purchase, b, 100_000)))
	}
	w.Advance(time.Hour)
	f.open(c)
	return f
}

// open has the merchant fail now, and the snapshot made.
func (f *failed) open(c merchant.Channel) {
	f.t.Helper()
	t, w := f.t, f.World
	kind, at := insolvencies.Kind("liquidation"), w.Now()
	reported, err := w.App.Insolvencies.Report(t.Context(), w.Actor, insolvencies.NewReport{
		ChannelID: &c.ID, Kind: &kind, TriggerAt: &at, Evidence: "Notice of the court",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.App.Insolvencies.Confirm(t.Context(), w.Actor, reported.ID, ""); err != nil {
		t.Fatal(err)
	}
	w.Advance(time.Minute)
	for more := true; more; {
		if more, err = w.App.Insolvencies.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if f.insolvency, err = w.App.Insolvencies.Get(t.Context(), w.Actor, reported.ID); err != nil || f.insolvency.State != insolvencies.Open {
		t.Fatalf("%+v, %v", f.insolvency, err)
	}
}

// dispute charges a part of a payment back on a day after the failure.
func (f *failed) dispute(place int, amount int64, days int) payment.Transaction {
	f.t.Helper()
	in := apptest.Linked(payment.Chargeback, f.payments[place], f.bookings[place], amount)
	f.SetClock(f.insolvency.TriggerAt.AddDate(0, 0, days))
	return f.Must(in)
}

// make runs the job until nothing is left, and reads all claims in the order in which they were made.
func (f *failed) make() []claims.Claim {
	f.t.Helper()
	f.Advance(time.Minute)
	for more := true; more; {
		var err error
		if more, err = f.App.Claims.Make(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
	list, err := f.App.Claims.List(f.t.Context(), f.Actor, claims.Filter{}, store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"})
	if err != nil {
		f.t.Fatal(err)
	}
	return list.Items
}

// TestAClaimIsMadeAndApproved: a dispute becomes a claim, which is assessed and approved; more than was assessed opens it again.
func TestAClaimIsMadeAndApproved(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 2)
		if list := f.make(); len(list) != 0 {
			t.Fatalf("claims without disputes: %+v", list)
		}
		f.dispute(0, 60_000, 10)
		list := f.make()
		if len(list) != 1 || list[0].State != claim.StateOpen || list[0].Payable != 60_000 || list[0].Value != 60_000 ||
			list[0].Covered != 60_000 || list[0].Reason != "" || list[0].FirstDay != civil.DayOf(f.insolvency.TriggerAt)+10 {
			t.Fatalf("%+v", list)
		}
		id := list[0].ID
		if _, err := w.App.Claims.Approve(t.Context(), w.Actor, id, ""); err == nil {
			t.Error("approved before it was assessed")
		}
		if c, err := w.App.Claims.Assess(t.Context(), w.Actor, id, "Checked"); err != nil || c.State != claim.StateAssessed {
			t.Fatalf("%+v, %v", c, err)
		}
		if c, err := w.App.Claims.Approve(t.Context(), w.Actor, id, ""); err != nil || c.State != claim.StateApproved {
			t.Fatalf("%+v, %v", c, err)
		}
		if again := f.make(); again[0].Version != 3 {
			t.Errorf("the job changed a claim to which nothing has happened: %+v", again[0])
		}
		if _, err := w.App.Claims.Reject(t.Context(), w.Actor, id, ""); err == nil {
			t.Error("rejected without a reason")
		}
		if c, err := w.App.Claims.Reject(t.Context(), w.Actor, id, "Duplicate"); err != nil || c.Payable != 0 || c.Covered != 0 {
			t.Errorf("rejected: %+v, %v", c, err)
		}
		if c, err := w.App.Claims.Reopen(t.Context(), w.Actor, id, "It is none"); err != nil || c.Payable != 60_000 || c.State != claim.StateOpen {
			t.Errorf("reopened: %+v, %v", c, err)
		}
		history, err := w.App.Claims.History(t.Context(), w.Actor, id)
		if err != nil || history[0].Action != "claim.make" || len(history) < 5 {
			t.Errorf("history: %+v, %v", history, err)
		}
		_, err = w.App.Claims.Get(t.Context(), w.Actor, id+99)
		apptest.WantKind(t, err, errs.SettingNotFound, "a claim that is not there")
	})
}

// TestARefundTakesFromAClaim: refunds after the failure reduce what is payable, with the reason, and the steps say so.
func TestARefundTakesFromAClaim(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.Advance(time.Hour)
		f.Must(apptest.Linked(payment.Refund, f.payments[0], f.bookings[0], 30_000))
		f.dispute(0, 100_000, 10)
		list := f.make()
		if len(list) != 1 || list[0].Payable != 70_000 || list[0].Represent != 30_000 || list[0].Reason != claim.Refunded {
			t.Fatalf("%+v", list)
		}
		x, err := w.App.Claims.Explain(t.Context(), w.Actor, list[0].ID)
		if err != nil || len(x.Steps) < 8 {
			t.Errorf("%+v, %v", x, err)
		}
		want := "Of the disputed £1,000.00, £700.00 is payable; £300.00 is to be represented: it was refunded. " +
			"The payable amount is covered in full."
		if x.Summary != want {
			t.Errorf("%q, want %q", x.Summary, want)
		}
	})
}

// TestARefundBeforeTheNote: refunds on record account for the amount of a note, in any order.
func TestARefundBeforeTheNote(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 1)
		f.Must(apptest.Linked(payment.Refund, f.payments[0], f.bookings[0], 40_000))
		page, err := w.App.Certificates.Of(t.Context(), w.Actor, f.bookings[0].ID)
		if err == nil {
			err = w.App.Certificates.TakeNote(t.Context(), page.Key, certificates.Note{Asked: certificates.AskedBank, PaidBack: 40_000})
		}
		if err != nil {
			t.Fatal(err)
		}
		f.dispute(0, 60_000, 10)
		if list := f.make(); len(list) != 1 || list[0].MayBeDuplicate() || list[0].Refunded != 40_000 || list[0].Payable != 60_000 {
			t.Errorf("%+v", list)
		}
		err = w.App.Certificates.TakeNote(t.Context(), page.Key, certificates.Note{Asked: certificates.AskedInsurer, PaidBack: 40_000})
		if c, gone := w.App.Claims.Get(t.Context(), w.Actor, 1); err != nil || gone != nil || !c.MayBeDuplicate() {
			t.Errorf("an insurer was asked: %+v, %v, %v", c, err, gone)
		}
	})
}

// TestATravellersNoteMarksAClaim: money from elsewhere shows on the claim before anybody pays it again.
func TestATravellersNoteMarksAClaim(t *testing.T) {
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		f := fail(t, w, 2)
		for i, note := range []certificates.Note{{Asked: certificates.AskedBank}, {Asked: certificates.AskedBank, PaidBack: 40_000}} {
			page, err := w.App.Certificates.Of(t.Context(), w.Actor, f.bookings[i].ID)
			if err == nil {
				err = w.App.Certificates.TakeNote(t.Context(), page.Key, note)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.dispute(i, 60_000, 10)
		}
		list := f.make()
		if len(list) != 2 || list[0].Note.Asked != certificates.AskedBank || list[0].MayBeDuplicate() ||
			list[1].Note.PaidBack != 40_000 || !list[1].MayBeDuplicate() {
			t.Errorf("%+v", list)
		}
		if c, err := w.App.Claims.Get(t.Context(), w.Actor, list[1].ID); err != nil || c.Note != list[1].Note || c.Payable != 60_000 {
			t.Errorf("the note changes nothing by itself: %+v, %v", c, err)
		}
		for _, refund := range []struct {
			total     int64
			duplicate bool
		}{{30_000, true}, {10_000, false}} { // the amount of the note, in two refunds that are reported later
			f.Must(apptest.Linked(payment.Refund, f.payments[1], f.bookings[1], refund.total))
			f.make()
			c, err := w.App.Claims.Get(t.Context(), w.Actor, list[1].ID)
			if err != nil || c.MayBeDuplicate() != refund.duplicate {
				t.Errorf("%+v: may be a duplicate: %t, %v", refund, c.MayBeDuplicate(), err)
			}
		}
	})
}
