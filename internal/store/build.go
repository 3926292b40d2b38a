package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/store/catalog"
	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
)

// ErrNotEmpty means that there already is a database, or something else, where one should be created.
var ErrNotEmpty = sqlite.ErrNotEmpty

// Content is what Build puts into a new database.
type Content struct {
	// Schema names the migrations of the rows, as Catalog.Schema gives them. Build runs those first, and the later ones after Load.
	Schema []string
	// Load inserts the rows.
	Load func(tx *Tx) error
	// Finish runs at the end, on the schema of this program.
	Finish func(tx *Tx) error

	migrations []migration // of this program
}

// Schema names the migrations that the database has seen, such as 0001_schema, in their order.
func (c Catalog) Schema() (names []string, err error) {
	err = c.tx.Query(`SELECT name FROM schema_migrations ORDER BY version`, nil, func(scan func(dest ...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// Fits returns an error if a schema is newer than this program, or is another program's.
func Fits(schema []string) error {
	list, err := readMigrations(migrationFiles)
	if err != nil {
		return err
	}
	return fits(schema, list)
}

func fits(schema []string, list []migration) error {
	var ran []applied
	for _, name := range schema {
		ran = append(ran, applied{name: name})
	}
	return compare(ran, list)
}

// tablesOf returns the tables that migrations create, by running them in an empty in-memory database.
func tablesOf(ctx context.Context, schema []string) (tables []catalog.Table, err error) {
	list, err := readMigrations(migrationFiles)
	if err != nil {
		return nil, err
	}
	if err := fits(schema, list); err != nil {
		return nil, err
	}
	never := func() time.Time { return time.Time{} }
	err = fillSQLite(ctx, ":memory:", never, Content{
		Schema: schema, migrations: list[:len(schema)],
		Load: func(tx *Tx) (err error) {
			tables, err = tx.Catalog().Tables()
			return err
		},
		Finish: func(*Tx) error { return nil },
	})
	return tables, err
}

// Build creates a complete database at url, or leaves nothing behind. A SQLite database is built in a file next to its path, which is
// moved into place once it is complete and synced; in PostgreSQL everything is one transaction. The error is ErrNotEmpty if
// anything already exists: a file (including the log of a missing database), or a table.
func Build(ctx context.Context, url string, clock func() time.Time, c Content) (err error) {
	if c.migrations, err = readMigrations(migrationFiles); err != nil {
		return err
	}
	return build(ctx, url, clock, c)
}

func build(ctx context.Context, url string, clock func() time.Time, c Content) error {
	if err := fits(c.Schema, c.migrations); err != nil {
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

// fill migrates and loads an empty database, in one transaction.
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
	tx := db.tx(ctx, Deployment, db.own, sqlTx)
	if db.engine.bulk != nil {
		tx.sql = bulkRunner{sqlTx, func(t catalog.Table, rows [][]any) error { return db.engine.bulk(ctx, conn, t, rows) }}
	}
	for _, text := range []string{db.engine.unbounded, db.engine.lockSchema} {
		if _, err := sqlTx.ExecContext(ctx, text); err != nil {
			return db.outward(err)
		}
	}
	err = tx.Query(db.engine.columns, nil, func(func(dest ...any) error) error { return ErrNotEmpty })
	if err != nil {
		return db.outward(err)
	}
	before, after := c.migrations[:len(c.Schema)], c.migrations[len(c.Schema):]
	for _, step := range []func() error{
		func() error { return db.apply(ctx, sqlTx, before) },
		func() error { return c.Load(tx) },
		func() error { return db.apply(ctx, sqlTx, after) },
		func() error { return c.Finish(tx) },
		sqlTx.Commit,
	} {
		if err := step(); err != nil {
			return db.outward(err)
		}
	}
	return nil
}

func buildSQLite(ctx context.Context, path string, clock func() time.Time, c Content) error {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return errors.New("a SQLite database is a file: write sqlite:PATH")
	}
	return sqlite.BuildFile(path, func(name string) error { return fillSQLite(ctx, name, clock, c) })
}

// fillSQLite fills a new file.
func fillSQLite(ctx context.Context, path string, clock func() time.Time, c Content) error {
	connector, err := sqlite.NewConnector(sqlite.BuildName(path))
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	db := &DB{engine: sqliteEngine, clock: clock, own: &postgres.Node{Short: pool}, write: pool}
	return errors.Join(db.fill(ctx, c), pool.Close())
}
