package payments_test

import (
	"testing"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/psp"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

func TestARefundThatComesBack(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 100000, "2024-08-31")
		p := w.Must(apptest.Pay(payment.Purchase, b, 100000))
		refund := w.Must(apptest.Linked(payment.Refund, p, b, 40000))
		w.Minute()
		w.ComesBack(p, refund)
		w.Minute()
		got := w.ReadTransaction(refund.ID)
		if got.Status != payment.StatusFailed || got.GatewayCharge.Decline != string(psp.DeclineExpired) {
			t.Errorf("the refund is %s, %+v", got.Status, got.GatewayCharge)
		}
		if got := w.ReadTransaction(p.ID); got.Remaining != 100000 || got.Payments[0].Remaining != 100000 {
			t.Errorf("%d and %d remain", got.Remaining, got.Payments[0].Remaining)
		}
		if got := w.ReadBooking(b.ID); got.Sums.Net != 100000 || got.Sums.Held != 100000 {
			t.Errorf("the booking is %+v", got.Sums)
		}
		known := w.Now()
		for _, source := range []string{"buckets", "rows"} {
			if e1 := w.Exposure(report.ExposureQuery{Moment: ledger.Moment{KnownAt: known}}).Total.E1; e1 != 100000 {
				t.Errorf("E1 is %d, from the %s", e1, source)
			}
			w.Advance(time.Microsecond)
		}
		if m := w.Movement("2024-06-02", report.ExposureQuery{}).Total; m.Closing.E1 != 100000 || m.Of(protection.CauseRefunded).E1 != 0 {
			t.Errorf("it moved by %+v", m)
		}
		sum := int64(0)
		for _, l := range w.Lines(protection.PremiumFilter{}) {
			sum += l.Amount
		}
		if sum != 500 {
			t.Errorf("the ledger comes to %d", sum)
		}
		// It can be made again, and all of it at once.
		if again := w.Must(apptest.Linked(payment.Refund, p, b, 100000)); again.Status != payment.StatusComplete {
			t.Errorf("the next refund is %s", again.Status)
		}
		if e1 := w.Exposure(report.ExposureQuery{}).Total.E1; e1 != 0 {
			t.Errorf("E1 is %d", e1)
		}
	})
}

func TestWhatWasNotTakenIsNotChargedBack(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		w.Gateway.Set(psp.Purchase, apptest.Declined)
		failed := w.Must(apptest.Pay(payment.Purchase, b, 500))
		pending := w.Challenge(b, 500)
		for _, p := range []payment.Transaction{failed, pending} {
			_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(payment.Chargeback, p, b, 500))
			if !errs.Is(err, errs.NotPossible) {
				t.Errorf("a chargeback of what is %s: %v", p.Status, err)
			}
		}
	})
}

func TestAChargebackThatIsReversedInPart(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		p := w.Must(apptest.Pay(payment.Purchase, b, 1000))
		w.Must(apptest.Linked(payment.Chargeback, p, b, 1000))
		w.Must(apptest.Linked(payment.ChargebackReversal, p, b, 400))
		got := w.ReadTransaction(p.ID)
		if got.Status != payment.StatusLocked || got.Disputes[0].Outcome != payment.DisputePending {
			t.Errorf("it is %s, disputes %+v", got.Status, got.Disputes)
		}
		w.Dispute(p, payment.Dispute{ProcessorID: "dp-1", Outcome: payment.DisputeWon, Total: 1000, Currency: p.Currency, OpenedAt: w.Now(), ChallengeDay: civil.NoDay})
		w.Events(p)
		got = w.ReadTransaction(p.ID)
		if got.Status != payment.StatusComplete || got.Disputes[0].Outcome != payment.DisputeWon {
			t.Errorf("it is %s, disputes %+v", got.Status, got.Disputes)
		}
		if e1 := w.Exposure(report.ExposureQuery{}).Total.E1; e1 != 1000 {
			t.Errorf("E1 is %d", e1)
		}
	})
}

func TestAShopperWhoComesBackOverAndOverRunsOutOfTime(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		made := w.Challenge(w.Booking(w.Channel, 1000, "2024-09-14"), 1000)
		for range 100 { // 33 minutes
			w.Advance(20 * time.Second)
			w.Jobs()
			if _, err := w.App.GatewayPayments.Return(t.Context(), made.GatewayCharge.ReturnKey); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.ReadTransaction(made.ID).Status; got != payment.StatusExpired {
			t.Errorf("it is %s", got)
		}
	})
}
