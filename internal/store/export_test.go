package store

import (
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/protection"
)

// SetCountStep makes the remembered counts move on after so few rows that a test sees it.
func (db *DB) SetCountStep(rows int64) { db.counts.step = rows }

// HistoriesBy is Histories in pages of a size.
func (tx *Tx) HistoriesBy(
	size int, siteID int64, day civil.Day, known time.Time, channels []int64, each func(protection.History) error,
) error {
	return historiesBy(tx, size, siteID, day, known, channels, each)
}

// Exec runs a statement that no use case has: what somebody with a shell on the database can do.
func (tx *Tx) Exec(query string, args ...any) (int64, error) { return tx.exec(query, args...) }

// InsertDeltas adds changes of buckets that no booking has.
func (tx *Tx) InsertDeltas(siteID int64, deltas []protection.Delta) error {
	return insertDeltas(tx, siteID, deltas)
}

// Packs answers how many deltas each pack of the buckets has.
func (tx *Tx) Packs(siteID int64) ([]int64, error) {
	return ids(tx, `SELECT counted FROM exposure_buckets WHERE site_id = $1 ORDER BY id`, siteID)
}

// Positional is how SQLite is given parameters.
var Positional = positional

// KeptStatements is how many statements a connection to SQLite keeps.
const KeptStatements = keptStatements

// Numbers calls each for the numbers that a query gives.
func (tx *Tx) Numbers(query string, each func(n int64) error, args ...any) error {
	return tx.each(query, args, func(scan func(dest ...any) error) error {
		var n int64
		if err := scan(&n); err != nil {
			return err
		}
		return each(n)
	})
}
