// Package pgtest gives tests PostgreSQL databases of their own. Only tests import it.
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

// Variable names the environment variable that holds the address of a PostgreSQL server on which tests may create
// databases, for example postgres://postgres@127.0.0.1:5432/postgres.
const Variable = "HOLDFAST_TEST_POSTGRES"

// URL creates an empty database on the tests' server and returns its address; the database is gone when the test ends.
// Without a server the test is skipped, except under CI=true, where it fails: there, nothing may go untested.
func URL(t testing.TB) string {
	t.Helper()
	// template0 and not the default: copying that one fails while anybody is connected to it.
	return create(t, server(t), "template0")
}

// Copies gives a function like URL, whose databases are copies of one that fill has filled: a copy costs much less than
// to fill each anew. fill gets the address of an empty database, and leaves no connection open. Programs that name what fill
// makes by the same key, of at most 16 small letters and digits, share what the first of them has filled.
func Copies(key string, fill func(address string) error) func(t testing.TB) string {
	once := sync.OnceValues(func() (template, error) { return makeTemplate(os.Getenv(Variable), key, fill) })
	return func(t testing.TB) string {
		t.Helper()
		s := server(t)
		made, err := once()
		if err != nil {
			t.Fatalf("the database that tests copy: %v", err)
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
	// Many test programs share a server at once, so that a counter would not do.
	name := "holdfast_test_" + strings.ToLower(rand.Text())
	address, err := addressOf(server, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := execute(server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// By force, because a test that failed may have left connections open.
		if err := execute(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return address
}

func addressOf(server, database string) (string, error) {
	address, err := url.Parse(server)
	if err != nil {
		return "", fmt.Errorf("%s is not an address: %w", Variable, err)
	}
	address.Path = "/" + database
	// A machine that runs all tests at once may be slow to accept a connection, and that is not what they are about.
	query := address.Query()
	query.Set("connect_timeout", "60")
	address.RawQuery = query.Encode()
	return address.String(), nil
}

// template is a database to be copied.
type template struct {
	name string
	// strategy is how this server copies it fastest: file by file, and not through its log.
	strategy string
}

// makeTemplate makes the database to copy, unless another program has made it already. No program knows when the last test has
// ended, so each drops what is two hours old: no run of the tests takes as long. That matters only on a server that lives
// longer than one run.
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
	// One that is an hour old may be dropped before this program ends.
	err = conn.QueryRow(ctx, `SELECT datname FROM pg_database WHERE datname ~ '^holdfast_template_[0-9]+_'
		AND split_part(datname, '_', 4) = $1 AND split_part(datname, '_', 3)::bigint > $2 LIMIT 1`, key, seconds-60*60).Scan(&made.name)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return made, err
	}
	// Nobody finds it before it is full. Where two programs fill one at once, each has its own.
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
	made.name = fmt.Sprintf("holdfast_template_%d_%s_%s", seconds, key, strings.ToLower(rand.Text()[:10]))
	_, err = conn.Exec(ctx, "ALTER DATABASE "+filling+" RENAME TO "+made.name)
	return made, err
}

// dropOld drops the templates made before a second.
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
		// Another program may be faster, and then this one has nothing left to do.
		_, _ = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	}
	return nil
}

// execute runs one statement on a connection of its own: tests call from several goroutines, and a connection kept
// between them would count against the server's maximum.
func execute(server, statement string) error {
	// Not the test's context, which has ended when it cleans up.
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("PostgreSQL server of the tests: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
