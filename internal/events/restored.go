package events

import "holdfast/internal/db"

// Restored begins a new epoch of all feeds in a database that was made from a backup. After it, the same positions may come
// to mean other events, so a cursor from before is refused.
func Restored(tx *db.Tx) error {
	_, err := tx.Exec(`UPDATE event_heads SET epoch = $1`, db.Micros(tx.Now))
	return err
}
