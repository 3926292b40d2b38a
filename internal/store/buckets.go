package store

import (
	"cmp"
	"slices"
	"strings"

	"holdfast/internal/protection"
)

// deltasPerInsert is how many rows share an INSERT: far below the parameters that both engines take.
const deltasPerInsert = 100

// changeRisk makes a change to what a booking's exposure rests on, and notes in the same transaction what it changes in
// the buckets. Whoever calls it holds the booking, or else the one allocation that apply changes: parts that nobody
// changes are the same before and after, however they were read.
func changeRisk(tx *Tx, siteID, bookingID int64, change func() error, apply func(*protection.BookingRisk)) error {
	// A booking from before there were buckets is not in them yet: all of it is what changes.
	waited, err := tx.exec(`DELETE FROM exposure_backlog WHERE site_id = $1 AND booking_id = $2`, siteID, bookingID)
	if err == nil && waited > 0 {
		err = nameSuppliers(tx, siteID, bookingID)
	}
	if err != nil {
		return err
	}
	risk, err := bookingRisk(tx, siteID, bookingID)
	if err != nil {
		return err
	}
	var before []protection.Delta
	if waited == 0 {
		if before, err = risk.Deltas(); err != nil {
			return err
		}
	}
	if err := change(); err != nil {
		return err
	}
	apply(&risk)
	after, err := risk.Deltas()
	if err != nil {
		return err
	}
	return insertDeltas(tx, siteID, protection.Difference(before, after))
}

// nameSuppliers writes the booking's suppliers into terms from before they were kept there.
func nameSuppliers(tx *Tx, siteID, bookingID int64) error {
	suppliers, err := BookingSuppliers(tx, siteID, bookingID)
	if err != nil || len(suppliers) == 0 {
		return err
	}
	_, err = tx.exec(`UPDATE allocation_terms SET suppliers = $3 WHERE site_id = $1 AND suppliers = '' AND allocation_id IN
		(SELECT id FROM allocations WHERE site_id = $1 AND booking_id = $2)`,
		siteID, bookingID, protection.SupplierKey(suppliers))
	return err
}

// BookingSuppliers reads the suppliers that a booking includes.
func BookingSuppliers(tx *Tx, siteID, bookingID int64) (ids []int64, err error) {
	err = eachPair(tx, `SELECT booking_id, supplier_id FROM booking_suppliers WHERE site_id = $1 AND booking_id = $2
		ORDER BY supplier_id`, []any{siteID, bookingID}, func(_, supplier int64) { ids = append(ids, supplier) })
	return ids, err
}

// bookingRisk reads all that the exposure of a booking rests on.
func bookingRisk(tx *Tx, siteID, bookingID int64) (b protection.BookingRisk, err error) {
	args := []any{siteID, bookingID}
	var changed bool
	err = tx.row(`SELECT total, EXISTS (SELECT 1 FROM booking_totals t WHERE t.site_id = $1 AND t.booking_id = $2)
		FROM bookings WHERE site_id = $1 AND id = $2`, args, &b.Total, &changed)
	if err == nil && changed { // before the first payment, too: it may count from a day before the change
		b.Totals, err = totalChanges(tx, args)
	}
	if err != nil {
		return b, err
	}
	allocations, err := AllocationsOfBooking(tx, siteID, bookingID)
	if err != nil || len(allocations) == 0 {
		return b, err // the first payment of a booking, which most are
	}
	type parts struct {
		terms  []numbered[protection.DatedTerms]
		events []numbered[protection.Event]
	}
	at := map[int64]*parts{}
	for _, a := range allocations {
		at[a.ID] = &parts{}
	}
	// A CROSS JOIN, because it tells SQLite where to begin: it would rather walk through all terms of the site, all
	// the more where their order is asked for.
	err = tx.each(`SELECT a.id, t.start_day, t.end_day, t.last_day, t.country, t.suppliers, t.effective_at, t.id
		FROM allocations a CROSS JOIN allocation_terms t
		WHERE a.site_id = $1 AND a.booking_id = $2 AND t.site_id = a.site_id AND t.allocation_id = a.id`, args,
		func(scan func(dest ...any) error) error {
			var id, effective, order int64
			var t protection.DatedTerms
			err := scan(&id, &t.Start, &t.End, &t.LastDay, &t.Country, &t.Suppliers, &effective, &order)
			t.EffectiveAt = instant(effective)
			if a := at[id]; a != nil { // not committed yet when the allocations were read: it is no part of either picture
				a.terms = append(a.terms, numbered[protection.DatedTerms]{order, t})
			}
			return err
		})
	if err != nil {
		return b, err
	}
	err = tx.each(`SELECT a.id, e.kind, e.amount, e.effective_at, e.id
		FROM allocations a CROSS JOIN allocation_events e
		WHERE a.site_id = $1 AND a.booking_id = $2 AND e.site_id = a.site_id AND e.allocation_id = a.id`, args,
		func(scan func(dest ...any) error) error {
			var id, effective, order int64
			var e protection.Event
			err := scan(&id, &e.Kind, &e.Amount, &effective, &order)
			e.EffectiveAt = instant(effective)
			if a := at[id]; a != nil {
				a.events = append(a.events, numbered[protection.Event]{order, e})
			}
			return err
		})
	for _, a := range allocations {
		read := at[a.ID]
		b.Allocations = append(b.Allocations, protection.AllocationRisk{
			Allocation: a, Terms: inOrder(read.terms), Events: inOrder(read.events),
		})
	}
	return b, err
}

