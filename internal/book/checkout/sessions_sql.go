package checkout

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"holdfast/internal/domain/modal"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// insertSession stores a new session of the payment modal and returns it with its id.
func insertSession(tx *store.Tx, s modal.Session) (modal.Session, error) {
	verified, err := json.Marshal(s.Verified)
	if err != nil {
		return s, err
	}
	s.CreatedAt = sites.RealNow(tx)
	if s.ID, err = tx.NextID("modal_sessions", s.SiteID); err != nil {
		return s, err
	}
	_, err = tx.Exec(`INSERT INTO modal_sessions (site_id, id, channel_id, token_hash, auth_hash, origin, verified, made, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		s.SiteID, s.ID, s.ChannelID, s.TokenHash, s.AuthHash, s.Origin, string(verified), false, store.Micros(s.CreatedAt),
		store.Micros(s.ExpiresAt))
	return s, err
}

// sessionWithToken reads the session with this token hash, or returns store.ErrNotFound.
func sessionWithToken(tx *store.Tx, siteID int64, tokenHash string) (modal.Session, error) {
	var s modal.Session
	var verified string
	var booking sql.NullInt64
	var created, expires int64
	err := tx.QueryRow(`SELECT m.site_id, m.id, m.channel_id, m.token_hash, m.auth_hash, m.origin, m.verified, m.booking_id, m.made,
			m.created_at, m.expires_at, s.path, c.name
		FROM modal_sessions m
		JOIN sites s ON s.id = m.site_id
		JOIN channels c ON c.site_id = m.site_id AND c.id = m.channel_id
		WHERE m.site_id = $1 AND m.token_hash = $2`, []any{siteID, tokenHash},
		&s.SiteID, &s.ID, &s.ChannelID, &s.TokenHash, &s.AuthHash, &s.Origin, &verified, &booking, &s.Made, &created, &expires,
		&s.SitePath, &s.ChannelName)
	if err != nil {
		return s, err
	}
	s.BookingID, s.CreatedAt, s.ExpiresAt = booking.Int64, store.Instant(created), store.Instant(expires)
	if err := json.Unmarshal([]byte(verified), &s.Verified); err != nil {
		return s, fmt.Errorf("the verified fields of a session of the payment modal: %w", err)
	}
	return s, nil
}

// bindSession stores which booking a session pays. If the session has another one already, it returns store.ErrNotFound.
func bindSession(tx *store.Tx, s modal.Session, bookingID int64, made bool) error {
	n, err := tx.Exec(`UPDATE modal_sessions SET booking_id = $3, made = $4
		WHERE site_id = $1 AND id = $2 AND (booking_id IS NULL OR booking_id = $3)`, s.SiteID, s.ID, bookingID, made)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// bookingsOf lists the ids of the bookings that the sessions of an auth string pay.
func bookingsOf(tx *store.Tx, siteID int64, authHash string) ([]int64, error) {
	return store.Ids(tx, `SELECT DISTINCT booking_id FROM modal_sessions
		WHERE site_id = $1 AND auth_hash = $2 AND booking_id IS NOT NULL ORDER BY booking_id`, siteID, authHash)
}

// countSessions counts the sessions that an auth string has opened.
func countSessions(tx *store.Tx, siteID int64, authHash string) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM modal_sessions WHERE site_id = $1 AND auth_hash = $2`, []any{siteID, authHash}, &n)
	return n, err
}

// forgetSessions removes sessions of a site that were opened long ago, at most limit of them. It returns how many. Their payments stay.
func forgetSessions(tx *store.Tx, siteID int64, limit int) (int, error) {
	n, err := tx.Exec(`DELETE FROM modal_sessions WHERE site_id = $1 AND id IN (
		SELECT s.id FROM modal_sessions s WHERE s.site_id = $1 AND s.created_at < $2 LIMIT $3)`,
		siteID, store.Micros(sites.RealNow(tx).Add(-modalMemory)), limit)
	return int(n), err
}
