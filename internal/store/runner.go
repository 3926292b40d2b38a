package store

import (
	"context"
	"database/sql"
)

// runner runs the statements of one transaction. It remembers what was asked, so that a statement that comes again is
// not parsed again: half of the time of a SQLite import went there. The first time a statement is run as it is, because
// most transactions ask each thing once; from the second time on it is prepared. It ends with its transaction.
type runner struct {
	sql      *sql.Tx
	prepared map[string]*sql.Stmt // a nil statement was asked once; a nil map prepares nothing
	// inEngine turns the text of a statement into the one that the engine is given.
	inEngine func(query string) string
}

func newRunner(tx *sql.Tx) *runner {
	return &runner{sql: tx, prepared: map[string]*sql.Stmt{}, inEngine: positional}
}

// unprepared runs every statement as it is: pgx prepares by itself and keeps what it prepared with the connection.
func unprepared(tx *sql.Tx) *runner {
	return &runner{sql: tx, inEngine: func(query string) string { return query }}
}

// get gives the prepared statement of a text, nil where the text is to be run as it is.
func (r *runner) get(ctx context.Context, query string) (*sql.Stmt, error) {
	if r.prepared == nil {
		return nil, nil
	}
	statement, asked := r.prepared[query]
	if !asked || statement != nil {
		r.prepared[query] = statement
		return statement, nil
	}
	statement, err := r.sql.PrepareContext(ctx, r.inEngine(query))
	if err == nil {
		r.prepared[query] = statement
	}
	return statement, err
}

func (r *runner) exec(ctx context.Context, query string, args []any) (sql.Result, error) {
	statement, err := r.get(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case statement != nil:
		return statement.ExecContext(ctx, args...)
	default:
		return r.sql.ExecContext(ctx, r.inEngine(query), args...)
	}
}

func (r *runner) query(ctx context.Context, query string, args []any) (*sql.Rows, error) {
	statement, err := r.get(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case statement != nil:
		return statement.QueryContext(ctx, args...)
	default:
		return r.sql.QueryContext(ctx, r.inEngine(query), args...)
	}
}
