package webhooks

import (
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// restoredReason is why an endpoint of a restored database is disabled.
const restoredReason = "The database was restored from a backup."

// Restored disables all endpoints in a database restored from a backup. Pending deliveries may have been sent since,
// and the database may be a test copy. Nothing is lost: once enabled, an endpoint continues where it stopped.
func Restored(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE webhook_endpoints SET state = 'disabled', reason = $1, version = version + 1, modified_at = $2
		WHERE state = 'enabled'`, restoredReason, store.Micros(sites.RealNow(tx)))
	return err
}
