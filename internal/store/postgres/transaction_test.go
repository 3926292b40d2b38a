package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"holdfast/internal/store/postgres"
	"holdfast/internal/testkit/pgtest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

type word string

// pool is one connection to a database with a table, so that a leaked connection blocks the next caller.
func pool(t *testing.T, mode pgx.QueryExecMode) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	p := stdlib.OpenDB(*config)
	t.Cleanup(func() { _ = p.Close() })
	p.SetMaxOpenConns(1)
	if _, err := p.ExecContext(t.Context(), "CREATE TABLE words (id BIGINT PRIMARY KEY, word TEXT, known BOOLEAN, digest BYTEA)"); err != nil {
		t.Fatal(err)
	}
	return p
}

func insert(id int64, values ...any) postgres.Statement {
	return postgres.Statement{Text: "INSERT INTO words (id, word, known, digest) VALUES ($1, $2, $3, $4)", Args: append([]any{id}, values...)}
}

// TestStatementsSentTogether run in the given order, whatever they are and however the driver sends them.
func TestStatementsSentTogether(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			p := pool(t, mode)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // fails without the one connection
			defer cancel()
			for round := range int64(2) { // the second one finds its statements parsed
				tx, err := postgres.Begin(ctx, p)
				if err != nil {
					t.Fatal(err)
				}
				err = tx.SendAll(ctx, []postgres.Statement{
					insert(10*round, word("first"), true, []byte{0, 255}), insert(10*round+1, nil, false, nil),
					{Text: "UPDATE words SET word = word || '!' WHERE id = $1", Args: []any{10 * round}},
					{Text: "DELETE FROM words WHERE word IS NULL"},
				})
				if err := errors.Join(err, tx.Commit()); err != nil {
					t.Fatal(err)
				}
			}
			var n int
			var digest []byte
			err := p.QueryRowContext(t.Context(), "SELECT count(*), max(digest::text)::bytea FROM words WHERE word = 'first!' AND known").Scan(&n, &digest)
			if err != nil || n != 2 || len(digest) != 2 {
				t.Errorf("%v: %d rows, %x", err, n, digest)
			}
		})
	}
}

// TestAStatementThatFails cancels the statements sent with it, and its error is returned.
func TestAStatementThatFails(t *testing.T) {
	t.Parallel()
	p := pool(t, pgx.QueryExecModeCacheStatement)
	for _, end := range []func(tx *postgres.Tx) error{(*postgres.Tx).Commit, (*postgres.Tx).Rollback} {
		tx, err := postgres.Begin(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		err = tx.SendAll(t.Context(), []postgres.Statement{
			insert(1, "one", true, nil), insert(1, "again", true, nil), {Text: "SELECT 1 / 0"}, insert(2, "two", true, nil),
		})
		if e, ok := errors.AsType[*pgconn.PgError](err); !ok || e.Code != "23505" {
			t.Errorf("the second one breaks a rule: %v", err)
		}
		_ = end(tx)
		if err := errors.Join(tx.Commit(), tx.Rollback()); !errors.Is(err, sql.ErrTxDone) {
			t.Errorf("the end of what has ended: %v", err)
		}
	}
	var n int
	if err := p.QueryRowContext(t.Context(), "SELECT count(*) FROM words").Scan(&n); err != nil || n != 0 {
		t.Errorf("%v: %d rows are left", err, n)
	}
}

// TestATransactionWhoseTimeIsOver fails, and the next caller gets a connection.
func TestATransactionWhoseTimeIsOver(t *testing.T) {
	t.Parallel()
	p := pool(t, pgx.QueryExecModeCacheStatement)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	tx, err := postgres.Begin(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = tx.SendAll(ctx, []postgres.Statement{insert(1, strings.Repeat("x", 10_000), true, nil), {Text: "SELECT pg_sleep(60)"}})
	if err == nil || time.Since(began) > 30*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	_ = tx.Rollback()
	var n int
	if err := p.QueryRowContext(t.Context(), "SELECT count(*) FROM words").Scan(&n); err != nil || n != 0 {
		t.Errorf("%v: %d rows are left", err, n)
	}
}
