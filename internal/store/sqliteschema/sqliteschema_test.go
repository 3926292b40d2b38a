package sqliteschema_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/store/sqliteschema"

	_ "modernc.org/sqlite"
)

// opened makes a table with three UNIQUE constraints, one reference to it, and rows.
func opened(t *testing.T) (*sql.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	pool, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	pool.SetMaxOpenConns(1)
	run(t, pool,
		`CREATE TABLE rooms (id INTEGER PRIMARY KEY AUTOINCREMENT, uuid TEXT NOT NULL UNIQUE, site BIGINT, number TEXT, -- a comment
			UNIQUE (site, number), UNIQUE (site, id), CHECK (site > 0))`,
		`ALTER TABLE rooms ADD COLUMN note TEXT NOT NULL DEFAULT ''`,
		`CREATE INDEX rooms_by_note ON rooms (site, note)`,
		`CREATE TABLE guests (site BIGINT, room BIGINT, FOREIGN KEY (site, room) REFERENCES rooms (site, id))`,
		`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
			INSERT INTO rooms (uuid, site, number, note) SELECT 'u' || i, 1 + i % 3, CASE WHEN i % 2 = 0 THEN 'n' || i END, 'x' FROM n`,
	)
	return pool, path
}

func run(t *testing.T, pool *sql.DB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if _, err := pool.Exec(text); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
}

func drop(t *testing.T, pool *sql.DB, statement string, keep bool) (bool, error) {
	t.Helper()
	tx, err := pool.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	ours, err := sqliteschema.DropConstraint(t.Context(), tx, statement)
	if err == nil && keep {
		err = tx.Commit()
	}
	return ours, err
}

func text(t *testing.T, pool *sql.DB, query string) string {
	t.Helper()
	var found string
	if err := pool.QueryRow(query).Scan(&found); err != nil {
		t.Fatalf("%v in %s", err, query)
	}
	return found
}

const (
	dropNumbers = "-- Why it goes.\nALTER TABLE rooms DROP CONSTRAINT rooms_site_number_key"
	indexes     = `SELECT group_concat(name || COALESCE(' ' || sql, ''), '; ' ORDER BY name) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'rooms'`
)

func TestAConstraintIsDropped(t *testing.T) {
	pool, path := opened(t)
	reader, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	reader.SetMaxOpenConns(1)
	known, err := reader.Prepare(`SELECT count(*) FROM rooms WHERE site = 1 AND number = 'n6'`)
	if err != nil {
		t.Fatal(err)
	}
	defer known.Close()
	var n int
	if err := known.QueryRow().Scan(&n); err != nil {
		t.Fatal(err)
	}
	before := text(t, pool, `SELECT group_concat(id || uuid || site || COALESCE(number, '-') || note, ' ' ORDER BY id) FROM rooms`)
	if ours, err := drop(t, pool, dropNumbers, true); !ours || err != nil {
		t.Fatal(ours, err)
	}
	if after := text(t, pool, `SELECT group_concat(id || uuid || site || COALESCE(number, '-') || note, ' ' ORDER BY id) FROM rooms`); after != before {
		t.Error("Rows are others now.")
	}
	want := "rooms_by_note CREATE INDEX rooms_by_note ON rooms (site, note); sqlite_autoindex_rooms_1; sqlite_autoindex_rooms_2"
	if got := text(t, pool, indexes); got != want {
		t.Errorf("The indexes are %s, want %s.", got, want)
	}
	if made := text(t, pool, `SELECT sql FROM sqlite_master WHERE name = 'rooms'`); strings.Contains(made, "number),") || !strings.Contains(made, "UNIQUE (site, id), CHECK (site > 0))") {
		t.Errorf("The table was made by %s", made)
	}
	// What the constraint kept apart may meet now; what the others keep apart may not.
	run(t, pool, `INSERT INTO rooms (uuid, site, number) VALUES ('more', 1, 'n6')`, `INSERT INTO guests VALUES (1, 3)`)
	for _, refused := range []string{
		`INSERT INTO rooms (uuid, site) VALUES ('u5', 1)`, `INSERT INTO rooms (uuid, site) VALUES ('new', 0)`, `INSERT INTO guests VALUES (2, 3)`,
		`INSERT INTO rooms (id, uuid, site) VALUES (7, 'new', 1)`,
	} {
		if _, err := pool.Exec(refused); err == nil {
			t.Errorf("%s was not refused", refused)
		}
	}
	for name, p := range map[string]*sql.DB{"the writer": pool, "a reader": reader, "a new one": fresh(t, path)} {
		if found := text(t, p, "PRAGMA integrity_check"); found != "ok" {
			t.Errorf("%s finds %s", name, found)
		}
	}
	if err := known.QueryRow().Scan(&n); err != nil || n != 2 {
		t.Errorf("A statement that was prepared before finds %d rows, %v", n, err)
	}
	// Nobody may write the schema any more.
	if _, err := pool.Exec(`UPDATE sqlite_master SET sql = '' WHERE name = 'rooms'`); err == nil {
		t.Error("The schema can still be written.")
	}
	if _, err := drop(t, pool, dropNumbers, true); err == nil {
		t.Error("The constraint was dropped twice.")
	}
}

