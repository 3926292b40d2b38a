package claim_test

import (
	"slices"
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/claim"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"

	"pgregory.net/rapid"
)

// allocation is the payment of the worked numbers, in the snapshot of its merchant's failure, with more events and disputes.
func allocation(t rapid.TB, events []protection.Event, disputes ...claim.Dispute) claim.Allocation {
	a := claim.Allocation{History: history(t), NotifyBy: terms.DefaultCover().NotifyBy(failure(t).TriggerAt), Disputes: disputes}
	for _, e := range events {
		a.Learn(e)
	}
	if line, ok := claim.Snapshot(a.History, failure(t), terms.RecognitionEndDate); ok {
		a.Line = &line
	}
	return a
}

func debit(t rapid.TB, day string, amount, credited int64) claim.Debit {
	at := instant(t, day+" 00:00:00")
	return claim.Debit{Day: civil.DayOf(at), ReceivedAt: at, Amount: amount, Credited: credited}
}

func dispute(id int64, debits ...claim.Debit) claim.Dispute {
	return claim.Dispute{ID: id, Source: "adyen", Case: string(rune('A' + id)), Debits: debits}
}

// outcome is the result of a claim in the worked numbers.
type outcome struct {
	payable, pounds, represent int64
	reason                     claim.Reason
}

// TestWorkedClaims holds the worked numbers of R13 that are about claims.
func TestWorkedClaims(t *testing.T) {
	full := func(id int64) claim.Dispute { return dispute(id, debit(t, "2026-07-15", 100_000, 0)) }
	refund := func(amount int64, at string) []protection.Event {
		return []protection.Event{event(t, payment.Refund, amount, at, at)}
	}
	late := dispute(1, debit(t, "2026-07-15", 100_000, 0))
	late.Debits[0].ReceivedAt = instant(t, "2027-06-10 12:00:01")
	waits := full(1)
	waits.Waits = true
	for _, w := range []struct {
		name       string
		allocation claim.Allocation
		want       []outcome
	}{
		{"the whole payment", allocation(t, nil, full(1)), []outcome{{100_000, 85_000, 0, ""}}},
		{"a refund after the trigger", allocation(t, refund(30_000, "2026-06-12 10:00:00"), full(1)),
			[]outcome{{70_000, 59_500, 30_000, claim.Refunded}}},
		{"refunded before the trigger", allocation(t, refund(100_000, "2026-06-01 10:00:00"), full(1)),
			[]outcome{{0, 0, 100_000, claim.Refunded}}},
		{"a part came back", allocation(t, nil, dispute(1, debit(t, "2026-07-15", 100_000, 40_000))), []outcome{{60_000, 51_000, 0, ""}}},
		{"the same loss twice", allocation(t, nil, full(1), full(2)),
			[]outcome{{100_000, 85_000, 0, ""}, {0, 0, 100_000, claim.Duplicate}}},
		{"more than is left", allocation(t, nil, dispute(1, debit(t, "2026-07-15", 70_000, 0)), dispute(2, debit(t, "2026-07-16", 50_000, 0))),
			[]outcome{{70_000, 59_500, 0, ""}, {30_000, 25_500, 20_000, claim.AboveRemaining}}},
		{"a day after L", allocation(t, nil, dispute(1, debit(t, "2026-11-08", 100_000, 0))), []outcome{{0, 0, 100_000, claim.LateDispute}}},
		{"the day before the trigger", allocation(t, nil, dispute(1, debit(t, "2026-06-09", 100_000, 0))),
			[]outcome{{0, 0, 100_000, claim.BeforeTrigger}}},
		{"notified too late", allocation(t, nil, late), []outcome{{0, 0, 100_000, claim.LateNotice}}},
		{"a bond pays first", allocation(t, nil, waits), []outcome{{0, 0, 100_000, claim.OtherProtectionFirst}}},
		{"charged back, won, and charged back again", allocation(t, nil, dispute(1, debit(t, "2026-06-20", 100_000, 100_000), debit(t, "2026-08-20", 100_000, 0))),
			[]outcome{{100_000, 85_000, 0, ""}}},
	} {
		claims := claim.Claims(w.allocation, failure(t))
		var got []outcome
		for _, c := range claims {
			pounds, err := claim.InPolicyCurrency(c.Payable, w.allocation.Quote, fx.Quote{From: "GBP", To: "GBP"})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, outcome{c.Payable, pounds, c.Represent(), c.Reason})
		}
		if !slices.Equal(got, w.want) {
			t.Errorf("%s: %+v, want %+v", w.name, got, w.want)
		}
	}
}

// TestWorkedRounding: a claim that becomes payable in three steps books the same total as in one.
func TestWorkedRounding(t *testing.T) {
	quote, same := history(t).Quote, fx.Quote{From: "GBP", To: "GBP"}
	var booked int64
	for i, step := range []struct{ payable, books int64 }{{33_333, 28_333}, {66_666, 28_333}, {100_000, 28_334}} {
		total, err := claim.InPolicyCurrency(step.payable, quote, same)
		if err != nil || total-booked != step.books {
			t.Errorf("step %d books %d (%v), want %d", i+1, total-booked, err, step.books)
		}
		booked = total
	}
	// Priced in pounds under an older policy, now in dollars: 850.00 · 1.1600 / 0.85.
	dollars := fx.Quote{From: "GBP", To: "USD", FromLeg: fx.Leg{Currency: "GBP", Rate: rate(t, "0.85")}, ToLeg: fx.Leg{Currency: "USD", Rate: rate(t, "1.1600")}}
	if got, err := claim.InPolicyCurrency(100_000, quote, dollars); err != nil || got != 116_000 {
		t.Errorf("in the new policy currency: %d, %v", got, err)
	}
	if _, err := claim.InPolicyCurrency(1<<62, fx.Quote{From: "EUR", To: "JPY", FromLeg: quote.FromLeg, ToLeg: fx.Leg{Rate: rate(t, "17194")}}, same); err != money.ErrRange {
		t.Errorf("too large: %v", err)
	}
}

