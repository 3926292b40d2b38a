package payments_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/book/onboarding"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/psp"
	"holdfast/internal/report"
	"holdfast/internal/testkit/apptest"
)

func TestAProcessorCarriesPaymentsOut(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		p := w.Must(apptest.Pay(payment.Purchase, b, 6000))
		if p.Status != payment.StatusComplete || p.PSP != "scripted" || p.AuthCode != "A1B2C3" || p.CardType != "visa" ||
			p.BIN != "424242" || p.LastFour != "4242" || p.Remaining != 6000 || p.GatewayCharge.ProcessorID != "ch-"+p.UUID {
			t.Fatalf("a purchase is %+v", p)
		}
		if e1 := w.Exposure(report.ExposureQuery{}).Total.E1; e1 != 6000 {
			t.Errorf("E1 is %d, want 6000", e1)
		}
		w.Must(apptest.Linked(payment.Refund, p, b, 1000))
		w.Must(apptest.Linked(payment.Refund, p, b, 500))
		w.Refused(apptest.Linked(payment.Refund, p, b, 4501), errs.NotPossible, "exceeds_remaining")
		if e1 := w.Exposure(report.ExposureQuery{}).Total.E1; e1 != 4500 {
			t.Errorf("after refunds E1 is %d, want 4500", e1)
		}
		a := w.Must(apptest.Pay(payment.Authorize, b, 4000))
		capture := w.Must(apptest.Linked(payment.Capture, a, b, 1500))
		w.Must(apptest.Linked(payment.Void, a, b, 2500))
		w.Must(apptest.Linked(payment.Refund, capture, b, 700))
		if taken, held := w.Taken(a.UUID); taken != 800 || held != 0 {
			t.Errorf("of the authorisation %d are taken, %d held", taken, held)
		}
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 5300, Held: 5300}) {
			t.Errorf("sums %+v", got)
		}
		w.Gateway.Set(psp.Purchase, apptest.Declined)
		no := w.Must(apptest.Pay(payment.Purchase, b, 4000))
		if no.Status != payment.StatusFailed || no.Content != "Insufficient funds." || no.TotalRemaining() != 0 || no.GatewayCharge.Decline != "insufficient_funds" {
			t.Errorf("a declined purchase is %+v", no)
		}
		w.Gateway.Set(psp.Refund, apptest.Declined)
		if no := w.Must(apptest.Linked(payment.Refund, p, b, 4500)); no.Status != payment.StatusFailed {
			t.Errorf("a declined refund is %s", no.Status)
		}
		if got := w.ReadTransaction(p.ID).Remaining; got != 4500 {
			t.Errorf("after a declined refund %d remain", got)
		}
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 5300, Held: 5300}) {
			t.Errorf("after declines: sums %+v", got)
		}
		// Other payments are logged, as everywhere.
		transfer := apptest.Report(payment.Purchase, b, 1000)
		transfer.Method = payment.BankTransfer
		if got := w.Must(transfer); got.Status != payment.StatusComplete || got.GatewayCharge != nil {
			t.Errorf("a transfer is %+v", got)
		}
	})
}

// cases are the five operations, each with its preparation and result.
var cases = []struct {
	op                      psp.Operation
	prepare                 payment.TransactionType // "": nothing
	takenAfter, heldAfter   int64                   // at the processor, when it happened
	takenBefore, heldBefore int64                   // when it did not
	sums, sumsBefore        booking.BookingSums
}{
	{psp.Purchase, "", 600, 0, 0, 0, booking.BookingSums{Net: 600, Held: 600}, booking.BookingSums{}},
	{psp.Authorize, "", 0, 600, 0, 0, booking.BookingSums{OpenAuthorised: 600, Held: 600}, booking.BookingSums{}},
	{psp.Capture, payment.Authorize, 600, 400, 0, 1000, booking.BookingSums{Net: 600, Held: 1000, OpenAuthorised: 400}, booking.BookingSums{Held: 1000, OpenAuthorised: 1000}},
	{psp.Refund, payment.Purchase, 400, 0, 1000, 0, booking.BookingSums{Net: 400, Held: 400}, booking.BookingSums{Net: 1000, Held: 1000}},
	{psp.Void, payment.Authorize, 0, 400, 0, 1000, booking.BookingSums{Held: 400, OpenAuthorised: 400}, booking.BookingSums{Held: 1000, OpenAuthorised: 1000}},
}

