// Package pgtest gives tests empty PostgreSQL databases. Only tests import it.
package pgtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
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
	server := os.Getenv(Variable)
	if server == "" && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not set, and under CI=true PostgreSQL may not be skipped; `make test` sets it", Variable)
	}
	if server == "" {
		t.Skipf("PostgreSQL part skipped: %s is not set; `make test` sets it", Variable)
	}
	address, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s is not an address: %v", Variable, err)
	}
	// Many test programs share a server at once, so that a counter would not do.
	name := "holdfast_test_" + strings.ToLower(rand.Text())

	// template0 and not the default: copying that one fails while anybody is connected to it.
	execute(t, server, "CREATE DATABASE "+name+" TEMPLATE template0")
	// By force, because a test that failed may have left connections open.
	t.Cleanup(func() { execute(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })

	address.Path = "/" + name
	return address.String()
}

// execute runs one statement on a connection of its own: tests call from several goroutines, and a connection kept
// between them would count against the server's maximum.
func execute(t testing.TB, server, statement string) {
	t.Helper()
	// Not the test's context, which has ended when it cleans up.
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("PostgreSQL server of the tests: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
