package imports

import (
	"slices"
	"strings"

	"holdfast/internal/book/bookings"
	"holdfast/internal/domain/booking"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// importedTransaction is a transaction of an earlier import, with the hash by which rows are compared with it.
type importedTransaction struct {
	ID          int64
	ContentHash string
}

// importKey is the natural key of a booking or a payment in a channel.
type importKey struct {
	ChannelID int64
	Key       string
}

// keysAtOnce is how many keys share a statement.
const keysAtOnce = 200

// importedBookings reads the bookings that imports have made, by their keys. They come without their suppliers and transactions.
func importedBookings(tx *store.Tx, siteID int64, keys []importKey, found func(b booking.Booking)) error {
	const idOf = `(SELECT b.id FROM bookings b WHERE b.site_id = ? AND b.channel_id = w.channel_id AND b.import_key = w.import_key)`
	return eachOfKeys(tx, idOf, siteID, keys, func(ids []int64) error {
		var w sqltext.Where
		w.And("b.site_id = ?", siteID)
		sqltext.In(&w, "b.id", ids)
		return tx.Query(`SELECT `+bookings.BookingColumns+` FROM bookings b WHERE `+w.Text.String(), w.Args,
			func(scan func(dest ...any) error) error {
				b, err := bookings.ScanBooking(scan)
				found(b)
				return err
			})
	})
}

// importedTransactions reads the transactions that imports have made, by their keys.
func importedTransactions(tx *store.Tx, siteID int64, keys []importKey, found func(key importKey, t importedTransaction)) error {
	const idOf = `(SELECT t.id FROM transactions t WHERE t.site_id = ? AND t.channel_id = w.channel_id AND t.import_key = w.import_key)`
	return eachOfKeys(tx, idOf, siteID, keys, func(ids []int64) error {
		var w sqltext.Where
		w.And("site_id = ?", siteID)
		sqltext.In(&w, "id", ids)
		return tx.Query(`SELECT channel_id, import_key, id, content_hash FROM transactions WHERE `+w.Text.String(), w.Args,
			func(scan func(dest ...any) error) error {
				var key importKey
				var t importedTransaction
				err := scan(&key.ChannelID, &key.Key, &t.ID, &t.ContentHash)
				found(key, t)
				return err
			})
	})
}

// eachOfKeys reads the ids of the existing keys, and passes them on in batches. idOf selects the id of one key w, with "?" for the site,
// so that PostgreSQL looks up each of them in the index. Otherwise it would read all rows of a small channel in each write. The site comes
// last, because SQLite is faster with values in the order of the text (sqlite.Positional).
func eachOfKeys(tx *store.Tx, idOf string, siteID int64, keys []importKey, there func(ids []int64) error) error {
	for some := range slices.Chunk(keys, keysAtOnce) {
		var w sqltext.Where
		rows := make([]string, len(some))
		for i, key := range some {
			rows[i] = "(CAST(" + w.Arg(key.ChannelID) + " AS BIGINT), " + w.Arg(key.Key) + ")"
		}
		id := w.Fill(idOf, siteID)
		ids, err := store.Ids(tx, `WITH wanted (channel_id, import_key) AS (VALUES `+strings.Join(rows, ", ")+`)
			SELECT f.id FROM (SELECT `+id+` AS id FROM wanted w) f WHERE f.id IS NOT NULL`, w.Args...)
		if err == nil && len(ids) > 0 { // an empty sqltext.In would select all
			err = there(ids)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
