package sessions

import (
	"time"

	"holdfast/internal/store"
)

const signInColumns = `user_id, id, generation, began_at, seen_at, proven_at, address, browser`

func scanSignIn(scan func(dest ...any) error) (s SignIn, err error) {
	var began, seen, proven int64
	err = scan(&s.UserID, &s.ID, &s.Generation, &began, &seen, &proven, &s.Address, &s.Browser)
	s.BeganAt, s.SeenAt, s.ProvenAt = store.Instant(began), store.Instant(seen), store.Instant(proven)
	return s, err
}

func insertSignIn(tx *store.Tx, s SignIn) error {
	_, err := tx.Exec(`INSERT INTO sign_ins (`+signInColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		s.UserID, s.ID, s.Generation, store.Micros(s.BeganAt), store.Micros(s.SeenAt), store.Micros(s.ProvenAt), s.Address, s.Browser)
	return err
}

// signIn reads one, or returns store.ErrNotFound.
func signIn(tx *store.Tx, userID int64, id string) (s SignIn, err error) {
	s, err = scanSignIn(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+signInColumns+` FROM sign_ins WHERE user_id = $1 AND id = $2`, []any{userID, id}, dest...)
	})
	return s, err
}

// signInsOf lists the sign-ins of a user, the last used first.
func signInsOf(tx *store.Tx, userID int64) (list []SignIn, err error) {
	err = tx.Query(`SELECT `+signInColumns+` FROM sign_ins WHERE user_id = $1 ORDER BY seen_at DESC, id LIMIT $2`,
		[]any{userID, maxSignIns}, func(scan func(dest ...any) error) error {
			s, err := scanSignIn(scan)
			list = append(list, s)
			return err
		})
	return list, err
}

func seeSignIn(tx *store.Tx, userID int64, id string) error {
	_, err := tx.Exec(`UPDATE sign_ins SET seen_at = $3 WHERE user_id = $1 AND id = $2`, userID, id, store.Micros(tx.Now))
	return err
}

func proveSignIn(tx *store.Tx, userID int64, id string) error {
	return store.ExecOne(tx, `UPDATE sign_ins SET proven_at = $3 WHERE user_id = $1 AND id = $2`, userID, id, store.Micros(tx.Now))
}

func endSignIn(tx *store.Tx, userID int64, id string) error {
	_, err := tx.Exec(`DELETE FROM sign_ins WHERE user_id = $1 AND id = $2`, userID, id)
	return err
}

func endSignIns(tx *store.Tx, userID int64) error {
	_, err := tx.Exec(`DELETE FROM sign_ins WHERE user_id = $1`, userID)
	return err
}

// makeRoomForSignIn deletes the sign-ins of a user that began at or before an instant and, beyond a maximum number, the
// least recently used ones.
func makeRoomForSignIn(tx *store.Tx, userID int64, old time.Time, keep int) error {
	_, err := tx.Exec(`DELETE FROM sign_ins WHERE user_id = $1 AND (began_at <= $2 OR id IN (
			SELECT s.id FROM sign_ins s WHERE s.user_id = $1 ORDER BY s.seen_at DESC, s.id LIMIT 1000 OFFSET $3))`,
		userID, store.Micros(old), keep)
	return err
}

// forgetSignIns removes sign-ins whose last request was at an instant or before, as many as the limit allows.
func forgetSignIns(tx *store.Tx, seenBefore time.Time, limit int) (int64, error) {
	return tx.Exec(`DELETE FROM sign_ins WHERE (user_id, id) IN (
		SELECT user_id, id FROM sign_ins WHERE seen_at <= $1 ORDER BY seen_at LIMIT $2)`, store.Micros(seenBefore), limit)
}
