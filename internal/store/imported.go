package store

import "holdfast/internal/travel"

// ImportedTransaction is what an import asks of a transaction that an earlier one made: which it is, and whether it
// says the same.
type ImportedTransaction struct {
	ID          int64
	ContentHash string
}

// ImportedBookings reads the bookings that imports made in a channel under the given keys, by key: many at once,
// without their suppliers and transactions.
func ImportedBookings(tx *Tx, siteID, channelID int64, keys []string) (map[string]travel.Booking, error) {
	found := map[string]travel.Booking{}
	if len(keys) == 0 { // an absent filter would keep everything
		return found, nil
	}
	var w where
	w.and("b.site_id = ? AND b.channel_id = ?", siteID, channelID)
	in(&w, "b.import_key", keys)
	err := tx.Each(`SELECT `+bookingColumns+` FROM bookings b WHERE `+w.text.String(), w.args,
		func(scan func(dest ...any) error) error {
			b, err := scanBooking(scan)
			found[b.ImportKey] = b
			return err
		})
	return found, err
}

// ImportedTransactions reads of the transactions that imports made in a channel under the given keys what tells them
// apart, by key.
func ImportedTransactions(tx *Tx, siteID, channelID int64, keys []string) (map[string]ImportedTransaction, error) {
	found := map[string]ImportedTransaction{}
	if len(keys) == 0 {
		return found, nil
	}
	var w where
	w.and("site_id = ? AND channel_id = ?", siteID, channelID)
	in(&w, "import_key", keys)
	err := tx.Each(`SELECT import_key, id, content_hash FROM transactions WHERE `+w.text.String(), w.args,
		func(scan func(dest ...any) error) error {
			var key string
			var t ImportedTransaction
			err := scan(&key, &t.ID, &t.ContentHash)
			found[key] = t
			return err
		})
	return found, err
}
