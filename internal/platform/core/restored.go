package core

import "holdfast/internal/store"

// Restored forgets what only counted for the processes that used the database when its backup was taken: their leases of
// jobs, and the idempotency keys of requests that they were answering. Such a request has made nothing in the backup, so
// its key is free for another try. Every site gets a new version, so that no process takes for known what it remembers.
func Restored(tx *store.Tx) error {
	if _, err := tx.Exec(`UPDATE jobs SET leased_until = 0, due_at = 0`); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM idempotency_keys WHERE object_id IS NULL AND proposal_id IS NULL`)
	if err != nil {
		return err
	}
	sites, err := store.Ids(tx, `SELECT id FROM sites`)
	if err != nil {
		return err
	}
	for _, id := range append(sites, ratesSite) {
		if err := Changed(tx, id); err != nil {
			return err
		}
	}
	return nil
}
