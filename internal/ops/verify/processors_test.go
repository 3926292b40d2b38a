package verify_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/ops/verify"
	"holdfast/internal/psp"
	"holdfast/internal/testkit/apptest"
)

// TestABookWithAuthorisationsIsClean: captures in time and late, voids, and expired authorisations.
func TestABookWithAuthorisationsIsClean(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		b := w.Booking(w.Channel(merchant.ModeProtectionOnly, "GBP"), 100_000, "2024-09-14")
		var held []payment.Transaction
		for range 4 {
			held = append(held, w.Must(apptest.Report(payment.Authorize, b, 10_000)))
		}
		w.Must(apptest.Linked(payment.Capture, held[0], b, 4_000))
		w.Must(apptest.Linked(payment.Void, held[1], b, 10_000))
		taken := w.Must(apptest.Linked(payment.Capture, held[2], b, 10_000))
		w.Must(apptest.Linked(payment.Chargeback, taken, b, 10_000))
		wantClean(t, w)
		w.Advance(apptest.AuthorisationLife)
		runJobs(t, w)
		late := apptest.Linked(payment.Capture, held[3], b, 3_000)
		late.EffectiveAt = held[3].EffectiveAt.Add(time.Hour)
		captured := w.Must(late)
		w.Must(apptest.Linked(payment.Refund, captured, b, 1_000))
		wantClean(t, w)
	})
}

// TestABookWithProcessorsIsClean: also while the outcome of a payment is unknown, but not forever.
func TestABookWithProcessorsIsClean(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 100_000, "2024-09-14")
		w.Challenge(b, 5_000)
		w.Gateway.Set(psp.Purchase, apptest.Ordinary)
		charge := w.Must(apptest.Pay(payment.Purchase, b, 20_000))
		refund := w.Must(apptest.Linked(payment.Refund, charge, b, 6_000))
		wantClean(t, w.World)
		w.ComesBack(charge, refund)
		wantClean(t, w.World)
		w.Dispute(charge, payment.Dispute{
			ProcessorID: "d1", Outcome: payment.DisputePending, Total: 20_000, Currency: "GBP", OpenedAt: w.Now(), ChallengeDay: civil.NoDay,
		})
		w.Jobs()
		wantClean(t, w.World)
		w.Advance(26 * time.Hour)
		report, err := w.App.Verify.Run(t.Context(), access.System(0), verify.Query{Limit: 5})
		if err != nil || report.Total != 1 || report.Findings[0].Check != "payments in time" {
			t.Errorf("nobody has asked for a day: %+v, %v", report.Findings, err)
		}
	})
}
