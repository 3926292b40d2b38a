package events

import "holdfast/internal/store"

// Restored begins a new epoch of all feeds in a database that was made from a backup. After it, the same positions may come
// to mean other events, so a cursor from before is refused.
func Restored(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE event_heads SET epoch = $1`, store.Micros(tx.Now))
	return err
}

// LastID is an id that no event exceeds, and every later one does: the last one that was given out. No index is by id alone.
func LastID(tx *store.Tx) (int64, error) {
	return tx.Catalog().LastID("events")
}
