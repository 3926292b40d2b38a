package db

// SetCountStep makes the remembered counts move on after so few rows that a test sees it.
func (db *DB) SetCountStep(rows int64) { db.counts.step = rows }

// Positional is how SQLite is given parameters.
var Positional = positional

// CachedStatements is how many statements a connection to SQLite keeps parsed.
const CachedStatements = cachedStatements
