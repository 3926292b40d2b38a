package ledger

import (
	"holdfast/internal/db"
	"holdfast/internal/protection"
	"time"
)

// BookingTotalAt reads what the total of a booking was at an instant.
func BookingTotalAt(tx *db.Tx, siteID, id int64, at time.Time) (total int64, err error) {
	err = tx.Row(`SELECT COALESCE((SELECT c.total FROM booking_totals c WHERE c.site_id = b.site_id AND c.booking_id = b.id
			AND c.changed_at > $3 ORDER BY c.id LIMIT 1), b.total)
		FROM bookings b WHERE b.site_id = $1 AND b.id = $2`, []any{siteID, id, db.Micros(at)}, &total)
	return total, err
}

// AllocationIDsOfBooking reads the ids of the allocations of a booking that were known at an instant, in order, from
// after one on.
func AllocationIDsOfBooking(tx *db.Tx, siteID, bookingID, after int64, known time.Time, limit int) ([]int64, error) {
	return db.Ids(tx, `SELECT id FROM allocations WHERE site_id = $1 AND booking_id = $2 AND id > $3 AND recorded_at <= $4
		ORDER BY id LIMIT $5`, siteID, bookingID, after, db.Micros(known), limit)
}

// PremiumOfEach reads the lines of several allocations, each's in the order in which they were booked.
func PremiumOfEach(tx *db.Tx, siteID int64, allocations []int64) (map[int64][]protection.PremiumLine, error) {
	lines := map[int64][]protection.PremiumLine{}
	if len(allocations) == 0 {
		return lines, nil
	}
	var w db.Where
	w.And("site_id = ?", siteID)
	db.In(&w, "allocation_id", allocations)
	err := tx.Each(`SELECT `+premiumColumns+` FROM premium_lines WHERE `+w.Text.String()+` ORDER BY allocation_id, id`, w.Args,
		func(scan func(dest ...any) error) error {
			l, err := scanPremium(scan)
			lines[l.AllocationID] = append(lines[l.AllocationID], l)
			return err
		})
	return lines, err
}