func TestNothingIsDoubledOrForgotten(t *testing.T) {
	t.Parallel()
	for _, c := range cases {
		t.Run(string(c.op), func(t *testing.T) {
			t.Parallel()
			apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
				for _, cut := range []struct {
					name string
					how  apptest.Conduct
					done bool
				}{
					{"the request is lost", apptest.LostBefore, false},
					{"the answer is lost", apptest.LostAfter, true},
					{"the program dies before the call", apptest.DieBefore, false},
					{"the program dies after the call", apptest.DieAfter, true},
					{"the program dies twice, before", apptest.DieBefore, false},
					{"the program dies twice, after", apptest.DieAfter, true},
				} {
					t.Run(cut.name, func(t *testing.T) {
						b := w.Booking(w.Channel, 10000, "2024-09-14")
						in, charge := apptest.Pay(payment.TransactionType(c.op), b, 600), ""
						var original payment.Transaction
						if c.prepare != "" {
							original = w.Must(apptest.Pay(c.prepare, b, 1000))
							in, charge = apptest.Linked(payment.TransactionType(c.op), original, b, 600), original.UUID
						}
						in.Reference = cut.name + string(c.op)
						before := w.Gateway.Moved()
						w.Gateway.Set(c.op, cut.how)
						got, _, err := w.App.Payments.Create(t.Context(), w.Actor, in)
						// An error would mean that nothing happened and the caller may retry: there is none.
						if err != nil || got.Status != payment.StatusIncomplete {
							t.Fatalf("%s, %v; want incomplete", got.Status, err)
						}
						if w.Dead {
							w.Reopen()
						}
						// The caller retries meanwhile: that is the same payment, without another call.
						again, created, err := w.App.Payments.Create(t.Context(), w.Actor, in)
						if err != nil || created {
							t.Fatalf("asked again: created %t, %v", created, err)
						}
						w.Gateway.Fatal = strings.Contains(cut.name, "twice") // once more, when it asks
						w.Minute()
						final := w.ReadTransaction(again.ID)
						wantStatus, sums, moves, taken, held := payment.StatusFailed, c.sumsBefore, 0, c.takenBefore, c.heldBefore
						if cut.done {
							wantStatus, sums, moves, taken, held = payment.StatusComplete, c.sums, 1, c.takenAfter, c.heldAfter
						}
						if charge == "" {
							charge = final.UUID
						}
						gotTaken, gotHeld := w.Taken(charge)
						if final.Status != wantStatus || w.Gateway.Moved()-before != moves || gotTaken != taken || gotHeld != held {
							t.Errorf("%s, %d moves, %d taken, %d held; want %s, %d, %d, %d", final.Status, w.Gateway.Moved()-before,
								gotTaken, gotHeld, wantStatus, moves, taken, held)
						}
						if got := w.ReadBooking(b.ID).Sums; got != sums {
							t.Errorf("sums %+v, want %+v", got, sums)
						}
						if original.ID != 0 {
							left := int64(1000)
							if cut.done {
								left = 400
							}
							if got := w.ReadTransaction(original.ID).Remaining; got != left {
								t.Errorf("%d remain of the original, want %d", got, left)
							}
						}
					})
				}
			})
		})
	}
}

func TestAProcessorThatCannotBeAskedIsAskedAgain(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		w.Gateway.Down = true
		w.Gateway.Set(psp.Purchase, apptest.LostAfter)
		p := w.Must(apptest.Pay(payment.Purchase, b, 600))
		for range 20 {
			w.Minute()
		}
		if got := w.ReadTransaction(p.ID).Status; got != payment.StatusIncomplete {
			t.Fatalf("with nobody to ask it is %s", got)
		}
		w.Gateway.Down = false
		w.Minute()
		if got := w.ReadTransaction(p.ID).Status; got != payment.StatusComplete {
			t.Fatalf("a minute after the processor came back it is %s", got)
		}
		finds := w.Gateway.Finds
		w.Minute()
		if w.Gateway.Finds != finds {
			t.Error("what is known is asked about")
		}
	})
}

