package sqliteparts

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// logFile is a log over a file in memory. It is made as SQLite makes one, and asked what SQLite asks.
type logFile struct {
	*testing.T
	*libc.TLS
	file, database uintptr
	room           uintptr // for what is written and read
}

// disk is the file of the log that a test has. SQLite's functions get no more than an address.
var disk struct {
	bytes  []byte
	writes []int // how long each was
	others []string
	code   int32 // what the next functions say
}

func diskRead(_ *libc.TLS, _, to uintptr, length int32, at int64) int32 {
	disk.others = append(disk.others, "read")
	copy(unsafe.Slice((*byte)(address(to)), length), disk.bytes[at:])
	return disk.code
}

func diskWrite(_ *libc.TLS, _, from uintptr, length int32, at int64) int32 {
	disk.writes = append(disk.writes, int(length))
	if end := int(at) + int(length); end > len(disk.bytes) {
		disk.bytes = append(disk.bytes, make([]byte, end-len(disk.bytes))...)
	}
	copy(disk.bytes[at:], unsafe.Slice((*byte)(address(from)), length))
	return disk.code
}

func diskTruncate(_ *libc.TLS, _ uintptr, size int64) int32 {
	disk.bytes = disk.bytes[:size]
	return disk.code
}

func diskSync(*libc.TLS, uintptr, int32) int32 {
	disk.others = append(disk.others, "sync")
	return disk.code
}

func diskSize(_ *libc.TLS, _, size uintptr) int32 {
	*(*int64)(address(size)) = int64(len(disk.bytes))
	return disk.code
}

func diskClose(*libc.TLS, uintptr) int32 { return sqlite3.SQLITE_OK }

func diskLock(*libc.TLS, uintptr, int32, int32, int32) int32 {
	disk.others = append(disk.others, "lock")
	return disk.code
}

func diskIsWhole(*libc.TLS, uintptr) int32 { return sqlite3.SQLITE_IOCAP_POWERSAFE_OVERWRITE }

func openLog(t *testing.T) *logFile {
	disk.bytes, disk.writes, disk.others, disk.code = nil, nil, nil, sqlite3.SQLITE_OK
	tls := libc.NewTLS()
	t.Cleanup(tls.Close)
	make := func(size uintptr) uintptr {
		at := libc.Xcalloc(tls, 1, libc.Tsize_t(size))
		t.Cleanup(func() { libc.Xfree(tls, at) })
		return at
	}
	ways := make(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{}))
	*(*sqlite3.Tsqlite3_io_methods)(address(ways)) = sqlite3.Tsqlite3_io_methods{
		FxRead: pointer(diskRead), FxWrite: pointer(diskWrite), FxTruncate: pointer(diskTruncate), FxSync: pointer(diskSync),
		FxFileSize: pointer(diskSize), FxClose: pointer(diskClose), FxShmLock: pointer(diskLock), FxDeviceCharacteristics: pointer(diskIsWhole),
	}
	database := make(unsafe.Sizeof(sqlite3.Tsqlite3_file{}))
	own := make(unsafe.Sizeof(sqlite3.TWal{}) + unsafe.Sizeof(sqlite3.Tsqlite3_file{}))
	file := own + unsafe.Sizeof(sqlite3.TWal{})
	*(*sqlite3.TWal)(address(own)) = sqlite3.TWal{FpWalFd: file, FpDbFd: database}
	for _, f := range []uintptr{database, file} {
		(*sqlite3.Tsqlite3_file)(address(f)).FpMethods = ways
	}
	takeLog(tls, file)
	l := &logFile{T: t, TLS: tls, file: file, database: database, room: make(4 * piece)}
	t.Cleanup(func() {
		call[fileFunc](l.way(file).FxClose)(tls, file)
		databases.made.Delete(ways) // the next one may have its own at the same place
		logFiles.made.Delete(ways)
		if _, left := logs.Load(database); left {
			t.Error("a log that is closed is still there")
		}
	})
	return l
}

func (l *logFile) way(of uintptr) *sqlite3.Tsqlite3_io_methods {
	return (*sqlite3.Tsqlite3_io_methods)(address((*sqlite3.Tsqlite3_file)(address(of)).FpMethods))
}

func (l *logFile) write(at int, text []byte) int32 {
	copy(unsafe.Slice((*byte)(address(l.room)), 4*piece), text)
	return call[writeFunc](l.way(l.file).FxWrite)(l.TLS, l.file, l.room, int32(len(text)), int64(at))
}

// frame writes a frame as SQLite does, and returns what it is. commit says that a commit ends with it.
func (l *logFile) frame(at, page int, commit bool) []byte {
	l.Helper()
	head := bytes.Repeat([]byte{byte(at)}, frameHead)
	copy(head[commitAt:], make([]byte, 4))
	if commit {
		head[commitAt+3] = 9
	}
	text := bytes.Repeat([]byte{byte(at + 1)}, page)
	if code := l.write(at, head); code != sqlite3.SQLITE_OK {
		l.Errorf("a head: %d", code)
	}
	if code := l.write(at+frameHead, text); code != sqlite3.SQLITE_OK {
		l.Errorf("a page: %d", code)
	}
	return append(head, text...)
}

