package mail

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

const mailColumns = `site_id, id, event_id, number, kind, transaction_id, booking_id, copy, recipient, letter, state, answer,
	attempts, resends, queued_at, asked_at, tried_at, next_at, forget_at, file_id`

func scanMail(scan func(dest ...any) error) (Mail, error) {
	var m Mail
	var letter string
	var queued, asked int64
	var event, tried, next, forget sql.NullInt64
	err := scan(&m.SiteID, &m.ID, &event, &m.Number, &m.Kind, &m.TransactionID, &m.BookingID, &m.Copy, &m.Recipient, &letter,
		&m.State, &m.Answer, &m.Attempts, &m.Resends, &queued, &asked, &tried, &next, &forget, &m.FileID)
	if err != nil {
		return m, err
	}
	m.EventID, m.QueuedAt, m.AskedAt = event.Int64, store.Instant(queued), store.Instant(asked)
	m.TriedAt, m.NextAt, m.ForgetAt = store.MaybeInstant(tried), store.MaybeInstant(next), store.MaybeInstant(forget)
	if m.Forgotten = letter == ""; m.Forgotten {
		return m, nil
	}
	if err := json.Unmarshal([]byte(letter), &m.Letter); err != nil {
		return m, fmt.Errorf("letter of mail %d: %w", m.ID, err)
	}
	return m, nil
}

const newColumns = `site_id, event_id, number, kind, transaction_id, booking_id, copy, recipient, letter, state, answer, attempts,
	resends, queued_at, asked_at, next_at, forget_at, file_id, modified_at`

// newRow returns the values of newColumns for an e-mail queued now.
func (m Mail) newRow(tx *store.Tx) ([]any, error) {
	letter, err := json.Marshal(m.Letter)
	now := store.Micros(sites.RealNow(tx))
	return []any{m.SiteID, store.MaybeID(m.EventID), m.Number, m.Kind, m.TransactionID, m.BookingID, m.Copy, m.Recipient, string(letter),
		m.State, m.Answer, 0, 0, now, now, store.MaybeMicros(m.NextAt), store.MaybeMicros(m.ForgetAt), m.FileID, now}, err
}

// insertMail stores a new e-mail and returns it with its ID and times.
func insertMail(tx *store.Tx, m Mail) (Mail, error) {
	row, err := m.newRow(tx)
	if err != nil {
		return m, err
	}
	m.QueuedAt, m.AskedAt = sites.RealNow(tx), sites.RealNow(tx)
	if m.ID, err = tx.NextID("mails", m.SiteID); err != nil {
		return m, err
	}
	tx.Insert("mails", newColumns+", id", append(row, m.ID))
	return m, nil
}

// insertMails stores new e-mails, many per statement.
func insertMails(tx *store.Tx, list []Mail) (err error) {
	rows := make([][]any, len(list))
	for i, m := range list {
		if rows[i], err = m.newRow(tx); err != nil {
			return err
		}
	}
	tx.Insert("mails", newColumns, rows...)
	return nil
}

func mailsPage(tx *store.Tx, siteID int64, f Filter, withoutPrivate bool, page store.Page) (store.List[Mail], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "state", f.States)
	sqltext.In(&w, "kind", f.Kinds)
	if withoutPrivate {
		sqltext.NotIn(&w, "kind", private)
	}
	sqltext.In(&w, "booking_id", f.Bookings)
	sqltext.In(&w, "transaction_id", f.Transactions)
	return store.ListPage(tx, "mails", mailColumns, &w, page, store.Orders{"modified": "modified_at"}, scanMail)
}

// readMail reads one mail. The error is store.ErrNotFound if it does not exist.
func readMail(tx *store.Tx, siteID, id int64) (Mail, error) {
	return scanMail(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+mailColumns+` FROM mails WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
	})
}

// lockMail is readMail in a write, and locks the e-mail until the write ends.
func lockMail(tx *store.Tx, siteID, id int64) (Mail, error) {
	return scanMail(func(dest ...any) error {
		return tx.QueryRow(`UPDATE mails SET number = number WHERE site_id = $1 AND id = $2 RETURNING `+mailColumns,
			[]any{siteID, id}, dest...)
	})
}

// askAgain queues a mail to be sent again. The caller has locked it.
func askAgain(tx *store.Tx, m Mail) error {
	letter, err := json.Marshal(m.Letter)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE mails SET recipient = $3, letter = $4, state = $5, answer = '', attempts = 0, resends = $6,
			asked_at = $7, next_at = $7, forget_at = NULL, modified_at = $7
		WHERE site_id = $1 AND id = $2`,
		m.SiteID, m.ID, m.Recipient, string(letter), m.State, m.Resends, store.Micros(m.AskedAt))
	return err
}

// sitesDue lists the sites with queued e-mails that are due, and those with attempts that should have ended.
func sitesDue(tx *store.Tx) (waiting, sending []int64, err error) {
	err = tx.Query(`SELECT DISTINCT site_id, state FROM mails WHERE next_at <= $1 AND state IN ($2, $3) ORDER BY site_id, state`,
		[]any{store.Micros(sites.RealNow(tx)), Waiting, Sending}, func(scan func(dest ...any) error) error {
			var site int64
			var state State
			err := scan(&site, &state)
			if state == Waiting {
				waiting = append(waiting, site)
			} else {
				sending = append(sending, site)
			}
			return err
		})
	return waiting, sending, err
}

