package app_test

import (
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/fault"
	"holdfast/internal/protection"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// comesBack has the processor say that a refund, which it had accepted, did not reach the card.
func (p *processing) comesBack(charge, refund travel.Transaction) {
	p.gateway.mu.Lock()
	c := p.gateway.charges[charge.UUID]
	r := c.adjustments[refund.UUID]
	c.adjustments[refund.UUID] = psp.Result{
		Outcome: psp.Declined, ProcessorID: r.ProcessorID, Decline: psp.DeclineExpired, Message: "the refund did not reach the card",
	}
	c.taken += r.Amount
	p.gateway.mu.Unlock()
	p.events(refund)
}

func TestARefundThatComesBack(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 100000, "2024-08-31")
		p := w.must(pay(travel.Purchase, b, 100000))
		refund := w.must(linked(travel.Refund, p, b, 40000))
		w.minute()
		w.comesBack(p, refund)
		w.minute()
		got := w.readTransaction(refund.ID)
		if got.Status != travel.StatusFailed || got.Processed.Decline != string(psp.DeclineExpired) {
			t.Errorf("the refund is %s, %+v", got.Status, got.Processed)
		}
		if got := w.readTransaction(p.ID); got.Remaining != 100000 || got.Payments[0].Remaining != 100000 {
			t.Errorf("%d and %d remain", got.Remaining, got.Payments[0].Remaining)
		}
		if got := w.readBooking(b.ID); got.Sums.Net != 100000 || got.Sums.Held != 100000 {
			t.Errorf("the booking is %+v", got.Sums)
		}
		known := w.now()
		for _, source := range []string{"buckets", "rows"} {
			if e1 := w.exposure(app.ExposureQuery{Moment: app.Moment{KnownAt: known}}).Total.E1; e1 != 100000 {
				t.Errorf("E1 is %d, from the %s", e1, source)
			}
			w.advance(time.Microsecond)
		}
		if m := w.movement("2024-06-02", app.ExposureQuery{}).Total; m.Closing.E1 != 100000 || m.Of(protection.CauseRefunded).E1 != 0 {
			t.Errorf("it moved by %+v", m)
		}
		sum := int64(0)
		for _, l := range w.lines(protection.PremiumFilter{}) {
			sum += l.Amount
		}
		if sum != 500 {
			t.Errorf("the ledger comes to %d", sum)
		}
		// It can be made again, and all of it at once.
		if again := w.must(linked(travel.Refund, p, b, 100000)); again.Status != travel.StatusComplete {
			t.Errorf("the next refund is %s", again.Status)
		}
		if e1 := w.exposure(app.ExposureQuery{}).Total.E1; e1 != 0 {
			t.Errorf("E1 is %d", e1)
		}
	})
}

func TestWhatWasNotTakenIsNotChargedBack(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		w.gateway.set(psp.Purchase, declined)
		failed := w.must(pay(travel.Purchase, b, 500))
		pending := w.challenge(b, 500)
		for _, p := range []travel.Transaction{failed, pending} {
			_, _, err := w.app.Payments.Create(t.Context(), w.actor, linked(travel.Chargeback, p, b, 500))
			if !fault.Is(err, fault.NotPossible) {
				t.Errorf("a chargeback of what is %s: %v", p.Status, err)
			}
		}
	})
}

func TestAChargebackThatIsReversedInPart(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		p := w.must(pay(travel.Purchase, b, 1000))
		w.must(linked(travel.Chargeback, p, b, 1000))
		w.must(linked(travel.ChargebackReversal, p, b, 400))
		got := w.readTransaction(p.ID)
		if got.Status != travel.StatusLocked || got.Disputes[0].Outcome != travel.DisputePending {
			t.Errorf("it is %s, disputes %+v", got.Status, got.Disputes)
		}
		w.dispute(p, psp.Dispute{ProcessorID: "dp-1", State: psp.DisputeWon, Amount: 1000, Currency: p.Currency, OpenedAt: w.now()})
		w.events(p)
		got = w.readTransaction(p.ID)
		if got.Status != travel.StatusComplete || got.Disputes[0].Outcome != travel.DisputeWon {
			t.Errorf("it is %s, disputes %+v", got.Status, got.Disputes)
		}
		if e1 := w.exposure(app.ExposureQuery{}).Total.E1; e1 != 1000 {
			t.Errorf("E1 is %d", e1)
		}
	})
}

func TestAShopperWhoComesBackOverAndOverRunsOutOfTime(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		made := w.challenge(w.booking(w.channel, 1000, "2024-09-14"), 1000)
		for range 100 { // 33 minutes
			w.advance(20 * time.Second)
			w.jobs()
			if _, err := w.app.Processing.Return(t.Context(), made.Processed.ReturnKey); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.readTransaction(made.ID).Status; got != travel.StatusExpired {
			t.Errorf("it is %s", got)
		}
	})
}
