package payments_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/testkit/apptest"
)

func TestADisputeBecomesAChargeback(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		p := w.Must(apptest.Pay(payment.Purchase, b, 1000))
		w.Minute()
		d := payment.Dispute{
			ProcessorID: "dp-1", Outcome: payment.DisputePending, Total: 700, Currency: p.Currency, ReasonCode: "10.4",
			OpenedAt: w.Now().Add(-time.Second), ChallengeDay: civil.DayOf(w.Now().Add(10 * 24 * time.Hour)),
		}
		w.Dispute(p, d)
		w.Events(p)
		w.Minute() // the feed reports the same again
		got := w.ReadTransaction(p.ID)
		if got.Status != payment.StatusLocked || len(got.Adjustments) != 1 || len(got.Disputes) != 1 {
			t.Fatalf("it is %s, adjusted by %v, disputes %+v", got.Status, got.Adjustments, got.Disputes)
		}
		want := payment.Dispute{
			SiteID: p.SiteID, TransactionID: p.ID, ChargebackID: got.Adjustments[0], ProcessorID: "dp-1", Outcome: payment.DisputePending,
			ReasonCode: "10.4", ChallengeDay: d.ChallengeDay, Total: 700, Currency: p.Currency, OpenedAt: d.OpenedAt.Truncate(time.Second), DisputeID: 1,
		}
		if got.Disputes[0] != want {
			t.Errorf("the dispute is %+v, want %+v", got.Disputes[0], want)
		}
		if b := w.ReadBooking(b.ID); b.StoredStatus() != booking.BookingPartialPayment {
			t.Errorf("the booking is %s", b.StoredStatus())
		}
		d.Outcome = payment.DisputeWon
		w.Dispute(p, d)
		w.Minute()
		w.Minute()
		got = w.ReadTransaction(p.ID)
		if got.Status != payment.StatusComplete || len(got.Adjustments) != 2 || got.Disputes[0].Outcome != payment.DisputeWon ||
			got.Disputes[0].ReversalID != got.Adjustments[1] {
			t.Errorf("after it was won it is %s, disputes %+v", got.Status, got.Disputes)
		}
		d = payment.Dispute{ProcessorID: "dp-2", Outcome: payment.DisputeLost, Total: 1000, Currency: p.Currency, OpenedAt: w.Now(), ChallengeDay: civil.NoDay}
		w.Dispute(p, d)
		w.Minute()
		got = w.ReadTransaction(p.ID)
		if got.Status != payment.StatusLocked || len(got.Adjustments) != 3 || got.Disputes[1].Outcome != payment.DisputeLost {
			t.Errorf("after the second was lost it is %s, disputes %+v", got.Status, got.Disputes)
		}
	})
}

func TestADisputeOfAnAuthorisationIsOneOfItsCaptures(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b, second := w.Booking(w.Channel, 1000, "2024-09-14"), w.Booking(w.Channel, 1000, "2024-09-14")
		in := apptest.Pay(payment.Authorize, b, 1000)
		in.Items = &[]payment.Item{{BookingID: b.ID, Currency: b.Currency, Total: 700}, {BookingID: second.ID, Currency: b.Currency, Total: 300}}
		a := w.Must(in)
		w.Must(apptest.Linked(payment.Capture, a, b, 200))
		part := apptest.Linked(payment.Capture, a, b, 500)
		part.Items = &[]payment.Item{{BookingID: b.ID, Currency: b.Currency, Total: 400}, {BookingID: second.ID, Currency: b.Currency, Total: 100}}
		capture := w.Must(part)
		w.Dispute(a, payment.Dispute{ProcessorID: "dp-1", Outcome: payment.DisputePending, Total: 500, Currency: a.Currency, OpenedAt: w.Now()})
		w.Events(a)
		w.Minute()
		got := w.ReadTransaction(capture.ID)
		if got.Status != payment.StatusLocked || len(got.Disputes) != 1 {
			t.Fatalf("the capture is %s, disputes %+v", got.Status, got.Disputes)
		}
		chargeback := w.ReadTransaction(got.Disputes[0].ChargebackID)
		if len(chargeback.Payments) != 2 || chargeback.Payments[0].Total != 400 || chargeback.Payments[1].Total != 100 {
			t.Errorf("the chargeback is %+v", chargeback.Payments)
		}
	})
}

