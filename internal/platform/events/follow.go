package events

import (
	"time"

	"holdfast/internal/domain/event"
	"holdfast/internal/store"
)

// The functions here are for packages that follow the feed on their own.

// End is the position of the last event of a site that has one.
func End(tx *store.Tx, siteID int64) (position int64, err error) {
	h, _, err := headOf(tx, siteID)
	return h.position, err
}

// Between reads the events of a site behind a position, up to and including another one, in their order.
func Between(tx *store.Tx, siteID, after, last int64) (list []event.Event, err error) {
	err = tx.Query(`SELECT `+eventColumns+` FROM events WHERE site_id = $1 AND position > $2 AND position <= $3 ORDER BY position`,
		[]any{siteID, after, last}, func(scan func(dest ...any) error) error {
			e, err := scanEvent(scan)
			list = append(list, e)
			return err
		})
	return list, err
}

// WithID reads an event that has a position, or returns store.ErrNotFound.
func WithID(tx *store.Tx, siteID, id int64) (e event.Event, err error) {
	return scanEvent(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+eventColumns+` FROM events WHERE site_id = $1 AND id = $2 AND position IS NOT NULL`,
			[]any{siteID, id}, dest...)
	})
}

// slack is more than a write takes: positions are given in the order of commits, and instants at the beginning of writes.
const slack = 10 * time.Minute

// During reads up to limit events with a position that happened from an instant up to, and without, another one, in the
// order of their positions.
func During(tx *store.Tx, siteID int64, from, to time.Time, limit int) (list []event.Event, err error) {
	h, _, err := headOf(tx, siteID)
	if err != nil {
		return nil, err
	}
	first, err := positionAt(tx, siteID, h, from.Add(-slack))
	if err != nil {
		return nil, err
	}
	end, err := positionAt(tx, siteID, h, to.Add(slack))
	if err != nil {
		return nil, err
	}
	err = tx.Query(`SELECT `+eventColumns+` FROM events WHERE site_id = $1 AND position >= $2 AND position < $3
			AND at >= $4 AND at < $5 ORDER BY position LIMIT $6`,
		[]any{siteID, first, end, store.Micros(from), store.Micros(to), limit}, func(scan func(dest ...any) error) error {
			e, err := scanEvent(scan)
			list = append(list, e)
			return err
		})
	return list, err
}

// positionAt finds the first position whose event did not happen before an instant. The clock of a site only goes forward,
// so it halves the feed again and again.
func positionAt(tx *store.Tx, siteID int64, h head, at time.Time) (int64, error) {
	low, high := h.removedTo+1, h.position+1
	for low < high {
		middle := low + (high-low)/2
		var happened int64
		if err := tx.QueryRow(`SELECT at FROM events WHERE site_id = $1 AND position = $2`, []any{siteID, middle}, &happened); err != nil {
			return 0, err
		}
		if happened < store.Micros(at) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
