package store

import (
	"errors"
	"time"

	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// BookingTotalAt reads what the total of a booking was at an instant.
func BookingTotalAt(tx *Tx, siteID, id int64, at time.Time) (total int64, err error) {
	err = tx.Row(`SELECT COALESCE((SELECT c.total FROM booking_totals c WHERE c.site_id = b.site_id AND c.booking_id = b.id
			AND c.changed_at > $3 ORDER BY c.id LIMIT 1), b.total)
		FROM bookings b WHERE b.site_id = $1 AND b.id = $2`, []any{siteID, id, micros(at)}, &total)
	return total, err
}

// AllocationIDsOfBooking reads the ids of the allocations of a booking that were known at an instant, in order, from
// after one on.
func AllocationIDsOfBooking(tx *Tx, siteID, bookingID, after int64, known time.Time, limit int) ([]int64, error) {
	return ids(tx, `SELECT id FROM allocations WHERE site_id = $1 AND booking_id = $2 AND id > $3 AND recorded_at <= $4
		ORDER BY id LIMIT $5`, siteID, bookingID, after, micros(known), limit)
}

// PremiumOfEach reads the lines of several allocations, each's in the order in which they were booked.
func PremiumOfEach(tx *Tx, siteID int64, allocations []int64) (map[int64][]protection.PremiumLine, error) {
	lines := map[int64][]protection.PremiumLine{}
	if len(allocations) == 0 {
		return lines, nil
	}
	var w where
	w.and("site_id = ?", siteID)
	in(&w, "allocation_id", allocations)
	err := tx.Each(`SELECT `+premiumColumns+` FROM premium_lines WHERE `+w.text.String()+` ORDER BY allocation_id, id`, w.args,
		func(scan func(dest ...any) error) error {
			l, err := scanPremium(scan)
			lines[l.AllocationID] = append(lines[l.AllocationID], l)
			return err
		})
	return lines, err
}

// StatementBefore reads the statement of the same account before one; ErrNotFound where it is the first.
func StatementBefore(tx *Tx, s protection.Statement) (protection.Statement, error) {
	found, err := scanStatement(func(dest ...any) error {
		return tx.Row(`SELECT `+statementColumns+` FROM statements s WHERE site_id = $1 AND channel_id = $2 AND currency = $3
			AND until_at <= $4 ORDER BY until_at DESC LIMIT 1`, []any{s.SiteID, s.ChannelID, s.Currency, micros(s.From)}, dest...)
	})
	return found.Statement, err
}

// StatementLine reads one premium line of a statement.
func StatementLine(tx *Tx, siteID, statementID, id int64) (protection.StatementLine, error) {
	list, err := statementLines(tx, `AND l.id = $3`, siteID, statementID, id)
	if err != nil || len(list) == 0 {
		return protection.StatementLine{}, errors.Join(err, ErrNotFound)
	}
	return list[0], nil
}

// StatementLinesOf reads one page of the premium lines of one kind of a statement, and one more. The ids are found first:
// of what a page skips, nothing else is looked up.
func StatementLinesOf(tx *Tx, s protection.Statement, kind string, page travel.Page) ([]protection.StatementLine, error) {
	ids, err := ids(tx, `SELECT id FROM premium_lines WHERE site_id = $1 AND channel_id = $2 AND currency = $3
			AND recorded_at >= $4 AND recorded_at < $5 AND kind = $6 AND NOT simulated
		ORDER BY recorded_at, id LIMIT $7 OFFSET $8`,
		s.SiteID, s.ChannelID, s.Currency, micros(s.From), micros(s.Until), kind, page.Size+1, page.Skip())
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var w where
	w.and("s.site_id = ?", s.SiteID)
	w.and("s.id = ?", s.ID)
	w.and("l.site_id = ?", s.SiteID)
	in(&w, "l.id", ids)
	var list []protection.StatementLine
	// A CROSS JOIN, because it tells SQLite where to begin: it would rather walk through all lines of the channel.
	err = tx.Each(`SELECT `+statementLineColumns+` FROM premium_lines l CROSS JOIN statements s
			JOIN allocations a ON a.site_id = l.site_id AND a.id = l.allocation_id
		WHERE `+w.text.String()+` ORDER BY l.recorded_at, l.id`, w.args,
		func(scan func(dest ...any) error) error {
			l, err := scanStatementLine(scan)
			list = append(list, l)
			return err
		})
	return list, err
}

// PaymentsOn reads one page of the payments that a statement counts: those of its account that were recorded in its
// period, against whichever statement.
func PaymentsOn(tx *Tx, s protection.Statement, page travel.Page) (travel.List[travel.StatementPayment], error) {
	var w where
	w.and("site_id = ?", s.SiteID)
	w.and("channel_id = ?", s.ChannelID)
	w.and("currency = ?", s.Currency)
	w.and("recorded_at >= ?", micros(s.From))
	w.and("recorded_at < ?", micros(s.Until))
	return listOf(tx, "statement_payments", statementPaymentColumns, &w, page, map[string]string{}, nil, scanStatementPayment)
}
