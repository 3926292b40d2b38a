package ledger

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/db"
	"holdfast/internal/estimate"
	"holdfast/internal/money"
	"holdfast/internal/packed"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

// vintageColumns are the columns of an estimate.VintagePart. Each subquery looks into the index of the allocation: the "+" keeps
// SQLite from those of the instants, by which it would go through the whole site for each payment.
var vintageColumns = packed.Columns(`a.effective_at, a.amount, COALESCE(
		(SELECT t.last_day FROM allocation_terms t WHERE t.site_id = a.site_id AND t.allocation_id = a.id
			AND +t.effective_at <= $3 AND +t.recorded_at <= $4 ORDER BY t.id DESC LIMIT 1),
		(SELECT t.last_day FROM allocation_terms t WHERE t.site_id = a.site_id AND t.allocation_id = a.id ORDER BY t.id LIMIT 1)),
	(SELECT COALESCE(SUM(l.amount), 0) FROM premium_lines l WHERE l.site_id = a.site_id AND l.allocation_id = a.id
		AND NOT l.simulated AND +l.effective_at <= $3 AND +l.recorded_at <= $4),
	(SELECT `+packed.Columns(sumOfKind(travel.Refund)+`, `+sumOfKind(travel.Chargeback)+`, `+sumOfKind(travel.ChargebackReversal))+`
		FROM allocation_events e WHERE e.site_id = a.site_id AND e.allocation_id = a.id
			AND +e.effective_at <= $3 AND +e.recorded_at <= $4)`, "a.currency", "a.policy_currency")

func sumOfKind(kind travel.TransactionType) string {
	return `COALESCE(SUM(CASE e.kind WHEN '` + string(kind) + `' THEN e.amount ELSE 0 END), 0)`
}

// VintagesOf calls each for every card payment of a channel up to the end of a day, with what had become of it by then, as known
// at an instant. Simulated payments are left out. It begins with the bookings of the channel.
func VintagesOf(
	tx *db.Tx, siteID, channelID int64, day civil.Day, known time.Time, each func(estimate.VintagePart) error,
) error {
	if err := tx.Long(); err != nil {
		return err
	}
	return tx.Each(`SELECT `+vintageColumns+` FROM bookings b CROSS JOIN allocations a
		WHERE b.site_id = $1 AND b.channel_id = $2 AND a.site_id = b.site_id AND a.booking_id = b.id
			AND +a.effective_at <= $3 AND a.recorded_at <= $4 AND NOT a.simulated AND a.reason <> $5`,
		[]any{siteID, channelID, db.Micros(day.End()), db.Micros(known), protection.ReasonNotCardPayment},
		func(scan func(dest ...any) error) error {
			var row packed.Row
			if err := scan(&row); err != nil {
				return err
			}
			var v estimate.VintagePart
			v.Paid, v.Amounts.Allocated = civil.DayOf(row.Instant()), row.Int()
			v.LastDay, v.Booked = row.Day(), row.Int()
			v.Refunded, v.ChargedBack, v.Reversed = row.Int(), row.Int(), row.Int()
			v.Currency, v.Policy = money.Currency(row.Text()), money.Currency(row.Text())
			if err := row.Err(); err != nil {
				return err
			}
			return each(v)
		})
}
