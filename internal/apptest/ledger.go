package apptest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/ledger"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/reports"
	"holdfast/internal/travel"
)

// Holds checks what is always true of the premium of a payment, as known at an instant: its lines come to the premium
// of its state and what was retained, and the state of the last line is the one that follows from the facts.
func (w *World) Holds(id int64, known time.Time) protection.Explained {
	w.t.Helper()
	x, err := w.App.Protection.Explain(w.t.Context(), w.Actor, id, reports.ProtectionQuery{Moment: ledger.Moment{KnownAt: known}})
	if err != nil {
		w.t.Fatal(err)
	}
	a := x.Allocations[0]
	p := a.Premium
	if p.Booked != p.State.Premium+p.Retained {
		w.t.Fatalf("payment %d, known %s: lines %d, premium %d, retained %d: %+v", id, known, p.Booked, p.State.Premium, p.Retained, p.Lines)
	}
	if p.Priced != (len(p.Lines) > 0) || p.Priced && p.Lines[len(p.Lines)-1].State.Premium != p.State.Premium {
		w.t.Fatalf("payment %d: state %+v after %+v", id, p.State, p.Lines)
	}
	return a
}

// Happens is one event of a random history. What the rules refuse is no event.
func (w *World) Happens(r *rand.Rand, c travel.Channel, b travel.Booking, paid *[]travel.Transaction) {
	w.t.Helper()
	on := w.Now().Add(-time.Duration(r.IntN(20*24)) * time.Hour)
	today := civil.DayOf(w.Now())
	switch n := r.IntN(12); {
	case n < 3 || len(*paid) == 0:
		in := Report(travel.Purchase, b, 1+r.Int64N(100_000))
		in.EffectiveAt = on
		*paid = append(*paid, w.Must(in))
	case n < 7:
		kinds := []travel.TransactionType{travel.Refund, travel.Refund, travel.Chargeback, travel.ChargebackReversal}
		of := (*paid)[r.IntN(len(*paid))]
		in := Linked(kinds[n-3], of, b, 1+r.Int64N(30_000))
		in.EffectiveAt = on
		if *in.Type == travel.Refund && on.Before(of.EffectiveAt) { // which is refused
			in.EffectiveAt = of.EffectiveAt
		}
		_, _, err := w.App.Payments.Create(w.t.Context(), w.Actor, in)
		if err != nil && !fault.Is(err, fault.NotPossible) {
			w.t.Fatal(err)
		}
	case n < 9:
		w.Move(b, today+civil.Day(r.IntN(400)-30))
	case n < 11:
		w.Fix((today - civil.Day(r.IntN(20))).String(), map[money.Currency]string{"GBP": fmt.Sprintf("0.%d", 80+r.IntN(10))})
	default:
		from, refundable, least := today-civil.Day(r.IntN(20)), r.IntN(2) == 0, r.Int64N(300)
		card := append(travel.DefaultRateCard(), travel.RateLine{ChannelID: c.ID, To: travel.NoEnd, PPM: r.Int64N(30_000)})
		w.Policy(travel.PolicyFields{From: &from, PremiumRefundable: &refundable, MinimumPerLine: &least, RateCard: &card})
	}
}
