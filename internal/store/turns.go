package store

import "context"

// GiveWay is called by a long job, such as an import, before each of its small writes. It returns when no other process
// over the same SQLite database writes or waits to write, or after a moment that is twice as long as an
// import's write should take: so an import has a third of the time even where others never stop.
//
// Without it an import starves a server: SQLite gives its lock to whoever asks at the right moment, a waiting process asks
// a few times in a second, and the import asks again at once. So a writer holds a shared lock of a file as long as it has
// something to write, and also while it waits for SQLite; and the import waits until it could have that lock alone. In its
// own process writes wait in one line, and PostgreSQL has many writers.
func (db *DB) GiveWay(ctx context.Context) error {
	if db.engine.manyWrites {
		return ctx.Err()
	}
	return db.queue.turn.Wait(ctx)
}

// Others reports whether another write runs or waits that this one holds up: in this process, or in another one over the same
// SQLite database. On PostgreSQL there is none.
func (db *DB) Others() bool {
	return !db.engine.manyWrites && (len(db.queue.calls) > 0 || !db.queue.turn.Alone())
}