// TestAReversalNamesItsChargeback: the chargeback that a reversal names distinguishes two disputes of the same amount.
func TestAReversalNamesItsChargeback(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "EUR"), 50000, "2024-09-14")
		p := w.Must(apptest.Report(payment.Purchase, b, 50000))
		first := w.Must(apptest.Linked(payment.Chargeback, p, b, 25000))
		second := w.Must(apptest.Linked(payment.Chargeback, p, b, 25000))
		reversal := w.Must(apptest.Linked(payment.ChargebackReversal, second, b, 25000))
		apptest.Same(t, "the reversal adjusts the payment", reversal.LinkedID, p.ID)
		got := w.ReadTransaction(p.ID)
		apptest.Same(t, "the disputes", []any{
			got.Disputes[0].ChargebackID, got.Disputes[0].Outcome, got.Disputes[1].ReversalID, got.Disputes[1].Outcome,
		}, []any{first.ID, payment.DisputePending, reversal.ID, payment.DisputeWon})
		apptest.Same(t, "the payment", []any{got.Status, got.ChargedBack}, []any{payment.StatusLocked, 25000})
		w.Refused(apptest.Linked(payment.Refund, second, b, 25000), errs.NotPossible, "not_a_payment")
		apptest.Same(t, "all came back", w.Must(apptest.Linked(payment.ChargebackReversal, p, b, 25000)).LinkedID, p.ID)
		apptest.Same(t, "at last", w.ReadTransaction(p.ID).Status, payment.StatusComplete)
	})
}

// TestADisputeFollowsTheOrderOfFacts: a reversal on the day of the dispute or later wins it, whichever was reported first. An earlier
// reversal never does.
func TestADisputeFollowsTheOrderOfFacts(t *testing.T) {
	t.Parallel()
	type fact struct {
		kind  payment.TransactionType
		days  int // ago
		total int64
	}
	facts := []fact{{payment.Chargeback, 9, 300}, {payment.ChargebackReversal, 7, 300}, {payment.Chargeback, 5, 300}}
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		channel := w.Channel(merchant.ModeProtectionOnly, "EUR")
		for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}} {
			b := w.Booking(channel, 1000, "2024-09-14")
			in := apptest.Report(payment.Purchase, b, 1000)
			in.EffectiveAt = w.Now().AddDate(0, 0, -10)
			p := w.Must(in)
			ids := make([]int64, len(facts))
			for _, i := range order {
				in := apptest.Linked(facts[i].kind, p, b, facts[i].total)
				in.EffectiveAt = w.Now().AddDate(0, 0, -facts[i].days)
				ids[i] = w.Must(in).ID
			}
			got := w.ReadTransaction(p.ID)
			won := slices.IndexFunc(got.Disputes, func(d payment.Dispute) bool { return d.ChargebackID == ids[0] })
			apptest.Same(t, fmt.Sprint("in order ", order), []any{
				got.Status, got.ChargedBack, got.Disputes[won].Outcome, got.Disputes[won].ReversalID, got.Disputes[1-won].Outcome,
			}, []any{payment.StatusLocked, 300, payment.DisputeWon, ids[1], payment.DisputePending})
		}
	})
}

func TestTheOperatorWasFaster(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		p := w.Must(apptest.Pay(payment.Purchase, b, 1000))
		byHand := apptest.Linked(payment.Chargeback, p, b, 1000)
		day := civil.DayOf(w.Now()) + 9
		byHand.ReasonCode, byHand.ChallengeDay = "4853", &day
		w.Must(byHand)
		if got := w.ReadTransaction(p.ID).Disputes[0]; got.ReasonCode != "4853" || got.ChallengeDay != day || got.Outcome != payment.DisputePending {
			t.Errorf("the dispute is %+v", got)
		}
		w.Dispute(p, payment.Dispute{ProcessorID: "dp-1", Outcome: payment.DisputeWon, Total: 1000, Currency: p.Currency, ReasonCode: "10.4", OpenedAt: w.Now()})
		w.Events(p)
		got := w.ReadTransaction(p.ID)
		if got.Status != payment.StatusComplete || len(got.Adjustments) != 2 || len(got.Disputes) != 1 || got.Disputes[0].ProcessorID != "dp-1" {
			t.Errorf("it is %s, adjusted by %v, disputes %+v", got.Status, got.Adjustments, got.Disputes)
		}
	})
}
