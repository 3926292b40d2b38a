package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// keptStatements bounds what one connection keeps. All our statements are fewer, but for those whose text grows with the
// values they take.
const keptStatements = 256

// keptText bounds the length of their texts together, because what SQLite keeps of a statement grows with its text: about
// twenty times as long, and callers choose how many ids a list is filtered by.
const keptText = 1 << 20

// connector opens connections to SQLite that keep the statements they have parsed, as pgx does by itself: to parse a
// statement costs SQLite about what it costs to run it.
type connector struct{ driver.Connector }

func newConnector(name string) (driver.Connector, error) {
	c, err := sqlite.NewConnector(name)
	return connector{c}, err
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a connection of SQLite's driver is %T", opened), opened.Close())
	}
	return &keepingConn{sqliteConn: conn, kept: map[string]sqliteStatement{}}, nil
}

// sqliteConn and sqliteStatement are what the driver's connections and statements can do and database/sql asks for.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keepingConn is used by one goroutine at a time, as database/sql promises every driver.
type keepingConn struct {
	sqliteConn
	kept map[string]sqliteStatement // by the text that callers give; those that run at the moment are not in it
	text int                        // length of all those texts
}

// ExecContext runs a statement, or several.
func (c *keepingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	statement, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := statement.ExecContext(ctx, args)
	return result, errors.Join(err, c.giveBack(query, statement, err))
}

// QueryContext starts a query; its statement comes back when the rows are closed.
func (c *keepingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	statement, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, c.giveBack(query, statement, err))
	}
	return &keepingRows{rows, func(err error) error { return c.giveBack(query, statement, err) }}, nil
}

// take gives the statement of a text, parsed now if none is kept or the one kept runs at the moment.
func (c *keepingConn) take(ctx context.Context, query string) (sqliteStatement, error) {
	if statement, ok := c.kept[query]; ok {
		delete(c.kept, query)
		c.text -= len(query)
		return statement, nil
	}
	parsed, err := c.PrepareContext(ctx, positional(query))
	if err != nil {
		return nil, err
	}
	statement, ok := parsed.(sqliteStatement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a statement of SQLite's driver is %T", parsed), parsed.Close())
	}
	return statement, nil
}

// giveBack keeps a statement that ended well and has room.
func (c *keepingConn) giveBack(query string, statement sqliteStatement, ended error) error {
	if _, another := c.kept[query]; another || ended != nil || len(query) > keptText {
		return statement.Close()
	}
	var err error
	if len(c.kept) >= keptStatements || c.text+len(query) > keptText {
		err = c.forget()
	}
	c.kept[query] = statement
	c.text += len(query)
	return err
}

func (c *keepingConn) forget() error {
	var errs []error
	for _, statement := range c.kept {
		errs = append(errs, statement.Close())
	}
	clear(c.kept)
	c.text = 0
	return errors.Join(errs...)
}

// Close closes the connection and what it keeps.
func (c *keepingConn) Close() error {
	return errors.Join(c.forget(), c.sqliteConn.Close())
}

// keepingRows are the rows of a statement that is given back at their end.
type keepingRows struct {
	driver.Rows
	giveBack func(error) error
}

// Close ends the rows; database/sql calls it once.
func (r *keepingRows) Close() error {
	err := r.Rows.Close()
	return errors.Join(err, r.giveBack(err))
}
