package pgtest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"holdfast/internal/testkit/pgtest"

	"github.com/jackc/pgx/v5"
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
		t.Errorf("the first database has %d tables, want the new one", n)
	}
	if n := count(t, second, tables); n != 0 {
		t.Errorf("the second database has %d tables, want none", n)
	}
}

func TestTheDatabaseGoesWithItsTest(t *testing.T) {
	outer := open(t, pgtest.URL(t))
	var name string
	t.Run("the one that uses it", func(t *testing.T) {
		// Left open on purpose, like a test that fails halfway.
		conn := open(t, pgtest.URL(t))
		name = conn.Config().Database
	})
	if n := count(t, outer, "SELECT count(*) FROM pg_database WHERE datname = $1", name); n != 0 {
		t.Errorf("database %s is still there after its test", name)
	}
}

func TestCopiesHoldWhatWasFilledInOnce(t *testing.T) {
	filled := 0
	fill := func(address string) error {
		filled++
		conn, err := pgx.Connect(context.Background(), address)
		if err != nil {
			return err
		}
		_, err = conn.Exec(context.Background(), "CREATE TABLE mine (id bigint)")
		return errors.Join(err, conn.Close(context.Background()))
	}
	key := strings.ToLower(rand.Text()[:12])
	database, another := pgtest.Copies(key, fill), pgtest.Copies(key, fill)
	first, second := open(t, database(t)), open(t, another(t))
	if _, err := first.Exec(context.Background(), "INSERT INTO mine VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if n := count(t, second, "SELECT count(*) FROM mine"); n != 0 {
		t.Errorf("the second copy has %d rows of the first", n)
	}
	if filled != 1 {
		t.Errorf("the template was filled %d times", filled)
	}
	pgtest.Copies(key+"2", fill)(t)
	if filled != 2 {
		t.Error("another key shares the template")
	}
}

func TestTemplatesOfEarlierRunsGo(t *testing.T) {
	conn := open(t, pgtest.URL(t))
	const old = "holdfast_template_1000000000_old"
	if _, err := conn.Exec(context.Background(), "CREATE DATABASE "+old+" TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	database := pgtest.Copies("empty", func(string) error { return nil })
	database(t)
	if n := count(t, conn, "SELECT count(*) FROM pg_database WHERE datname = $1", old); n != 0 {
		t.Error("a template from long ago is still there")
	}
	if n := count(t, conn, "SELECT count(*) FROM pg_database WHERE datname LIKE 'holdfast_template_%_empty_%'"); n == 0 {
		t.Error("the template of this run is not there")
	}
}
