package ledger

import (
	"slices"
	"time"

	"holdfast/internal/book/bookings"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/protection"
	"holdfast/internal/lib/digest"
	"holdfast/internal/store"
)

// changeRisk changes the risk of a booking; SaveChanges counts the change of the buckets in the same write. The caller has locked
// the booking, or the one allocation that apply changes. That is enough: what other writes change meanwhile is the same
// before and after apply, so it is not in the difference.
func changeRisk(tx *store.Tx, siteID, bookingID int64, apply func(*exposure.BookingRisk)) error {
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
		was := risk.Clone()
		apply(&risk)
		// The risk is not remembered: without the lock, the next change must read the booking again.
		m.change(&heldRisk{siteID: siteID, read: true, risk: risk, before: was, counted: before})
		return nil
	}
	h, err := riskOf(tx, siteID, bookingID)
	if err != nil {
		return err
	}
	apply(&h.risk)
	m.change(h)
	return nil
}

// addRisk counts a new allocation. For a booking that this write has locked, the outstanding amounts are enough;
// earlier allocations are only used if they have been read.
func addRisk(tx *store.Tx, a protection.History) error {
	h, err := partOf(tx, a.SiteID, a.BookingID)
	if err != nil {
		return err
	}
	if h == nil || h.read {
		return changeRisk(tx, a.SiteID, a.BookingID, func(b *exposure.BookingRisk) { b.Allocations = append(b.Allocations, a) })
	}
	if a.Decision.Simulated {
		return nil // it is in no total
	}
	own, err := exposure.BookingRisk{Allocations: []protection.History{a}}.Deltas()
	if err != nil {
		return err
	}
	before := exposure.InstalmentDeltas(h.outstanding, a.ChannelID, a.Currency)
	h.outstanding = exposure.PayMore(h.outstanding, a.Paid(), a.Amount, a.Terms[0].Terms)
	after := exposure.InstalmentDeltas(h.outstanding, a.ChannelID, a.Currency)
	h.deltas = slices.Concat(h.deltas, own, exposure.Difference(before, after))
	inLedger.Of(tx).change(h)
	return nil
}

// partOf returns what this write knows about the risk of a booking that it has locked: at least the outstanding
// amounts. It reads nothing. It returns nil if the booking is not locked, was stored without outstanding amounts, or a
// write with a later clock came first: then all records are needed to know what was known when.
func partOf(tx *store.Tx, siteID, bookingID int64) (*heldRisk, error) {
	m := inLedger.Of(tx)
	key := store.Key{SiteID: siteID, ID: bookingID}
	if h := m.risks[key]; h != nil {
		return h, nil
	}
	b, holds := bookings.Held(tx, siteID, bookingID)
	if !holds {
		return nil, nil
	}
	h, text := &heldRisk{siteID: siteID}, bookings.Outstanding(tx, siteID, bookingID)
	switch {
	case bookings.Blank(tx, siteID, bookingID):
		h.read, h.risk.Total = true, b.Total // nothing was ever paid: there is nothing to read
		h.before = h.risk
	case text == "", bookings.Overtaken(tx, siteID, bookingID):
		return nil, nil
	default:
		var err error
		if h.outstanding, err = exposure.ReadOutstanding(text); err != nil {
			return nil, err
		}
	}
	m.know(bookingID, h)
	return h, nil
}

// riskOf returns the risk of a booking that this write has locked. It reads it once, and remembers every change.
func riskOf(tx *store.Tx, siteID, bookingID int64) (*heldRisk, error) {
	h, err := partOf(tx, siteID, bookingID)
	if err != nil || h != nil && h.read {
		return h, err
	}
	if h == nil {
		h = &heldRisk{siteID: siteID}
		inLedger.Of(tx).know(bookingID, h)
	}
	if h.risk, err = bookingRisk(tx, siteID, bookingID); err != nil {
		return nil, err
	}
	h.read, h.before = true, h.risk.Clone()
	h.counted, err = h.risk.Deltas()
	return h, err
}

