// Package ledger stores everything that a payment means for protection: allocations, their terms and events, premium,
// collateral, and the exposure buckets. It owns allocations, allocation_terms, allocation_events, premium_lines,
// booking_totals, collateral and exposure_*. Start at Post, Adjust and Redate.
package ledger

import (
	"errors"
	"fmt"
	"time"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// Posting is a purchase or capture that took money, with all facts that its protection depends on. Post reads none of
// them from the database again.
type Posting struct {
	Transaction payment.Transaction // as stored, with its payments
	Bookings    []booking.Booking   // one for each payment, in the same order; this write has locked them
	Scheme      card.Scheme         // of the card
	Decision    protection.Decision
	Policy      terms.Policy // in force on the day of the payment
	Fixings     *fx.Table    // enough to price the payment, where they are on file
	Rulepacks   protection.Rulepacks
}

// Post writes everything that a payment means for protection: for each part of the payment the allocation (R3), its
// price if the rates are on file (R9), its first terms (R5), the change of the booking's exposure (R7) and the premium
// (R10). SaveChanges must follow. If the value of a part does not fit into 64 bits, the error names the field bookings.
func Post(tx *store.Tx, p Posting) error {
	t := p.Transaction
	for i, part := range t.Payments {
		a := protection.Allocation{
			SiteID: t.SiteID, ID: part.ID, ChannelID: t.ChannelID, BookingID: part.BookingID, TransactionID: t.ID,
			Currency: part.Currency, Amount: part.Total, Scheme: p.Scheme, EffectiveAt: t.EffectiveAt,
			RecordedAt: tx.Now, Decision: p.Decision, Rulepack: p.Rulepacks.On(civil.DayOf(t.EffectiveAt)).Version,
			PolicyID: p.Policy.ID, PolicyCurrency: p.Policy.Currency, MaxFixingAge: p.Policy.MaxFixingAgeDays,
		}
		// If a fixing is missing, the payment is recorded without a price. PriceLate sets it when the rate arrives.
		if _, err := a.Price(p.Fixings, tx.Now); err != nil {
			return errs.WrongField("bookings", "The amount for booking %d is too large to be converted to %s.",
				part.BookingID, p.Policy.Currency)
		}
		terms := a.TermsOf(p.Bookings[i], p.Rulepacks)
		if err := InsertAllocation(tx, a, terms); err != nil {
			return err
		}
		recordAllocated(tx, a, terms)
		if err := firstPremium(tx, a, p.Policy, p.Bookings[i]); err != nil {
			return err
		}
	}
	return nil
}

// Adjust writes the event of a refund, chargeback or reversal to the allocations that it adjusts (R3). A refund also
// changes their premium (R10). SaveChanges must follow. The sign is +1; -1 undoes a transaction that did not happen
// after all.
func Adjust(tx *store.Tx, t payment.Transaction, sign int64, at time.Time) error {
	for _, part := range t.Payments {
		a, err := lockAllocation(tx, t.SiteID, part.LinkedID)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("transaction %d adjusts payment %d, which has no allocation", t.ID, part.LinkedID)
		}
		if err != nil {
			return err
		}
		e := protection.Event{
			TransactionID: t.ID, Kind: t.Type, Amount: sign * part.Total, EffectiveAt: at, RecordedAt: tx.Now,
		}
		if err := insertEvent(tx, t.SiteID, part.LinkedID, e); err != nil {
			return err
		}
		recordChanged(tx, a, event.Details{Cause: string(t.Type), Transaction: t.ID, Amount: e.Amount})
		// Chargebacks and reversals never change the premium.
		if t.Type != payment.Refund || !a.Decision.Protected {
			continue
		}
		err = movePremium(tx, a.SiteID, a.ID, premiumCause{
			cause: protection.CauseRefund, transactionID: t.ID, effectiveAt: at,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Redate writes what a change of a booking means for its allocations. Call it before the booking itself is written. It
// writes the new total (E4 of R7), the new terms: travel days, country, suppliers and last day of dispute (R5), and the
// change of the premium (R10). The older values are kept. It returns the ids of the allocations with new terms.
func Redate(tx *store.Tx, packs protection.Rulepacks, before, after booking.Booking) (changed []int64, err error) {
	if changed, err = redate(tx, packs, before, after); err != nil {
		return nil, err
	}
	return changed, SaveChanges(tx)
}

func redate(tx *store.Tx, packs protection.Rulepacks, before, after booking.Booking) (changed []int64, err error) {
	if before.Total != after.Total {
		if err := changeTotal(tx, after.SiteID, after.ID, before.Total, after.Total); err != nil {
			return nil, err
		}
	}
	if before.FirstTravelDay() == after.FirstTravelDay() && before.End == after.End && before.Country == after.Country &&
		protection.SupplierKey(before.Suppliers) == protection.SupplierKey(after.Suppliers) {
		return nil, nil
	}
	histories, err := HistoriesOfBooking(tx, after.SiteID, after.ID)
	if err != nil {
		return nil, err
	}
	for _, h := range histories {
		a := h.Allocation
		terms := a.TermsOf(after, packs)
		if err := insertTerms(tx, a.SiteID, a.ID, terms); err != nil {
			return nil, err
		}
		if err := recordTerms(tx, a, terms); err != nil {
			return nil, err
		}
		changed = append(changed, a.ID)
		if !a.Decision.Protected || before.End == after.End {
			continue
		}
		err := movePremium(tx, a.SiteID, a.ID, premiumCause{cause: protection.CauseReDate, effectiveAt: tx.Now})
		if err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// PriceLate fixes the rate of an allocation that was waiting for one (R9), and books its premium on the amount that
// remains now. SaveChanges must follow. It returns false if the fixings have no rate for it yet, or if another process
// has priced it first.
func PriceLate(tx *store.Tx, a protection.Allocation, fixings *fx.Table) (priced bool, err error) {
	if ok, err := a.Price(fixings, tx.Now); err != nil || !ok {
		return false, err
	}
	if priced, err = priceAllocation(tx, a); err != nil || !priced {
		return false, err
	}
	recordPriced(tx, a)
	if !a.Decision.Protected {
		return true, nil
	}
	return true, moveLocked(tx, a, premiumCause{cause: protection.CauseLateFixing, effectiveAt: tx.Now})
}
