package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"holdfast/internal/book/ledger"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/payment"
	"holdfast/internal/store"
)

// noteDispute stores the dispute of a new chargeback. A reversal ends an open dispute: the one of the chargeback that it names or, if it
// names none, one opened by its day, preferably with the same amount and then the oldest. It makes no difference if the reversal is
// reported before its chargeback.
func (r *intake) noteDispute() error {
	switch r.t.Type {
	case payment.Chargeback:
		return r.openDispute()
	case payment.ChargebackReversal:
		all, err := disputesOf(r.tx, r.t.SiteID, r.original.ID)
		open := slices.DeleteFunc(all, func(d payment.Dispute) bool {
			if r.reversed != 0 {
				return d.ReversalID != 0 || d.ChargebackID != r.reversed
			}
			return d.ReversalID != 0 || civil.DayOf(d.OpenedAt) > civil.DayOf(r.t.EffectiveAt)
		})
		if err != nil || len(open) == 0 {
			return err
		}
		d := open[max(0, slices.IndexFunc(open, func(d payment.Dispute) bool { return d.Total == r.t.Total }))]
		return r.winDispute(d, r.t)
	default:
		return nil
	}
}

// openDispute stores the dispute of the new chargeback and, if it was reported first, the reversal that ended it.
func (r *intake) openDispute() error {
	d := payment.Dispute{
		SiteID: r.t.SiteID, TransactionID: r.original.ID, ChargebackID: r.t.ID, Outcome: payment.DisputePending,
		ReasonCode: r.in.ReasonCode, ChallengeDay: civil.NoDay, Total: r.t.Total,
	}
	if r.in.ChallengeDay != nil {
		d.ChallengeDay = *r.in.ChallengeDay
	}
	if err := insertDispute(r.tx, d); err != nil {
		return err
	}
	free, err := freeReversals(r.tx, r.t.SiteID, r.original.ID, civil.DayOf(r.t.EffectiveAt))
	if err != nil || len(free) == 0 {
		return err
	}
	return r.winDispute(d, free[max(0, slices.IndexFunc(free, func(t payment.Transaction) bool { return t.Total == d.Total }))])
}

// winDispute ends a dispute with a reversal, unless only part of the money came back and the rest is still disputed.
func (r *intake) winDispute(d payment.Dispute, reversal payment.Transaction) error {
	if d.Total > reversal.Total && r.original.Status == payment.StatusLocked {
		return nil
	}
	before := d
	d.ReversalID, d.Outcome = reversal.ID, payment.DisputeWon
	return saveDispute(r.tx, before, d)
}

// applyDisputes records the disputes of a charge that a processor reports: a chargeback, and a reversal if the money was
// returned. Each is recorded once, however often the processor reports it.
func (p *GatewayPayments) applyDisputes(ctx context.Context, a credentials, t payment.Transaction, list []payment.Dispute) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeTime)
	defer cancel()
	for _, d := range list {
		err := p.WriteBy(ctx, a.clock, func(tx *store.Tx) error {
			if err := p.applyDispute(tx, a, t, d); err != nil {
				return err
			}
			return ledger.SaveChanges(tx)
		})
		if err != nil {
			return fmt.Errorf("dispute %s: %w", d.ProcessorID, err)
		}
	}
	return nil
}

func (p *GatewayPayments) applyDispute(tx *store.Tx, a credentials, charge payment.Transaction, reported payment.Dispute) error {
	id, err := disputed(tx, charge, reported)
	if err != nil {
		return err
	}
	original, err := lockTransaction(tx, charge.SiteID, id)
	if err != nil {
		return err
	}
	known, err := knownDispute(tx, original, reported)
	if errors.Is(err, store.ErrNotFound) {
		known, err = p.recordDispute(tx, a, original, reported, payment.Chargeback)
	}
	if err == nil && reported.Outcome == payment.DisputeWon && known.ReversalID == 0 {
		known, err = p.recordDispute(tx, a, original, reported, payment.ChargebackReversal)
	}
	if err != nil {
		return err
	}
	before := known
	known.ProcessorID, known.ReasonCode = reported.ProcessorID, cmp.Or(reported.ReasonCode, known.ReasonCode)
	if reported.ChallengeDay != civil.NoDay {
		known.ChallengeDay = reported.ChallengeDay
	}
	if reported.Outcome == payment.DisputeLost && known.ReversalID == 0 {
		known.Outcome = payment.DisputeLost
	}
	if known == before {
		return nil
	}
	return saveDispute(tx, before, known)
}

// errNothingDisputed is the error for a dispute of a charge that took no money, as far as we know.
var errNothingDisputed = errors.New("no payment of the charge was completed")

