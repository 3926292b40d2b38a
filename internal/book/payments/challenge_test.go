package payments_test

import (
	"testing"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/payment"
	"holdfast/internal/errs"
	"holdfast/internal/psp"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

func TestAChallengeThatIsPassed(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		made := w.Challenge(b, 1000)
		w.ComeBack(made) // too early: nothing is decided
		if got := w.ReadTransaction(made.ID); got.Status != payment.StatusPending || got.GatewayCharge.Challenge.Value == "" {
			t.Fatalf("before the challenge it is %s, %+v", got.Status, got.GatewayCharge)
		}
		w.Gateway.Challenge(made.UUID, true)
		w.ComeBack(made)
		got := w.ReadTransaction(made.ID)
		want := payment.ThreeDS{Status: "authenticated", Flow: "challenge", ECI: "05", Version: "2.2.0", DirectoryID: "ds-1", LiabilityShift: true}
		if got.Status != payment.StatusComplete || got.GatewayCharge.ThreeDS != want || got.GatewayCharge.Challenge != (payment.Challenge{}) {
			t.Errorf("it is %s, %+v", got.Status, got.GatewayCharge)
		}
		if e1 := w.Exposure(report.ExposureQuery{}).Total.E1; e1 != 1000 {
			t.Errorf("E1 is %d", e1)
		}
		if _, err := w.App.GatewayPayments.Return(t.Context(), "nobody"); !errs.Is(err, errs.NoRoute) {
			t.Errorf("an unknown key: %v", err)
		}
	})
}

func TestAChallengeThatIsRefused(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		made := w.Challenge(b, 1000)
		w.Gateway.Challenge(made.UUID, false)
		w.Gateway.Down = true
		w.ComeBack(made) // the processor cannot be queried: the shopper continues, the job asks
		w.Gateway.Down = false
		w.Minute()
		if got := w.ReadTransaction(made.ID); got.Status != payment.StatusFailed || got.GatewayCharge.ThreeDS.Status != "failed" || got.GatewayCharge.ThreeDS.LiabilityShift {
			t.Errorf("it is %s, %+v", got.Status, got.GatewayCharge)
		}
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{}) {
			t.Errorf("sums %+v", got)
		}
	})
}

func TestAChallengeThatNobodyPassesIsGivenUp(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		made := w.Challenge(b, 600)
		w.Advance(28 * time.Minute)
		w.Minute()
		if got := w.ReadTransaction(made.ID).Status; got != payment.StatusPending {
			t.Fatalf("too early it is %s", got)
		}
		w.Refused(apptest.Pay(payment.Purchase, b, 600), errs.Invalid, "bookings")
		w.Gateway.Set(psp.Void, apptest.DieAfter) // it is unknown whether it was released
		w.Minute()
		w.Minute()
		w.Minute()
		if got := w.ReadTransaction(made.ID); got.Status != payment.StatusExpired || got.GatewayCharge.ThreeDS.Status != "abandoned" {
			t.Fatalf("it is %s, %+v", got.Status, got.GatewayCharge)
		}
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{}) {
			t.Errorf("sums %+v", got)
		}
		w.ComeBack(made)
		w.Must(apptest.Pay(payment.Purchase, b, 600))
	})
}

func TestAChallengePassedAtTheLastMomentCounts(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		made := w.Challenge(b, 600)
		w.Gateway.Set(psp.Void, apptest.Declined) // there is nothing left to release
		w.Advance(30 * time.Minute)
		w.Jobs()
		w.Gateway.Challenge(made.UUID, true)
		w.Minute()
		if got := w.ReadTransaction(made.ID).Status; got != payment.StatusComplete {
			t.Errorf("it is %s", got)
		}
	})
}

func TestExpiredAuthorisationsAreReleasedAtTheProcessor(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		for _, cut := range []apptest.Conduct{apptest.Ordinary, apptest.LostBefore, apptest.LostAfter, apptest.Unreachable, apptest.DieBefore, apptest.DieAfter} {
			b := w.Booking(w.Channel, 1000, "2024-12-14")
			a := w.Must(apptest.Pay(payment.Authorize, b, 1000))
			w.Must(apptest.Linked(payment.Capture, a, b, 400))
			w.Advance(apptest.AuthorisationLife)
			if n, err := w.App.Payments.ExpireAuthorisations(t.Context()); n != 1 || err != nil {
				t.Fatalf("%d expired, %v", n, err)
			}
			w.Gateway.Set(psp.Void, cut)
			w.Minute()
			taken, held := w.Taken(a.UUID)
			if got := w.ReadTransaction(a.ID); got.Status != payment.StatusExpired || taken != 400 || held != 0 || got.GatewayCharge.State != payment.ChargeConcluded {
				t.Errorf("cut %d: %s, %d taken, %d held, %s", cut, got.Status, taken, held, got.GatewayCharge.State)
			}
			if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 400, Held: 400}) {
				t.Errorf("cut %d: sums %+v", cut, got)
			}
		}
	})
}

func TestAnAuthorisationIsNotReleasedUnderItsCapture(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-12-14")
		a := w.Must(apptest.Pay(payment.Authorize, b, 1000))
		w.Advance(apptest.AuthorisationLife - time.Second)
		w.Gateway.Set(psp.Capture, apptest.LostAfter)
		w.Gateway.Down = true
		capture := w.Must(apptest.Linked(payment.Capture, a, b, 400))
		w.Advance(time.Second)
		if n, err := w.App.Payments.ExpireAuthorisations(t.Context()); n != 0 || err != nil {
			t.Fatalf("%d expired, %v", n, err)
		}
		w.Gateway.Down = false
		w.Minute()
		if n, err := w.App.Payments.ExpireAuthorisations(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d expired, %v", n, err)
		}
		w.Minute()
		if taken, held := w.Taken(a.UUID); taken != 400 || held != 0 || w.ReadTransaction(capture.ID).Status != payment.StatusComplete {
			t.Errorf("%d taken, %d held", taken, held)
		}
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 400, Held: 400}) {
			t.Errorf("sums %+v", got)
		}
	})
}