func TestWhatComesAfterItWasGivenUpIsRecorded(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		w.Gateway.Set(psp.Purchase, apptest.LostBefore)
		p := w.Must(apptest.Pay(payment.Purchase, b, 600))
		w.Minute()
		if got := w.ReadTransaction(p.ID).Status; got != payment.StatusFailed {
			t.Fatalf("it is %s", got)
		}
		w.Must(apptest.Pay(payment.Purchase, b, 1000))
		// The request was delayed for a long time, but not rejected.
		c := psp.Charge{Reference: p.UUID, Amount: 600}
		if _, err := w.Gateway.Charge(psp.Purchase, c); err != nil {
			t.Fatal(err)
		}
		for range 11 {
			w.Minute()
		}
		if got := w.ReadTransaction(p.ID); got.Status != payment.StatusComplete || got.Remaining != 600 {
			t.Errorf("it is %s, %d remain", got.Status, got.Remaining)
		}
		if got := w.ReadBooking(b.ID).Sums.Net; got != 1600 {
			t.Errorf("%d were paid", got)
		}
	})
}

func TestACardIsNotReportedWhereItCannotBeCharged(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		in := apptest.Pay(payment.Purchase, b, 600)
		change := func(c merchant.ChannelFields) {
			if _, err := w.App.Channels.Change(t.Context(), w.Actor, w.Channel.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		refused := func(when string) {
			if _, _, err := w.App.Payments.Create(t.Context(), w.Actor, in); !errs.Is(err, errs.NotPossible) {
				t.Errorf("%s: %v", when, err)
			}
		}
		if _, err := w.App.Channels.SetGateway(t.Context(), w.Actor, w.Channel.ID, onboarding.GatewayFields{}); err != nil {
			t.Fatal(err)
		}
		refused("without a processor")
		change(merchant.ChannelFields{Mode: new(merchant.ModeClosed)})
		refused("closed")
		elsewhere := in
		elsewhere.Token = ""
		if got := w.Must(elsewhere); got.Status != payment.StatusComplete || got.GatewayCharge != nil {
			t.Errorf("a payment that was taken elsewhere is %s", got.Status)
		}
		change(merchant.ChannelFields{ProcessorFields: merchant.ProcessorFields{ServerToServer: new(false)}})
		if got := w.Must(in); got.Status != payment.StatusComplete || got.GatewayCharge != nil {
			t.Errorf("on a channel that only reports it is %s", got.Status)
		}
		if w.Gateway.Moved() != 0 {
			t.Error("money moved")
		}
	})
}

func TestOneReferenceIsOneCharge(t *testing.T) {
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		in := apptest.Pay(payment.Purchase, b, 600)
		in.Reference = "order-1"
		var all sync.WaitGroup
		ids := make([]int64, 8)
		for i := range ids {
			all.Go(func() {
				got, _, err := w.App.Payments.Create(t.Context(), w.Actor, in)
				if err != nil {
					t.Errorf("repeated: %v", err)
				}
				ids[i] = got.ID
			})
		}
		all.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Fatalf("ids %v", ids)
			}
		}
		if n := w.Gateway.Moved(); n != 1 {
			t.Errorf("%d charges", n)
		}
	})
}

func TestRefundsAtOnceNeverExceedWhatRemains(t *testing.T) {
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		p := w.Must(apptest.Pay(payment.Purchase, b, 1000))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, _, err := w.App.Payments.Create(t.Context(), w.Actor, apptest.Linked(payment.Refund, p, b, 300))
				if err != nil && !errs.Is(err, errs.NotPossible) {
					t.Errorf("a refund: %v", err)
				}
			})
		}
		all.Wait()
		if taken, _ := w.Taken(p.UUID); taken != 100 || w.ReadTransaction(p.ID).Remaining != 100 || w.ReadBooking(b.ID).Sums.Net != 100 {
			t.Errorf("%d are left at the processor, %d on record", taken, w.ReadTransaction(p.ID).Remaining)
		}
		if premium := w.Exposure(report.ExposureQuery{}).Total.E1; premium != 100 {
			t.Errorf("E1 is %d", premium)
		}
	})
}