// disputed finds the transaction that a dispute is about: the charge itself or, if it is an authorisation, a capture.
func disputed(tx *store.Tx, charge payment.Transaction, reported payment.Dispute) (id int64, err error) {
	if charge.Type.Takes() {
		return charge.ID, nil
	}
	// Of several captures, choose the one that already has the dispute, then one with the same amount, then one that is
	// large enough.
	charge, err = Transaction(tx, charge.SiteID, charge.ID)
	best := 0
	for _, adjustment := range charge.Adjustments {
		t, err := Transaction(tx, charge.SiteID, adjustment)
		if err != nil {
			return 0, err
		}
		if t.Type != payment.Capture || t.Status != payment.StatusComplete && t.Status != payment.StatusLocked {
			continue
		}
		fits := 1
		switch {
		case slices.ContainsFunc(t.Disputes, func(d payment.Dispute) bool { return d.ProcessorID == reported.ProcessorID }):
			fits = 4
		case t.Total == reported.Total:
			fits = 3
		case t.Total > reported.Total:
			fits = 2
		}
		if fits > best {
			best, id = fits, t.ID
		}
	}
	if err == nil && best == 0 {
		err = errNothingDisputed
	}
	return id, err
}

// knownDispute finds the stored dispute: by the processor's id, else one with the same amount that the operator recorded
// by hand. It returns store.ErrNotFound if there is none.
func knownDispute(tx *store.Tx, t payment.Transaction, reported payment.Dispute) (payment.Dispute, error) {
	all, err := disputesOf(tx, t.SiteID, t.ID)
	if err != nil {
		return payment.Dispute{}, err
	}
	for _, d := range all {
		if d.ProcessorID == reported.ProcessorID {
			return d, nil
		}
	}
	amount := disputedAmount(t, reported)
	for _, d := range all {
		if d.ProcessorID == "" && d.Total == amount && (d.ReversalID == 0 || reported.Outcome == payment.DisputeWon) {
			return d, nil
		}
	}
	return payment.Dispute{}, store.ErrNotFound
}

// disputedAmount is the amount of a dispute, in minor units of the payment's currency. It is the whole payment if the
// processor gives no amount, or one in another currency.
func disputedAmount(t payment.Transaction, reported payment.Dispute) int64 {
	if reported.Currency != t.Currency || reported.Total <= 0 {
		return t.Total
	}
	return reported.Total
}

// recordDispute records a chargeback or its reversal, as an operator does by hand. It returns the dispute as it is then.
func (p *GatewayPayments) recordDispute(
	tx *store.Tx, a credentials, original payment.Transaction, reported payment.Dispute, kind payment.TransactionType,
) (payment.Dispute, error) {
	var none payment.Dispute
	site, err := merchants.SiteInForce(tx, original.SiteID)
	if err != nil {
		return none, err
	}
	amount := disputedAmount(original, reported)
	items, err := shareOf(original, amount)
	if err != nil {
		return none, err
	}
	at := tx.Now
	if kind == payment.Chargeback && reported.OpenedAt.Before(at) {
		at = reported.OpenedAt.UTC().Truncate(time.Second)
	}
	in := payment.NewTransaction{
		ChannelID: &original.ChannelID, Currency: &original.Currency, Total: &amount, Type: &kind, Items: &items,
		PSP: a.row.Processor, Reference: reported.ProcessorID + " " + string(kind), LinkedID: original.ID,
		CardType: original.CardType, BIN: original.BIN, LastFour: original.LastFour, EffectiveAt: at,
		ReasonCode: reported.ReasonCode, Content: "Reported by the processor.",
	}
	actor := access.System(original.SiteID)
	actor.Ahead = a.clock.Ahead
	made, _, err := newIntake(p.Room, tx, actor, site, in).run()
	if err != nil {
		return none, err
	}
	all, err := disputesOf(tx, original.SiteID, original.ID)
	i := slices.IndexFunc(all, func(d payment.Dispute) bool { return d.ChargebackID == made.ID || d.ReversalID == made.ID })
	if err != nil || i < 0 {
		return none, cmp.Or(err, store.ErrNotFound)
	}
	return all[i], nil
}

// shareOf splits an amount of a payment among its bookings, in the payment's proportions.
func shareOf(t payment.Transaction, amount int64) ([]payment.Item, error) {
	base := amount
	if t.Currency != t.BaseCurrency {
		share := new(big.Int).Mul(big.NewInt(amount), big.NewInt(t.BaseTotal))
		var err error
		if base, err = money.Round(share, big.NewInt(t.Total)); err != nil {
			return nil, err
		}
		base = max(base, 1)
	}
	weights := make([]int64, len(t.Payments))
	for i, part := range t.Payments {
		weights[i] = part.Total
	}
	var items []payment.Item
	for i, total := range money.Split(base, weights) {
		if total > 0 {
			items = append(items, payment.Item{BookingID: t.Payments[i].BookingID, Currency: t.BaseCurrency, Total: total})
		}
	}
	return items, nil
}
