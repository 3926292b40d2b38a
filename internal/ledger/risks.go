package ledger

import (
	"database/sql"
	"slices"

	"holdfast/internal/bookings"
	"holdfast/internal/db"
	"holdfast/internal/protection"
)

// ledgerMemory is what a write knows of the ledger without asking again.
type ledgerMemory struct {
	risks       map[db.Key]*heldRisk       // of bookings that the write holds
	allocations map[db.Key]*heldAllocation // that it has made or taken
	rows        ledgerRows
	changed     []*heldRisk // whose buckets are not counted yet
}

// heldRisk is all that the buckets of a booking rest on. counted is what of it stands in the buckets.
type heldRisk struct {
	siteID  int64
	risk    protection.BookingRisk
	counted []protection.Delta
}

// heldAllocation is an allocation that this write has made or taken. What is nil was not asked yet.
type heldAllocation struct {
	protection.Allocation
	terms  *[]protection.DatedTerms
	events *[]protection.Event
	lines  *[]protection.PremiumLine
}

var inLedger = db.NewLocal[ledgerMemory]()

// ledgerRows are rows that wait for the end of the write, in the order in which they refer to each other.
type ledgerRows struct{ allocations, terms, events, premium [][]any }

var (
	waitingRows   = db.NewDeferral(flushRows, "allocations", "allocation_terms", "allocation_events", "premium_lines")
	waitingDeltas = db.NewDeferral(flushDeltas, "exposure_deltas")
)

const (
	insertedAllocation = `site_id, id, channel_id, booking_id, transaction_id, currency, amount, scheme,
		effective_at, recorded_at, protected, reason, simulated, late_logged, cover_from, rulepack, policy_currency,
		max_fixing_age, priced_at, value, from_provider, from_day, from_rate, to_provider, to_day, to_rate, policy_id`
	insertedTerms = `site_id, allocation_id, effective_at, recorded_at, start_day, end_day, last_day,
		country, suppliers`
	insertedEvent   = `site_id, allocation_id, transaction_id, kind, amount, effective_at, recorded_at`
	insertedPremium = `site_id, allocation_id, channel_id, booking_id, transaction_id, kind, cause,
		recorded_at, effective_at, currency, amount, retained, state_amount, state_value, lead_days, ppm, premium,
		minimum_applied, policy_id, rate_card, simulated`
)

func flushRows(tx *db.Tx) error {
	m := inLedger.Of(tx)
	rows := m.rows
	m.rows = ledgerRows{}
	for _, table := range []struct {
		name, columns string
		rows          [][]any
	}{
		{"allocations", insertedAllocation, rows.allocations},
		{"allocation_terms", insertedTerms, rows.terms},
		{"allocation_events", insertedEvent, rows.events},
		{"premium_lines", insertedPremium, rows.premium},
	} {
		if err := tx.InsertRows(table.name, table.columns, table.rows); err != nil {
			return err
		}
	}
	return nil
}

// flushDeltas adds to the buckets what the bookings of the write have become.
func flushDeltas(tx *db.Tx) error {
	m := inLedger.Of(tx)
	changed := m.changed
	m.changed = nil
	bySite := map[int64][]protection.Delta{}
	for _, h := range changed {
		now, err := h.risk.Deltas()
		if err != nil {
			return err
		}
		bySite[h.siteID] = append(bySite[h.siteID], protection.Difference(h.counted, now)...)
		h.counted = now
	}
	for site, deltas := range bySite {
		if err := InsertDeltas(tx, site, deltas); err != nil {
			return err
		}
	}
	return nil
}

