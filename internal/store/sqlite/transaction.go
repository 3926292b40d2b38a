package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
)

// Tx is a transaction on one connection. One of database/sql starts a goroutine for itself and one for each query, to watch the
// context. They take longer than SQLite takes to search an index, and take processors from the single writer. After its end Commit and Rollback do nothing, and return sql.ErrTxDone.
type Tx struct {
	*sql.Conn
	ended bool
}

// Begin begins a transaction with a statement, such as BEGIN IMMEDIATE, on a connection of the pool. It waits for the connection until
// ctx ends; ctx does not end the transaction.
func Begin(ctx context.Context, pool *sql.DB, statement string) (*Tx, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	t := &Tx{Conn: conn}
	if err := t.run(statement); err != nil {
		_ = t.Rollback() // the error of the statement is the one to return
		return nil, err
	}
	return t, nil
}

// Commit ends the transaction. After an error nothing of it is left open.
func (t *Tx) Commit() error {
	if t.ended {
		return sql.ErrTxDone
	}
	if err := t.run("COMMIT"); err != nil {
		_ = t.Rollback() // the error of COMMIT is the one to return
		return err
	}
	t.end()
	return nil
}

// noneOpen is in the error of a ROLLBACK after SQLite has rolled back on its own, for example because the disk was full.
const noneOpen = "no transaction is active"

// Rollback undoes the transaction.
func (t *Tx) Rollback() error {
	if t.ended {
		return sql.ErrTxDone
	}
	err := t.run("ROLLBACK")
	if err != nil && strings.Contains(err.Error(), noneOpen) {
		err = nil
	}
	if err != nil {
		_ = t.Raw(func(any) error { return driver.ErrBadConn }) // the connection is not used again
	}
	t.end()
	return err
}

func (t *Tx) run(statement string) error {
	_, err := t.ExecContext(context.Background(), statement)
	return err
}

// ExecContext runs a statement.
func (t *Tx) ExecContext(ctx context.Context, query string, args ...any) (result sql.Result, err error) {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, fmt.Errorf("value %d of a statement: %w", i+1, err)
		}
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	err = t.Raw(func(conn any) (err error) {
		result, err = conn.(driver.ExecerContext).ExecContext(ctx, query, values)
		return err
	})
	return result, err
}

// end returns the connection to the pool.
func (t *Tx) end() {
	t.ended = true
	_ = t.Close()
}
