package takeover

import (
	"strings"

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
	ids, err := idsOfKeys(tx, `(SELECT b.id FROM bookings b WHERE b.site_id = $1 AND b.channel_id = $2 AND b.import_key = w.import_key)`,
		siteID, channelID, keys)
	if err != nil || len(ids) == 0 { // without a filter db.In would find all bookings
		return found, err
	}
	var w db.Where
	w.And("b.site_id = ?", siteID)
	db.In(&w, "b.id", ids)
	err = tx.Each(`SELECT `+bookings.BookingColumns+` FROM bookings b WHERE `+w.Text.String(), w.Args,
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
	ids, err := idsOfKeys(tx, `(SELECT t.id FROM transactions t WHERE t.site_id = $1 AND t.channel_id = $2 AND t.import_key = w.import_key)`,
		siteID, channelID, keys)
	if err != nil || len(ids) == 0 {
		return found, err
	}
	var w db.Where
	w.And("site_id = ?", siteID)
	db.In(&w, "id", ids)
	err = tx.Each(`SELECT import_key, id, content_hash FROM transactions WHERE `+w.Text.String(), w.Args,
		func(scan func(dest ...any) error) error {
			var key string
			var t importedTransaction
			err := scan(&key, &t.ID, &t.ContentHash)
			found[key] = t
			return err
		})
	return found, err
}

// idsOfKeys gives the ids of those keys that are there. idOf reads the id of one, w.import_key, so that PostgreSQL looks each of them up by
// its index. It would read all of a small channel otherwise, in each write, and most of what is imported is new.
func idsOfKeys(tx *db.Tx, idOf string, siteID, channelID int64, keys []string) ([]int64, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	w := db.Where{Args: []any{siteID, channelID}}
	rows := make([]string, len(keys))
	for i, key := range keys {
		rows[i] = w.Values(key)
	}
	return db.Ids(tx, `WITH wanted (import_key) AS (VALUES `+strings.Join(rows, ", ")+`)
		SELECT f.id FROM (SELECT `+idOf+` AS id FROM wanted w) f WHERE f.id IS NOT NULL`, w.Args...)
}
