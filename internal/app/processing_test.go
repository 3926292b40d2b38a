package app_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/app"
	"holdfast/internal/fault"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/psp"
	"holdfast/internal/travel"
)

func TestAProcessorCarriesPaymentsOut(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		p := w.must(pay(travel.Purchase, b, 6000))
		if p.Status != travel.StatusComplete || p.PSP != "scripted" || p.AuthCode != "A1B2C3" || p.CardType != "visa" ||
			p.BIN != "424242" || p.LastFour != "4242" || p.Remaining != 6000 || p.Processed.ProcessorID != "ch-"+p.UUID {
			t.Fatalf("a purchase is %+v", p)
		}
		if e1 := w.exposure(app.ExposureQuery{}).Total.E1; e1 != 6000 {
			t.Errorf("E1 is %d, want 6000", e1)
		}
		w.must(linked(travel.Refund, p, b, 1000))
		w.must(linked(travel.Refund, p, b, 500))
		w.refused(linked(travel.Refund, p, b, 4501), fault.NotPossible, "exceeds_remaining")
		if e1 := w.exposure(app.ExposureQuery{}).Total.E1; e1 != 4500 {
			t.Errorf("after refunds E1 is %d, want 4500", e1)
		}
		a := w.must(pay(travel.Authorize, b, 4000))
		capture := w.must(linked(travel.Capture, a, b, 1500))
		w.must(linked(travel.Void, a, b, 2500))
		w.must(linked(travel.Refund, capture, b, 700))
		if taken, held := w.taken(a.UUID); taken != 800 || held != 0 {
			t.Errorf("of the authorisation %d are taken, %d held", taken, held)
		}
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 5300, Held: 5300}) {
			t.Errorf("sums %+v", got)
		}
		w.gateway.set(psp.Purchase, declined)
		no := w.must(pay(travel.Purchase, b, 4000))
		if no.Status != travel.StatusFailed || no.Content != "Insufficient funds." || no.TotalRemaining() != 0 || no.Processed.Decline != "insufficient_funds" {
			t.Errorf("a declined purchase is %+v", no)
		}
		w.gateway.set(psp.Refund, declined)
		if no := w.must(linked(travel.Refund, p, b, 4500)); no.Status != travel.StatusFailed {
			t.Errorf("a declined refund is %s", no.Status)
		}
		if got := w.readTransaction(p.ID).Remaining; got != 4500 {
			t.Errorf("after a declined refund %d remain", got)
		}
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 5300, Held: 5300}) {
			t.Errorf("after declines: sums %+v", got)
		}
		// What is paid otherwise is logged, as it is everywhere.
		transfer := report(travel.Purchase, b, 1000)
		transfer.Method = travel.BankTransfer
		if got := w.must(transfer); got.Status != travel.StatusComplete || got.Processed != nil {
			t.Errorf("a transfer is %+v", got)
		}
	})
}

// cases are the five operations, each with what prepares it and what it comes to.
var cases = []struct {
	op                     psp.Operation
	prepare                travel.TransactionType // "": nothing
	takenAfter, heldAfter  int64                  // at the processor, when it happened
	takenBefore, heldBefor int64                  // when it did not
	sums, sumsBefore       travel.BookingSums
}{
	{psp.Purchase, "", 600, 0, 0, 0, travel.BookingSums{Net: 600, Held: 600}, travel.BookingSums{}},
	{psp.Authorize, "", 0, 600, 0, 0, travel.BookingSums{OpenAuthorised: 600, Held: 600}, travel.BookingSums{}},
	{psp.Capture, travel.Authorize, 600, 400, 0, 1000, travel.BookingSums{Net: 600, Held: 1000, OpenAuthorised: 400}, travel.BookingSums{Held: 1000, OpenAuthorised: 1000}},
	{psp.Refund, travel.Purchase, 400, 0, 1000, 0, travel.BookingSums{Net: 400, Held: 400}, travel.BookingSums{Net: 1000, Held: 1000}},
	{psp.Void, travel.Authorize, 0, 400, 0, 1000, travel.BookingSums{Held: 400, OpenAuthorised: 400}, travel.BookingSums{Held: 1000, OpenAuthorised: 1000}},
}

