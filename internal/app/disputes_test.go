package app_test

import (
	"strings"
	"testing"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/psp"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// dispute has the processor tell of disputes of a charge, and of nothing else.
func (p *processing) dispute(charge travel.Transaction, list ...psp.Dispute) {
	p.gateway.mu.Lock()
	defer p.gateway.mu.Unlock()
	p.gateway.charges[charge.UUID].disputes = list
	p.gateway.news = []psp.Hint{{EventID: "news-" + p.now().String(), Reference: charge.UUID}}
}

// events sends the event of a charge, several times over.
func (p *processing) events(charge travel.Transaction) {
	p.t.Helper()
	for range 3 {
		err := p.app.Processing.TakeEvent(p.t.Context(), p.event("signed", charge.UUID, p.channel.ID))
		if err != nil {
			p.t.Fatal(err)
		}
	}
	p.jobs()
}

func TestADisputeBecomesAChargeback(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		p := w.must(pay(travel.Purchase, b, 1000))
		w.minute()
		d := psp.Dispute{
			ProcessorID: "dp-1", State: psp.DisputeOpen, Amount: 700, Currency: p.Currency, ReasonCode: "10.4",
			OpenedAt: w.now().Add(-time.Second), AnswerBy: w.now().Add(10 * 24 * time.Hour),
		}
		w.dispute(p, d)
		w.events(p)
		w.minute() // the feed tells the same once more
		got := w.readTransaction(p.ID)
		if got.Status != travel.StatusLocked || len(got.Adjustments) != 1 || len(got.Disputes) != 1 {
			t.Fatalf("it is %s, adjusted by %v, disputes %+v", got.Status, got.Adjustments, got.Disputes)
		}
		want := travel.Dispute{
			SiteID: p.SiteID, TransactionID: p.ID, ChargebackID: got.Adjustments[0], ProcessorID: "dp-1", Outcome: travel.DisputePending,
			ReasonCode: "10.4", ChallengeDay: civil.DayOf(d.AnswerBy), Total: 700, Currency: p.Currency,
		}
		if got.Disputes[0] != want {
			t.Errorf("the dispute is %+v, want %+v", got.Disputes[0], want)
		}
		if b := w.readBooking(b.ID); b.StoredStatus() != travel.BookingLocked {
			t.Errorf("the booking is %s", b.StoredStatus())
		}
		d.State = psp.DisputeWon
		w.dispute(p, d)
		w.minute()
		w.minute()
		got = w.readTransaction(p.ID)
		if got.Status != travel.StatusComplete || len(got.Adjustments) != 2 || got.Disputes[0].Outcome != travel.DisputeWon ||
			got.Disputes[0].ReversalID != got.Adjustments[1] {
			t.Errorf("after it was won it is %s, disputes %+v", got.Status, got.Disputes)
		}
		d = psp.Dispute{ProcessorID: "dp-2", State: psp.DisputeLost, Amount: 1000, Currency: p.Currency, OpenedAt: w.now()}
		w.dispute(p, d)
		w.minute()
		got = w.readTransaction(p.ID)
		if got.Status != travel.StatusLocked || len(got.Adjustments) != 3 || got.Disputes[1].Outcome != travel.DisputeLost {
			t.Errorf("after the second was lost it is %s, disputes %+v", got.Status, got.Disputes)
		}
	})
}

func TestADisputeOfAnAuthorisationIsOneOfItsCaptures(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b, second := w.booking(w.channel, 1000, "2024-09-14"), w.booking(w.channel, 1000, "2024-09-14")
		in := pay(travel.Authorize, b, 1000)
		in.Items = &[]travel.Item{{BookingID: b.ID, Currency: b.Currency, Total: 700}, {BookingID: second.ID, Currency: b.Currency, Total: 300}}
		a := w.must(in)
		w.must(linked(travel.Capture, a, b, 200))
		part := linked(travel.Capture, a, b, 500)
		part.Items = &[]travel.Item{{BookingID: b.ID, Currency: b.Currency, Total: 400}, {BookingID: second.ID, Currency: b.Currency, Total: 100}}
		capture := w.must(part)
		w.dispute(a, psp.Dispute{ProcessorID: "dp-1", State: psp.DisputeOpen, Amount: 500, Currency: a.Currency, OpenedAt: w.now()})
		w.events(a)
		w.minute()
		got := w.readTransaction(capture.ID)
		if got.Status != travel.StatusLocked || len(got.Disputes) != 1 {
			t.Fatalf("the capture is %s, disputes %+v", got.Status, got.Disputes)
		}
		chargeback := w.readTransaction(got.Disputes[0].ChargebackID)
		if len(chargeback.Payments) != 2 || chargeback.Payments[0].Total != 400 || chargeback.Payments[1].Total != 100 {
			t.Errorf("the chargeback is %+v", chargeback.Payments)
		}
	})
}