// learnPrice takes up the price of an allocation that this write has just locked. Its booking may have been read before, and
// another write may have priced the allocation since: that write has counted the price for itself.
func learnPrice(tx *store.Tx, a protection.Allocation) error {
	h := inLedger.Of(tx).risks[store.Key{SiteID: a.SiteID, ID: a.BookingID}]
	if h == nil || !h.read {
		return nil
	}
	i := slices.IndexFunc(h.risk.Allocations, func(of protection.History) bool { return of.ID == a.ID })
	if i < 0 || h.risk.Allocations[i].PricedAt.Equal(a.PricedAt) {
		return nil
	}
	alone := exposure.BookingRisk{Total: h.risk.Total, Allocations: slices.Clone(h.risk.Allocations[i : i+1])}
	before, err := alone.Deltas()
	if err != nil {
		return err
	}
	h.risk.Allocations[i].Allocation, alone.Allocations[0].Allocation = a, a
	after, err := alone.Deltas()
	h.counted = exposure.Merge(slices.Concat(h.counted, exposure.Difference(before, after)))
	return err
}

// bookingRisk reads the risk of a booking from the database.
func bookingRisk(tx *store.Tx, siteID, bookingID int64) (b exposure.BookingRisk, err error) {
	args := []any{siteID, bookingID}
	held, holds := bookings.Held(tx, siteID, bookingID)
	b.Total = held.Total
	changed := held.TotalChanged
	if !holds {
		err = tx.QueryRow(`SELECT total, total_changed FROM bookings WHERE site_id = $1 AND id = $2`, args, &b.Total, &changed)
	}
	if err == nil && changed { // read them before the first payment, too: it may take effect before the change
		b.Totals, err = totalChanges(tx, args)
	}
	if err != nil {
		return b, err
	}
	list, err := allocationsOfBooking(tx, siteID, bookingID)
	if err != nil || len(list) == 0 {
		return b, err
	}
	b.Allocations, err = historiesOf(tx, siteID, list)
	return b, err
}

// totalChanges reads the changes of a booking's total, each with the total before it. args are the site and the booking.
func totalChanges(tx *store.Tx, args []any) (list []exposure.TotalChange, err error) {
	err = tx.Query(`SELECT changed_at, total FROM booking_totals WHERE site_id = $1 AND booking_id = $2 ORDER BY id`, args,
		func(scan func(dest ...any) error) error {
			var changed int64
			var c exposure.TotalChange
			err := scan(&changed, &c.Before)
			c.At = store.Instant(changed)
			list = append(list, c)
			return err
		})
	return list, err
}

// HistoriesOfBooking reads the allocations of a booking, each with its terms and events, in order of their ids. If this
// write has locked the booking, it reads them once only.
func HistoriesOfBooking(tx *store.Tx, siteID, bookingID int64) ([]protection.History, error) {
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

// changeTotal writes that the total of a locked booking is about to change.
func changeTotal(tx *store.Tx, siteID, bookingID, before, after int64) error {
	err := changeRisk(tx, siteID, bookingID, func(b *exposure.BookingRisk) {
		b.Total = after
		b.Totals = slices.Concat(b.Totals, []exposure.TotalChange{{At: tx.Now, Before: before}})
	})
	if err != nil {
		return err
	}
	row := []any{siteID, bookingID, store.Micros(tx.Now), before}
	sum, err := digest.Of(row...)
	if err != nil {
		return err
	}
	tx.Insert("booking_totals", TotalFacts+", digest", append(row, sum))
	return nil
}

// BookingTotalAt reads the total that a booking had at an instant, in minor units.
func BookingTotalAt(tx *store.Tx, siteID, id int64, at time.Time) (total int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE((SELECT c.total FROM booking_totals c WHERE c.site_id = $1 AND c.booking_id = b.id
			AND c.changed_at > $3 ORDER BY c.id LIMIT 1), b.total)
		FROM bookings b WHERE b.site_id = $1 AND b.id = $2`, []any{siteID, id, store.Micros(at)}, &total)
	return total, err
}
