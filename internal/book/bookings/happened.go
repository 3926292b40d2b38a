package bookings

import (
	"context"
	"fmt"

	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// statusNow is the status of a booking on the day of the write.
func statusNow(tx *store.Tx, b booking.Booking) string {
	return string(b.StatusOn(civil.DayOf(tx.Now)))
}

// recordStatus records that the status of a booking has changed in this write.
func recordStatus(tx *store.Tx, before, after booking.Booking) {
	if before.StoredStatus() == after.StoredStatus() {
		return
	}
	kind := event.BookingUpdated
	if after.StoredStatus() == booking.BookingPaid {
		kind = event.BookingPaid
	}
	events.Record(tx, after.SiteID, kind, after.ID, event.Details{Status: statusNow(tx, after)})
}

// completedAtOnce is how many events of completed bookings one write records.
const completedAtOnce = 200

// RecordCompleted records the events of bookings that are completed: paid, and past their end date by the clock of
// their site. more reports whether there may be others.
func RecordCompleted(ctx context.Context, db *sites.DB) (more bool, err error) {
	return sites.Each(ctx, db, sitesToComplete, completedAtOnce, recordCompleted)
}

// sitesToComplete selects the sites with bookings to complete, by the real time. The first day is at the end of an
// index.
const sitesToComplete = `SELECT s.id, s.clock_ahead FROM site_places p JOIN sites s ON s.id = p.site_id WHERE (SELECT MIN(b.end_day)
	FROM bookings b WHERE b.site_id = p.site_id AND b.status = 'paid' AND NOT b.completed) < ($1 + s.clock_ahead) / 86400000000 ORDER BY s.id`

// recordCompleted records up to limit completed bookings of a site, and returns how many. The booking's row is the
// lock, so each completion is published once. The conditions are checked again in a form that no index supports:
// otherwise PostgreSQL may scan all bookings waiting for completion to find the chosen few. A booking that is no longer
// paid, or gets a later end date, can be completed again.
func recordCompleted(tx *store.Tx, siteID int64, limit int) (recorded int, err error) {
	today := int64(civil.DayOf(tx.Now))
	err = tx.Query(`UPDATE bookings SET completed = TRUE
		WHERE CASE WHEN status = 'paid' AND end_day < $2 THEN NOT completed AND NOT deleted ELSE FALSE END AND (site_id, id) IN (
			SELECT b.site_id, b.id FROM bookings b WHERE b.site_id = $1 AND b.status = 'paid' AND NOT b.completed AND NOT b.deleted
				AND b.end_day < $2 AND b.channel_id NOT IN (SELECT c.id FROM channels c WHERE c.site_id = $1 AND c.locked)
			ORDER BY b.end_day, b.id LIMIT $3)
		RETURNING id, end_day`, []any{siteID, today, limit}, func(scan func(dest ...any) error) error {
		var id int64
		var last civil.Day
		err := scan(&id, &last)
		events.Record(tx, siteID, event.BookingCompleted, id, event.Details{Status: string(booking.BookingCompleted)})
		recorded++
		return err
	})
	if err != nil {
		return recorded, fmt.Errorf("completed bookings of site %d: %w", siteID, err)
	}
	return recorded, nil
}
