package ledger

import (
	"maps"
	"slices"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/digest"
	"holdfast/internal/store"
)

// ledgerMemory caches the ledger rows that a write has read, so that it does not read the same rows twice.
type ledgerMemory struct {
	risks       map[store.Key]*heldRisk       // of bookings that the write has locked
	allocations map[store.Key]*heldAllocation // that the write has made or locked
	changed     []*heldRisk                   // whose changes are not in the buckets yet: see SaveChanges
}

// Unstored reports whether changes are not stored yet.
func (m *ledgerMemory) Unstored() bool { return len(m.changed) > 0 }

// hold notes that the write has made or locked an allocation.
func (m *ledgerMemory) hold(a *heldAllocation) {
	if m.allocations == nil {
		m.allocations = map[store.Key]*heldAllocation{}
	}
	m.allocations[store.Key{SiteID: a.SiteID, ID: a.ID}] = a
}

// know notes the risk of a booking that the write has locked.
func (m *ledgerMemory) know(bookingID int64, h *heldRisk) {
	if m.risks == nil {
		m.risks = map[store.Key]*heldRisk{}
	}
	h.bookingID, h.locked = bookingID, true
	m.risks[store.Key{SiteID: h.siteID, ID: bookingID}] = h
}

// change notes that a risk has changed.
func (m *ledgerMemory) change(h *heldRisk) {
	if !slices.Contains(m.changed, h) {
		m.changed = append(m.changed, h)
	}
}

// heldRisk is the risk of a booking: all facts that its buckets are computed from. counted is its part in the buckets.
// If the facts of a booking were not read, only the outstanding amounts are known; deltas are then its changes.
type heldRisk struct {
	siteID      int64
	bookingID   int64
	locked      bool // the write has locked the booking
	read        bool
	risk        exposure.BookingRisk
	before      exposure.BookingRisk // as it was when it was counted
	counted     []exposure.Delta
	outstanding []exposure.Outstanding // while the facts are not read
	deltas      []exposure.Delta       // that are not in the buckets yet, and in no difference to counted
}

// changes returns the changes of the buckets since they were counted.
func (h *heldRisk) changes(now time.Time) (deltas []exposure.Delta, err error) {
	own := h.deltas
	if h.deltas = nil; !h.read {
		return own, nil
	}
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
	return append(own, deltas...), err
}

// text is the outstanding amount of the booking, as stored.
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

// listOnce returns a cached list, or reads and caches it.
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

// also adds a row to a cached list, if listOnce has read that list.
func also[T any](known *[]T, row T) {
	if known != nil {
		*known = append(*known, row)
	}
}

var inLedger = store.NewLocal[ledgerMemory]()

// The columns of rows that never change, from which their digests are computed.
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

// insertFacts inserts a row that never changes, with the digest of its facts.
func insertFacts(tx *store.Tx, table, columns string, row, facts []any) error {
	sum, err := digest.Of(facts...)
	if err == nil {
		tx.Insert(table, columns+", digest", slices.Concat(row, []any{sum}))
	}
	return err
}

// SaveChanges adds the changes of this write's bookings to the buckets, and stores the bookings. It is the last step of
// what changes allocations. Of an import it adds up the changes of many bookings.
func SaveChanges(tx *store.Tx) error {
	m := inLedger.Of(tx)
	bySite := map[int64][]exposure.Delta{}
	for _, h := range m.changed {
		deltas, err := h.changes(tx.Now)
		if err != nil {
			return err
		}
		bySite[h.siteID] = append(bySite[h.siteID], deltas...)
		if h.locked {
			if err := bookings.SetOutstanding(tx, h.siteID, h.bookingID, h.text()); err != nil {
				return err
			}
		}
	}
	m.changed = nil
	for _, site := range slices.Sorted(maps.Keys(bySite)) {
		InsertDeltas(tx, site, exposure.Merge(bySite[site]))
	}
	return bookings.SaveChanges(tx)
}