func TestTwoThatAskWriteTheOutcomeOnce(t *testing.T) {
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 100000, "2024-09-14")
		var made []payment.Transaction
		for range 3 {
			w.Gateway.Set(psp.Purchase, apptest.LostAfter)
			made = append(made, w.Must(apptest.Pay(payment.Purchase, b, 600)))
			w.Gateway.Set(psp.Authorize, apptest.LostAfter)
			made = append(made, w.Must(apptest.Pay(payment.Authorize, b, 600)))
		}
		w.Advance(time.Minute)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := w.App.Disputes.Reconcile(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		for _, p := range made { // its event comes at the same moment
			all.Go(func() {
				if err := w.App.Notices.Take(t.Context(), w.Event("signed", p.UUID, w.Channel.ID)); err != nil {
					t.Error(err)
				}
				if _, err := w.App.Notices.Follow(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.Minute()
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{Net: 1800, Held: 3600, OpenAuthorised: 1800}) {
			t.Errorf("sums %+v", got)
		}
		if e1 := w.Exposure(report.ExposureQuery{}).Total.E1; e1 != 1800 {
			t.Errorf("E1 is %d", e1)
		}
	})
}

func TestTheOutcomeIsWrittenThoughNobodyWaits(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		ctx, leave := context.WithCancel(t.Context())
		w.Gateway.During = leave
		got, _, err := w.App.Payments.Create(ctx, w.Actor, apptest.Pay(payment.Purchase, b, 600))
		if err != nil || w.ReadTransaction(got.ID).Status != payment.StatusComplete {
			t.Errorf("%s, %v", got.Status, err)
		}
	})
}

func TestTooManyAtOnceAreRefused(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.With(func(cfg *app.Config) { cfg.Processing.InFlight = 1 })
		p := apptest.NewProcessing(t, w, merchant.ModeLive)
		b := p.Booking(p.Channel, 10000, "2024-09-14")
		var second error
		var once sync.Once
		p.Gateway.During = func() {
			once.Do(func() {
				_, _, second = p.App.Payments.Create(t.Context(), p.Actor, apptest.Pay(payment.Purchase, b, 100))
			})
		}
		p.Must(apptest.Pay(payment.Purchase, b, 600))
		f, ok := errors.AsType[*errs.Error](second)
		if !ok || f.Kind != errs.Unavailable || f.RetryAfter == 0 {
			t.Errorf("the second one: %v", second)
		}
		if got := p.ReadBooking(b.ID); got.Sums.Held != 600 || len(got.TransactionIDs) != 1 {
			t.Errorf("the refused one left traces: %+v", got)
		}
		p.Must(apptest.Pay(payment.Purchase, b, 100))
	})
}

func TestWhatTheProcessorDoesNotTakeCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		in := apptest.Pay(payment.Purchase, b, 1000)
		in.Reference = "order-1"
		w.Gateway.Set(psp.Purchase, apptest.Unreachable)
		w.Refused(in, errs.Unavailable, "")
		w.Gateway.Set(psp.Purchase, apptest.Invalid)
		w.Refused(in, errs.Invalid, "token")
		// Nothing is held, and the same reference is free.
		if got := w.ReadBooking(b.ID).Sums; got != (booking.BookingSums{}) {
			t.Errorf("sums %+v", got)
		}
		p := w.Must(in)
		w.Gateway.Set(psp.Refund, apptest.Invalid)
		w.Refused(apptest.Linked(payment.Refund, p, b, 1000), errs.NotPossible, "tokenizer_refused")
		w.Must(apptest.Linked(payment.Refund, p, b, 1000))
		// A call whose deadline has passed before it starts is not made.
		w.App.Payments.Settings.CallTimeout = time.Nanosecond
		w.App.DB.Clock = func() time.Time { return w.Now().Add(time.Second) }
		moved := w.Gateway.Moved()
		w.Refused(apptest.Pay(payment.Purchase, b, 10), errs.Unavailable, "")
		if w.Gateway.Moved() != moved {
			t.Error("it was made")
		}
	})
}

func TestWhatIsNotForTheProcessorIsRefused(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 1000, "2024-09-14")
		in := apptest.Pay(payment.Purchase, b, 1000)
		in.Token = ""
		w.Refused(in, errs.Missing, "")
		in = apptest.Pay(payment.Purchase, b, 1000)
		in.PSP = "another"
		w.Refused(in, errs.Invalid, "psp")
		in = apptest.Pay(payment.Purchase, b, 1000)
		in.EffectiveAt = w.Now().Add(-time.Hour)
		w.Refused(in, errs.Invalid, "effective_at")
		p := w.Must(apptest.Pay(payment.Purchase, b, 1000))
		refund := apptest.Linked(payment.Refund, p, b, 100)
		refund.PSP = "another"
		w.Refused(refund, errs.Invalid, "psp")
		// A closed channel takes no payments, but can refund.
		closed := merchant.ModeClosed
		if _, err := w.App.Channels.Change(t.Context(), w.Actor, w.Channel.ID, merchant.ChannelFields{Mode: &closed}); err != nil {
			t.Fatal(err)
		}
		if got := w.Must(apptest.Linked(payment.Refund, p, b, 100)); got.GatewayCharge == nil || got.Status != payment.StatusComplete {
			t.Errorf("the refund is %+v", got)
		}
		if n := w.Gateway.Moved(); n != 2 {
			t.Errorf("%d moves: %s", n, strings.Join(w.Gateway.Moves, "; "))
		}
	})
}

