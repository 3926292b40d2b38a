package db

import (
	"context"
)

// RefreshStatistics lets the database look at how much it holds by now. PostgreSQL does so by itself, but only after a
// minute or so; until then a statement that was planned while a table was empty goes on walking through all of a site's
// rows, which makes the first large import of a new database several times as slow. SQLite plans without looking.
func (db *DB) RefreshStatistics(ctx context.Context) error {
	if db.queue != nil {
		return nil
	}
	_, err := db.write.ExecContext(ctx, "ANALYZE")
	return db.outward(err)
}
