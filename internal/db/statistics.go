package db

import "context"

// RefreshStatistics lets PostgreSQL count how much its tables hold. It does so by itself, but only after a minute or
// so. Until then it plans for empty tables and reads all rows of a site, which makes the first large import several
// times as slow. SQLite needs no statistics, so nothing happens there.
func (db *DB) RefreshStatistics(ctx context.Context) error {
	if !db.engine.manyWrites {
		return nil
	}
	_, err := db.write.ExecContext(ctx, "ANALYZE")
	return db.outward(err)
}
