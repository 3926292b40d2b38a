package store

import "context"

// RefreshStatistics lets PostgreSQL count how much its tables hold, where it believes that a table has fewer rows than it has
// for certain. It does so automatically, but only after a minute or so. Until then it plans for empty tables and reads all rows of a
// site, which makes the first large import several times as slow. Counting reads a sample of every table and takes a second or
// two, so it is not done where the plans are good already. SQLite needs no statistics, so nothing happens there.
func (db *DB) RefreshStatistics(ctx context.Context, table string, has int) error {
	if !db.engine.manyWrites {
		return nil
	}
	var known bool
	err := db.own.Short.QueryRowContext(ctx, "SELECT reltuples >= $2 FROM pg_class WHERE oid = to_regclass($1)", table, has).Scan(&known)
	if err == nil && !known {
		_, err = db.write.ExecContext(ctx, "ANALYZE")
	}
	return db.outward(err)
}
