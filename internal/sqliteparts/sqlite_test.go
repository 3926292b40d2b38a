package sqliteparts

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// open opens a database with so many pages for each connection.
func open(t *testing.T, path string, pages int) *sql.DB {
	t.Helper()
	if err := Use(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=journal_mode(WAL)&_pragma=cache_size(%d)&_pragma=busy_timeout(5000)", path, pages))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func do(t *testing.T, on *sql.Conn, query string, args ...any) {
	t.Helper()
	if _, err := on.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// used is how many caches there are.
func used() (n int) {
	for _, c := range *caches.list.Load() {
		if c != nil {
			n++
		}
	}
	return n
}

// content reads all that is in the table, in order, and what its index has.
func content(ctx context.Context, from interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (text string, err error) {
	err = from.QueryRowContext(ctx, `SELECT coalesce((SELECT group_concat(id || '=' || length(word) || word, ',') FROM (SELECT * FROM words ORDER BY id)), '') ||
		(SELECT count(*) FROM (SELECT DISTINCT word FROM words ORDER BY word))`).Scan(&text)
	return text, err
}

// TestSQLiteLosesNothing writes at random with few pages, so that pages go and come back all the time, and undoes a part of it. The same is
// done with all pages in memory, and both must say the same after each step.
func TestSQLiteLosesNothing(t *testing.T) {
	before := used()
	var both [2]*sql.Conn
	for i, pages := range []int{10, 5000} {
		db := open(t, filepath.Join(t.TempDir(), "words.db"), pages)
		var err error
		if both[i], err = db.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			both[i].Close()
			db.Close()
		})
		do(t, both[i], "CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL)")
		do(t, both[i], "CREATE INDEX words_by_word ON words (word)")
	}
	if n := used() - before; n != 2 {
		t.Fatalf("SQLite uses %d of our caches for two connections", n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	all := func(query string, args ...any) {
		for _, c := range both {
			do(t, c, query, args...)
		}
	}
	for step := range 30 {
		all("BEGIN")
		for range 1 + r.IntN(30) {
			all("INSERT OR REPLACE INTO words VALUES (?, replace(hex(zeroblob(?)), '0', ?))", r.IntN(800), r.IntN(1200), fmt.Sprint(r.IntN(9)))
		}
		all("SAVEPOINT inner")
		first := r.IntN(800)
		all("DELETE FROM words WHERE id BETWEEN ? AND ?", first, first+r.IntN(200))
		all("UPDATE words SET word = word || ? WHERE id % 7 = ?", fmt.Sprint(step), r.IntN(7))
		all([]string{"ROLLBACK TO inner", "RELEASE inner"}[r.IntN(2)])
		all([]string{"COMMIT", "COMMIT", "ROLLBACK"}[r.IntN(3)])
		if step%10 == 9 {
			all("VACUUM")
		}
		few, err := content(t.Context(), both[0])
		many, err2 := content(t.Context(), both[1])
		if err != nil || err2 != nil || few != many {
			t.Fatalf("step %d: %v, %v: with few pages %d bytes, with many %d", step, err, err2, len(few), len(many))
		}
	}
	for _, c := range both {
		var said string
		if err := c.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
			t.Errorf("%v: %s", err, said)
		}
	}
}

// TestManyConnections read while one writes: each sees one state, and when they are closed no cache is left.
func TestManyConnections(t *testing.T) {
	before := used()
	db := open(t, filepath.Join(t.TempDir(), "words.db"), 12)
	const rows = 400
	_, err := db.ExecContext(t.Context(), `CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO words SELECT i, '0' FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		all.Go(func() {
			for {
				var n int
				var low, high string
				err := db.QueryRowContext(t.Context(), "SELECT count(*), min(word), max(word) FROM (SELECT word FROM words ORDER BY word)").Scan(&n, &low, &high)
				if err != nil || n != rows || low != high {
					t.Errorf("%v: %d rows from %q to %q", err, n, low, high)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range 40 {
		if _, err := db.ExecContext(t.Context(), "UPDATE words SET word = ?", fmt.Sprint(i)); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	all.Wait()
	if used() == before {
		t.Error("none of the connections has a cache of ours")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if n := used(); n != before {
		t.Errorf("%d caches are left", n-before)
	}
}

// TestUseComesFirst: a second call says what the first one came to, also when databases are open.
func TestUseComesFirst(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "words.db"), 10)
	defer db.Close()
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := Use(); err != nil {
		t.Error(err)
	}
}
