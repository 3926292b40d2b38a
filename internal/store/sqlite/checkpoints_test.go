package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

func TestTheLogStaysShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	l, write := openedLog(t, path)
	var long int64
	for range 3000 {
		write()
		long = max(long, size(t, path+"-wal"))
	}
	if pages := long / 4120; pages < 100 || pages > 3000 {
		t.Errorf("After 3,000 concurrent writes, the log has %d pages, where 100 is long.", pages)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if size(t, path) < 50*4096 {
		t.Errorf("The file has %d bytes, so little of the log has come into it.", size(t, path))
	}
}

func TestAReaderKeepsTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	l, write := openedLog(t, path)
	write()
	reader := connection(t, path)
	tx, err := reader.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var before, n int
	if err := tx.QueryRow("SELECT count(*) FROM t").Scan(&before); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		write()
	}
	if err := tx.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || n != before {
		t.Errorf("A reader that began at %d rows sees %d, %v.", before, n, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		write()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := reader.QueryRow("SELECT count(*) FROM t").Scan(&n); err != nil || n != before+1000 {
		t.Errorf("There are %d rows, %v", n, err)
	}
}

// step is the scripted result of a checkpoint.
type logStep struct {
	mode          string
	pages, stored int64
	err           error
	writing       bool // nobody may write meanwhile
}

func TestWhenTheLogIsShortened(t *testing.T) {
	broken := errors.New("the disk is full")
	for name, c := range map[string]struct {
		tried int64
		steps []logStep
		then  int64 // tried
	}{
		"it is short":                            {0, []logStep{{mode: "NOOP", pages: 99}}, 0},
		"most of it is in the file":              {0, []logStep{{mode: "NOOP", pages: 120, stored: 101}}, 0},
		"a reader needs it":                      {100, []logStep{{mode: "NOOP", pages: 119}}, 100},
		"it cannot be looked at":                 {300, []logStep{{mode: "NOOP", pages: 500, err: broken}}, 300},
		"it restarted and is short":              {300, []logStep{{mode: "NOOP", pages: 40}}, 0},
		"it is long, and nobody writes":          {0, []logStep{{mode: "NOOP", pages: 100}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 100, stored: 100}, {mode: "PASSIVE", pages: 100, stored: 100, writing: true}}, 100},
		"it restarted and is long":               {300, []logStep{{mode: "NOOP", pages: 120}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 120, stored: 120}, {mode: "PASSIVE", pages: 121, stored: 121, writing: true}}, 121},
		"the disk is full while writes run":      {0, []logStep{{mode: "NOOP", pages: 100}, {mode: "PASSIVE", err: broken}}, 0},
		"the file cannot be opened to be synced": {0, []logStep{{mode: "NOOP", pages: 100}, {mode: "PASSIVE"}, {mode: "sync", err: broken}}, 0},
		"the disk is full at the end":            {0, []logStep{{mode: "NOOP", pages: 100}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 101, stored: 100}, {mode: "PASSIVE", writing: true, err: broken}}, 0},
		"somebody writes a lot meanwhile": {0, []logStep{
			{mode: "NOOP", pages: 100}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 160, stored: 100}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 200, stored: 160},
			{mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 205, stored: 200}, {mode: "PASSIVE", pages: 206, stored: 206, writing: true},
		}, 206},
		"somebody never stops": {0, []logStep{
			{mode: "NOOP", pages: 100}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 160, stored: 100}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 200, stored: 160},
			{mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 250, stored: 200}, {mode: "PASSIVE"}, {mode: "sync"}, {mode: "NOOP", pages: 300, stored: 250},
			{mode: "PASSIVE", pages: 310, stored: 310, writing: true},
		}, 310},
	} {
		t.Run(name, func(t *testing.T) {
			rest := slices.Clone(c.steps)
			l := &Log{Bounds: Bounds{Long: 100, Fresh: 20, Short: 10}, tried: c.tried}
			l.checkpoint = func(mode string) (int64, int64, error) {
				if len(rest) == 0 {
					t.Fatalf("A checkpoint more than expected: %s", mode)
				}
				next := rest[0]
				rest = rest[1:]
				free := l.writing.TryLock()
				if free {
					l.writing.Unlock()
				}
				if mode != next.mode || free == next.writing {
					t.Errorf("%s, and others may write: %t. Expected %+v", mode, free, next)
				}
				return next.pages, next.stored, next.err
			}
			l.sync = func() error {
				_, _, err := l.checkpoint("sync")
				return err
			}
			l.shorten()
			if len(rest) > 0 || l.tried != c.then {
				t.Errorf("Not done: %+v; tried %d, expected %d", rest, l.tried, c.then)
			}
		})
	}
}

