package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/fault"
	"holdfast/internal/fx"
	"holdfast/internal/money"
	"holdfast/internal/protection"
	"holdfast/internal/store"
	"holdfast/internal/travel"
)

// fixingsFor reads what can price the given currencies for a payment of a day, as known now: the fixings of the days
// before it, up to the oldest age that counts. Where the currencies are one and the same there is nothing to price.
func fixingsFor(
	tx *store.Tx, site travel.Site, paid civil.Day, maxAge int64, from, to money.Currency,
) (*fx.Table, error) {
	if from == to {
		return fx.NewTable(nil), nil
	}
	fixings, err := store.FixingsWithin(tx, providersOf(site), []money.Currency{from, to}, paid-civil.Day(maxAge), paid-1, tx.Now)
	return fx.NewTable(fixings), err
}

// providersOf lists whose fixings count for a site. Made-up rates count in a sandbox and nowhere else.
func providersOf(site travel.Site) []fx.Provider {
	if site.Sandbox {
		return []fx.Provider{fx.ECB, fx.Manual, fx.Demo}
	}
	return []fx.Provider{fx.ECB, fx.Manual}
}

// protect writes what the transaction means for protection: a purchase or capture gets its allocations, whose
// protection, last day and price are decided here for good; a refund, chargeback or reversal becomes an event of the
// allocations it adjusts.
func (r *recording) protect() error {
	switch r.t.Type {
	case travel.Purchase, travel.Capture:
		if err := r.allocate(); err != nil {
			return err
		}
		return r.judge()
	case travel.Refund, travel.Chargeback, travel.ChargebackReversal:
		if err := r.recordEvents(+1, r.t.EffectiveAt); err != nil {
			return err
		}
		store.NoteChange(r.tx, r.site.ID, store.ChangeEvent, r.t.ID, 0)
		return nil
	default: // neutral (R1)
		return nil
	}
}

// decide says by R2, once and for all, whether what a purchase or capture brings in is protected.
func (r *recording) decide() error {
	if !r.t.Type.Takes() {
		return nil
	}
	var err error
	if r.policy, err = store.PolicyOn(r.tx, r.site.ID, civil.DayOf(r.t.EffectiveAt)); err != nil {
		return err
	}
	r.decision = protection.Decide(protection.Facts{
		Channel: r.channel, Method: r.t.Method, EffectiveAt: r.t.EffectiveAt, RecordedAt: r.tx.Now,
		TakenOver: r.in.CoverFromEffective, LateLogDays: r.policy.LateLogDays,
	})
	if r.decision.LateLogged {
		r.t.Flags = append(r.t.Flags, travel.FlagLateLogged)
	}
	return nil
}

func (r *recording) allocate() error {
	paid, policy := civil.DayOf(r.t.EffectiveAt), r.policy
	fixings, err := fixingsFor(r.tx, r.site, paid, policy.MaxFixingAgeDays, r.t.BaseCurrency, policy.Currency)
	if err != nil {
		return err
	}
	for i, part := range r.t.Payments {
		a := protection.Allocation{
			SiteID: r.site.ID, ID: part.ID, ChannelID: r.channel.ID, BookingID: part.BookingID, TransactionID: r.t.ID,
			Currency: part.Currency, Amount: part.Total, Scheme: r.scheme(), EffectiveAt: r.t.EffectiveAt,
			RecordedAt: r.tx.Now, Decision: r.decision, Rulepack: r.core.Rulepacks.On(paid).Version,
			PolicyID: policy.ID, PolicyCurrency: policy.Currency, MaxFixingAge: policy.MaxFixingAgeDays,
		}
		// Locking the booking did not read them.
		if r.bookings[i].Suppliers, err = store.LockedSuppliers(r.tx, r.site.ID, part.BookingID); err != nil {
			return err
		}
		// Where a fixing is missing the payment is logged all the same and priced when the rate arrives.
		if _, err := a.Price(fixings, r.tx.Now); err != nil {
			return fault.WrongField("bookings", "The part of booking %d is too large to be valued in %s.",
				part.BookingID, policy.Currency)
		}
		if err := store.InsertAllocation(r.tx, a, a.TermsOf(r.bookings[i], r.core.Rulepacks)); err != nil {
			return err
		}
		if err := firstPremium(r.tx, a, policy, r.bookings[i]); err != nil {
			return err
		}
	}
	return nil
}

// scheme is that of the card of the payment; a capture that names no card was paid by the authorisation's.
func (r *recording) scheme() travel.Scheme {
	if r.t.CardType == "" && r.t.BIN == "" {
		return travel.SchemeOf(r.original.CardType, r.original.BIN)
	}
	return travel.SchemeOf(r.t.CardType, r.t.BIN)
}