func (l *logFile) unlock(first, flags int32) {
	call[lockFunc](l.way(l.database).FxShmLock)(l.TLS, l.database, first, 1, flags)
}

// wrote looks whether the file has this, and was written so often.
func (l *logFile) wrote(what string, want []byte, writes int) {
	l.Helper()
	if !bytes.Equal(disk.bytes, want) || len(disk.writes) != writes {
		l.Errorf("%s: %d bytes are written by %v, as wanted: %v; %d writes are wanted", what, len(disk.bytes), disk.writes, bytes.Equal(disk.bytes, want), writes)
	}
}

// TestACommitGoesToTheLogAtOnce: its frames wait for its last one, and all go by one write.
func TestACommitGoesToTheLogAtOnce(t *testing.T) {
	l := openLog(t)
	var want []byte
	for n := range 3 {
		l.wrote(fmt.Sprintf("before frame %d", n), nil, 0)
		want = append(want, l.frame(len(want), 512, n == 2)...)
	}
	l.wrote("after a commit", want, 1)
	want = append(want, l.frame(len(want), 512, true)...)
	l.wrote("after another one", want, 2)
}

// TestALongCommitGoesInPieces: what has no room any more does not wait.
func TestALongCommitGoesInPieces(t *testing.T) {
	l := openLog(t)
	var want []byte
	for n := range 4 {
		want = append(want, l.frame(len(want), piece/2, n == 3)...)
	}
	l.wrote("after a commit of two pieces", want, 4)
	if slices.Max(disk.writes) > piece {
		t.Errorf("a write is longer than a piece: %v", disk.writes)
	}
	want = append(want, l.frame(len(want), 2*piece, true)...)
	l.wrote("after a page that is longer than a piece", want, 6)
}

// TestWhatWaitsComesFirst: before each of these, what waits is in the file.
func TestWhatWaitsComesFirst(t *testing.T) {
	for name, do := range map[string]func(l *logFile){
		"a sync": func(l *logFile) { call[syncFunc](l.way(l.file).FxSync)(l.TLS, l.file, 0) },
		"a read of its end": func(l *logFile) {
			call[writeFunc](l.way(l.file).FxRead)(l.TLS, l.file, l.room, 10, frameHead+511)
			if got := unsafe.Slice((*byte)(address(l.room)), 1)[0]; got != 1 {
				l.Errorf("a page is read as %d", got)
			}
		},
		"a read of its beginning": func(l *logFile) { call[writeFunc](l.way(l.file).FxRead)(l.TLS, l.file, l.room, 1, 0) },
		"its length": func(l *logFile) {
			call[sizeFunc](l.way(l.file).FxFileSize)(l.TLS, l.file, l.room)
			if got := *(*int64)(address(l.room)); got != frameHead+512 {
				l.Errorf("the log has %d bytes", got)
			}
		},
		"a new length": func(l *logFile) { call[truncateFunc](l.way(l.file).FxTruncate)(l.TLS, l.file, frameHead+512) },
	} {
		t.Run(name, func(t *testing.T) {
			l := openLog(t)
			want := l.frame(0, 512, false)
			do(l)
			l.wrote("after "+name, want, 1)
		})
	}
}

// TestWhatDoesNotFollow: what is written somewhere else is there at once, behind what waited; and a read elsewhere has nothing written.
func TestWhatDoesNotFollow(t *testing.T) {
	l := openLog(t)
	want := slices.Concat(l.frame(0, 512, true), l.frame(frameHead+512, 512, false))
	call[writeFunc](l.way(l.file).FxRead)(l.TLS, l.file, l.room, frameHead+512, 0)
	l.wrote("after a read of what does not wait", want[:frameHead+512], 1)
	head := bytes.Repeat([]byte{0}, frameHead)
	l.write(0, head)
	copy(want, head)
	l.wrote("after a head that is corrected", want, 3)
}

// TestWhatIsUndoneIsNotWritten: with the lock of writers goes what waits, because the place belongs to somebody else then.
func TestWhatIsUndoneIsNotWritten(t *testing.T) {
	l := openLog(t)
	l.frame(0, 512, false)
	l.unlock(writeLock+1, sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE)
	l.unlock(writeLock, sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_SHARED)
	call[syncFunc](l.way(l.file).FxSync)(l.TLS, l.file, 0)
	l.wrote("after other locks", disk.bytes, 1)
	l.frame(frameHead+512, 512, false)
	l.unlock(writeLock, sqlite3.SQLITE_SHM_UNLOCK|sqlite3.SQLITE_SHM_EXCLUSIVE)
	call[syncFunc](l.way(l.file).FxSync)(l.TLS, l.file, 0)
	l.wrote("after the lock of writers", disk.bytes[:frameHead+512], 1)
	if want := []string{"lock", "lock", "sync", "lock", "sync"}; !slices.Equal(disk.others, want) {
		t.Errorf("SQLite's own functions: %v, want %v", disk.others, want)
	}
}

