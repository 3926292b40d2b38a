package certificates

import (
	"database/sql"
	"errors"
	"time"

	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// stored is a row of certificates.
type stored struct {
	siteID, bookingID, number int64
	hash, sealed              string
	createdAt                 time.Time
	revoked                   bool
	ahead                     time.Duration // of the site's clock; set by withKey
}

// lastKey reads the newest key of a booking, or returns store.ErrNotFound.
func lastKey(tx *store.Tx, siteID, bookingID int64) (stored, error) {
	s := stored{siteID: siteID, bookingID: bookingID}
	var created int64
	var revoked sql.NullInt64
	err := tx.QueryRow(`SELECT number, sealed_key, created_at, revoked_at FROM certificates
		WHERE site_id = $1 AND booking_id = $2 ORDER BY number DESC LIMIT 1`, []any{siteID, bookingID},
		&s.number, &s.sealed, &created, &revoked)
	s.createdAt, s.revoked = store.Instant(created), revoked.Valid
	return s, err
}

// withKey reads the certificate with this key hash, and the clock of its site, or returns store.ErrNotFound.
func withKey(tx *store.Tx, siteID int64, hash string) (stored, error) {
	s := stored{siteID: siteID, hash: hash}
	var created, ahead int64
	var revoked sql.NullInt64
	err := tx.QueryRow(`SELECT c.booking_id, c.number, c.created_at, c.revoked_at, s.clock_ahead
		FROM certificates c JOIN sites s ON s.id = c.site_id WHERE c.site_id = $1 AND c.key_hash = $2`, []any{siteID, hash},
		&s.bookingID, &s.number, &created, &revoked, &ahead)
	s.createdAt, s.revoked, s.ahead = store.Instant(created), revoked.Valid, sites.Microseconds(ahead)
	return s, err
}

// insertKey stores a key, unless another caller has just stored one with its number: then theirs applies.
func insertKey(tx *store.Tx, s stored) error {
	_, err := tx.Exec(`INSERT INTO certificates (site_id, booking_id, number, key_hash, sealed_key, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (site_id, booking_id, number) DO NOTHING`,
		s.siteID, s.bookingID, s.number, s.hash, s.sealed, store.Micros(s.createdAt))
	return err
}

// revokeKeys revokes a booking's valid keys, and reports whether there was one.
func revokeKeys(tx *store.Tx, siteID, bookingID int64) (bool, error) {
	n, err := tx.Exec(`UPDATE certificates SET revoked_at = $3, sealed_key = ''
		WHERE site_id = $1 AND booking_id = $2 AND revoked_at IS NULL`, siteID, bookingID, store.Micros(tx.Now))
	return n > 0, err
}

// forgetKeys deletes a booking's keys up to a number.
func forgetKeys(tx *store.Tx, siteID, bookingID, upTo int64) error {
	_, err := tx.Exec(`DELETE FROM certificates WHERE site_id = $1 AND booking_id = $2 AND number <= $3`, siteID, bookingID, upTo)
	return err
}

// lastNote reads the traveller's newest note about a booking. Without one, At is zero.
func lastNote(tx *store.Tx, siteID, bookingID int64) (n Note, err error) {
	var at int64
	err = tx.QueryRow(`SELECT noted_at, asked, paid_back FROM traveller_notes WHERE site_id = $1 AND booking_id = $2
		ORDER BY number DESC LIMIT 1`, []any{siteID, bookingID}, &at, &n.Asked, &n.PaidBack)
	if errors.Is(err, store.ErrNotFound) {
		return Note{}, nil
	}
	n.At = store.Instant(at)
	return n, err
}

// LastNotes reads the newest notes about bookings. A booking without one is left out.
func LastNotes(tx *store.Tx, siteID int64, bookingIDs []int64) (map[int64]Note, error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "booking_id", bookingIDs)
	notes := map[int64]Note{}
	err := tx.Query(`SELECT booking_id, noted_at, asked, paid_back FROM traveller_notes WHERE `+w.Text.String()+` ORDER BY number`, w.Args,
		func(scan func(dest ...any) error) error {
			var id, at int64
			var n Note
			err := scan(&id, &at, &n.Asked, &n.PaidBack)
			n.At = store.Instant(at)
			notes[id] = n
			return err
		})
	return notes, err
}

// insertNote stores a note and returns its number among those of the booking. Of two at the same time, one fails with store.ErrConflict.
func insertNote(tx *store.Tx, siteID, bookingID int64, n Note) (number int64, err error) {
	err = tx.QueryRow(`SELECT COALESCE(MAX(number), 0) + 1 FROM traveller_notes WHERE site_id = $1 AND booking_id = $2`,
		[]any{siteID, bookingID}, &number)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(`INSERT INTO traveller_notes (site_id, booking_id, number, noted_at, asked, paid_back) VALUES ($1, $2, $3, $4, $5, $6)`,
		siteID, bookingID, number, store.Micros(tx.Now), n.Asked, n.PaidBack)
	return number, err
}

// forgetNotes deletes a booking's notes up to a number.
func forgetNotes(tx *store.Tx, siteID, bookingID, upTo int64) error {
	_, err := tx.Exec(`DELETE FROM traveller_notes WHERE site_id = $1 AND booking_id = $2 AND number <= $3`, siteID, bookingID, upTo)
	return err
}