// changeRisk makes a change to what a booking's exposure rests on, and counts in the same write what it changes in the
// buckets. Whoever calls it holds the booking, or else the one allocation that apply changes: parts that nobody changes
// are the same before and after, however they were read.
func changeRisk(tx *db.Tx, siteID, bookingID int64, apply func(*protection.BookingRisk)) error {
	m := inLedger.Of(tx)
	if _, holds := bookings.Held(tx, siteID, bookingID); !holds {
		risk, err := bookingRisk(tx, siteID, bookingID)
		if err != nil {
			return err
		}
		before, err := risk.Deltas()
		if err != nil {
			return err
		}
		apply(&risk)
		// Counted with all other changes, and forgotten then: the next change reads the booking again.
		m.changed = append(m.changed, &heldRisk{siteID: siteID, risk: risk, counted: before})
		tx.Defer(waitingDeltas)
		return nil
	}
	h, err := riskOf(tx, siteID, bookingID)
	if err != nil {
		return err
	}
	apply(&h.risk)
	if !slices.Contains(m.changed, h) {
		m.changed = append(m.changed, h)
	}
	tx.Defer(waitingDeltas)
	return nil
}

// riskOf is the risk of a booking that this write holds: read once, and followed from then on.
func riskOf(tx *db.Tx, siteID, bookingID int64) (*heldRisk, error) {
	m := inLedger.Of(tx)
	key := db.Key{SiteID: siteID, ID: bookingID}
	if h := m.risks[key]; h != nil {
		return h, nil
	}
	h := &heldRisk{siteID: siteID}
	b, holds := bookings.Held(tx, siteID, bookingID)
	if holds && bookings.Blank(tx, siteID, bookingID) {
		h.risk.Total = b.Total // nothing was ever paid: there is nothing to read
	} else {
		var err error
		if h.risk, err = bookingRisk(tx, siteID, bookingID); err != nil {
			return nil, err
		}
		if h.counted, err = h.risk.Deltas(); err != nil {
			return nil, err
		}
	}
	db.Keep(&m.risks, key, h)
	return h, nil
}

// bookingRisk reads all that the exposure of a booking rests on.
func bookingRisk(tx *db.Tx, siteID, bookingID int64) (b protection.BookingRisk, err error) {
	args := []any{siteID, bookingID}
	held, holds := bookings.Held(tx, siteID, bookingID)
	b.Total = held.Total
	changed := held.TotalChanged
	if !holds {
		err = tx.Row(`SELECT total, total_changed FROM bookings WHERE site_id = $1 AND id = $2`, args, &b.Total, &changed)
	}
	if err == nil && changed { // before the first payment, too: it may count from a day before the change
		b.Totals, err = totalChanges(tx, args)
	}
	if err != nil {
		return b, err
	}
	list, err := AllocationsOfBooking(tx, siteID, bookingID)
	if err != nil || len(list) == 0 {
		return b, err
	}
	b.Allocations, err = historiesOf(tx, siteID, list)
	return b, err
}

// totalChanges reads what the total of a booking was before its changes; args are its site and id.
func totalChanges(tx *db.Tx, args []any) (list []protection.TotalChange, err error) {
	err = tx.Each(`SELECT changed_at, total FROM booking_totals WHERE site_id = $1 AND booking_id = $2 ORDER BY id`, args,
		func(scan func(dest ...any) error) error {
			var changed int64
			var c protection.TotalChange
			err := scan(&changed, &c.Before)
			c.At = db.Instant(changed)
			list = append(list, c)
			return err
		})
	return list, err
}

// HistoriesOfBooking gives the allocations of a booking, each with all that became of it, in order of their ids. Of a
// booking that this write holds it asks once.
func HistoriesOfBooking(tx *db.Tx, siteID, bookingID int64) ([]protection.History, error) {
	if _, holds := bookings.Held(tx, siteID, bookingID); !holds {
		risk, err := bookingRisk(tx, siteID, bookingID)
		return risk.Allocations, err
	}
	h, err := riskOf(tx, siteID, bookingID)
	if err != nil {
		return nil, err
	}
	return slices.Clone(h.risk.Allocations), nil
}

