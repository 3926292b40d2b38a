package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"holdfast/internal/travel"
)

// InsertModalSession stores a new session of the payment modal and returns it with its id.
func InsertModalSession(tx *Tx, s travel.ModalSession) (travel.ModalSession, error) {
	verified, err := json.Marshal(s.Verified)
	if err != nil {
		return s, err
	}
	s.CreatedAt = RealNow(tx)
	err = tx.row(`INSERT INTO modal_sessions (site_id, channel_id, token_hash, auth_hash, origin, verified, made, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
		[]any{s.SiteID, s.ChannelID, s.TokenHash, s.AuthHash, s.Origin, string(verified), false, micros(s.CreatedAt),
			micros(s.ExpiresAt)}, &s.ID)
	return s, err
}

// ModalSession reads the session of any site whose token has the hash.
func ModalSession(tx *Tx, tokenHash string) (travel.ModalSession, error) {
	var s travel.ModalSession
	var verified string
	var booking sql.NullInt64
	var created, expires int64
	err := tx.row(`SELECT m.site_id, m.id, m.channel_id, m.token_hash, m.auth_hash, m.origin, m.verified, m.booking_id, m.made,
			m.created_at, m.expires_at, s.path, c.name
		FROM modal_sessions m
		JOIN sites s ON s.id = m.site_id
		JOIN channels c ON c.site_id = m.site_id AND c.id = m.channel_id
		WHERE m.token_hash = $1`, []any{tokenHash},
		&s.SiteID, &s.ID, &s.ChannelID, &s.TokenHash, &s.AuthHash, &s.Origin, &verified, &booking, &s.Made, &created, &expires,
		&s.SitePath, &s.ChannelName)
	if err != nil {
		return s, err
	}
	s.BookingID, s.CreatedAt, s.ExpiresAt = booking.Int64, instant(created), instant(expires)
	if err := json.Unmarshal([]byte(verified), &s.Verified); err != nil {
		return s, fmt.Errorf("the verified fields of a session of the payment modal: %w", err)
	}
	return s, nil
}

// BindModalSession says which booking a session pays, once; ErrNotFound: it is another one already.
func BindModalSession(tx *Tx, s travel.ModalSession, bookingID int64, made bool) error {
	n, err := tx.exec(`UPDATE modal_sessions SET booking_id = $3, made = $4
		WHERE site_id = $1 AND id = $2 AND (booking_id IS NULL OR booking_id = $3)`, s.SiteID, s.ID, bookingID, made)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// ModalBookings lists the bookings that the sessions of an auth string pay.
func ModalBookings(tx *Tx, siteID int64, authHash string) ([]int64, error) {
	return ids(tx, `SELECT DISTINCT booking_id FROM modal_sessions
		WHERE site_id = $1 AND auth_hash = $2 AND booking_id IS NOT NULL ORDER BY booking_id`, siteID, authHash)
}

// CountModalSessions counts the sessions that an auth string has opened.
func CountModalSessions(tx *Tx, siteID int64, authHash string) (n int64, err error) {
	err = tx.row(`SELECT COUNT(*) FROM modal_sessions WHERE site_id = $1 AND auth_hash = $2`, []any{siteID, authHash}, &n)
	return n, err
}

// ForgetModalSessionsBefore removes sessions that were opened before the instant, as many as the limit allows, and returns
// how many. Their payments stay.
func ForgetModalSessionsBefore(tx *Tx, before time.Time, limit int) (int64, error) {
	return tx.exec(`DELETE FROM modal_sessions WHERE (site_id, id) IN (
		SELECT site_id, id FROM modal_sessions WHERE created_at < $1 LIMIT $2)`, micros(before), limit)
}

// InsertModalPayment notes that a transaction of this write is a payment in the modal, with what was verified besides.
func InsertModalPayment(tx *Tx, t travel.Transaction, bookingID int64, authHash string) error {
	_, err := tx.exec(`INSERT INTO modal_payments (site_id, transaction_id, booking_id, auth_hash, allocations, charge_channel)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		t.SiteID, t.ID, bookingID, authHash, t.ModalAllocations, maybeID(t.ModalCharge))
	return err
}

// ModalAttempts lists the payments of a booking that were made in the modal, in order of their ids. The caller holds the
// booking, so that none is added meanwhile.
func ModalAttempts(tx *Tx, siteID, bookingID int64) ([]travel.ModalAttempt, error) {
	var list []travel.ModalAttempt
	err := tx.each(`SELECT m.transaction_id, m.auth_hash, t.status, p.decline <> ''
		FROM modal_payments m
		JOIN transactions t ON t.site_id = m.site_id AND t.id = m.transaction_id
		JOIN processings p ON p.site_id = m.site_id AND p.transaction_id = m.transaction_id
		WHERE m.site_id = $1 AND m.booking_id = $2 ORDER BY m.transaction_id`, []any{siteID, bookingID},
		func(scan func(dest ...any) error) error {
			var a travel.ModalAttempt
			err := scan(&a.TransactionID, &a.AuthHash, &a.Status, &a.Refused)
			list = append(list, a)
			return err
		})
	return list, err
}

// ModalPaymentOf tells whether a transaction pays the booking in the modal.
func ModalPaymentOf(tx *Tx, siteID, transactionID, bookingID int64) error {
	var id int64
	return tx.row(`SELECT transaction_id FROM modal_payments WHERE site_id = $1 AND transaction_id = $2 AND booking_id = $3`,
		[]any{siteID, transactionID, bookingID}, &id)
}

// readModalPayments fills in what the modal was told besides. Only what a processor carried out with 3DS can have been
// paid there; where there is none of it nothing is read.
func readModalPayments(tx *Tx, siteID int64, list []travel.Transaction) error {
	var ids []int64
	at := map[int64]*travel.Transaction{}
	for i, t := range list {
		if t.Processed != nil && t.Attempt3DS {
			ids, at[t.ID] = append(ids, t.ID), &list[i]
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var w where
	w.and("site_id = ?", siteID)
	in(&w, "transaction_id", ids)
	return tx.each(`SELECT transaction_id, allocations, charge_channel FROM modal_payments WHERE `+w.text.String(), w.args,
		func(scan func(dest ...any) error) error {
			var id int64
			var allocations string
			var charge sql.NullInt64
			err := scan(&id, &allocations, &charge)
			if err == nil {
				at[id].ModalAllocations, at[id].ModalCharge = allocations, charge.Int64
			}
			return err
		})
}
