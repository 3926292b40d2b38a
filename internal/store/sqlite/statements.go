package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"modernc.org/sqlite"
)

// Statements is how many statements a connection caches. The program has fewer, apart from those whose text grows with the
// number of their values.
const Statements = 256

// cachedText bounds the total length of their texts, in bytes. Callers choose how many ids a filter has, and a parsed
// statement takes about twenty times the length of its text.
const cachedText = 1 << 20

// connector opens connections that cache their parsed statements. Parsing a statement takes SQLite about as long as running
// it. (pgx has such a cache already.)
type connector struct{ driver.Connector }

// NewConnector returns a connector for the data source name of a SQLite database, whose connections cache their statements.
func NewConnector(name string) (driver.Connector, error) {
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
	return newCachingConn(conn)
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

// cachingConn is a connection with its cache. It needs no lock: database/sql lets one goroutine at a time use a connection.
type cachingConn struct {
	sqliteConn
	cached *simplelru.LRU[string, *cachedStatement] // by the text that callers give
	text   int                                      // length of all these texts in bytes
	closed error                                    // of statements that left the cache
}

func newCachingConn(conn sqliteConn) (c *cachingConn, err error) {
	c = &cachingConn{sqliteConn: conn}
	c.cached, err = simplelru.NewLRU(Statements, func(query string, s *cachedStatement) {
		s.cached = false
		c.text -= len(query)
		if !s.running { // else giveBack closes it
			c.closed = errors.Join(c.closed, s.Close())
		}
	})
	return c, err
}

// cachedStatement is a parsed statement, in the cache or running or both.
type cachedStatement struct {
	sqliteStatement
	query   string
	cached  bool
	running bool
}

// ExecContext runs one statement or several.
func (c *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	statement, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := statement.ExecContext(ctx, args)
	return result, errors.Join(err, c.giveBack(statement, err))
}

// QueryContext starts a query. Its statement is free again when the rows are closed.
func (c *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	statement, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args)
	if err != nil {
		return nil, errors.Join(err, c.giveBack(statement, err))
	}
	return &cachedRows{rows, func(err error) error { return c.giveBack(statement, err) }}, nil
}

// take returns the cached statement of a text. If there is none, or it is running, the text is parsed again.
func (c *cachingConn) take(ctx context.Context, query string) (*cachedStatement, error) {
	if statement, ok := c.cached.Get(query); ok && !statement.running {
		statement.running = true
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
	return &cachedStatement{sqliteStatement: statement, query: query, running: true}, nil
}

// giveBack ends what take began. A statement that is not in the cache goes there, or is closed: after an error, if its text
// is too long, or if the same one is already cached. The least recently used ones make room.
func (c *cachingConn) giveBack(statement *cachedStatement, ended error) error {
	statement.running = false
	switch {
	case statement.cached && ended == nil:
		return nil
	case statement.cached:
		c.cached.Remove(statement.query) // closes it
	case ended != nil || c.cached.Contains(statement.query) || len(statement.query) > cachedText:
		return statement.Close()
	default:
		c.cached.Add(statement.query, statement)
		statement.cached = true
		for c.text += len(statement.query); c.text > cachedText; {
			c.cached.RemoveOldest()
		}
	}
	return c.problems()
}

// problems returns the errors of statements that have left the cache since the last call.
func (c *cachingConn) problems() error {
	err := c.closed
	c.closed = nil
	return err
}

// Close closes the connection and its cached statements. Statements that are running are closed when they end.
func (c *cachingConn) Close() error {
	c.cached.Purge()
	return errors.Join(c.problems(), c.sqliteConn.Close())
}

// cachedRows are the rows of a query. Closing them returns the statement.
type cachedRows struct {
	driver.Rows
	giveBack func(error) error
}

// Close ends the rows. database/sql calls it once.
func (r *cachedRows) Close() error {
	err := r.Rows.Close()
	return errors.Join(err, r.giveBack(err))
}

// Positional replaces "$1", "$2" and so on by "?" if they are in numerical order. To SQLite "$7" is a name, and
// it searches a list of all names for each one: with the parameters of many rows that takes longer than the insert. A text
// with another order is returned unchanged.
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