func fresh(t *testing.T, path string) *sql.DB {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func TestAConstraintStays(t *testing.T) {
	pool, _ := opened(t)
	before := text(t, pool, indexes)
	for statement, want := range map[string]struct {
		ours bool
		err  string
	}{
		dropNumbers: {ours: true}, // and rolled back
		"ALTER TABLE rooms DROP CONSTRAINT rooms_number_key":         {true, "the table rooms has no constraint rooms_number_key"},
		"ALTER TABLE halls DROP CONSTRAINT halls_site_number_key":    {true, "the table halls has no constraint halls_site_number_key"},
		"ALTER TABLE rooms DROP CONSTRAINT rooms_uuid_key":           {true, "the statement that made rooms has no UNIQUE (uuid) with a comma"},
		"ALTER TABLE rooms DROP CONSTRAINT rooms_site_note_key":      {true, "the table rooms has no constraint rooms_site_note_key"},
		"ALTER TABLE rooms DROP COLUMN note":                         {},
		"ALTER TABLE rooms ADD COLUMN note TEXT":                     {},
		"DROP INDEX rooms_by_note":                                   {},
		"ALTER TABLE halls DROP CONSTRAINT IF EXISTS halls_a_key":    {true, "the table halls has no constraint halls_a_key"},
		"-- ALTER TABLE rooms DROP CONSTRAINT rooms_site_number_key": {},
	} {
		ours, err := drop(t, pool, statement, false)
		if ours != want.ours || fmt.Sprint(err) != want.err && (err != nil || want.err != "") {
			t.Errorf("%s: %t, %v", statement, ours, err)
		}
		if after := text(t, pool, indexes); after != before {
			t.Errorf("%s: the indexes are %s", statement, after)
		}
	}
	if found := text(t, pool, "PRAGMA integrity_check"); found != "ok" {
		t.Error(found)
	}
	if _, err := pool.Exec(`INSERT INTO rooms (uuid, site, number) VALUES ('more', 1, 'n6')`); err == nil {
		t.Error("The constraint is gone.")
	}
}

// TestTheLastConstraintIsDropped: no comma stands behind it, and a comment before it.
func TestTheLastConstraintIsDropped(t *testing.T) {
	pool, path := opened(t)
	for name, made := range map[string]string{
		"a":  "CREATE TABLE a (\n\tid INTEGER PRIMARY KEY, -- drawn\n\tn TEXT NOT NULL, -- of the site\n\tUNIQUE (n, id)\n)",
		"b":  "CREATE TABLE b (id INTEGER PRIMARY KEY, n TEXT, UNIQUE (n, id))",
		"c2": "CREATE TABLE c2 (id INTEGER PRIMARY KEY, n TEXT,\n\tUNIQUE (n), -- kept\n\tUNIQUE (n, id), CHECK (id > 0))",
	} {
		run(t, pool, made, `INSERT INTO `+name+` (id, n) VALUES (1, 'x'), (2, 'y')`)
		statement := "ALTER TABLE " + name + " DROP CONSTRAINT IF EXISTS " + name + "_n_id_key"
		if ours, err := drop(t, pool, statement, true); !ours || err != nil {
			t.Fatal(name, ours, err)
		}
		if left := text(t, pool, `SELECT sql FROM sqlite_master WHERE name = '`+name+`'`); strings.Contains(left, "(n, id)") || strings.Count(left, "--") != strings.Count(made, "--") {
			t.Errorf("%s: the table is made by %s", name, left)
		}
		run(t, pool, `INSERT INTO `+name+` (id, n) VALUES (3, 'z')`)
		if found := text(t, fresh(t, path), "SELECT group_concat(id || n, ' ' ORDER BY id) FROM "+name); found != "1x 2y 3z" {
			t.Errorf("%s: %s", name, found)
		}
	}
	if found := text(t, fresh(t, path), "PRAGMA integrity_check"); found != "ok" {
		t.Error(found)
	}
}