// TestTheTestPaymentCompletesOnEveryTestChannel, also on one that takes payments itself. No processor is asked.
func TestTheTestPaymentCompletesOnEveryTestChannel(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, world *apptest.World) {
		without := world.Channel(merchant.ModeTest, world.Site.Policy.Currency)
		w := apptest.NewProcessing(t, world, merchant.ModeTest)
		live := w.World.Channel(merchant.ModeLive, world.Site.Policy.Currency)
		report := func(c merchant.Channel) payment.NewTransaction {
			in := apptest.Report(payment.Purchase, w.Booking(c, 1000, "2024-09-14"), 1000)
			in.PSP, in.Token = payment.TestPSP, payment.TestToken
			return in
		}
		for _, c := range []merchant.Channel{without, w.Channel} {
			got := w.Must(report(c))
			if got.Status != payment.StatusComplete || got.Content != payment.TestOutcome || got.GatewayCharge != nil {
				t.Errorf("on channel %d it is %s, %q", c.ID, got.Status, got.Content)
			}
			refund := w.Must(apptest.Linked(payment.Refund, got, w.ReadBooking(got.Payments[0].BookingID), 400))
			if refund.Status != payment.StatusComplete || w.ReadTransaction(got.ID).TotalRemaining() != 600 {
				t.Errorf("its refund on channel %d is %s", c.ID, refund.Status)
			}
		}
		w.Refused(report(live), errs.Invalid, "token")
		if n := w.Gateway.Moved(); n != 0 {
			t.Errorf("%d moves at the processor", n)
		}
	})
}

// TestPremiumFollowsTheOutcome: R1 and R10 only count a payment or refund once it is complete.
func TestPremiumFollowsTheOutcome(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 100000, "2024-08-31")
		expect := func(step string, want ...int64) {
			t.Helper()
			var got []int64
			for _, line := range w.Lines(protection.PremiumFilter{}) {
				got = append(got, line.Amount)
			}
			if !slices.Equal(got, want) {
				t.Errorf("after %s the ledger is %v, want %v", step, got, want)
			}
		}
		w.Gateway.Set(psp.Purchase, apptest.LostAfter)
		p := w.Must(apptest.Pay(payment.Purchase, b, 100000))
		expect("a purchase that nobody knows of")
		w.Minute()
		expect("its outcome", 500)
		w.Gateway.Set(psp.Refund, apptest.LostAfter)
		w.Must(apptest.Linked(payment.Refund, p, b, 40000))
		expect("a refund that nobody knows of", 500)
		w.Minute()
		expect("its outcome", 500, -200)
		w.Gateway.Set(psp.Refund, apptest.Declined)
		w.Must(apptest.Linked(payment.Refund, p, b, 40000))
		expect("a refund that was declined", 500, -200)
	})
}

func TestWhatAFailureGivesBackIsWhatWasTaken(t *testing.T) {
	t.Parallel()
	apptest.OnBothProcessing(t, func(t *testing.T, w *apptest.Processing) {
		b := w.Booking(w.Channel, 10000, "2024-09-14")
		usd := money.Currency("USD")
		in := apptest.Pay(payment.Purchase, b, 10000)
		total := int64(12650)
		in.Currency, in.Total = &usd, &total
		p := w.Must(in)
		for _, refund := range []struct {
			total, base int64 // 0: not said
		}{{3333, 0}, {12650, 9500}, {9000, 10000}, {1, 1}} {
			in := apptest.Linked(payment.Refund, p, b, refund.base)
			in.Currency, in.Total = &usd, &refund.total
			if refund.base == 0 {
				in.Items = nil
			}
			w.Gateway.Set(psp.Refund, apptest.Declined)
			if got := w.Must(in); got.Status != payment.StatusFailed {
				t.Errorf("the refund is %s", got.Status)
			}
			if got := w.ReadTransaction(p.ID); got.Remaining != 12650 || got.Payments[0].Remaining != 10000 {
				t.Errorf("after a refund of %+v failed %d and %d remain", refund, got.Remaining, got.Payments[0].Remaining)
			}
		}
	})
}