// recordEvents writes what the transaction does to the allocations that it adjusts; with the sign -1 that it did not.
func (r *recording) recordEvents(sign int64, at time.Time) error {
	for _, part := range r.t.Payments {
		a, err := store.LockAllocation(r.tx, r.site.ID, part.LinkedID)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("payment %d of transaction %d has no allocation", part.LinkedID, r.original.ID)
		}
		if err != nil {
			return err
		}
		e := protection.Event{
			TransactionID: r.t.ID, Kind: r.t.Type, Amount: sign * part.Total, EffectiveAt: at, RecordedAt: r.tx.Now,
		}
		if err := store.InsertEvent(r.tx, r.site.ID, part.LinkedID, e); err != nil {
			return err
		}
		if err := r.refundPremium(a, at); err != nil {
			return err
		}
	}
	return nil
}

// refundPremium books what a refund does to the premium of an allocation. Chargebacks and reversals never move it.
func (r *recording) refundPremium(a protection.Allocation, at time.Time) error {
	if r.t.Type != travel.Refund || !a.Decision.Protected {
		return nil
	}
	return movePremium(r.tx, a.SiteID, a.ID, premiumCause{
		cause: protection.CauseRefund, transactionID: r.t.ID, effectiveAt: at,
	})
}

// reDate gives the allocations of a changed booking its new travel dates and country, and the last day of dispute that
// follows (R5), and books what that does to their premium. What was before is kept.
func reDate(c *Core, tx *store.Tx, before, after travel.Booking) error {
	if before.FirstTravelDay() == after.FirstTravelDay() && before.End == after.End && before.Country == after.Country &&
		protection.SupplierKey(before.Suppliers) == protection.SupplierKey(after.Suppliers) {
		return nil
	}
	allocations, err := store.AllocationsOfBooking(tx, after.SiteID, after.ID)
	if err != nil {
		return err
	}
	for _, a := range allocations {
		if err := store.InsertTerms(tx, a.SiteID, a.ID, a.TermsOf(after, c.Rulepacks)); err != nil {
			return err
		}
		store.NoteChange(tx, a.SiteID, store.ChangeReDated, 0, a.ID)
		if !a.Decision.Protected || before.End == after.End {
			continue
		}
		err := movePremium(tx, a.SiteID, a.ID, premiumCause{
			cause: protection.CauseReDate, effectiveAt: tx.Now,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Protection explains what a transaction means for protection, line by line.
type Protection struct{ *Core }

// ProtectionQuery asks for an explanation.
type ProtectionQuery struct {
	Problems fault.Problems
	Moment
}

// complete gives the moment of an explanation, but for the recognition, which is the policy's.
func (in ProtectionQuery) complete(tx *store.Tx) (m protection.Moment, err error) {
	problems := in.Problems.Clone()
	m.AsOf, m.KnownAt = in.Moment.complete(tx.Now, &problems)
	return m, problems.Err()
}

// ProtectionReport explains one transaction at a moment. A transaction that takes no money in has no allocations of
// its own; Adjusted are those that it changed.
type ProtectionReport struct {
	Transaction travel.Transaction
	Moment      protection.Moment
	Policy      travel.Policy
	Allocations []protection.Explained
	Adjusted    bool // the allocations are those of the original that this transaction adjusts
	// OverLimit is what of the allocations lay above the limit that they exceed most (R12), as far as it was known.
	OverLimit         int64
	OverLimitCurrency money.Currency
}

// Explain computes the protection of a transaction, with every input and step.
func (p *Protection) Explain(
	ctx context.Context, actor auth.Actor, id int64, in ProtectionQuery,
) (ProtectionReport, error) {
	return read(ctx, p.Core, actor, func(tx *store.Tx) (ProtectionReport, error) {
		m, err := in.complete(tx)
		if err != nil {
			return ProtectionReport{}, err
		}
		return explain(tx, actor.SiteID, id, m, p.Rulepacks)
	})
}

func explain(
	tx *store.Tx, siteID, id int64, m protection.Moment, packs protection.Rulepacks,
) (report ProtectionReport, err error) {
	report.Transaction, err = store.Transaction(tx, siteID, id)
	// What was not known at the moment is not there for a report about it.
	if err == nil && report.Transaction.CreatedAt.After(m.KnownAt) {
		err = store.ErrNotFound
	}
	if err != nil {
		return report, unknownAs(fault.UnknownPost, err, "There is no transaction %d.", id)
	}
	if report.Policy, err = store.PolicyKnown(tx, siteID, m.AsOf, m.KnownAt); err != nil {
		return report, err
	}
	m.Recognition = report.Policy.Recognition
	report.Moment = m
	of := id
	if !report.Transaction.Type.Takes() && report.Transaction.LinkedID != 0 {
		of, report.Adjusted = report.Transaction.LinkedID, true
	}
	allocations, err := store.AllocationsOfTransaction(tx, siteID, of)
	if err != nil {
		return report, err
	}
	over, err := overLimitsKnown(tx, siteID, []int64{of}, m.KnownAt)
	if err != nil {
		return report, err
	}
	report.OverLimit, report.OverLimitCurrency = protection.OverLimitAmount(over)
	ids := make([]int64, len(allocations))
	for i, a := range allocations {
		ids[i] = a.ID
	}
	report.Allocations, err = newExplaining(tx, siteID, m, packs).all(ids)
	return report, err
}