// TestALimitComesFirst: a limited log is copied into the file sooner, and one without a limit by its bounds. There may
// be no log.
func TestALimitComesFirst(t *testing.T) {
	for limit, want := range map[int64]bool{0: false, 50: true, 90: false} {
		l := &Log{Bounds: Bounds{Long: 100, Fresh: 20, Short: 10}, sync: func() error { return nil }}
		shortened := false
		l.checkpoint = func(mode string) (int64, int64, error) {
			shortened = shortened || mode != "NOOP"
			return 80, 0, nil
		}
		l.Limit(limit)
		if l.shorten(); shortened != want {
			t.Errorf("80 of at most 100 with a limit of %d: %t", limit, shortened)
		}
	}
	var none *Log
	none.Limit(50)
}

// TestHowLongALogIs: it is measured in bytes, whatever the page size.
func TestHowLongALogIs(t *testing.T) {
	for _, page := range []int64{1024, 2048, 4096} {
		path := filepath.Join(t.TempDir(), "a.db")
		db, err := sql.Open("sqlite", "file:"+path)
		if err == nil {
			_, err = db.Exec(fmt.Sprintf("PRAGMA page_size = %d; CREATE TABLE t (text TEXT)", page))
		}
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		db = connection(t, path)
		if _, err := db.Exec("INSERT INTO t VALUES (hex(randomblob(100000)))"); err != nil {
			t.Fatal(err)
		}
		l := &Log{pool: db}
		length, stored, err := l.sqlite("NOOP")
		if want := (size(t, path+"-wal") - 32) / (page + 24) * page; err != nil || length != want || stored != 0 || length < 200_000 {
			t.Errorf("Of pages of %d bytes the log has %d, of which %d are in the file, want %d and 0: %v", page, length, stored, want, err)
		}
	}
}

// TestALongWriteIsCheckedSoon: a write of many pages makes the log long by itself.
func TestALongWriteIsCheckedSoon(t *testing.T) {
	for short, want := range map[bool]int{true: 0, false: 1} {
		l := &Log{grown: make(chan struct{}, 1)}
		if l.Write(short, func() {}); len(l.grown) != want {
			t.Errorf("After a write that is short, %t, the log is looked at %d times, want %d.", short, len(l.grown), want)
		}
	}
}

func TestWhenALogIsEmptied(t *testing.T) {
	for name, c := range map[string]struct {
		tried int64
		steps []logStep
		then  int64
	}{
		"most of it is in the file": {0, []logStep{{mode: "NOOP", pages: 60, stored: 51}}, 0},
		"a reader needs it":         {55, []logStep{{mode: "NOOP", pages: 60}}, 55},
		"it is not in the file":     {0, []logStep{{mode: "NOOP", pages: 60, stored: 50}, {mode: "PASSIVE", pages: 61, stored: 61}}, 61},
	} {
		rest := c.steps
		l := &Log{Bounds: Bounds{Long: 100, Fresh: 20, Short: 10}, tried: c.tried}
		l.checkpoint = func(mode string) (int64, int64, error) {
			next := rest[0]
			rest = rest[1:]
			if mode != next.mode {
				t.Errorf("%s: %s, expected %+v", name, mode, next)
			}
			return next.pages, next.stored, next.err
		}
		if l.empty(); len(rest) > 0 || l.tried != c.then {
			t.Errorf("%s: not done: %+v; tried %d, expected %d", name, rest, l.tried, c.then)
		}
	}
}

// TestAQuietLogIsEmptied: a short log is copied into the file when there are no more writes.
func TestAQuietLogIsEmptied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, looks := connection(t, path), connection(t, path)
	l := OpenLog(connection(t, path), Bounds{Long: 1 << 30, Fresh: 20 * 4096, Short: 10 * 4096, Quiet: time.Millisecond}, watched(t, path))
	l.Write(false, func() {
		if _, err := db.Exec("CREATE TABLE t AS SELECT hex(randomblob(100000)) AS text"); err != nil {
			t.Error(err)
		}
	})
	var busy bool
	var pages, stored int64
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && (pages < 20 || stored < pages); runtime.Gosched() {
		if err := looks.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &pages, &stored); err != nil {
			t.Fatal(err)
		}
	}
	if pages < 20 || stored < pages {
		t.Errorf("Of %d pages in the log %d are in the file.", pages, stored)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoLog(t *testing.T) {
	var l *Log
	ran := false
	l.Write(true, func() { ran = true })
	if err := l.Close(); err != nil || !ran {
		t.Errorf("A database without a log: %v, %t", err, ran)
	}
}

// opened opens a log that counts as long from 100 pages, and a writer.
func openedLog(t *testing.T, path string) (*Log, func()) {
	t.Helper()
	db := connection(t, path)
	if _, err := db.Exec("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT)"); err != nil {
		t.Fatal(err)
	}
	l := OpenLog(connection(t, path), Bounds{Long: 100 * 4096, Fresh: 20 * 4096, Short: 10 * 4096, Quiet: time.Hour}, watched(t, path))
	return l, func() {
		l.Write(true, func() {
			if _, err := db.Exec("INSERT INTO t (text) VALUES (hex(randomblob(100)))"); err != nil {
				t.Error(err)
			}
		})
	}
}

func watched(t *testing.T, path string) *Files {
	t.Helper()
	files, err := WatchFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func connection(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(5000)")
	if err == nil {
		err = db.PingContext(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