// cover is that of the worked numbers: GBP 100.00 deductible, 10 % coinsurance.
func cover(merchant, aggregate int64) terms.Cover {
	c := terms.DefaultCover()
	c.Deductible, c.CoinsurancePPM, c.MerchantLimit, c.AggregateLimit = 10_000, 100_000, merchant, aggregate
	return c
}

func insolvency(t rapid.TB, day string, c terms.Cover, claims ...claim.Owed) claim.Insolvency {
	return claim.Insolvency{TriggerAt: instant(t, day+" 12:00:00"), Cover: c, Claims: claims}
}

// TestWorkedCover holds the worked numbers of R13 that are about the terms of cover, payouts, reserve and recoveries.
func TestWorkedCover(t *testing.T) {
	one := claim.Positions([]claim.Insolvency{insolvency(t, "2026-06-10", cover(0, 0), claim.Owed{Payable: 85_000})})[0]
	if one.Covered != 67_500 || one.Covered-one.Paid != 67_500 || one.Incurred() != 67_500 {
		t.Errorf("deductible and coinsurance: %+v", one)
	}
	limited := claim.Positions([]claim.Insolvency{insolvency(t, "2026-06-10", cover(50_000, 0), claim.Owed{Payable: 85_000})})[0]
	if limited.UnderTerms != 50_000 || limited.Covered != 50_000 {
		t.Errorf("merchant limit: %+v", limited)
	}

	plain := terms.DefaultCover()
	plain.AggregateLimit = 100_000_000
	year := claim.Positions([]claim.Insolvency{
		insolvency(t, "2026-03-10", plain, claim.Owed{Payable: 80_000_000, Paid: 50_000_000}),
		insolvency(t, "2026-06-10", plain, claim.Owed{Payable: 40_000_000}),
	})
	if year[0].Covered != 71_428_571 || year[1].Covered != 28_571_429 {
		t.Errorf("aggregate limit: %d and %d", year[0].Covered, year[1].Covered)
	}

	plain = terms.DefaultCover()
	plain.MerchantLimit = 10_000
	three := claim.Positions([]claim.Insolvency{insolvency(t, "2026-06-10", plain,
		claim.Owed{Payable: 7_000}, claim.Owed{Payable: 7_000}, claim.Owed{Payable: 7_000})})[0]
	if !slices.Equal(three.Parts, []int64{3_334, 3_333, 3_333}) {
		t.Errorf("parts: %v", three.Parts)
	}

	back := claim.Positions([]claim.Insolvency{insolvency(t, "2026-06-10", terms.DefaultCover(),
		claim.Owed{Payable: 51_000, Paid: 85_000}, claim.Owed{Payable: 50_000})})[0]
	lines, total := claim.Payout([]claim.Due{{Part: back.Parts[0], Paid: 85_000, Approved: true}, {Part: back.Parts[1], Approved: true}})
	if back.Overpaid[0] != 34_000 || total != 16_000 || !slices.Equal(lines, []int64{-34_000, 50_000}) {
		t.Errorf("set off: overpaid %v, payout %v = %d", back.Overpaid, lines, total)
	}

	c := cover(0, 0)
	c.DevelopmentPPM = 800_000
	line := claim.SnapshotLine{Undelivered: 100_000, LastDay: civil.Date(2026, 11, 7)}
	expected := claim.Developed(line.Open(0, line.LastDay)*85/100, c)
	reserved := insolvency(t, "2026-06-10", c, claim.Owed{Payable: 85_000})
	reserved.Expected = expected
	position := claim.Positions([]claim.Insolvency{reserved})[0]
	if expected != 68_000 || position.Reserve != 61_200 || position.Incurred() != 128_700 {
		t.Errorf("reserve: expected %d, %+v", expected, position)
	}
	if open := line.Open(0, line.LastDay+1); open != 0 {
		t.Errorf("%d are open after L", open)
	}

	shares, surplus := claim.ShareRecoveries(40_000, terms.Bearers, one.Borne(cover(0, 0)))
	if shares[terms.BearerDeductible] != 10_000 || shares[terms.BearerInsurer] != 30_000 || shares[terms.BearerSite] != 0 || surplus != 0 {
		t.Errorf("recoveries: %v, surplus %d", shares, surplus)
	}
}

// TestNotifyBy: months end on the last day of a shorter month.
func TestNotifyBy(t *testing.T) {
	for trigger, want := range map[string]string{
		"2026-06-10 12:00:00": "2027-06-10 12:00:00", "2024-02-29 08:30:00": "2025-02-28 08:30:00",
	} {
		if by := terms.DefaultCover().NotifyBy(instant(t, trigger)); civil.FormatInstant(by) != want {
			t.Errorf("%s: %s, want %s", trigger, civil.FormatInstant(by), want)
		}
	}
}
