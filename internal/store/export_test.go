package store

// SetCountStep makes the remembered counts move on after so few rows that a test sees it.
func (db *DB) SetCountStep(rows int64) { db.counts.step = rows }
