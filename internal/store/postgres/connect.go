package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// shortConns is the number of connections for reads and writes of requests.
const shortConns = 16

// idleInTransaction is the server's setting that ends a transaction whose client has gone silent, for example after a
// power loss. Until then the transaction's locks block everyone else.
const idleInTransaction = "idle_in_transaction_session_timeout"

// Connect makes the pools of one server, without connecting. timeout is that of one connection attempt, unless the URL
// has a shorter one. idle is how long a transaction may be idle. bounds is a statement that each transaction has to begin
// with: behind a transaction pooler, sessions keep no settings.
func Connect(url string, timeout, idle time.Duration) (on *Node, bounds string, err error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, "", fmt.Errorf("invalid database URL: %w", err)
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > timeout && !strings.Contains(url, "connect_timeout") {
		config.ConnectTimeout = timeout
	}
	idleBound := fmt.Sprintf("%s = %d", idleInTransaction, idle.Milliseconds())
	// Not as a parameter of the connection, which a pooler in between may refuse.
	var after []stdlib.OptionOpenDB
	switch _, set := config.RuntimeParams[idleInTransaction]; {
	case set:
	case config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement: // behind a transaction pooler
		bounds = "SET LOCAL " + idleBound + "; "
	default:
		after = append(after, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SET "+idleBound)
			return err
		}))
	}
	on = &Node{Short: stdlib.OpenDB(*config, after...), Long: stdlib.OpenDB(*config)}
	on.Short.SetMaxOpenConns(shortConns)
	on.Short.SetMaxIdleConns(shortConns)
	on.Short.SetConnMaxIdleTime(5 * time.Minute)
	// Long reads have separate connections, which are opened when the first one comes.
	on.Long.SetConnMaxIdleTime(5 * time.Minute)
	return on, bounds, nil
}

// ConnectIDs makes a pool of connections for drawing ids. Their commits do not wait for the disk: the write that uses the
// ids commits later in the same log, and waits.
func ConnectIDs(url string, timeout time.Duration, conns int) (*sql.DB, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("invalid database URL: %w", err)
	}
	if !strings.Contains(url, "connect_timeout") {
		config.ConnectTimeout = timeout
	}
	config.RuntimeParams["synchronous_commit"] = "off"
	pool := stdlib.OpenDB(*config)
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, nil
}

// CloseIdle closes the idle connections, of which the pool for long reads may keep this many afterwards.
func (n *Node) CloseIdle(long int) {
	n.Short.SetMaxIdleConns(0)
	n.Short.SetMaxIdleConns(shortConns)
	n.Long.SetMaxIdleConns(0)
	n.Long.SetMaxIdleConns(long)
}

// Copy inserts rows of a table with COPY.
func Copy(ctx context.Context, conn *sql.Conn, table string, columns []string, rows [][]any) error {
	return conn.Raw(func(driver any) error {
		_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
		return err
	})
}
