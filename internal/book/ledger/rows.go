package ledger

import (
	"database/sql"
	"slices"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
)

// InsertAllocation adds an allocation of a locked booking, with its first terms.
func InsertAllocation(tx *store.Tx, a protection.Allocation, t protection.Terms) error {
	terms := []protection.DatedTerms{{Terms: t, EffectiveAt: tx.Now, RecordedAt: tx.Now}}
	if err := addRisk(tx, protection.History{Allocation: a, Terms: slices.Clone(terms)}); err != nil {
		return err
	}
	from, to := columnsOf(a.Quote.FromLeg), columnsOf(a.Quote.ToLeg)
	row := []any{
		a.SiteID, a.ID, a.ChannelID, a.BookingID, a.TransactionID, a.Currency, a.Amount, a.Scheme, store.Micros(a.EffectiveAt),
		store.Micros(a.RecordedAt), a.Decision.Protected, a.Decision.Reason, a.Decision.Simulated, a.Decision.LateLogged,
		store.Micros(a.Decision.CoverFrom), a.Rulepack, a.PolicyCurrency, a.MaxFixingAge, store.MaybeMicros(a.PricedAt),
		sql.NullInt64{Int64: a.Value, Valid: !a.PricedAt.IsZero()}, from.provider, from.day, from.rate, to.provider,
		to.day, to.rate, t.LastDay, over(tx, t.LastDay), closed(tx, t), a.PolicyID,
	}
	facts := slices.Concat(row[:18], row[len(row)-1:]) // all but the price, which may arrive late
	if err := insertFacts(tx, "allocations", insertedAllocation, row, facts); err != nil {
		return err
	}
	inLedger.Of(tx).hold(&heldAllocation{
		Allocation: a, terms: &terms, events: &[]protection.Event{}, lines: &[]protection.PremiumLine{},
	})
	return insertTermsRow(tx, a.SiteID, a.ID, t)
}

// changeAllocation changes one allocation in the risk of a locked booking. It also locks the allocation: a rate that
// arrives meanwhile is either seen before the change, or waits until it is committed.
func changeAllocation(tx *store.Tx, siteID, id int64, apply func(*protection.History)) (*heldAllocation, error) {
	a, err := lockAllocation(tx, siteID, id)
	if err != nil {
		return nil, err
	}
	if err := learnPrice(tx, a); err != nil {
		return nil, err
	}
	err = changeRisk(tx, siteID, a.BookingID, func(b *exposure.BookingRisk) {
		if i := slices.IndexFunc(b.Allocations, func(a protection.History) bool { return a.ID == id }); i >= 0 {
			apply(&b.Allocations[i])
		}
	})
	return inLedger.Of(tx).allocations[store.Key{SiteID: siteID, ID: id}], err
}

// insertTerms adds terms to an allocation of a locked booking. They take effect now; the older ones are kept.
func insertTerms(tx *store.Tx, siteID, allocationID int64, t protection.Terms) error {
	dated := protection.DatedTerms{Terms: t, EffectiveAt: tx.Now, RecordedAt: tx.Now}
	held, err := changeAllocation(tx, siteID, allocationID,
		func(a *protection.History) { a.Terms = append(slices.Clone(a.Terms), dated) })
	if err != nil {
		return err
	}
	also(held.terms, dated)
	return insertTermsRow(tx, siteID, allocationID, t)
}

func insertTermsRow(tx *store.Tx, siteID, allocationID int64, t protection.Terms) error {
	now := store.Micros(tx.Now)
	row := []any{siteID, allocationID, now, now, t.Start, t.End, t.LastDay, t.Country, t.Suppliers}
	return insertFacts(tx, "allocation_terms", TermsFacts, row, row)
}

// insertEvent adds a refund, chargeback or reversal to an allocation of a locked booking.
func insertEvent(tx *store.Tx, siteID, allocationID int64, e protection.Event) error {
	e.RecordedAt = tx.Now
	held, err := changeAllocation(tx, siteID, allocationID,
		func(h *protection.History) {
			h.Events = slices.Clone(h.Events)
			h.Learn(e)
		})
	if err != nil {
		return err
	}
	also(held.events, e)
	row := []any{siteID, allocationID, e.TransactionID, e.Kind, e.Amount, store.Micros(e.EffectiveAt), store.Micros(e.RecordedAt)}
	return insertFacts(tx, "allocation_events", EventFacts, row, row)
}

