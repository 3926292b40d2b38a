package pgtest_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"holdfast/internal/pgtest"
)

func open(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func count(t *testing.T, conn *pgx.Conn, query string, args ...any) int {
	t.Helper()
	var n int
	if err := conn.QueryRow(context.Background(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	const tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
	first, second := open(t, pgtest.URL(t)), open(t, pgtest.URL(t))
	if _, err := first.Exec(context.Background(), "CREATE TABLE mine (id bigint)"); err != nil {
		t.Fatal(err)
	}
	if n := count(t, first, tables); n != 1 {
		t.Errorf("the first database has %d tables, want the one just made", n)
	}
	if n := count(t, second, tables); n != 0 {
		t.Errorf("the second database has %d tables of its own, want none", n)
	}
}

func TestTheDatabaseGoesWithItsTest(t *testing.T) {
	outer := open(t, pgtest.URL(t))
	var name string
	t.Run("the one that uses it", func(t *testing.T) {
		// Left open on purpose, as by a test that fails half-way.
		conn := open(t, pgtest.URL(t))
		name = conn.Config().Database
	})
	if n := count(t, outer, "SELECT count(*) FROM pg_database WHERE datname = $1", name); n != 0 {
		t.Errorf("database %s is still there after its test", name)
	}
}
