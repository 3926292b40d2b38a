package payments

import (
	"database/sql"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/estimate"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/terms"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// paymentColumns are the columns of a payment p that scanPayment reads, including some of its booking. $1 of the statement is the site.
const paymentColumns = `p.site_id, p.id, p.transaction_id, p.channel_id, p.booking_id, p.currencies, p.total, p.remaining,
	COALESCE(p.linked_id, 0), p.created_at,
	(SELECT b.reference FROM bookings b WHERE b.site_id = $1 AND b.id = p.booking_id),
	(SELECT b.country FROM bookings b WHERE b.site_id = $1 AND b.id = p.booking_id),
	(SELECT b.language FROM bookings b WHERE b.site_id = $1 AND b.id = p.booking_id)`

// scanPayment reads one row of paymentColumns.
func scanPayment(scan func(dest ...any) error) (payment.Payment, error) {
	var p payment.Payment
	err := scan(&p.SiteID, &p.ID, &p.TransactionID, &p.ChannelID, &p.BookingID, &p.Currency, &p.Total, &p.Remaining, &p.LinkedID,
		store.Stored{Instant: &p.CreatedAt}, &p.BookingReference, &p.BookingCountry, &p.BookingLanguage)
	return p, err
}

// readChargebacks sets the amounts of transactions and of their payments that were charged back and not reversed.
func readChargebacks(tx *store.Tx, siteID int64, list []*payment.Transaction) error {
	return readChargebacksBefore(tx, siteID, civil.LastDay.End(), list)
}

// readChargebacksBefore is readChargebacks of those that took effect before an instant.
func readChargebacksBefore(tx *store.Tx, siteID int64, before time.Time, list []*payment.Transaction) error {
	at, parts := map[int64]*payment.Transaction{}, map[int64]*payment.Payment{}
	var ids []int64
	for _, t := range list {
		ids, at[t.ID], t.ChargedBack = append(ids, t.ID), t, 0
		for i := range t.Payments {
			t.Payments[i].ChargedBack, parts[t.Payments[i].ID] = 0, &t.Payments[i]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var w sqltext.Where
	w.And("a.site_id = ? AND a.effective_at < ? AND a.type IN ('chargeback', 'prevented', 'chargeback-reversal')", siteID, store.Micros(before))
	sqltext.In(&w, "a.linked_id", ids)
	last := int64(0)
	return tx.Query(`SELECT a.linked_id, a.id, a.type, a.total, p.linked_id, p.total FROM transactions a
		JOIN payments p ON p.site_id = a.site_id AND p.transaction_id = a.id
		WHERE `+w.Text.String()+` ORDER BY a.linked_id, a.id, p.id`,
		w.Args, func(scan func(dest ...any) error) error {
			var original, id, total, linked, part int64
			var kind payment.TransactionType
			if err := scan(&original, &id, &kind, &total, &linked, &part); err != nil {
				return err
			}
			sign := int64(1)
			if kind == payment.ChargebackReversal {
				sign = -1
			}
			if id != last { // there is one row for each payment of an adjustment
				at[original].ChargedBack += sign * total
			}
			last = id
			parts[linked].ChargedBack += sign * part
			return nil
		})
}

// paymentByID reads one payment record of the site.
func paymentByID(tx *store.Tx, siteID, id int64) (payment.Payment, error) {
	return scanPayment(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+paymentColumns+` FROM payments p WHERE p.site_id = $1 AND p.id = $2`,
			[]any{siteID, id}, dest...)
	})
}

// paymentsPage reads one page of the site's payment records.
func paymentsPage(tx *store.Tx, siteID int64, f PaymentFilter, page store.Page) (store.List[payment.Payment], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	store.Within(&w, "created_at", f.Created)
	sqltext.In(&w, "transaction_id", f.Transactions)
	sqltext.In(&w, "booking_id", f.Bookings)
	sqltext.In(&w, "channel_id", f.Channels)
	return store.ListPage(tx, "payments p", paymentColumns, &w, page,
		store.Orders{"date": "created_at", "created": "created_at", "modified": "created_at", "total": "total"}, scanPayment)
}

// TransactionsOfBookings reads the ids of all transactions of bookings, in order, failed ones included. The map has the ids
// of the bookings as keys, and may have those of others.
func TransactionsOfBookings(tx *store.Tx, siteID int64, bookings []int64) (map[int64][]int64, error) {
	if len(bookings) == 0 {
		return nil, nil
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.Around(&w, "booking_id", bookings)
	found := make(map[int64][]int64, len(bookings))
	// A transaction can have two payments for one booking.
	err := tx.Query(`SELECT DISTINCT booking_id, transaction_id FROM payments WHERE `+w.Text.String()+`
		ORDER BY booking_id, transaction_id`, w.Args, func(scan func(dest ...any) error) error {
		var booking, transaction int64
		err := scan(&booking, &transaction)
		found[booking] = append(found[booking], transaction)
		return err
	})
	return found, err
}

// Turnover calls each for every channel and month up to a day, with the card payments of the month minus its refunds, as known
// at an instant. first is the first day of a month. If channels are given, it reads only theirs. Simulated payments do not count.
// A channel with payments keeps its currency, so all its turnover is in that currency.
func Turnover(
	tx *store.Tx, siteID int64, first, last civil.Day, known time.Time, channels []int64, each func(estimate.Turnover) error,
) error {
	for month := first; month <= last; {
		end := terms.PeriodOf(terms.PeriodMonth, month).Last
		w := sqltext.Where{Args: []any{siteID, store.Micros(month.Start()), store.Micros(min(end, last).End()), store.Micros(known)}}
		w.Text.WriteString("c.site_id = $1")
		sqltext.In(&w, "c.id", channels)
		// One index lookup per channel: sorting a year of payments by channel would take three times as long.
		err := tx.Query(`SELECT c.id, c.currencies,
				(SELECT CAST(SUM(CASE t.type WHEN 'refund' THEN -t.base_total ELSE t.base_total END) AS BIGINT) FROM transactions t
					WHERE t.channel_id = c.id AND `+isTurnover+`)
			FROM channels c WHERE `+w.Text.String(), w.Args, func(scan func(dest ...any) error) error {
			t := estimate.Turnover{Day: month}
			var total sql.NullInt64
			if err := scan(&t.ChannelID, &t.Currency, &total); err != nil || !total.Valid {
				return err
			}
			t.Amount = total.Int64
			return each(t)
		})
		if err != nil {
			return err
		}
		month = end + 1
	}
	return nil
}

// isTurnover chooses the transactions that make up a turnover: of site $1, from $2 to $3, as known at $4.
const isTurnover = `t.site_id = $1 AND t.effective_at >= $2 AND t.effective_at <= $3 AND t.created_at <= $4
	AND t.type IN ('purchase', 'capture', 'refund') AND t.status IN ('complete', 'locked') AND t.method = 'credit-card'
	AND NOT t.simulated`

// TurnoverParts calls each for the payments behind the turnover of the same query, ordered by transaction and payment. Their amounts add
// up to the turnover.
func TurnoverParts(
	tx *store.Tx, siteID int64, first, last civil.Day, known time.Time, channels []int64, each func(estimate.TurnoverPart) error,
) error {
	w := sqltext.Where{Args: []any{siteID, store.Micros(first.Start()), store.Micros(last.End()), store.Micros(known)}}
	w.Text.WriteString("t.site_id = $1")
	sqltext.In(&w, "t.channel_id", channels)
	return tx.Query(`SELECT t.id, p.id, p.booking_id, t.type, t.channel_id, t.base_currency, t.effective_at / 86400000000,
			CASE t.type WHEN 'refund' THEN -p.total ELSE p.total END
		FROM transactions t JOIN payments p ON p.site_id = t.site_id AND p.transaction_id = t.id
		WHERE `+isTurnover+` AND `+w.Text.String()+` ORDER BY t.id, p.id`, w.Args, func(scan func(dest ...any) error) error {
		var p estimate.TurnoverPart
		err := scan(&p.TransactionID, &p.PaymentID, &p.BookingID, &p.Type, &p.ChannelID, &p.Currency, &p.Day, &p.Amount)
		if err != nil {
			return err
		}
		return each(p)
	})
}
