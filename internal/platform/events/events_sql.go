package events

import (
	"errors"
	"slices"
	"time"

	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const eventColumns = `site_id, id, position, type, object_id, at, details`

func scanEvent(scan func(dest ...any) error) (event.Event, error) {
	var e event.Event
	var at int64
	var details string
	err := scan(&e.SiteID, &e.ID, &e.Position, &e.Type, &e.ObjectID, &at, &details)
	e.At, e.Details = store.Instant(at), []byte(details)
	return e, err
}

// head is the end of the feed of a site.
type head struct {
	epoch     int64
	position  int64 // of the last event that has one
	removedTo int64 // events up to this position were removed
}

// headOf reads the end of the feed of a site, and whether there are events without a position. A site whose feed was never
// read has no row.
func headOf(tx *store.Tx, siteID int64) (h head, unplaced bool, err error) {
	unplaced, err = store.Exists(tx, `SELECT 1 FROM events WHERE site_id = $1 AND position IS NULL`, siteID)
	if err != nil {
		return h, false, err
	}
	err = tx.QueryRow(`SELECT epoch, position, removed_to FROM event_heads WHERE site_id = $1`, []any{siteID},
		&h.epoch, &h.position, &h.removedTo)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return h, unplaced, err
}

// place gives up to limit events of a site, in order of their ids, the next positions. It takes the row of the site first:
// so each statement of it sees all events that got a position before.
func place(tx *store.Tx, siteID int64, limit int) (placed int, err error) {
	var position int64
	take := func() error {
		return tx.QueryRow(`UPDATE event_heads SET position = position WHERE site_id = $1 RETURNING position`, []any{siteID}, &position)
	}
	if err = take(); errors.Is(err, store.ErrNotFound) {
		if err = begin(tx, siteID); err == nil {
			err = take()
		}
	}
	if err != nil {
		return 0, err
	}
	n, err := tx.Exec(`UPDATE events SET position = v.place
		FROM (SELECT u.id AS unplaced, CAST($2 AS BIGINT) + ROW_NUMBER() OVER (ORDER BY u.id) AS place
			FROM (SELECT id FROM events WHERE site_id = $1 AND position IS NULL ORDER BY id LIMIT $3) u) v
		WHERE events.site_id = $1 AND events.id = v.unplaced`, siteID, position, limit)
	if err != nil || n == 0 {
		return 0, err
	}
	_, err = tx.Exec(`UPDATE event_heads SET position = position + $2 WHERE site_id = $1`, siteID, n)
	return int(n), err
}

// begin makes the row of a site. Its epoch is the instant, so that another one begins where a row was lost.
func begin(tx *store.Tx, siteID int64) error {
	_, err := tx.Exec(`INSERT INTO event_heads (site_id, epoch, position, removed_to) VALUES ($1, $2, 0, 0)
		ON CONFLICT (site_id) DO NOTHING`, siteID, store.Micros(tx.Now))
	return err
}

// growing is the end of a feed that has events without a position.
const growing = -1

// endsOf reads the ends of the feeds of some sites into ends.
func endsOf(tx *store.Tx, sites []int64, ends map[int64]int64) error {
	if len(sites) == 0 {
		return nil
	}
	w := sqltext.Where{Args: []any{growing}}
	sqltext.In(&w, "p.site_id", sites)
	return tx.Query(`SELECT p.site_id, CASE WHEN EXISTS (SELECT 1 FROM events e WHERE e.site_id = p.site_id AND e.position IS NULL)
			THEN $1 ELSE COALESCE(h.position, 0) END
		FROM site_places p LEFT JOIN event_heads h ON h.site_id = p.site_id WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			var site, end int64
			err := scan(&site, &end)
			ends[site] = end
			return err
		})
}

// sitesUnplaced lists the sites that have events without a position.
func sitesUnplaced(tx *store.Tx) ([]int64, error) {
	return store.Ids(tx, `SELECT DISTINCT site_id FROM events WHERE position IS NULL ORDER BY site_id`)
}

// sitesToForget lists the sites whose oldest event was recorded before an instant.
func sitesToForget(tx *store.Tx, before time.Time) ([]int64, error) {
	return store.Ids(tx, `SELECT h.site_id FROM event_heads h
		JOIN events e ON e.site_id = h.site_id AND e.position = h.removed_to + 1
		WHERE e.recorded_at < $1 ORDER BY h.site_id`, store.Micros(before))
}

// forget removes the oldest events of a site that were recorded before an instant, at most limit of them. It stops at the
// first one that is younger, so that the feed has no gaps.
func forget(tx *store.Tx, siteID int64, before time.Time, limit int) (removed int, err error) {
	var from int64
	err = tx.QueryRow(`UPDATE event_heads SET removed_to = removed_to WHERE site_id = $1 RETURNING removed_to`, []any{siteID}, &from)
	if err != nil {
		return 0, err
	}
	young := false
	err = tx.Query(`SELECT recorded_at FROM events WHERE site_id = $1 AND position > $2 AND position <= $3 ORDER BY position`,
		[]any{siteID, from, from + int64(limit)}, func(scan func(dest ...any) error) error {
			var recorded int64
			err := scan(&recorded)
			young = young || recorded >= store.Micros(before)
			if !young {
				removed++
			}
			return err
		})
	if err != nil || removed == 0 {
		return 0, err
	}
	to := from + int64(removed)
	if _, err := tx.Exec(`DELETE FROM events WHERE site_id = $1 AND position <= $2`, siteID, to); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`UPDATE event_heads SET removed_to = $2 WHERE site_id = $1`, siteID, to)
	return removed, err
}

// query is a read of the feed.
type query struct {
	siteID   int64
	after    cursor
	from     string       // "" for the oldest event, now for the end, else after counts
	types    []event.Type // wanted
	kind     event.Kind
	object   int64 // 0: all
	size     int
	position int64 // behind which to read
}

// begin reads the cursor of a caller.
func (q *query) begin(after string) error {
	if after == "" || after == now {
		q.from = after
		return nil
	}
	var ok bool
	if q.after, ok = parseCursor(after); !ok {
		return errs.WrongField("after", "Must be a cursor of the feed, or now.")
	}
	q.from = "cursor"
	return nil
}

// start finds the position behind which the page begins.
func (q *query) start(h head) error {
	switch q.from {
	case "":
		q.position = h.removedTo
	case now:
		q.position = h.position
	default:
		q.position = q.after.position
		// Before the first event got a position there was no row, and the cursor was that of nothing.
		known := q.after.epoch == h.epoch || q.after == cursor{}
		if !known || q.position < h.removedTo || q.position > h.position {
			oldest := cursor{h.epoch, h.removedTo}.String()
			return &errs.Error{Kind: errs.CursorGone, Oldest: oldest,
				Message: "Events after this cursor were removed. Start again from the oldest cursor: " + oldest + "."}
		}
	}
	return nil
}

// page reads a page of the feed.
func (q *query) page(tx *store.Tx, h head) (page Page, err error) {
	if err := q.start(h); err != nil {
		return page, err
	}
	last := h.position
	if q.object == 0 { // an object has an index of its own
		last = min(last, q.position+looked)
	}
	if len(q.types) > 0 {
		if page.Items, err = q.items(tx, last, ""); err != nil {
			return page, err
		}
	}
	if len(page.Items) > q.size {
		page.Items = page.Items[:q.size]
		last = page.Items[q.size-1].Position
	}
	page.Next, page.More = cursor{h.epoch, last}.String(), last < h.position
	return page, nil
}

// older reads the newest wanted events before a position, the newest first; 0 is the end of the feed. next is the position to go
// on before, 0 where nothing is left.
func (q *query) older(tx *store.Tx, h head, before int64) (list []event.Event, next int64, err error) {
	last := h.position
	if before > 0 {
		last = min(last, before-1)
	}
	q.position = h.removedTo
	if q.object == 0 {
		q.position = max(q.position, last-looked)
	}
	if last <= h.removedTo {
		return nil, 0, nil
	}
	if list, err = q.items(tx, last, " DESC"); err != nil {
		return nil, 0, err
	}
	switch {
	case len(list) > q.size:
		list = list[:q.size]
		next = list[q.size-1].Position
	case q.position > h.removedTo:
		next = q.position + 1
	}
	return list, next, nil
}

// items reads the wanted events up to a position, one more than the page has room for. order is "" or " DESC".
func (q *query) items(tx *store.Tx, last int64, order string) (list []event.Event, err error) {
	var w sqltext.Where
	w.And("site_id = ? AND position > ? AND position <= ?", q.siteID, q.position, last)
	types := q.types
	if q.object != 0 {
		w.And("object_id = ?", q.object)
		types = slices.DeleteFunc(slices.Clone(types), func(t event.Type) bool { return t.Kind() != q.kind })
	}
	if len(types) == 0 {
		return nil, nil
	}
	if len(types) < len(event.Types) {
		sqltext.In(&w, "type", types)
	}
	most := w.Arg(q.size + 1)
	err = tx.Query(`SELECT `+eventColumns+` FROM events WHERE `+w.Text.String()+` ORDER BY position`+order+` LIMIT `+most,
		w.Args, func(scan func(dest ...any) error) error {
			e, err := scanEvent(scan)
			list = append(list, e)
			return err
		})
	return list, err
}

// Behind reads events of a site behind a position, for a job that follows the feed: those of some types, in order, at most
// size of them. upTo is the position up to which they are complete; the job continues from there. more says that there are
// positions behind it. Events without a position are not seen: see Place. A job that has slept until its next events were
// removed continues with the oldest remaining ones.
func Behind(tx *store.Tx, siteID, position int64, types []event.Type, size int) (list []event.Event, upTo int64, more bool, err error) {
	h, _, err := headOf(tx, siteID)
	if err != nil {
		return nil, position, false, err
	}
	q := query{siteID: siteID, types: types, size: size, position: max(position, h.removedTo)}
	if h.position <= q.position {
		return nil, q.position, false, nil
	}
	upTo = min(h.position, q.position+looked)
	if list, err = q.items(tx, upTo, ""); err == nil && len(list) > size {
		list = list[:size]
		upTo = list[size-1].Position
	}
	return list, upTo, upTo < h.position, err
}
