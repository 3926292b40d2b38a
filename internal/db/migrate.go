package db

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one numbered step of the schema. There are no steps back: a later step mends the mistake of an earlier.
type migration struct {
	number int
	name   string
	text   string
}

var migrationName = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// migrations reads the steps in their order. It refuses a gap in the numbers: a gap is a merge that went wrong.
func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted by name, and so by number
	if err != nil {
		return nil, err
	}
	var steps []migration
	for i, name := range names {
		parts := migrationName.FindStringSubmatch(path.Base(name))
		if parts == nil {
			return nil, fmt.Errorf("migration %s is not named NNNN_words.sql", name)
		}
		number, _ := strconv.Atoi(parts[1])
		if number != i+1 {
			return nil, fmt.Errorf("migration %s stands at place %d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{number: number, name: parts[2], text: string(text)})
	}
	return steps, nil
}

// Migrate brings the schema to the version of this program. It holds a lock, and each step is a transaction of its
// own. It returns an error for a database that a newer program has migrated.
func (db *DB) Migrate(ctx context.Context) error {
	return db.migrate(ctx, migrationFiles)
}

func (db *DB) migrate(ctx context.Context, files fs.FS) error {
	steps, err := migrations(files)
	if err != nil {
		return err
	}
	for {
		done, err := db.migrateOnce(ctx, steps)
		if err != nil || done {
			return err
		}
	}
}

// migrateOnce applies the next step that is missing. done: no step was missing.
func (db *DB) migrateOnce(ctx context.Context, steps []migration) (done bool, err error) {
	sqlTx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return false, db.outward(err)
	}
	defer func() { _ = sqlTx.Rollback() }() // after a commit it does nothing
	version, err := db.lockedVersion(ctx, sqlTx)
	if err != nil {
		return false, err
	}
	if version > len(steps) {
		return false, fmt.Errorf("the database has schema %d, and this program only knows %d: use a newer holdfast", version, len(steps))
	}
	if version == len(steps) {
		return true, sqlTx.Commit()
	}
	if err := db.apply(ctx, sqlTx, steps[version]); err != nil {
		return false, err
	}
	return false, sqlTx.Commit()
}

// apply carries one step out, and notes it.
func (db *DB) apply(ctx context.Context, sqlTx *sql.Tx, step migration) error {
	for _, statement := range statements(db.engine.ddl.Replace(step.text)) {
		if _, err := sqlTx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("migration %04d_%s: %w in: %s", step.number, step.name, err, statement)
		}
	}
	_, err := sqlTx.ExecContext(ctx, `INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)`,
		step.number, step.name, db.now().Format(time.RFC3339))
	return err
}

func (db *DB) lockedVersion(ctx context.Context, sqlTx *sql.Tx) (version int, err error) {
	if _, err := sqlTx.ExecContext(ctx, db.engine.lockSchema); err != nil {
		return 0, err
	}
	_, err = sqlTx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)`)
	if err != nil {
		return 0, err
	}
	err = sqlTx.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_migrations`).Scan(&version)
	return version, err
}

// statements splits a migration at the semicolons that end a line. Comments stay in the statement that they precede.
func statements(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ";\n") {
		if hasSQL(part) {
			list = append(list, strings.TrimSpace(part))
		}
	}
	return list
}

func hasSQL(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			return true
		}
	}
	return false
}
