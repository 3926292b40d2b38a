package ledger

import (
	"database/sql"
	"errors"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/protection"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// allocationColumns are the columns of an allocation, in the order in which scanAllocation reads them.
const allocationColumns = `a.site_id, a.id, a.channel_id, a.booking_id, a.transaction_id, a.currency, a.amount, a.scheme,
	a.effective_at, a.recorded_at, a.protected, a.reason, a.simulated, a.late_logged, a.cover_from, a.rulepack,
	a.policy_currency, a.max_fixing_age, a.priced_at, a.value, a.from_provider, a.from_day, a.from_rate, a.to_provider,
	a.to_day, a.to_rate, a.policy_id`

// returnedAllocationColumns are the same columns for a RETURNING clause, where the table has no alias.
var returnedAllocationColumns = strings.ReplaceAll(allocationColumns, "a.", "allocations.")

// storedLeg is one leg of a quote, as its three columns hold it.
type storedLeg struct {
	provider fx.Provider
	day      sql.NullInt64
	rate     string
}

// leg reads the columns back. The euro's leg has the rate 1 and no fixing. If both currencies are the same, there is no
// leg: its rate is empty.
func (s storedLeg) leg(c money.Currency) (fx.Leg, error) {
	if s.rate == "" {
		return fx.Leg{}, nil
	}
	rate, err := money.ParseRate(s.rate)
	return fx.Leg{Currency: c, Rate: rate, Provider: s.provider, Day: civil.Day(s.day.Int64)}, err
}

func columnsOf(l fx.Leg) storedLeg {
	s := storedLeg{provider: l.Provider}
	if !l.Rate.IsZero() {
		s.rate = l.Rate.String()
	}
	if l.HasFixing() {
		s.day = sql.NullInt64{Int64: int64(l.Day), Valid: true}
	}
	return s
}

func scanAllocation(scan func(dest ...any) error) (protection.Allocation, error) {
	var a protection.Allocation
	var effective, recorded, cover int64
	var priced, value sql.NullInt64
	var from, to storedLeg
	err := scan(&a.SiteID, &a.ID, &a.ChannelID, &a.BookingID, &a.TransactionID, &a.Currency, &a.Amount, &a.Scheme,
		&effective, &recorded, &a.Decision.Protected, &a.Decision.Reason, &a.Decision.Simulated, &a.Decision.LateLogged,
		&cover, &a.Rulepack, &a.PolicyCurrency, &a.MaxFixingAge, &priced, &value, &from.provider, &from.day, &from.rate,
		&to.provider, &to.day, &to.rate, &a.PolicyID)
	if err != nil {
		return protection.Allocation{}, err
	}
	a.EffectiveAt, a.RecordedAt, a.Decision.CoverFrom = store.Instant(effective), store.Instant(recorded), store.Instant(cover)
	a.PricedAt, a.Value = store.MaybeInstant(priced), value.Int64
	a.Quote, err = quoteOf(a.Currency, a.PolicyCurrency, from, to)
	return a, err
}

func quoteOf(currency, policy money.Currency, from, to storedLeg) (fx.Quote, error) {
	fromLeg, err := from.leg(currency)
	toLeg, err2 := to.leg(policy)
	return fx.Quote{From: currency, To: policy, FromLeg: fromLeg, ToLeg: toLeg}, errors.Join(err, err2)
}

// allocationsOfBooking reads the allocations of a booking, in order of their ids.
func allocationsOfBooking(tx *store.Tx, siteID, bookingID int64) ([]protection.Allocation, error) {
	return allocations(tx, `WHERE a.site_id = $1 AND a.booking_id = $2 ORDER BY a.id`, siteID, bookingID)
}

// AllocationsOfTransaction reads the allocations of a transaction, in order of their ids.
func AllocationsOfTransaction(tx *store.Tx, siteID, transactionID int64) ([]protection.Allocation, error) {
	return allocations(tx, `WHERE a.site_id = $1 AND a.transaction_id = $2 ORDER BY a.id`, siteID, transactionID)
}

// AllocationIDsOfBooking reads the ids of the allocations of a booking that were recorded up to an instant: those greater
// than after, in order, at most limit of them.
func AllocationIDsOfBooking(tx *store.Tx, siteID, bookingID, after int64, known time.Time, limit int) ([]int64, error) {
	return store.Ids(tx, `SELECT id FROM allocations WHERE site_id = $1 AND booking_id = $2 AND id > $3 AND recorded_at <= $4
		ORDER BY id LIMIT $5`, siteID, bookingID, after, store.Micros(known), limit)
}

// PendingAllocations reads allocations of a site that wait for a rate: those with ids greater than after, in order of
// their ids, at most limit of them.
func PendingAllocations(tx *store.Tx, siteID, after int64, limit int) ([]protection.Allocation, error) {
	return allocations(tx, `WHERE a.site_id = $1 AND a.id > $2 AND a.priced_at IS NULL ORDER BY a.id LIMIT $3`,
		siteID, after, limit)
}

// SitesWithPendingRates lists the sites with allocations that wait for a rate, each with its clock, in order of ids.
func SitesWithPendingRates(tx *store.Tx) ([]sites.Clock, error) {
	var list []sites.Clock
	err := tx.Query(`SELECT DISTINCT a.site_id, s.clock_ahead FROM allocations a JOIN sites s ON s.id = a.site_id
		WHERE a.priced_at IS NULL ORDER BY a.site_id`, nil,
		func(scan func(dest ...any) error) error {
			var site sites.Clock
			var ahead int64
			err := scan(&site.SiteID, &ahead)
			site.Ahead = sites.Microseconds(ahead)
			list = append(list, site)
			return err
		})
	return list, err
}

func allocations(tx *store.Tx, condition string, args ...any) ([]protection.Allocation, error) {
	var list []protection.Allocation
	err := tx.Query(`SELECT `+allocationColumns+` FROM allocations a `+condition, args,
		func(scan func(dest ...any) error) error {
			a, err := scanAllocation(scan)
			list = append(list, a)
			return err
		})
	return list, err
}

// positionsQuery reads every allocation that can count at the end of a day ($2), as known at an instant ($3), with its
// sums and terms at that time. It also returns allocations whose last day of dispute is over: the caller decides. The
// "+" keeps SQLite from using the index on that column: it would sort, or scan the terms of the whole site for each
// row.
const positionsQuery = `SELECT a.id, a.channel_id, a.currency, a.scheme, a.effective_at, a.amount, a.protected,
		a.cover_from, a.policy_currency, a.priced_at, a.from_provider, a.from_day, a.from_rate, a.to_provider, a.to_day,
		a.to_rate, t.start_day, t.end_day, t.last_day, t.country, t.suppliers, a.booking_id, a.transaction_id,
		COALESCE((SELECT c.total FROM booking_totals c WHERE c.site_id = $1 AND c.booking_id = a.booking_id
			AND c.changed_at > $4 ORDER BY c.id LIMIT 1), b.total),
		CAST(COALESCE((SELECT SUM(CASE e.kind WHEN 'chargeback-reversal' THEN 0 ELSE e.amount END) FROM allocation_events e
			WHERE e.site_id = $1 AND e.allocation_id = a.id AND e.effective_at <= $2 AND e.recorded_at <= $3), 0) AS BIGINT),
		CAST(COALESCE((SELECT SUM(CASE e.kind WHEN 'chargeback-reversal' THEN e.amount ELSE 0 END) FROM allocation_events e
			WHERE e.site_id = $1 AND e.allocation_id = a.id AND e.effective_at <= $2 AND e.recorded_at <= $3), 0) AS BIGINT)
	FROM allocations a
	JOIN bookings b ON b.site_id = a.site_id AND b.id = a.booking_id
	JOIN allocation_terms t ON t.site_id = a.site_id AND t.allocation_id = a.id AND t.id = COALESCE(
		(SELECT MAX(l.id) FROM allocation_terms l WHERE l.site_id = $1 AND l.allocation_id = a.id
			AND +l.effective_at <= $2 AND l.recorded_at <= $3),
		(SELECT MIN(l.id) FROM allocation_terms l WHERE l.site_id = $1 AND l.allocation_id = a.id))
	WHERE a.site_id = $1 AND (a.booking_id, a.id) > ($5, $6) AND +a.effective_at <= $2 AND a.recorded_at <= $3
		AND NOT a.simulated`

// Positions calls each for every allocation of the site that can count at the end of a day, as known at an instant. If
// channels are given, only theirs are read. Simulated allocations count in no total and are left out. The positions of
// one booking come one after the other. It reads a piece at a time, so stopping early reads little.
func Positions(
	tx *store.Tx, siteID int64, day civil.Day, known time.Time, channels []int64, each func(exposure.Position) error,
) error {
	open, err := openIsEnough(tx, siteID, day, known)
	if err != nil {
		return err
	}
	return positionsInPieces(tx, firstPiece, siteID, day, known, channels, open, each)
}

// The first page of a list needs few positions, and a report needs all: each piece is larger than the one before it.
const (
	firstPiece = 100
	lastPiece  = 5_000
)

// openIsEnough reports whether a report can leave out closed allocations. As known now, they count neither today nor
// later. If the site's clock was moved after the caller read it, they are closed by another day; the same holds just
// before midnight, when another process may already be on the next day.
func openIsEnough(tx *store.Tx, siteID int64, day civil.Day, known time.Time) (bool, error) {
	if day < civil.DayOf(tx.Now.Add(store.FinalAfter)) || known.Before(tx.Now) {
		return false, nil
	}
	clock, err := sites.ClockOf(tx, siteID)
	if errors.Is(err, store.ErrNotFound) { // there is no such site, and so nothing to read
		return false, nil
	}
	return err == nil && clock.Ahead == tx.Clock.Ahead, err
}

func positionsInPieces(
	tx *store.Tx, size int, siteID int64, day civil.Day, known time.Time, channels []int64, open bool,
	each func(exposure.Position) error,
) error {
	for booking, allocation := int64(0), int64(0); ; size = min(4*size, lastPiece) {
		var w sqltext.Where
		w.Args = []any{siteID, store.Micros(day.End()), store.Micros(known), min(store.Micros(day.End()), store.Micros(known)), booking, allocation}
		w.Text.WriteString(positionsQuery)
		if open {
			w.Text.WriteString(" AND a.closed = FALSE")
		}
		sqltext.In(&w, "a.channel_id", channels)
		read := 0
		err := tx.Query(w.Text.String()+" ORDER BY a.booking_id, a.id LIMIT "+w.Arg(size), w.Args, func(scan func(dest ...any) error) error {
			p, err := scanPosition(scan, known)
			if err != nil {
				return err
			}
			read++
			booking, allocation = p.BookingID, p.AllocationID
			return each(p)
		})
		if err != nil || read < size {
			return err
		}
	}
}

func scanPosition(scan func(dest ...any) error, known time.Time) (exposure.Position, error) {
	var p exposure.Position
	var effective, cover int64
	var priced sql.NullInt64
	var policy money.Currency
	var from, to storedLeg
	err := scan(&p.AllocationID, &p.ChannelID, &p.Currency, &p.Scheme, &effective, &p.Amounts.Allocated, &p.Protected,
		&cover, &policy, &priced, &from.provider, &from.day, &from.rate, &to.provider, &to.day, &to.rate,
		&p.Terms.Start, &p.Terms.End, &p.Terms.LastDay, &p.Terms.Country, &p.Terms.Suppliers, &p.BookingID,
		&p.TransactionID, &p.BookingTotal, &p.Amounts.Refunded, &p.Amounts.Reversed)
	if err != nil {
		return exposure.Position{}, err
	}
	p.Paid, p.CoverFrom = civil.DayOf(store.Instant(effective)), store.Instant(cover)
	p.Priced = priced.Valid && priced.Int64 <= store.Micros(known)
	p.Quote, err = quoteOf(p.Currency, policy, from, to)
	return p, err
}

// ChannelNamesAt reads the names that the channels of a site had at an instant, by the ids of the channels.
func ChannelNamesAt(tx *store.Tx, siteID int64, known time.Time) (map[int64]string, error) {
	names := map[int64]string{}
	err := tx.Query(`SELECT channel_id, name FROM channel_names WHERE site_id = $1 AND recorded_at <= $2 ORDER BY id`,
		[]any{siteID, store.Micros(known)},
		func(scan func(dest ...any) error) error {
			var id int64
			var name string
			err := scan(&id, &name)
			names[id] = name
			return err
		})
	return names, err
}
