package sites

import "holdfast/internal/store"

// Restored gives every site a new version, so that no process uses what it had cached before its database was restored.
func Restored(tx *store.Tx) error {
	ids, err := store.Ids(tx, `SELECT id FROM sites`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := Changed(tx, id); err != nil {
			return err
		}
	}
	return RatesChanged(tx)
}
