package sqlite

import (
	"fmt"
	"net/url"
	"strconv"
)

// The page caches of a connection, in KiB. The system keeps the file in memory, too, so a page that a connection lacks costs a copy. The
// upper pages of all indexes, which everything goes through, fit in 2 MiB, and after every write a reader starts with an empty cache. A
// writer also holds the changes of a transaction, and creates most of its pages itself: larger caches were not faster.
const (
	readerCache     = 2 << 10
	writerCache     = 4 << 10
	checkpointCache = 64
	// A long write changes more than writerCache holds, and what does not fit is written to the log before its commit, some of it several times.
	longWritesCache = 16 << 10
	// buildCache is for the only connection that fills a new file.
	buildCache = 64 << 10
)

// LargeCache is the statement that gives a connection the page cache for long writes.
var LargeCache = fmt.Sprintf("PRAGMA cache_size(-%d)", longWritesCache)

// pageBytes is the page size of a new file; an existing file keeps its size. SQLite's default of 4,096 bytes makes the
// log longer: a booking changes a page in each of its indexes, and pages are logged as a whole (decision 23).
const pageBytes = 2048

// WriterName is the data source name of the connection that writes.
func WriterName(path string) string { return name(path, "_txlock=immediate", writerCache) }

// ReaderName is the data source name of connections that read.
func ReaderName(path string) string { return name(path, "_query_only=1", readerCache) }

// CheckpointName is the data source name of the connection that makes checkpoints.
func CheckpointName(path string) string { return name(path, "", checkpointCache) }

// BuildName is the data source name of the connection that fills a new file. If it fails, the file is of no use: so there
// is no journal, and no sync before the end.
func BuildName(path string) string {
	return nameWith(path, "_journal_mode=OFF&_txlock=immediate", buildCache, "synchronous(OFF)")
}

// name sets a write-ahead log, so that readers never wait; a full sync at each commit, so that a write is durable when it
// is acknowledged; no checkpoint at a commit, because checkpoints run concurrently with the writer; and in-memory
// journals for savepoints, because they need not outlive the process. cache is the size of the page cache in KiB.
func name(path, more string, cache int) string {
	return nameWith(path, "_journal_mode=WAL&"+more, cache, "busy_timeout(5000)", "synchronous(FULL)", "wal_autocheckpoint(0)")
}

// nameWith takes the pragmas that differ. The driver runs them in alphabetical order. The journal mode is not a pragma
// here, because it has to be set after the page size: it creates the file.
func nameWith(path, more string, cache int, pragmas ...string) string {
	name := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + more
	for _, p := range append(pragmas, "foreign_keys(1)", "cache_size(-"+strconv.Itoa(cache)+")", "page_size("+strconv.Itoa(pageBytes)+")", "temp_store(MEMORY)") {
		name += "&_pragma=" + p
	}
	return name
}
