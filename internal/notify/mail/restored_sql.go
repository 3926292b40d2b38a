package mail

import (
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Restored marks everything unsent at the time of the backup: the service kept running afterwards and may have sent it. None
// of it is sent automatically, neither queued e-mails nor those about events without e-mails yet.
func Restored(tx *store.Tx) error {
	now := sites.RealNow(tx)
	_, err := tx.Exec(`UPDATE mails SET state = $1, answer = $2, next_at = NULL, forget_at = $3, modified_at = $6
		WHERE state IN ($4, $5)`,
		Unknown, restoredAnswer, store.Micros(now.Add(remember)), Waiting, Sending, store.Micros(now))
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO mail_marks (site_id, position, unsure_to) SELECT id, 0, 0 FROM sites
		WHERE id NOT IN (SELECT site_id FROM mail_marks)`)
	if err != nil {
		return err
	}
	last, err := events.LastID(tx)
	if err == nil {
		_, err = tx.Exec(`UPDATE mail_marks SET unsure_to = $1`, last)
	}
	return err
}