func TestNothingIsDoubledOrForgotten(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		for _, c := range cases {
			for name, cut := range map[string]struct {
				how  conduct
				done bool
			}{
				"the request is lost": {lostBefore, false}, "the answer is lost": {lostAfter, true},
				"the program dies before the call": {dieBefore, false}, "the program dies after the call": {dieAfter, true},
				"the program dies twice, before": {dieBefore, false}, "the program dies twice, after": {dieAfter, true},
			} {
				t.Run(fmt.Sprint(c.op, ": ", name), func(t *testing.T) {
					b := w.booking(w.channel, 10000, "2024-09-14")
					in, charge := pay(travel.TransactionType(c.op), b, 600), ""
					var original travel.Transaction
					if c.prepare != "" {
						original = w.must(pay(c.prepare, b, 1000))
						in, charge = linked(travel.TransactionType(c.op), original, b, 600), original.UUID
					}
					in.Reference = name + string(c.op)
					before := w.gateway.moved()
					w.gateway.set(c.op, cut.how)
					got, _, err := w.app.Payments.Create(t.Context(), w.actor, in)
					// An error says that nothing happened, and that the caller may try again: there is none.
					if err != nil || got.Status != travel.StatusIncomplete {
						t.Fatalf("%s, %v; want incomplete", got.Status, err)
					}
					if w.dead {
						w.reopen()
					}
					// The caller asks again meanwhile: that is the same payment, and no other call.
					again, created, err := w.app.Payments.Create(t.Context(), w.actor, in)
					if err != nil || created {
						t.Fatalf("asked again: created %t, %v", created, err)
					}
					w.gateway.fatal = strings.Contains(name, "twice") // once more, when it asks
					w.minute()
					final := w.readTransaction(again.ID)
					wantStatus, sums, moves, taken, held := travel.StatusFailed, c.sumsBefore, 0, c.takenBefore, c.heldBefor
					if cut.done {
						wantStatus, sums, moves, taken, held = travel.StatusComplete, c.sums, 1, c.takenAfter, c.heldAfter
					}
					if charge == "" {
						charge = final.UUID
					}
					gotTaken, gotHeld := w.taken(charge)
					if final.Status != wantStatus || w.gateway.moved()-before != moves || gotTaken != taken || gotHeld != held {
						t.Errorf("%s, %d moves, %d taken, %d held; want %s, %d, %d, %d", final.Status, w.gateway.moved()-before,
							gotTaken, gotHeld, wantStatus, moves, taken, held)
					}
					if got := w.readBooking(b.ID).Sums; got != sums {
						t.Errorf("sums %+v, want %+v", got, sums)
					}
					if original.ID != 0 {
						left := int64(1000)
						if cut.done {
							left = 400
						}
						if got := w.readTransaction(original.ID).Remaining; got != left {
							t.Errorf("%d remain of the original, want %d", got, left)
						}
					}
				})
			}
		}
	})
}

func TestAProcessorThatCannotBeAskedIsAskedAgain(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		w.gateway.down = true
		w.gateway.set(psp.Purchase, lostAfter)
		p := w.must(pay(travel.Purchase, b, 600))
		for range 20 {
			w.minute()
		}
		if got := w.readTransaction(p.ID).Status; got != travel.StatusIncomplete {
			t.Fatalf("with nobody to ask it is %s", got)
		}
		w.gateway.down = false
		w.minute()
		if got := w.readTransaction(p.ID).Status; got != travel.StatusComplete {
			t.Fatalf("a minute after the processor came back it is %s", got)
		}
		finds := w.gateway.finds
		w.minute()
		if w.gateway.finds != finds {
			t.Error("what is known is asked about")
		}
	})
}

func TestWhatComesAfterItWasGivenUpIsRecorded(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		w.gateway.set(psp.Purchase, lostBefore)
		p := w.must(pay(travel.Purchase, b, 600))
		w.minute()
		if got := w.readTransaction(p.ID).Status; got != travel.StatusFailed {
			t.Fatalf("it is %s", got)
		}
		w.must(pay(travel.Purchase, b, 1000))
		// The request was a long time on its way, and nobody refused it.
		c := psp.Charge{Reference: p.UUID, Amount: 600}
		if _, err := w.gateway.charge(psp.Purchase, c); err != nil {
			t.Fatal(err)
		}
		for range 11 {
			w.minute()
		}
		if got := w.readTransaction(p.ID); got.Status != travel.StatusComplete || got.Remaining != 600 {
			t.Errorf("it is %s, %d remain", got.Status, got.Remaining)
		}
		if got := w.readBooking(b.ID).Sums.Net; got != 1600 {
			t.Errorf("%d were paid", got)
		}
	})
}

