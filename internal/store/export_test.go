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
	return tx.historiesBy(size, siteID, day, known, channels, each)
}

// Exec runs a statement that no use case has: what somebody with a shell on the database can do.
func (tx *Tx) Exec(query string, args ...any) (int64, error) { return tx.exec(query, args...) }