// dueMails lists the IDs of a site's queued e-mails that are due, longest overdue first.
func dueMails(tx *store.Tx, siteID int64, limit int) ([]int64, error) {
	return store.Ids(tx, `SELECT id FROM mails WHERE site_id = $1 AND state = $2 AND next_at <= $3 ORDER BY next_at, id LIMIT $4`,
		siteID, Waiting, store.Micros(sites.RealNow(tx)), limit)
}

// triedSince counts the e-mails whose last attempt began after an instant.
func triedSince(tx *store.Tx, after time.Time) (n int, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM mails WHERE tried_at > $1`, []any{store.Micros(after)}, &n)
	return n, err
}

// claimDue records the start of an attempt, before connecting to the server. The error is store.ErrNotFound if the e-mail is no
// longer due: another process has it.
func claimDue(tx *store.Tx, key store.Key) (Mail, error) {
	now := sites.RealNow(tx)
	return scanMail(func(dest ...any) error {
		return tx.QueryRow(`UPDATE mails SET state = $3, attempts = attempts + 1, tried_at = $4, modified_at = $4, next_at = $5
			WHERE site_id = $1 AND id = $2 AND state = $6 AND next_at <= $4 RETURNING `+mailColumns,
			[]any{key.SiteID, key.ID, Sending, store.Micros(now), store.Micros(now.Add(lostAfter)), Waiting}, dest...)
	})
}

// finish stores the outcome of the attempt that claim started, even if it already counts as unknown. It changes nothing if
// the e-mail was resent in the meantime.
func finish(tx *store.Tx, m Mail, o outcome) error {
	_, err := tx.Exec(`UPDATE mails SET state = $3, answer = $4, next_at = $5, forget_at = $6, modified_at = $11
		WHERE site_id = $1 AND id = $2 AND tried_at = $7 AND asked_at = $8 AND state IN ($9, $10)`,
		m.SiteID, m.ID, o.state, o.answer, store.MaybeMicros(o.nextAt), store.MaybeMicros(o.forgetAt), store.Micros(m.TriedAt),
		store.Micros(m.AskedAt), Sending, Unknown, store.Micros(sites.RealNow(tx)))
	return err
}

// giveUpLost marks unfinished attempts of a site as unknown: the process has died, or lost its database connection.
func giveUpLost(tx *store.Tx, siteID int64) error {
	now := sites.RealNow(tx)
	_, err := tx.Exec(`UPDATE mails SET state = $2, answer = $3, next_at = NULL, forget_at = $4, modified_at = $1
		WHERE site_id = $6 AND next_at <= $1 AND state = $5`, store.Micros(now), Unknown, lostAnswer, store.Micros(now.Add(remember)), Sending, siteID)
	return err
}

// forget deletes the addresses and letters of at most limit e-mails of a site that finished long ago, and returns how many.
func forget(tx *store.Tx, siteID int64, limit int) (int, error) {
	n, err := tx.Exec(`UPDATE mails SET recipient = '', letter = '', answer = substr(answer, 1, 3), forget_at = NULL, file_id = 0, modified_at = $2
		WHERE site_id = $1 AND id IN (SELECT m.id FROM mails m WHERE m.site_id = $1 AND m.forget_at <= $2 ORDER BY m.forget_at LIMIT $3)`,
		siteID, store.Micros(sites.RealNow(tx)), limit)
	return int(n), err
}

// mark is the position of the e-mails in a site's event feed.
type mark struct {
	position int64
	unsureTo int64 // e-mails about events up to this ID may have been sent before the database was restored
}

// sitesBehind lists the sites with unprocessed events, with their clocks. Most sites have none most of the time, and cost
// only this query.
func sitesBehind(tx *store.Tx) ([]sites.Clock, error) {
	behind, err := store.Ids(tx, `SELECT p.site_id FROM site_places p
		LEFT JOIN event_heads h ON h.site_id = p.site_id LEFT JOIN mail_marks m ON m.site_id = p.site_id
		WHERE COALESCE(h.position, 0) > COALESCE(m.position, 0)
			OR EXISTS (SELECT 1 FROM events e WHERE e.site_id = p.site_id AND e.position IS NULL)
		ORDER BY p.site_id`)
	if err != nil || len(behind) == 0 {
		return nil, err
	}
	clocks, err := sites.Clocks(tx)
	return slices.DeleteFunc(clocks, func(c sites.Clock) bool {
		_, found := slices.BinarySearch(behind, c.SiteID)
		return !found
	}), err
}

// markOf reads a site's mark: zero if it has never been followed.
func markOf(tx *store.Tx, siteID int64) (m mark, err error) {
	err = tx.QueryRow(`SELECT position, unsure_to FROM mail_marks WHERE site_id = $1`, []any{siteID}, &m.position, &m.unsureTo)
	if errors.Is(err, store.ErrNotFound) {
		return mark{}, nil
	}
	return m, err
}

// moveMark advances a site's mark from where it was read. ok is false if another process has moved it since.
func moveMark(tx *store.Tx, siteID, from, to int64) (ok bool, err error) {
	if from == 0 {
		_, err = tx.Exec(`INSERT INTO mail_marks (site_id, position, unsure_to) VALUES ($1, 0, 0)
			ON CONFLICT (site_id) DO NOTHING`, siteID)
		if err != nil {
			return false, err
		}
	}
	n, err := tx.Exec(`UPDATE mail_marks SET position = $3 WHERE site_id = $1 AND position = $2`, siteID, from, to)
	return n == 1, err
}
