package mail

import (
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Restored marks what was not sent yet when a backup was taken: the service went on after the backup, and may have sent it.
// Nothing of it is sent by itself, neither the mails that wait nor those about events that have no mails yet.
func Restored(tx *store.Tx) error {
	now := sites.RealNow(tx)
	_, err := tx.Exec(`UPDATE mails SET state = $1, answer = $2, next_at = NULL, forget_at = $3 WHERE state IN ($4, $5)`,
		Unknown, restoredAnswer, store.Micros(now.Add(remember)), Waiting, Sending)
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
