// Package postgres extends PostgreSQL's driver with transactions that send many statements before they read the first
// response. Each response that is not waited for saves a round trip. It owns no tables. Start at Begin.
package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Tx is a transaction. After its end Commit and Rollback do nothing, and return sql.ErrTxDone.
type Tx struct {
	*sql.Tx
	ctx  context.Context // see Begin
	conn *sql.Conn
}

// Begin begins a transaction of the level "read committed" on a connection of a pool of pgx. It waits for the connection until ctx ends.
// When ctx ends, so does the transaction.
func Begin(ctx context.Context, pool *sql.DB) (*Tx, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		giveBack(ctx, conn)
		return nil, err
	}
	return &Tx{tx, ctx, conn}, nil
}

// giveBack returns a connection to its pool. After a timeout it is closed in the background, because closing waits for
// a server that may no longer respond.
func giveBack(ctx context.Context, conn *sql.Conn) {
	if ctx.Err() != nil {
		go func() { _ = conn.Close() }()
		return
	}
	_ = conn.Close() // already closed, or closing
}

// Commit ends the transaction, and returns the connection.
func (t *Tx) Commit() error {
	err := t.Tx.Commit()
	giveBack(t.ctx, t.conn)
	return err
}

// Rollback undoes the transaction, and returns the connection.
func (t *Tx) Rollback() error {
	err := t.Tx.Rollback()
	giveBack(t.ctx, t.conn)
	return err
}

// Statement changes something; only its error counts.
type Statement struct {
	Text string
	Args []any
}

// SendAll runs statements in their order. After the first error, which it returns, the server skips the rest.
func (t *Tx) SendAll(ctx context.Context, list []Statement) error {
	return t.conn.Raw(func(driver any) error {
		var batch pgx.Batch
		for _, s := range list {
			batch.Queue(s.Text, s.Args...)
		}
		return driver.(*stdlib.Conn).Conn().SendBatch(ctx, &batch).Close()
	})
}
