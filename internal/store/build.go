package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/store/catalog"
	"holdfast/internal/store/schemasteps"
	"holdfast/internal/store/sqlite"
)

const migrationsTable = "schema_migrations"

// ErrNotEmpty: where a database is to be made, there is one already, or something else.
var ErrNotEmpty = sqlite.ErrNotEmpty

// Content is what Build puts into a new database.
type Content struct {
	// Schema names the migrations of the rows, as Tx.Schema gives them. Build carries those out first, and the later ones
	// after Load.
	Schema []string
	// Load inserts the rows.
	Load func(tx *Tx) error
	// Finish runs at the end, on the schema of this program.
	Finish func(tx *Tx) error
}

// Schema names the migrations that the database has seen, such as 0001_schema, in their order.
func (tx *Tx) Schema() (names []string, err error) {
	err = tx.Each(`SELECT version, name FROM schema_migrations ORDER BY version`, nil,
		func(scan func(dest ...any) error) error {
			step := schemasteps.Step{}
			err := scan(&step.Number, &step.Name)
			names = append(names, step.String())
			return err
		})
	return names, err
}

// Fits returns an error if a schema is newer than this program, or is another program's.
func Fits(schema []string) error {
	steps, err := schemasteps.Read(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	for i, name := range schema {
		if i >= len(steps) {
			return fmt.Errorf("it has schema %d, and this program only knows %d: use a newer holdfast", len(schema), len(steps))
		}
		if own := steps[i].String(); name != own {
			return fmt.Errorf("its migration %d is %s, and that of this program is %s: it is of another program", i+1, name, own)
		}
	}
	return nil
}

// Build makes a database at url with everything in it, or leaves nothing behind. A SQLite database is made beside its place and
// moved there when it is whole and on the disk; in PostgreSQL all is one transaction. The error is ErrNotEmpty if
// anything is there already: a file (also the log of a database that has gone), or a table.
func Build(ctx context.Context, url string, clock func() time.Time, c Content) error {
	if err := Fits(c.Schema); err != nil {
		return err
	}
	switch scheme, rest, _ := strings.Cut(url, ":"); scheme {
	case "sqlite":
		return buildSQLite(ctx, rest, clock, c)
	case "postgres", "postgresql":
		db, err := openPostgres(ctx, url, clock)
		if err != nil {
			return err
		}
		return errors.Join(db.fill(ctx, c), db.Close())
	default:
		return fmt.Errorf("database %q is neither sqlite:PATH nor postgres://…", scheme)
	}
}

// fill carries out the migrations of an empty database and loads it, in one transaction.
func (db *DB) fill(ctx context.Context, c Content) error {
	conn, err := db.write.Conn(ctx)
	if err != nil {
		return db.outward(err)
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	sqlTx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return db.outward(err)
	}
	defer func() { _ = sqlTx.Rollback() }() // after a commit it does nothing
	tx := db.tx(ctx, sqlTx)
	if db.engine.bulk != nil {
		tx.bulk = func(t catalog.Table, rows [][]any) error { return db.engine.bulk(ctx, conn, t, rows) }
	}
	for _, text := range []string{db.engine.unbounded, db.engine.lockSchema} {
		if _, err := sqlTx.ExecContext(ctx, text); err != nil {
			return db.outward(err)
		}
	}
	err = tx.Each(db.engine.columns, nil, func(func(dest ...any) error) error { return ErrNotEmpty })
	if err != nil {
		return db.outward(err)
	}
	steps, err := schemasteps.Read(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	if err := makeStepsTable(ctx, sqlTx); err != nil {
		return db.outward(err)
	}
	for i := range steps {
		if i == len(c.Schema) {
			if err := c.Load(tx); err != nil {
				return db.outward(err)
			}
		}
		if err := db.apply(ctx, sqlTx, steps[:i+1]); err != nil {
			return db.outward(err)
		}
	}
	if len(c.Schema) == len(steps) {
		if err := c.Load(tx); err != nil {
			return db.outward(err)
		}
	}
	if err := c.Finish(tx); err != nil {
		return db.outward(err)
	}
	return db.outward(sqlTx.Commit())
}

func buildSQLite(ctx context.Context, path string, clock func() time.Time, c Content) error {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return errors.New("a SQLite database is a file: write sqlite:PATH")
	}
	return sqlite.BuildFile(path, func(name string) error { return fillSQLite(ctx, name, clock, c) })
}

// buildCache is the page cache of the one connection that fills a file, in KiB.
const buildCache = 64 << 10

// fillSQLite fills a new file. If it fails, the file is of no use: so there is no journal and no sync before the end.
func fillSQLite(ctx context.Context, path string, clock func() time.Time, c Content) error {
	connector, err := sqlite.NewConnector(sqliteNameWith(path, "_journal_mode=OFF&_txlock=immediate", buildCache, "synchronous(OFF)"))
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	db := &DB{engine: sqliteEngine, clock: clock, read: pool, write: pool}
	return errors.Join(db.fill(ctx, c), pool.Close())
}