func TestACardIsNotReportedWhereItCannotBeCharged(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		in := pay(travel.Purchase, b, 600)
		change := func(c travel.ChannelFields) {
			if _, err := w.app.Channels.Change(t.Context(), w.actor, w.channel.ID, c); err != nil {
				t.Fatal(err)
			}
		}
		refused := func(when string) {
			if _, _, err := w.app.Payments.Create(t.Context(), w.actor, in); !fault.Is(err, fault.NotPossible) {
				t.Errorf("%s: %v", when, err)
			}
		}
		if _, err := w.app.Channels.SetGateway(t.Context(), w.actor, w.channel.ID, app.GatewayFields{}); err != nil {
			t.Fatal(err)
		}
		refused("without a processor")
		change(travel.ChannelFields{Mode: new(travel.ModeClosed)})
		refused("closed")
		elsewhere := in
		elsewhere.Token = ""
		if got := w.must(elsewhere); got.Status != travel.StatusComplete || got.Processed != nil {
			t.Errorf("a payment that was taken elsewhere is %s", got.Status)
		}
		change(travel.ChannelFields{Processing: travel.ProcessingFields{ServerToServer: new(false)}})
		if got := w.must(in); got.Status != travel.StatusComplete || got.Processed != nil {
			t.Errorf("on a channel that only reports it is %s", got.Status)
		}
		if w.gateway.moved() != 0 {
			t.Error("money moved")
		}
	})
}

func TestOneReferenceIsOneCharge(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		in := pay(travel.Purchase, b, 600)
		in.Reference = "order-1"
		var all sync.WaitGroup
		ids := make([]int64, 8)
		for i := range ids {
			all.Go(func() {
				got, _, err := w.app.Payments.Create(t.Context(), w.actor, in)
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
		if n := w.gateway.moved(); n != 1 {
			t.Errorf("%d charges", n)
		}
	})
}

func TestRefundsAtOnceNeverExceedWhatRemains(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		p := w.must(pay(travel.Purchase, b, 1000))
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, _, err := w.app.Payments.Create(t.Context(), w.actor, linked(travel.Refund, p, b, 300))
				if err != nil && !fault.Is(err, fault.NotPossible) {
					t.Errorf("a refund: %v", err)
				}
			})
		}
		all.Wait()
		if taken, _ := w.taken(p.UUID); taken != 100 || w.readTransaction(p.ID).Remaining != 100 || w.readBooking(b.ID).Sums.Net != 100 {
			t.Errorf("%d are left at the processor, %d on record", taken, w.readTransaction(p.ID).Remaining)
		}
		if premium := w.exposure(app.ExposureQuery{}).Total.E1; premium != 100 {
			t.Errorf("E1 is %d", premium)
		}
	})
}

func TestTwoThatAskWriteTheOutcomeOnce(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 100000, "2024-09-14")
		var made []travel.Transaction
		for range 6 {
			w.gateway.set(psp.Purchase, lostAfter)
			made = append(made, w.must(pay(travel.Purchase, b, 600)))
		}
		w.advance(time.Minute)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := w.app.Processing.Ask(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		for _, p := range made { // its event comes at the same moment
			all.Go(func() {
				if err := w.app.Processing.TakeEvent(t.Context(), w.event("signed", p.UUID, w.channel.ID)); err != nil {
					t.Error(err)
				}
				if _, err := w.app.Processing.FollowHints(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.minute()
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{Net: 3600, Held: 3600}) {
			t.Errorf("sums %+v", got)
		}
		if e1 := w.exposure(app.ExposureQuery{}).Total.E1; e1 != 3600 {
			t.Errorf("E1 is %d", e1)
		}
	})
}

func TestTheOutcomeIsWrittenThoughNobodyWaits(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		ctx, leave := context.WithCancel(t.Context())
		w.gateway.during = leave
		got, _, err := w.app.Payments.Create(ctx, w.actor, pay(travel.Purchase, b, 600))
		if err != nil || w.readTransaction(got.ID).Status != travel.StatusComplete {
			t.Errorf("%s, %v", got.Status, err)
		}
	})
}

func TestTooManyAtOnceAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.core.Processing.InFlight = 1
		w.app = app.New(w.core)
		p := newProcessing(t, w, travel.ModeLive)
		b := p.booking(p.channel, 10000, "2024-09-14")
		var second error
		var once sync.Once
		p.gateway.during = func() {
			once.Do(func() { _, _, second = p.app.Payments.Create(t.Context(), p.actor, pay(travel.Purchase, b, 100)) })
		}
		p.must(pay(travel.Purchase, b, 600))
		f, ok := errors.AsType[*fault.Error](second)
		if !ok || f.Kind != fault.Unavailable || f.RetryAfter == 0 {
			t.Errorf("the second one: %v", second)
		}
		if got := p.readBooking(b.ID); got.Sums.Held != 600 || len(got.TransactionIDs) != 1 {
			t.Errorf("the refused one left traces: %+v", got)
		}
		p.must(pay(travel.Purchase, b, 100))
	})
}

