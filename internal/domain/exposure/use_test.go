package exposure_test

import (
	"testing"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"

	"pgregory.net/rapid"
)

// TestUseIsLockedE1: an allocation adds its E1 of a locked report to a use, which stays the same until it is due.
func TestUseIsLockedE1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPosition(t, 1)
		a := protection.Allocation{
			ID: 1, Currency: "GBP", Amount: p.Amounts.Allocated, EffectiveAt: p.Paid.Start(), PolicyCurrency: "GBP",
			PricedAt: p.Paid.Start(), Quote: p.Quote,
			Decision: protection.Decision{Protected: p.Protected, CoverFrom: p.CoverFrom},
		}
		history := []protection.DatedTerms{{Terms: p.Terms}}
		var events []protection.Event
		for _, of := range []struct {
			kind   payment.TransactionType
			amount int64
		}{
			{payment.Refund, p.Amounts.Refunded}, {payment.Chargeback, p.Amounts.ChargedBack}, {payment.ChargebackReversal, p.Amounts.Reversed},
		} {
			events = append(events, protection.Event{Kind: of.kind, Amount: of.amount, EffectiveAt: p.Paid.Start(), RecordedAt: p.Paid.Start()})
		}
		by := rapid.SampledFrom(recognitions).Draw(t, "recognition")
		d := p.Paid + civil.Day(rapid.Int64Range(-5, 900).Draw(t, "day"))
		use := func(d civil.Day) protection.LimitUse {
			u, err := protection.History{Allocation: a, Terms: history, Events: events}.UseAt(d, civil.LastDay.End(), by)
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
		q := exposure.ReportQuery{AsOf: d, KnownAt: d.End(), Currency: "GBP", Policy: "GBP", Valuation: exposure.Locked,
			By: exposure.ByChannel, Recognition: by}
		e := exposure.NewExposure(q, fx.NewTable(nil))
		if err := e.Add(p); err != nil {
			t.Fatal(err)
		}
		report, err := e.Report()
		if err != nil {
			t.Fatal(err)
		}
		now := use(d)
		if now.Amount != report.Total.E1 {
			t.Fatalf("use %d, E1 %d", now.Amount, report.Total.E1)
		}
		last := now.Due - 1
		if now.Due == civil.NoDay {
			last = d + 1000
		}
		if last < d {
			t.Fatalf("due on %s, which is not after %s", now.Due, d)
		}
		if later := use(d + civil.Day(rapid.Int64Range(0, int64(last-d)).Draw(t, "later"))); later.Amount != now.Amount {
			t.Fatalf("use %d became %d before %s", now.Amount, later.Amount, now.Due)
		}
	})
}