// ChangeTotal notes that the total of a locked booking is about to change.
func ChangeTotal(tx *db.Tx, siteID, bookingID, before, after int64) error {
	err := changeRisk(tx, siteID, bookingID, func(b *protection.BookingRisk) {
		b.Total = after
		b.Totals = slices.Concat(b.Totals, []protection.TotalChange{{At: tx.Now, Before: before}})
	})
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO booking_totals (site_id, booking_id, changed_at, total) VALUES ($1, $2, $3, $4)`,
		siteID, bookingID, db.Micros(tx.Now), before)
	return err
}

// InsertAllocation adds an allocation of a locked booking, and its first terms.
func InsertAllocation(tx *db.Tx, a protection.Allocation, t protection.Terms) error {
	terms := []protection.DatedTerms{{Terms: t, EffectiveAt: tx.Now, RecordedAt: tx.Now}}
	err := changeRisk(tx, a.SiteID, a.BookingID, func(b *protection.BookingRisk) {
		b.Allocations = append(b.Allocations, protection.History{Allocation: a, Terms: slices.Clone(terms)})
	})
	if err != nil {
		return err
	}
	from, to := columnsOf(a.Quote.FromLeg), columnsOf(a.Quote.ToLeg)
	m := inLedger.Of(tx)
	m.rows.allocations = append(m.rows.allocations, []any{
		a.SiteID, a.ID, a.ChannelID, a.BookingID, a.TransactionID, a.Currency, a.Amount, a.Scheme, db.Micros(a.EffectiveAt),
		db.Micros(a.RecordedAt), a.Decision.Protected, a.Decision.Reason, a.Decision.Simulated, a.Decision.LateLogged,
		db.Micros(a.Decision.CoverFrom), a.Rulepack, a.PolicyCurrency, a.MaxFixingAge, db.MaybeMicros(a.PricedAt),
		sql.NullInt64{Int64: a.Value, Valid: !a.PricedAt.IsZero()}, from.provider, from.day, from.rate, to.provider,
		to.day, to.rate, a.PolicyID,
	})
	deferTerms(tx, a.SiteID, a.ID, t)
	db.Keep(&m.allocations, db.Key{SiteID: a.SiteID, ID: a.ID}, &heldAllocation{
		Allocation: a, terms: &terms, events: &[]protection.Event{}, lines: &[]protection.PremiumLine{},
	})
	return nil
}

// changeAllocation changes the risk of one allocation of a locked booking. It takes the allocation, too: a rate that
// arrives for it meanwhile is in the picture before the change, or waits for it.
func changeAllocation(tx *db.Tx, siteID, id int64, apply func(*protection.History)) (*heldAllocation, error) {
	a, err := LockAllocation(tx, siteID, id)
	if err != nil {
		return nil, err
	}
	err = changeRisk(tx, siteID, a.BookingID, func(b *protection.BookingRisk) {
		if i := slices.IndexFunc(b.Allocations, func(a protection.History) bool { return a.ID == id }); i >= 0 {
			apply(&b.Allocations[i])
		}
	})
	return inLedger.Of(tx).allocations[db.Key{SiteID: siteID, ID: id}], err
}

// InsertTerms adds terms of an allocation of a locked booking, in effect from now on; the older ones are kept.
func InsertTerms(tx *db.Tx, siteID, allocationID int64, t protection.Terms) error {
	dated := protection.DatedTerms{Terms: t, EffectiveAt: tx.Now, RecordedAt: tx.Now}
	held, err := changeAllocation(tx, siteID, allocationID,
		func(a *protection.History) { a.Terms = append(slices.Clone(a.Terms), dated) })
	if err != nil {
		return err
	}
	deferTerms(tx, siteID, allocationID, t)
	db.Also(held.terms, dated)
	return nil
}

func deferTerms(tx *db.Tx, siteID, allocationID int64, t protection.Terms) {
	m, now := inLedger.Of(tx), db.Micros(tx.Now)
	m.rows.terms = append(m.rows.terms,
		[]any{siteID, allocationID, now, now, t.Start, t.End, t.LastDay, t.Country, t.Suppliers})
	tx.Defer(waitingRows)
}

// InsertEvent adds what became of an allocation of a locked booking.
func InsertEvent(tx *db.Tx, siteID, allocationID int64, e protection.Event) error {
	e.RecordedAt = tx.Now
	held, err := changeAllocation(tx, siteID, allocationID,
		func(h *protection.History) {
			h.Events = slices.Clone(h.Events)
			h.Learn(e)
		})
	if err != nil {
		return err
	}
	m := inLedger.Of(tx)
	m.rows.events = append(m.rows.events,
		[]any{siteID, allocationID, e.TransactionID, e.Kind, e.Amount, db.Micros(e.EffectiveAt), db.Micros(e.RecordedAt)})
	tx.Defer(waitingRows)
	db.Also(held.events, e)
	return nil
}

// InsertPremium adds a line to the premium ledger.
func InsertPremium(tx *db.Tx, l protection.PremiumLine) {
	s, m := l.State, inLedger.Of(tx)
	m.rows.premium = append(m.rows.premium, []any{
		l.SiteID, l.AllocationID, l.ChannelID, l.BookingID, l.TransactionID, l.Kind, l.Cause, db.Micros(l.RecordedAt),
		db.Micros(l.EffectiveAt), l.Currency, l.Amount, l.Retained, s.Amount, s.Value, s.Lead, s.Line.PPM, s.Premium,
		s.Minimum, l.PolicyID, db.MaybeID(s.Line.ID), l.Simulated,
	})
	tx.Defer(waitingRows)
	if held := m.allocations[db.Key{SiteID: l.SiteID, ID: l.AllocationID}]; held != nil {
		db.Also(held.lines, l)
	}
}

// PriceAllocation locks the rate of an allocation that waited for it. priced is false where it has one already: it then
// stays as it is.
func PriceAllocation(tx *db.Tx, a protection.Allocation) (priced bool, err error) {
	// Taken first, and looked at then: of two processes that price it one finds it priced.
	stored, err := LockAllocation(tx, a.SiteID, a.ID)
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
		a.SiteID, a.ID, db.Micros(a.PricedAt), a.Value, from.provider, from.day, from.rate, to.provider, to.day, to.rate)
	held.Allocation = a
	return err == nil, err
}

// LockAllocation takes an allocation for what moves its premium, by counting up its version, and reads it as it then
// is: a refund, a changed booking and a late rate at once each see what the others did. Whoever needs several takes them
// in order of their ids, after transactions and bookings.
func LockAllocation(tx *db.Tx, siteID, id int64) (protection.Allocation, error) {
	m := inLedger.Of(tx)
	if held := m.allocations[db.Key{SiteID: siteID, ID: id}]; held != nil {
		return held.Allocation, nil
	}
	a, err := scanAllocation(func(dest ...any) error {
		return tx.Row(`UPDATE allocations SET version = version + 1 WHERE site_id = $1 AND id = $2
			RETURNING `+returnedAllocationColumns, []any{siteID, id}, dest...)
	})
	if err == nil {
		db.Keep(&m.allocations, db.Key{SiteID: siteID, ID: id}, &heldAllocation{Allocation: a})
	}
	return a, err
}

// PremiumOf reads the lines of an allocation, in the order in which they were booked.
func PremiumOf(tx *db.Tx, siteID, allocationID int64) ([]protection.PremiumLine, error) {
	ask := func() ([]protection.PremiumLine, error) { return premiumOf(tx, siteID, allocationID) }
	if held := inLedger.Of(tx).allocations[db.Key{SiteID: siteID, ID: allocationID}]; held != nil {
		return db.ListOnce(&held.lines, ask)
	}
	return ask()
}

// TermsHistory reads all terms that an allocation ever had, in order of recording.
func TermsHistory(tx *db.Tx, siteID, allocationID int64) ([]protection.DatedTerms, error) {
	ask := func() ([]protection.DatedTerms, error) {
		h, err := historyOfOne(tx, siteID, allocationID)
		return h.Terms, err
	}
	if held := inLedger.Of(tx).allocations[db.Key{SiteID: siteID, ID: allocationID}]; held != nil {
		return db.ListOnce(&held.terms, ask)
	}
	return ask()
}

// Events reads what became of an allocation, in order of effect.
func Events(tx *db.Tx, siteID, allocationID int64) ([]protection.Event, error) {
	ask := func() ([]protection.Event, error) {
		h, err := historyOfOne(tx, siteID, allocationID)
		return h.Events, err
	}
	if held := inLedger.Of(tx).allocations[db.Key{SiteID: siteID, ID: allocationID}]; held != nil {
		return db.ListOnce(&held.events, ask)
	}
	return ask()
}
