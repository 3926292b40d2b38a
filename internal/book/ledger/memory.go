package ledger

import (
	"slices"
	"time"

	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/digest"
	"holdfast/internal/store"
)

// ledgerMemory is what a write remembers of the ledger, so that it does not read the same rows twice.
type ledgerMemory struct {
	risks       map[store.Key]*heldRisk       // of bookings that the write has locked
	allocations map[store.Key]*heldAllocation // that the write has made or locked
	rows        ledgerRows
	changed     []*heldRisk                // whose changes are not in the buckets yet
	deltas      map[int64][]exposure.Delta // by site: further changes that are not in the buckets yet
}

// heldRisk is the risk of a booking: all facts that its buckets are computed from. counted is its part in the buckets.
// Only what is outstanding is known of a booking whose facts were not read.
type heldRisk struct {
	siteID      int64
	read        bool
	risk        exposure.BookingRisk
	before      exposure.BookingRisk // as it was when it was counted
	counted     []exposure.Delta
	outstanding []exposure.Outstanding // while the facts are not read
}

// changes returns what has changed of the buckets since they were counted.
func (h *heldRisk) changes(now time.Time) (deltas []exposure.Delta, err error) {
	counted, err := h.risk.Deltas()
	if err != nil {
		return nil, err
	}
	if len(h.risk.RecordedAfter(now)) > 0 {
		deltas, err = exposure.OvertakenDeltas(h.before, h.risk, now)
	} else {
		deltas = exposure.Difference(h.counted, counted)
	}
	h.counted, h.before = counted, h.risk.Clone()
	return deltas, err
}

// text is what is outstanding of the booking, as it is stored.
func (h *heldRisk) text() string {
	if h.read {
		return exposure.OutstandingText(h.risk.Outstanding())
	}
	return exposure.OutstandingText(h.outstanding)
}

// heldAllocation is an allocation that this write has made or locked. A list that is nil was not read yet.
type heldAllocation struct {
	protection.Allocation
	terms  *[]protection.DatedTerms
	events *[]protection.Event
	lines  *[]protection.PremiumLine
}

// listOnce returns a list from memory, or else asks for it and remembers it.
func listOnce[T any](known **[]T, ask func() ([]T, error)) ([]T, error) {
	if *known == nil {
		list, err := ask()
		if err != nil {
			return nil, err
		}
		*known = &list
	}
	return slices.Clone(**known), nil
}

// also adds a row to a list in memory, if listOnce has asked for that list.
func also[T any](known *[]T, row T) {
	if known != nil {
		*known = append(*known, row)
	}
}

var inLedger = store.NewLocal[ledgerMemory]()

// ledgerRows are rows that wait for the end of the write, so that many of them share an INSERT. The tables are in the
// order in which they refer to each other.
type ledgerRows struct{ allocations, terms, events, premium [][]any }

var (
	waitingRows   = store.NewDeferral(flushRows, "allocations", "allocation_terms", "allocation_events", "premium_lines")
	waitingDeltas = store.NewSumDeferral(flushDeltas, "exposure_deltas")
)

// The columns of rows that never change, which their digests are made of.
const (
	AllocationFacts = `site_id, id, channel_id, booking_id, transaction_id, currency, amount, scheme,
		effective_at, recorded_at, protected, reason, simulated, late_logged, cover_from, rulepack, policy_currency,
		max_fixing_age, policy_id`
	TermsFacts = `site_id, allocation_id, effective_at, recorded_at, start_day, end_day, last_day,
		country, suppliers`
	EventFacts   = `site_id, allocation_id, transaction_id, kind, amount, effective_at, recorded_at`
	PremiumFacts = `site_id, allocation_id, channel_id, booking_id, transaction_id, kind, cause,
		recorded_at, effective_at, currency, amount, retained, state_amount, state_value, lead_days, ppm, premium,
		minimum_applied, policy_id, rate_card, simulated`
	TotalFacts = `site_id, booking_id, changed_at, total`
)

const insertedAllocation = `site_id, id, channel_id, booking_id, transaction_id, currency, amount, scheme,
	effective_at, recorded_at, protected, reason, simulated, late_logged, cover_from, rulepack, policy_currency,
	max_fixing_age, priced_at, value, from_provider, from_day, from_rate, to_provider, to_day, to_rate, ends_after, ended,
	closed, policy_id`

func flushRows(tx *store.Tx) error {
	m := inLedger.Of(tx)
	rows := m.rows
	m.rows = ledgerRows{}
	for _, table := range []struct {
		name, columns string
		rows          [][]any
		facts         func(row []any) []any
	}{
		{"allocations", insertedAllocation, rows.allocations, factsOfAllocation},
		{"allocation_terms", TermsFacts, rows.terms, allFacts},
		{"allocation_events", EventFacts, rows.events, allFacts},
		{"premium_lines", PremiumFacts, rows.premium, allFacts},
	} {
		for i, row := range table.rows {
			sum, err := digest.Of(table.facts(row)...)
			if err != nil {
				return err
			}
			table.rows[i] = slices.Concat(row, []any{sum})
		}
		if err := tx.InsertRows(table.name, table.columns+", digest", table.rows); err != nil {
			return err
		}
	}
	return nil
}

func allFacts(row []any) []any { return row }

// factsOfAllocation are the values of AllocationFacts in a row of insertedAllocation: all but the price, which may arrive
// late.
func factsOfAllocation(row []any) []any { return slices.Concat(row[:18], row[len(row)-1:]) }

// flushDeltas adds the changes of the write's bookings to the buckets.
func flushDeltas(tx *store.Tx) error {
	m := inLedger.Of(tx)
	changed, bySite := m.changed, m.deltas
	m.changed, m.deltas = nil, nil
	if bySite == nil {
		bySite = map[int64][]exposure.Delta{}
	}
	for _, h := range changed {
		deltas, err := h.changes(tx.Now)
		if err != nil {
			return err
		}
		bySite[h.siteID] = append(bySite[h.siteID], deltas...)
	}
	for site, deltas := range bySite {
		if err := InsertDeltas(tx, site, exposure.Merge(deltas)); err != nil {
			return err
		}
	}
	return nil
}
