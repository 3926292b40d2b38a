package ledger

import (
	"slices"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/protection"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// Protected says how much of a booking is protected now (R3), and the last day on which it can be charged back (R5). If
// nothing is protected, these are 0 and civil.NoDay. Payments of test channels count too.
type Protected struct {
	Amount int64 // minor units of the booking's currency
	Until  civil.Day
}

// protectedQuery reads what ProtectedOfEach adds up; $1 is the site. It reads sums and the last day of dispute that holds now, and not whole histories,
// because travellers see it after each payment.
const protectedQuery = `SELECT a.booking_id, a.amount,
		CAST(COALESCE((SELECT SUM(CASE e.kind WHEN 'chargeback-reversal' THEN -e.amount ELSE e.amount END) FROM allocation_events e
			WHERE e.site_id = $1 AND e.allocation_id = a.id), 0) AS BIGINT), a.ends_after
	FROM allocations a WHERE a.protected`

// ProtectedOfEach reads how much of each booking is protected, by the ids of the bookings.
func ProtectedOfEach(tx *store.Tx, siteID int64, bookings []int64) (map[int64]Protected, error) {
	found := make(map[int64]Protected, len(bookings))
	for _, id := range bookings {
		found[id] = Protected{Until: civil.NoDay}
	}
	for some := range slices.Chunk(bookings, historiesPerPage) {
		var w sqltext.Where
		w.And("a.site_id = ?", siteID)
		sqltext.In(&w, "a.booking_id", some)
		err := tx.Query(protectedQuery+` AND `+w.Text.String(), w.Args, func(scan func(dest ...any) error) error {
			var booking, last int64
			var sums protection.Amounts
			if err := scan(&booking, &sums.Allocated, &sums.Refunded, &last); err != nil {
				return err
			}
			if left := sums.Remaining(civil.NoDay, civil.NoDay); left > 0 {
				p := found[booking]
				found[booking] = Protected{Amount: p.Amount + left, Until: max(p.Until, civil.Day(last))}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