func TestTheOperatorWasFaster(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		p := w.must(pay(travel.Purchase, b, 1000))
		byHand := linked(travel.Chargeback, p, b, 1000)
		day := civil.DayOf(w.now()) + 9
		byHand.ReasonCode, byHand.ChallengeDay = "4853", &day
		w.must(byHand)
		if got := w.readTransaction(p.ID).Disputes[0]; got.ReasonCode != "4853" || got.ChallengeDay != day || got.Outcome != travel.DisputePending {
			t.Errorf("the dispute is %+v", got)
		}
		w.dispute(p, psp.Dispute{ProcessorID: "dp-1", State: psp.DisputeWon, Amount: 1000, Currency: p.Currency, ReasonCode: "10.4", OpenedAt: w.now()})
		w.events(p)
		got := w.readTransaction(p.ID)
		if got.Status != travel.StatusComplete || len(got.Adjustments) != 2 || len(got.Disputes) != 1 || got.Disputes[0].ProcessorID != "dp-1" {
			t.Errorf("it is %s, adjusted by %v, disputes %+v", got.Status, got.Adjustments, got.Disputes)
		}
	})
}

func TestAnEventIsAHint(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		made := w.challenge(b, 600)
		take := func(signature, body string, channel int64) error {
			return w.app.Processing.TakeEvent(t.Context(), w.event(signature, body, channel))
		}
		if err := take("forged", made.UUID, w.channel.ID); !fault.Is(err, fault.Forbidden) {
			t.Errorf("a forged event: %v", err)
		}
		if err := take("signed", made.UUID, w.channel.ID+100); !fault.Is(err, fault.NoRoute) {
			t.Errorf("an event of a channel that there is not: %v", err)
		}
		other := w.world.channel(travel.ModeTest, "GBP")
		if err := take("signed", made.UUID, other.ID); !fault.Is(err, fault.NoRoute) {
			t.Errorf("an event of a channel that takes no payments: %v", err)
		}
		// It says that the payment went through, and is not believed.
		w.events(made)
		if got := w.readTransaction(made.ID).Status; got != travel.StatusPending {
			t.Errorf("it is %s", got)
		}
		finds := w.gateway.finds
		w.events(made)
		if w.gateway.finds != finds {
			t.Error("the same event was followed twice")
		}
		for _, body := range []string{"somebody else's", "4242424242424242", strings.Repeat("long", 1000), "nothing\x00"} {
			if err := take("signed", body, w.channel.ID); err != nil {
				t.Error(err)
			}
		}
		if err := w.core.Store.Read(t.Context(), func(tx *store.Tx) error {
			due, err := store.HintsDue(tx, 10)
			if len(due) != 1 || due[0].Reference != "somebody else's" {
				t.Errorf("what no name is was kept: %+v", due)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		w.jobs()
		w.gateway.challenge(made.UUID, true)
		w.gateway.news = []psp.Hint{{EventID: "news", ProcessorID: "ch-" + made.UUID}}
		w.gateway.down = true
		w.advance(time.Minute)
		w.jobs()
		w.gateway.down = false
		w.minute()
		if got := w.readTransaction(made.ID).Status; got != travel.StatusComplete {
			t.Errorf("it is %s", got)
		}
		w.advance(91 * 24 * time.Hour)
		if more, err := w.app.Processing.ForgetHints(t.Context()); more || err != nil {
			t.Errorf("%t, %v", more, err)
		}
	})
}