// totalChanges reads what the total of a booking was before its changes; args are its site and id.
func totalChanges(tx *Tx, args []any) (list []protection.TotalChange, err error) {
	err = tx.each(`SELECT changed_at, total FROM booking_totals WHERE site_id = $1 AND booking_id = $2 ORDER BY id`, args,
		func(scan func(dest ...any) error) error {
			var changed int64
			var c protection.TotalChange
			err := scan(&changed, &c.Before)
			c.At = instant(changed)
			list = append(list, c)
			return err
		})
	return list, err
}

// numbered is a row with its id, by which it is put in order.
type numbered[T any] struct {
	id  int64
	row T
}

func inOrder[T any](rows []numbered[T]) []T {
	slices.SortFunc(rows, func(a, b numbered[T]) int { return cmp.Compare(a.id, b.id) })
	list := make([]T, len(rows))
	for i, r := range rows {
		list[i] = r.row
	}
	return list
}

// riskOfAllocation changes one allocation of a booking's risk.
func riskOfAllocation(id int64, change func(*protection.AllocationRisk)) func(*protection.BookingRisk) {
	return func(b *protection.BookingRisk) {
		if i := slices.IndexFunc(b.Allocations, func(a protection.AllocationRisk) bool { return a.ID == id }); i >= 0 {
			change(&b.Allocations[i])
		}
	}
}

// insertDeltas appends changes of buckets: rows of their own, so that nobody waits for anybody.
func insertDeltas(tx *Tx, siteID int64, deltas []protection.Delta) error {
	for batch := range slices.Chunk(deltas, deltasPerInsert) {
		var w where
		rows := make([]string, len(batch))
		for i, d := range batch {
			rows[i] = w.values(siteID, d.Day, d.ChannelID, d.Currency, d.Scheme, d.Country, d.Suppliers, d.Standing,
				d.ValuedIn, d.Start, d.End, d.LastDay, d.Count, d.Amount, d.Locked, micros(RealNow(tx)))
		}
		_, err := tx.exec(`INSERT INTO exposure_deltas (site_id, day, channel_id, currency, scheme, country, suppliers,
				standing, valued_in, start_day, end_day, last_day, counted, amount, locked, noted_at)
			VALUES `+strings.Join(rows, ", "), w.args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// values takes values and returns a row of their placeholders.
func (w *where) values(values ...any) string {
	var row strings.Builder
	for i, v := range values {
		if i > 0 {
			row.WriteString(", ")
		}
		row.WriteString(w.arg(v))
	}
	return "(" + row.String() + ")"
}

const deltaColumns = `day, channel_id, currency, scheme, country, suppliers, standing, valued_in, start_day, end_day,
	last_day, counted, amount, locked`

func scanDelta(scan func(dest ...any) error) (d protection.Delta, err error) {
	err = scan(&d.Day, &d.ChannelID, &d.Currency, &d.Scheme, &d.Country, &d.Suppliers, &d.Standing, &d.ValuedIn,
		&d.Start, &d.End, &d.LastDay, &d.Count, &d.Amount, &d.Locked)
	return d, err
}

// HasExposureBacklog reports whether bookings of a site are not in its buckets yet.
func HasExposureBacklog(tx *Tx, siteID int64) (has bool, err error) {
	err = tx.row(`SELECT EXISTS (SELECT 1 FROM exposure_backlog WHERE site_id = $1)`, []any{siteID}, &has)
	return has, err
}

// CatchUpExposure writes the deltas of bookings from before there were buckets, of some of them; done is how many.
func CatchUpExposure(tx *Tx, siteID int64, limit int) (done int, err error) {
	var bookings []int64
	err = tx.each(`SELECT booking_id FROM exposure_backlog WHERE site_id = $1 ORDER BY booking_id LIMIT $2`,
		[]any{siteID, limit}, func(scan func(dest ...any) error) error {
			var id int64
			err := scan(&id)
			bookings = append(bookings, id)
			return err
		})
	for _, id := range bookings {
		if err != nil {
			return done, err
		}
		// A payment, refund or change of the booking waits until it is counted, or has counted it itself.
		if _, err = tx.exec(`UPDATE bookings SET version = version WHERE site_id = $1 AND id = $2`, siteID, id); err != nil {
			return done, err
		}
		err = changeRisk(tx, siteID, id, func() error { return nil }, func(*protection.BookingRisk) {})
		done++
	}
	return done, err
}

// ForgetExposure forgets the buckets of a site and lets them be made anew, as after a migration: nothing is lost, because
// they hold nothing that the allocations do not. Until then its reports are computed from the rows. Nothing may be logged
// in the site meanwhile.
func ForgetExposure(tx *Tx, siteID int64) error {
	for _, statement := range []string{
		`INSERT INTO exposure_backlog (site_id, booking_id) SELECT DISTINCT site_id, booking_id FROM allocations
			WHERE site_id = $1 ON CONFLICT (site_id, booking_id) DO NOTHING`,
		`DELETE FROM exposure_deltas WHERE site_id = $1`,
		`DELETE FROM exposure_buckets WHERE site_id = $1`,
		`DELETE FROM exposure_blocks WHERE site_id = $1`,
		`DELETE FROM exposure_cells WHERE site_id = $1`,
	} {
		if _, err := tx.exec(statement, siteID); err != nil {
			return err
		}
	}
	return nil
}
