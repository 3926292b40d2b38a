package payments

import (
	"holdfast/internal/book/fixings"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
)

// decide decides whether a purchase or capture is protected (R2). The decision never changes later.
func (r *intake) decide() error {
	if !r.t.Type.Takes() {
		return nil
	}
	var err error
	if r.policy, err = merchants.PolicyOn(r.tx, r.site.ID, civil.DayOf(r.t.EffectiveAt)); err != nil {
		return err
	}
	r.decision = protection.Decide(protection.Facts{
		Channel: r.channel, Method: r.t.Method, EffectiveAt: r.t.EffectiveAt, RecordedAt: r.tx.Now,
		TakenOver: r.in.CoverFromEffective, LateLogDays: r.policy.LateLogDays,
	})
	r.t.Protected, r.t.ProtectionReason = r.decision.Protected, r.decision.Reason
	if r.decision.LateLogged {
		r.t.Flags = append(r.t.Flags, payment.FlagLateLogged)
	}
	return nil
}

// follow writes what follows from a complete transaction. A purchase or capture is posted to the ledger and judged by the
// limits. A refund, chargeback or reversal changes the allocations that it adjusts. All other types are neutral (R1).
func (r *intake) follow() error {
	switch r.t.Type {
	case payment.Purchase, payment.Capture:
		table, err := fixings.For(r.tx, r.site, civil.DayOf(r.t.EffectiveAt), r.policy.MaxFixingAgeDays,
			r.t.BaseCurrency, r.policy.Currency)
		if err != nil {
			return err
		}
		err = ledger.Post(r.tx, ledger.Posting{
			Transaction: r.t, Bookings: r.bookings, Scheme: r.scheme(), Decision: r.decision, Policy: r.policy,
			Fixings: table, Rulepacks: r.room.Rulepacks,
		})
		if err != nil {
			return err
		}
		r.t.OverLimit, r.t.OverLimitCurrency, err = limits.Judge(r.tx, r.t)
		return err
	case payment.Refund, payment.Chargeback, payment.ChargebackReversal, payment.Prevented:
		if err := ledger.Adjust(r.tx, r.t, +1, r.t.EffectiveAt); err != nil {
			return err
		}
		limits.NoteChange(r.tx, r.site.ID, limits.ChangeEvent, r.t.ID, 0)
		return r.flagDoubleRecovery()
	}
	return nil
}

// scheme returns the scheme of the payment's card. A capture without card fields has the card of its authorisation.
func (r *intake) scheme() card.Scheme {
	if r.t.CardType == "" && r.t.BIN == "" {
		return card.SchemeOf(r.original.CardType, r.original.BIN)
	}
	return card.SchemeOf(r.t.CardType, r.t.BIN)
}