func TestWhatTheProcessorDoesNotTakeCanBeTriedAgain(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		in := pay(travel.Purchase, b, 1000)
		in.Reference = "order-1"
		w.gateway.set(psp.Purchase, unreachable)
		w.refused(in, fault.Unavailable, "")
		w.gateway.set(psp.Purchase, invalid)
		w.refused(in, fault.Invalid, "token")
		// Nothing is held, and the same reference is free.
		if got := w.readBooking(b.ID).Sums; got != (travel.BookingSums{}) {
			t.Errorf("sums %+v", got)
		}
		p := w.must(in)
		w.gateway.set(psp.Refund, invalid)
		w.refused(linked(travel.Refund, p, b, 1000), fault.NotPossible, "tokenizer_refused")
		w.must(linked(travel.Refund, p, b, 1000))
		// A call whose time is over before it begins is not made.
		w.core.Processing.CallTimeout = time.Nanosecond
		w.core.Clock = func() time.Time { return w.now().Add(time.Second) }
		moved := w.gateway.moved()
		w.refused(pay(travel.Purchase, b, 10), fault.Unavailable, "")
		if w.gateway.moved() != moved {
			t.Error("it was made")
		}
	})
}

func TestWhatIsNotForTheProcessorIsRefused(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 1000, "2024-09-14")
		in := pay(travel.Purchase, b, 1000)
		in.Token = ""
		w.refused(in, fault.Missing, "")
		in = pay(travel.Purchase, b, 1000)
		in.PSP = "another"
		w.refused(in, fault.Invalid, "psp")
		in = pay(travel.Purchase, b, 1000)
		in.EffectiveAt = w.now().Add(-time.Hour)
		w.refused(in, fault.Invalid, "effective_at")
		p := w.must(pay(travel.Purchase, b, 1000))
		refund := linked(travel.Refund, p, b, 100)
		refund.PSP = "another"
		w.refused(refund, fault.Invalid, "psp")
		// A closed channel takes no payments, but gives back what it took.
		closed := travel.ModeClosed
		if _, err := w.app.Channels.Change(t.Context(), w.actor, w.channel.ID, travel.ChannelFields{Mode: &closed}); err != nil {
			t.Fatal(err)
		}
		if got := w.must(linked(travel.Refund, p, b, 100)); got.Processed == nil || got.Status != travel.StatusComplete {
			t.Errorf("the refund is %+v", got)
		}
		if n := w.gateway.moved(); n != 2 {
			t.Errorf("%d moves: %s", n, strings.Join(w.gateway.moves, "; "))
		}
	})
}

// TestPremiumFollowsTheOutcome: R1 and R10 know of a payment, or a refund, when it is complete and not before.
func TestPremiumFollowsTheOutcome(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 100000, "2024-08-31")
		expect := func(step string, want ...int64) {
			t.Helper()
			var got []int64
			for _, line := range w.lines(protection.PremiumFilter{}) {
				got = append(got, line.Amount)
			}
			if !slices.Equal(got, want) {
				t.Errorf("after %s the ledger is %v, want %v", step, got, want)
			}
		}
		w.gateway.set(psp.Purchase, lostAfter)
		p := w.must(pay(travel.Purchase, b, 100000))
		expect("a purchase that nobody knows of")
		w.minute()
		expect("its outcome", 500)
		w.gateway.set(psp.Refund, lostAfter)
		w.must(linked(travel.Refund, p, b, 40000))
		expect("a refund that nobody knows of", 500)
		w.minute()
		expect("its outcome", 500, -200)
		w.gateway.set(psp.Refund, declined)
		w.must(linked(travel.Refund, p, b, 40000))
		expect("a refund that was declined", 500, -200)
	})
}

func TestWhatAFailureGivesBackIsWhatWasTaken(t *testing.T) {
	onBothProcessing(t, func(t *testing.T, w *processing) {
		b := w.booking(w.channel, 10000, "2024-09-14")
		usd := money.Currency("USD")
		in := pay(travel.Purchase, b, 10000)
		total := int64(12650)
		in.Currency, in.Total = &usd, &total
		p := w.must(in)
		for _, refund := range []struct {
			total, base int64 // 0: not said
		}{{3333, 0}, {12650, 9500}, {9000, 10000}, {1, 1}} {
			in := linked(travel.Refund, p, b, refund.base)
			in.Currency, in.Total = &usd, &refund.total
			if refund.base == 0 {
				in.Items = nil
			}
			w.gateway.set(psp.Refund, declined)
			if got := w.must(in); got.Status != travel.StatusFailed {
				t.Errorf("the refund is %s", got.Status)
			}
			if got := w.readTransaction(p.ID); got.Remaining != 12650 || got.Payments[0].Remaining != 10000 {
				t.Errorf("after a refund of %+v failed %d and %d remain", refund, got.Remaining, got.Payments[0].Remaining)
			}
		}
	})
}
