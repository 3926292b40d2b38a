package takeover

import (
	"holdfast/internal/bookings"
	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// ImportedTransaction is what an import asks of a transaction that an earlier one made: which it is, and whether it
// says the same.
type ImportedTransaction struct {
	ID          int64
	ContentHash string
}

// ImportedBookings reads the bookings that imports made in a channel under the given keys, by key: many at once,
// without their suppliers and transactions.
func ImportedBookings(tx *db.Tx, siteID, channelID int64, keys []string) (map[string]travel.Booking, error) {
	found := map[string]travel.Booking{}
	if len(keys) == 0 { // an absent filter would keep everything
		return found, nil
	}
	var w db.Where
	w.And("b.site_id = ? AND b.channel_id = ?", siteID, channelID)
	db.In(&w, "b.import_key", keys)
	err := tx.Each(`SELECT `+bookings.BookingColumns+` FROM bookings b WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			b, err := bookings.ScanBooking(scan)
			found[b.ImportKey] = b
			return err
		})
	return found, err
}

// ImportedTransactions reads of the transactions that imports made in a channel under the given keys what tells them
// apart, by key.
func ImportedTransactions(tx *db.Tx, siteID, channelID int64, keys []string) (map[string]ImportedTransaction, error) {
	found := map[string]ImportedTransaction{}
	if len(keys) == 0 {
		return found, nil
	}
	var w db.Where
	w.And("site_id = ? AND channel_id = ?", siteID, channelID)
	db.In(&w, "import_key", keys)
	err := tx.Each(`SELECT import_key, id, content_hash FROM transactions WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			var key string
			var t ImportedTransaction
			err := scan(&key, &t.ID, &t.ContentHash)
			found[key] = t
			return err
		})
	return found, err
}