// InsertPremium adds a line to the premium ledger.
func InsertPremium(tx *store.Tx, l protection.PremiumLine) error {
	s := l.State
	row := []any{
		l.SiteID, l.AllocationID, l.ChannelID, l.BookingID, l.TransactionID, l.Kind, l.Cause, store.Micros(l.RecordedAt),
		store.Micros(l.EffectiveAt), l.Currency, l.Amount, l.Retained, s.Amount, s.Value, s.Lead, s.Line.PPM, s.Premium,
		s.Minimum, l.PolicyID, store.MaybeID(s.Line.ID), l.Simulated,
	}
	if held := inLedger.Of(tx).allocations[store.Key{SiteID: l.SiteID, ID: l.AllocationID}]; held != nil {
		also(held.lines, l)
	}
	return insertFacts(tx, "premium_lines", PremiumFacts, row, row)
}

// priceAllocation stores the rate of an allocation that waited for one. It returns false if the allocation has a rate
// already; then nothing changes.
func priceAllocation(tx *store.Tx, a protection.Allocation) (priced bool, err error) {
	// Lock it before the look: of two processes that price it, the second one finds it priced.
	stored, err := lockAllocation(tx, a.SiteID, a.ID)
	if err != nil || !stored.PricedAt.IsZero() {
		return false, err
	}
	held, err := changeAllocation(tx, a.SiteID, a.ID, func(h *protection.History) { h.Allocation = a })
	if err != nil {
		return false, err
	}
	from, to := columnsOf(a.Quote.FromLeg), columnsOf(a.Quote.ToLeg)
	_, err = tx.Exec(`UPDATE allocations SET priced_at = $3, value = $4, from_provider = $5, from_day = $6, from_rate = $7,
			to_provider = $8, to_day = $9, to_rate = $10
		WHERE site_id = $1 AND id = $2`,
		a.SiteID, a.ID, store.Micros(a.PricedAt), a.Value, from.provider, from.day, from.rate, to.provider, to.day, to.rate)
	held.Allocation = a
	return err == nil, err
}

// lockAllocation locks an allocation for this write and reads it. Every change of its premium does so first: a refund, a
// changed booking and a late rate then see each other's lines. To avoid deadlocks, lock transactions first, then
// bookings, then allocations, each in order of their ids.
func lockAllocation(tx *store.Tx, siteID, id int64) (protection.Allocation, error) {
	m := inLedger.Of(tx)
	if held := m.allocations[store.Key{SiteID: siteID, ID: id}]; held != nil {
		return held.Allocation, nil
	}
	a, err := scanAllocation(func(dest ...any) error {
		return tx.QueryRow(`UPDATE allocations SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+returnedAllocationColumns, []any{siteID, id}, dest...)
	})
	if err == nil {
		m.hold(&heldAllocation{Allocation: a})
	}
	return a, err
}

// PremiumOf reads the premium lines of an allocation, in the order in which they were booked.
func PremiumOf(tx *store.Tx, siteID, allocationID int64) ([]protection.PremiumLine, error) {
	ask := func() ([]protection.PremiumLine, error) { return premiumOf(tx, siteID, allocationID) }
	if held := inLedger.Of(tx).allocations[store.Key{SiteID: siteID, ID: allocationID}]; held != nil {
		return listOnce(&held.lines, ask)
	}
	return ask()
}

// termsHistory reads all terms that an allocation ever had, in order of recording.
func termsHistory(tx *store.Tx, siteID, allocationID int64) ([]protection.DatedTerms, error) {
	ask := func() ([]protection.DatedTerms, error) {
		h, err := historyOfOne(tx, siteID, allocationID)
		return h.Terms, err
	}
	if held := inLedger.Of(tx).allocations[store.Key{SiteID: siteID, ID: allocationID}]; held != nil {
		return listOnce(&held.terms, ask)
	}
	return ask()
}

// Events reads the refunds, chargebacks and reversals of an allocation, in the order in which they took effect.
func Events(tx *store.Tx, siteID, allocationID int64) ([]protection.Event, error) {
	ask := func() ([]protection.Event, error) {
		h, err := historyOfOne(tx, siteID, allocationID)
		return h.Events, err
	}
	if held := inLedger.Of(tx).allocations[store.Key{SiteID: siteID, ID: allocationID}]; held != nil {
		return listOnce(&held.events, ask)
	}
	return ask()
}
