package takeover

import (
	"holdfast/internal/bookings"
	"holdfast/internal/db"
	"holdfast/internal/travel"
)

// importedTransaction is a transaction of an earlier import, with the hash that tells whether a row says the same.
type importedTransaction struct {
	ID          int64
	ContentHash string
}

// importedBookings reads the bookings that imports have made in a channel, by their keys. They come without their
// suppliers and transactions.
func importedBookings(tx *db.Tx, siteID, channelID int64, keys []string) (map[string]travel.Booking, error) {
	found := map[string]travel.Booking{}
	if len(keys) == 0 { // without a filter db.In would find all bookings
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

// importedTransactions reads the transactions that imports have made in a channel, by their keys.
func importedTransactions(tx *db.Tx, siteID, channelID int64, keys []string) (map[string]importedTransaction, error) {
	found := map[string]importedTransaction{}
	if len(keys) == 0 {
		return found, nil
	}
	var w db.Where
	w.And("site_id = ? AND channel_id = ?", siteID, channelID)
	db.In(&w, "import_key", keys)
	err := tx.Each(`SELECT import_key, id, content_hash FROM transactions WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			var key string
			var t importedTransaction
			err := scan(&key, &t.ID, &t.ContentHash)
			found[key] = t
			return err
		})
	return found, err
}
