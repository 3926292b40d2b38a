// Package sqlite is what holdfast adds to SQLite's driver, through its public functions only:
//
//   - statements.go: connections that cache their parsed statements.
//   - transaction.go: transactions that start no goroutines.
//   - checkpoints.go: checkpoints of the write-ahead log, made concurrently with the writer instead of inside a commit.
//   - files.go, build.go: the database file is created, built in one piece, and watched for being moved or deleted.
//   - halt.go: after a failed sync, nothing is written until a restart.
//   - turn.go: a file lock by which processes on one database yield to each other.
//   - plan.go: fixed statistics for the query planner.
//   - names.go, errors.go: how connections are configured, and what their errors mean.
//
// It owns the files that end in .made and .turn.
package sqlite

import (
	"strings"

	"modernc.org/sqlite"
)

// Text is sorted by its bytes, whatever the locale of the database, so that lists are the same on both engines. PostgreSQL has
// the collation "C" for that; SQLite gets one of the same name.
func init() { sqlite.MustRegisterCollationUtf8("C", strings.Compare) }

// On Linux, SQLite takes locks that belong to an open file. POSIX locks belong to the process, which loses them as soon as it
// closes any handle of the database file, as Files.sync does. Where this fails, that does nothing.
func init() { _, _ = sqlite.OFDLocking(true) }
