// Package pgtest gives each test a separate PostgreSQL database. Only tests import it, and bench and cmd/torture.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable with the URL of a PostgreSQL server on which tests may create databases, such as
// postgres://postgres@127.0.0.1:5432/postgres.
const Variable = "HOLDFAST_TEST_POSTGRES"

// URL creates an empty database on the server and returns its URL. The database is dropped when the test ends. Without a
// server the test is skipped, or fails with CI=true, where nothing may go untested.
func URL(t testing.TB) string {
	t.Helper()
	// template0, because copying the default template fails while someone is connected to it.
	return create(t, server(t), "template0")
}

// Copies returns a function like URL whose databases are copies of one filled by fill, because a copy is much cheaper
// than filling each. fill gets the URL of an empty database and must leave no connection open. Test binaries that use the
// same key, of at most 16 lower-case letters and digits, share the database that the first of them filled.
func Copies(key string, fill func(address string) error) func(t testing.TB) string {
	once := sync.OnceValues(func() (template, error) { return makeTemplate(os.Getenv(Variable), key, fill) })
	return func(t testing.TB) string {
		t.Helper()
		s := server(t)
		made, err := once()
		if err != nil {
			t.Fatalf("creating the template database: %v", err)
		}
		return create(t, s, made.name+made.strategy)
	}
}

func server(t testing.TB) string {
	t.Helper()
	s := os.Getenv(Variable)
	if s == "" && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not set, and under CI=true PostgreSQL may not be skipped; `make test` sets it", Variable)
	}
	if s == "" {
		t.Skipf("PostgreSQL part skipped: %s is not set; `make test` sets it", Variable)
	}
	return s
}

func create(t testing.TB, server, template string) string {
	t.Helper()
	// Many test binaries share a server, so a counter would not be unique.
	name := "holdfast_test_" + strings.ToLower(rand.Text())
	address, err := addressOf(server, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := execute(context.Background(), server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if len(CitusNodes()) > 0 {
			if err := Rest(context.Background(), server, name); err != nil {
				t.Error(err)
			}
		}
		// WITH (FORCE), because a failed test may have left connections open.
		if err := execute(context.Background(), server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return address
}

func addressOf(server, database string) (string, error) {
	address, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("%s is not a URL: %w", Variable, err)
	}
	address.Path = "/" + database
	// A machine that runs all tests at once may be slow to accept a connection, which must not fail them.
	query := address.Query()
	query.Set("connect_timeout", "60")
	address.RawQuery = query.Encode()
	return address.String(), nil
}

// template is a database that is copied for each test.
type template struct {
	name string
	// strategy makes the server copy the database the fastest way: file by file instead of through its log.
	strategy string
}

// makeTemplate creates the template, unless another test binary has created it already. None of them knows when the last
// test has ended, so each drops templates older than two hours, which is longer than any run. This only matters on a
// server that outlives one run.
func makeTemplate(server, key string, fill func(address string) error) (made template, err error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return template{}, err
	}
	defer func() { _ = conn.Close(ctx) }()
	var seconds int64
	err = conn.QueryRow(ctx, `SELECT extract(epoch FROM now())::bigint,
		CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY file_copy' ELSE '' END`).
		Scan(&seconds, &made.strategy)
	if err != nil {
		return template{}, err
	}
	if err := dropOld(ctx, conn, seconds-2*60*60); err != nil {
		return template{}, err
	}
	// A template older than an hour may be dropped before this test binary ends.
	err = conn.QueryRow(ctx, `SELECT datname FROM pg_database WHERE datname ~ '^holdfast_template_[0-9]+_'
		AND split_part(datname, '_', 4) = $1 AND split_part(datname, '_', 3)::bigint > $2 LIMIT 1`, key, seconds-60*60).Scan(&made.name)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return made, err
	}
	// Nobody finds the template before it is filled. Two test binaries that fill one at the same time each use their own.
	filling := fmt.Sprintf("holdfast_template_%d_filling_%s", seconds, strings.ToLower(rand.Text()))
	address, err := addressOf(server, filling)
	if err != nil {
		return template{}, err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+filling+" TEMPLATE template0"); err != nil {
		return template{}, err
	}
	if err := fill(address); err != nil {
		return template{}, err
	}
	if len(CitusNodes()) > 0 {
		if err := Rest(ctx, server, filling); err != nil {
			return template{}, err
		}
	}
	made.name = fmt.Sprintf("holdfast_template_%d_%s_%s", seconds, key, strings.ToLower(rand.Text()[:10]))
	_, err = conn.Exec(ctx, "ALTER DATABASE "+filling+" RENAME TO "+made.name)
	return made, err
}

// dropOld drops the templates created before a Unix time.
func dropOld(ctx context.Context, conn *pgx.Conn, before int64) error {
	rows, err := conn.Query(ctx, `SELECT datname FROM pg_database
		WHERE datname ~ '^holdfast_template_[0-9]+_' AND split_part(datname, '_', 3)::bigint < $1`, before)
	if err != nil {
		return err
	}
	old, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, name := range old {
		// Another test binary may have dropped it already.
		_, _ = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	}
	return nil
}

// execute runs statements on a new connection: tests call it from several goroutines, and a connection kept open in
// between would count towards the server's maximum.
func execute(ctx context.Context, server string, statements ...string) (err error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connecting to the PostgreSQL server for tests: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
