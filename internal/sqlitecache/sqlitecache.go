// Package sqlitecache opens connections to SQLite that keep the statements which they have parsed. It owns nothing. Begin
// reading at New.
package sqlitecache

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"modernc.org/sqlite"
)

// Statements is how many statements one connection caches. The program has fewer, apart from those whose text
// grows with the number of their values.
const Statements = 256

// cachedText is how long their texts may be together, in bytes. Callers choose how many ids a filter has, and SQLite
// needs about twenty times the length of the text for a statement.
const cachedText = 1 << 20

// connector opens connections to SQLite that cache the statements which they have parsed. Parsing a statement takes
// SQLite about as long as running it. (pgx has such a cache already.)
type connector struct{ driver.Connector }

// New makes a connector for the data source name of a SQLite database.
func New(name string) (driver.Connector, error) {
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
	return &cachingConn{sqliteConn: conn, cached: map[string]sqliteStatement{}}, nil
}

// sqliteConn and sqliteStatement are the methods of the driver's connections and statements that database/sql looks
// for.
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

// cachingConn is a connection with its cache. It needs no lock: database/sql promises every driver that one goroutine
// at a time uses a connection.
type cachingConn struct {
	sqliteConn
	cached map[string]sqliteStatement // by the text that callers give, without those that are running
	text   int                        // length of all these texts in bytes
}

// ExecContext runs one statement or several.
func (c *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	statement, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := statement.ExecContext(ctx, args)
	return result, errors.Join(err, c.giveBack(query, statement, err))
}

// QueryContext starts a query. Its statement goes back into the cache when the rows are closed.
func (c *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	statement, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, c.giveBack(query, statement, err))
	}
	return &cachedRows{rows, func(err error) error { return c.giveBack(query, statement, err) }}, nil
}

// take takes the statement of a text out of the cache. If it is not there, or is running, it is parsed anew.
func (c *cachingConn) take(ctx context.Context, query string) (sqliteStatement, error) {
	if statement, ok := c.cached[query]; ok {
		delete(c.cached, query)
		c.text -= len(query)
		return statement, nil
	}
	parsed, err := c.PrepareContext(ctx, Positional(query))
	if err != nil {
		return nil, err
	}
	statement, ok := parsed.(sqliteStatement)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a statement of SQLite's driver is %T", parsed), parsed.Close())
	}
	return statement, nil
}

// giveBack puts a statement into the cache, or closes it: after an error, if its text is too long, and if the same one
// is there already. A full cache is emptied first.
func (c *cachingConn) giveBack(query string, statement sqliteStatement, ended error) error {
	if _, another := c.cached[query]; another || ended != nil || len(query) > cachedText {
		return statement.Close()
	}
	var err error
	if len(c.cached) >= Statements || c.text+len(query) > cachedText {
		err = c.forget()
	}
	c.cached[query] = statement
	c.text += len(query)
	return err
}

func (c *cachingConn) forget() error {
	var errs []error
	for _, statement := range c.cached {
		errs = append(errs, statement.Close())
	}
	clear(c.cached)
	c.text = 0
	return errors.Join(errs...)
}

// Close closes the connection and its cached statements.
func (c *cachingConn) Close() error {
	return errors.Join(c.forget(), c.sqliteConn.Close())
}

// cachedRows are the rows of a query. Closing them gives the statement back.
type cachedRows struct {
	driver.Rows
	giveBack func(error) error
}

// Close ends the rows. database/sql calls it once.
func (r *cachedRows) Close() error {
	err := r.Rows.Close()
	return errors.Join(err, r.giveBack(err))
}

// Positional writes "?" in place of "$1", "$2" and so on, if these stand in the order of their numbers. To SQLite "$7"
// is a name, and it searches a list of all names for each: with the parameters of many rows that takes longer than the
// insert. A text with another order is returned as it is.
func Positional(query string) string {
	var text strings.Builder
	rest := query
	for next := 1; ; next++ {
		before, after, found := strings.Cut(rest, "$")
		text.WriteString(before)
		if !found {
			return text.String()
		}
		number := strconv.Itoa(next)
		if rest, found = strings.CutPrefix(after, number); !found || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return query
		}
		text.WriteByte('?')
	}
}