// TestAFullDiskIsTold: whoever has what waits written hears that it was not.
func TestAFullDiskIsTold(t *testing.T) {
	for name, do := range map[string]func(l *logFile) int32{
		"the end of a commit": func(l *logFile) int32 {
			l.write(frameHead+512, bytes.Repeat([]byte{1}, frameHead))
			return l.write(2*frameHead+512, make([]byte, 512))
		},
		"a sync":       func(l *logFile) int32 { return call[syncFunc](l.way(l.file).FxSync)(l.TLS, l.file, 0) },
		"a read":       func(l *logFile) int32 { return call[writeFunc](l.way(l.file).FxRead)(l.TLS, l.file, l.room, 10, 0) },
		"its length":   func(l *logFile) int32 { return call[sizeFunc](l.way(l.file).FxFileSize)(l.TLS, l.file, l.room) },
		"a new length": func(l *logFile) int32 { return call[truncateFunc](l.way(l.file).FxTruncate)(l.TLS, l.file, 0) },
		"what does not follow": func(l *logFile) int32 {
			return l.write(0, make([]byte, frameHead))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := openLog(t)
			l.frame(0, 512, false)
			disk.code = sqlite3.SQLITE_FULL
			if code := do(l); code != sqlite3.SQLITE_FULL || len(disk.writes) != 1 || len(disk.others) != 0 {
				t.Errorf("%s on a full disk: %d after %d writes, then %v", name, code, len(disk.writes), disk.others)
			}
		})
	}
}

// TestLogsOfTwoKinds: a writer with our log and one with SQLite's own write at random into the same database, with few pages, so that much is
// written before its commit, and undo a part of it. A database of its own says what there must be after each step.
func TestLogsOfTwoKinds(t *testing.T) {
	if err := Use(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "words.db")
	connect := func(path, more string) *sql.Conn {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=cache_size(10)&_pragma=wal_autocheckpoint(0)"+more)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			conn.Close()
			db.Close()
		})
		return conn
	}
	before := count()
	t.Cleanup(func() {
		if n := count(); n != before {
			t.Errorf("%d logs are left", n-before)
		}
	})
	right := connect(filepath.Join(t.TempDir(), "right.db"), "&vfs=unix")
	do(t, right, "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
	plain := connect(path, "&vfs=unix")
	do(t, plain, "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
	if n := count(); n != before {
		t.Fatalf("SQLite's own way has %d logs of ours", n-before)
	}
	ours := connect(path, "")
	writers := []*sql.Conn{plain, ours, connect(path, "&_pragma=synchronous(NORMAL)")}
	do(t, ours, "SELECT 1 FROM words")
	if n := count(); n <= before {
		t.Fatal("the log is not ours")
	}
	r := rand.New(rand.NewPCG(13, 14))
	for step := range 20 {
		writer := writers[r.IntN(len(writers))]
		for _, s := range someStatements(r, step) {
			do(t, writer, s)
			do(t, right, s)
		}
		if r.IntN(8) == 0 {
			do(t, writers[r.IntN(len(writers))], "PRAGMA wal_checkpoint("+[]string{"PASSIVE", "RESTART", "TRUNCATE"}[r.IntN(3)]+")")
		}
		want, err := content(t.Context(), right)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range writers {
			if got, err := content(context.Background(), w); err != nil || got != want {
				t.Fatalf("step %d, connection %d: %v, %d bytes, want %d", step, i, err, len(got), len(want))
			}
		}
	}
	for _, w := range writers {
		var said string
		if err := w.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
			t.Errorf("%v: %s", err, said)
		}
	}
}

// someStatements are those of a transaction.
func someStatements(r *rand.Rand, step int) []string {
	list := []string{"BEGIN IMMEDIATE"}
	for range 1 + r.IntN(40) {
		list = append(list, fmt.Sprintf("INSERT OR REPLACE INTO words VALUES (%d, replace(hex(zeroblob(%d)), '0', '%d'))", r.IntN(900), r.IntN(3000), r.IntN(9)))
	}
	first := r.IntN(900)
	list = append(list, "SAVEPOINT inner", fmt.Sprintf("DELETE FROM words WHERE id BETWEEN %d AND %d", first, first+r.IntN(200)),
		fmt.Sprintf("UPDATE words SET word = word || '%d' WHERE id %% 7 = %d", step, r.IntN(7)),
		[]string{"ROLLBACK TO inner", "RELEASE inner"}[r.IntN(2)],
		fmt.Sprintf("INSERT OR REPLACE INTO words VALUES (%d, 'last')", r.IntN(900)))
	return append(list, []string{"COMMIT", "COMMIT", "ROLLBACK"}[r.IntN(3)])
}

// count is how many logs are ours.
func count() (n int) {
	logs.Range(func(any, any) bool { n++; return true })
	return n
}
