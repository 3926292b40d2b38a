package ledger

import (
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
)

// vintageColumns are the columns of an estimate.VintagePart. Each subquery looks into the index of the allocation: the "+" keeps
// SQLite from those of the instants, by which it would go through the whole site for each payment.
var vintageColumns = `a.effective_at, a.amount, a.currency, a.policy_currency, COALESCE(
		(SELECT t.last_day FROM allocation_terms t WHERE t.site_id = $1 AND t.allocation_id = a.id
			AND +t.effective_at <= $3 AND +t.recorded_at <= $4 ORDER BY t.id DESC LIMIT 1),
		(SELECT t.last_day FROM allocation_terms t WHERE t.site_id = $1 AND t.allocation_id = a.id ORDER BY t.id LIMIT 1)),
	CAST(COALESCE((SELECT SUM(l.amount) FROM premium_lines l WHERE l.site_id = $1 AND l.allocation_id = a.id
		AND NOT l.simulated AND +l.effective_at <= $3 AND +l.recorded_at <= $4), 0) AS BIGINT), ` +
	sumOfEvents(payment.Refund) + `, ` + sumOfEvents(payment.Chargeback, payment.Prevented) + `, ` + sumOfEvents(payment.ChargebackReversal)

// sumOfEvents adds up the events of some kinds of an allocation a.
func sumOfEvents(kinds ...payment.TransactionType) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = "'" + string(kind) + "'"
	}
	return `CAST(COALESCE((SELECT SUM(e.amount) FROM allocation_events e WHERE e.site_id = $1 AND e.allocation_id = a.id
		AND e.kind IN (` + strings.Join(names, ", ") + `) AND +e.effective_at <= $3 AND +e.recorded_at <= $4), 0) AS BIGINT)`
}

// VintagesOf calls each for every card payment of a channel up to the end of a day, with its outcome by then, as known
// at an instant. Simulated payments are left out. The query starts from the channel's bookings.
func VintagesOf(
	tx *store.Tx, siteID, channelID int64, day civil.Day, known time.Time, each func(estimate.VintagePart) error,
) error {
	return tx.Query(`SELECT `+vintageColumns+` FROM bookings b CROSS JOIN allocations a
		WHERE b.site_id = $1 AND b.channel_id = $2 AND a.site_id = b.site_id AND a.booking_id = b.id
			AND +a.effective_at <= $3 AND a.recorded_at <= $4 AND NOT a.simulated AND a.reason <> $5`,
		[]any{siteID, channelID, store.Micros(day.End()), store.Micros(known), protection.ReasonNotCardPayment},
		func(scan func(dest ...any) error) error {
			var v estimate.VintagePart
			var paid int64
			err := scan(&paid, &v.Amounts.Allocated, &v.Currency, &v.Policy, &v.LastDay, &v.Booked, &v.Refunded, &v.ChargedBack,
				&v.Reversed)
			if err != nil {
				return err
			}
			v.Paid = civil.DayOf(store.Instant(paid))
			return each(v)
		})
}
