package store

import "sync/atomic"

// Work is how much an open database was asked to do since it was opened, by this process.
type Work struct {
	Statements int64 // SQL statements of reads and writes, without BEGIN, COMMIT and savepoints
	Commits    int64 // writing transactions that were stored; many writes may share one
	Again      int64 // runs of writes that came after a first one, because another transaction got in the way
}

// work counts it. Each number is correct, but they need not be from the same instant.
type work struct{ statements, commits, again atomic.Int64 }

// Work returns the counts so far.
func (db *DB) Work() Work {
	return Work{Statements: db.work.statements.Load(), Commits: db.work.commits.Load(), Again: db.work.again.Load()}
}
