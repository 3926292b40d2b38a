package app_test

import (
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/fault"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

// challenge begins a payment whose shopper is challenged.
func (p *processing) challenge(b travel.Booking, total int64) travel.Transaction {
	p.t.Helper()
	p.gateway.set(psp.Purchase, challenged)
	in := pay(travel.Purchase, b, total)
	in.Attempt3DS, in.RedirectURL = true, "https://shop.example/done?order=7&b=a"
	made := p.must(in)
	if made.Status != travel.StatusPending || made.Processed.Challenge.Value != "https://bank.example/challenge" {
		p.t.Fatalf("a challenged payment is %s, %+v", made.Status, made.Processed)
	}
	return made
}

// comeBack is the shopper's return from the challenge.
func (p *processing) comeBack(made travel.Transaction) {
	p.t.Helper()
	for range 2 { // a shopper may reload
		address, err := p.app.Processing.Return(p.t.Context(), made.Processed.ReturnKey)
		if err != nil || address != "https://shop.example/done?order=7&b=a&transaction_id=1" {
			p.t.Fatalf("the shopper goes to %s, %v", address, err)
		}
	}
}

func TestAChallengeThatIsPassed(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		made := w.challenge(b, 1000)
		w.comeBack(made) // too early: nothing is decided
		if got := w.readTransaction(made.ID); got.Status != travel.StatusPending || got.Processed.Challenge.Value == "" {
			t.Fatalf("before the challenge it is %s, %+v", got.Status, got.Processed)
		}
		w.gateway.challenge(made.UUID, true)
		w.comeBack(made)
		got := w.readTransaction(made.ID)
		want := travel.ThreeDS{Status: "authenticated", Flow: "challenge", ECI: "05", Version: "2.2.0", DirectoryID: "ds-1", LiabilityShift: true}
		if got.Status != travel.StatusComplete || got.Processed.ThreeDS != want || got.Processed.Challenge != (travel.Challenge{}) {
			t.Errorf("it is %s, %+v", got.Status, got.Processed)
		}
		if e1 := w.exposure(app.ExposureQuery{}).Total.E1; e1 != 1000 {
			t.Errorf("E1 is %d", e1)
		}
		if _, err := w.app.Processing.Return(t.Context(), "nobody"); !fault.Is(err, fault.NoRoute) {
			t.Errorf("an unknown key: %v", err)
		}
	})
}

func TestAChallengeThatIsRefused(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		made := w.challenge(b, 1000)
		w.gateway.challenge(made.UUID, false)
		w.gateway.down = true
		w.comeBack(made) // the processor cannot be asked: the shopper goes on, the job asks
		w.gateway.down = false
		w.minute()
		if got := w.readTransaction(made.ID); got.Status != travel.StatusFailed || got.Processed.ThreeDS.Status != "failed" || got.Processed.ThreeDS.LiabilityShift {
			t.Errorf("it is %s, %+v", got.Status, got.Processed)
		}
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{}) {
			t.Errorf("sums %+v", got)
		}
	})
}

func TestAChallengeThatNobodyPassesIsGivenUp(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		made := w.challenge(b, 600)
		w.advance(28 * time.Minute)
		w.minute()
		if got := w.readTransaction(made.ID).Status; got != travel.StatusPending {
			t.Fatalf("too early it is %s", got)
		}
		w.refused(pay(travel.Purchase, b, 600), fault.Invalid, "bookings")
		w.gateway.set(psp.Void, dieAfter) // whether it was released is not known
		w.minute()
		w.minute()
		w.minute()
		if got := w.readTransaction(made.ID); got.Status != travel.StatusExpired || got.Processed.ThreeDS.Status != "abandoned" {
			t.Fatalf("it is %s, %+v", got.Status, got.Processed)
		}
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{}) {
			t.Errorf("sums %+v", got)
		}
		w.comeBack(made)
		w.must(pay(travel.Purchase, b, 600))
	})
}

func TestAChallengePassedAtTheLastMomentCounts(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		made := w.challenge(b, 600)
		w.gateway.set(psp.Void, declined) // there is nothing to release any more
		w.advance(30 * time.Minute)
		w.jobs()
		w.gateway.challenge(made.UUID, true)
		w.minute()
		if got := w.readTransaction(made.ID).Status; got != travel.StatusComplete {
			t.Errorf("it is %s", got)
		}
	})
}

func TestExpiredAuthorisationsAreReleasedAtTheProcessor(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		for _, cut := range []conduct{ordinary, lostBefore, lostAfter, unreachable, dieBefore, dieAfter} {
			b := w.booking(w.channel, 1000, "2024-12-14")
			a := w.must(pay(travel.Authorize, b, 1000))
			w.must(linked(travel.Capture, a, b, 400))
			w.advance(travel.AuthorisationLife)
			if n, err := w.app.Payments.ExpireAuthorisations(t.Context()); n != 1 || err != nil {
				t.Fatalf("%d expired, %v", n, err)
			}
			w.gateway.set(psp.Void, cut)
			w.minute()
			taken, held := w.taken(a.UUID)
			if got := w.readTransaction(a.ID); got.Status != travel.StatusExpired || taken != 400 || held != 0 || got.Processed.State != travel.ProcessingSettled {
				t.Errorf("cut %d: %s, %d taken, %d held, %s", cut, got.Status, taken, held, got.Processed.State)
			}
			if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 400, Held: 400}) {
				t.Errorf("cut %d: sums %+v", cut, got)
			}
		}
	})
}

func TestAnAuthorisationIsNotReleasedUnderItsCapture(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-12-14")
		a := w.must(pay(travel.Authorize, b, 1000))
		w.advance(travel.AuthorisationLife - time.Second)
		w.gateway.set(psp.Capture, lostAfter)
		w.gateway.down = true
		capture := w.must(linked(travel.Capture, a, b, 400))
		w.advance(time.Second)
		if n, err := w.app.Payments.ExpireAuthorisations(t.Context()); n != 0 || err != nil {
			t.Fatalf("%d expired, %v", n, err)
		}
		w.gateway.down = false
		w.minute()
		if n, err := w.app.Payments.ExpireAuthorisations(t.Context()); n != 1 || err != nil {
			t.Fatalf("%d expired, %v", n, err)
		}
		w.minute()
		if taken, held := w.taken(a.UUID); taken != 400 || held != 0 || w.readTransaction(capture.ID).Status != travel.StatusComplete {
			t.Errorf("%d taken, %d held", taken, held)
		}
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 400, Held: 400}) {
			t.Errorf("sums %+v", got)
		}
	})
}
