package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/store/postgres"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// ErrOtherSchema: the schema of the database was not made by the migrations of this program.
var ErrOtherSchema = errors.New("the database does not match this version of holdfast")

// migration is one step of the schema. There are no steps back: a later one corrects an earlier one.
type migration struct {
	number int
	name   string // of its file, without the ending, such as 0001_schema
	text   string
}

// digest is the SHA-256 of the text, in hex.
func (m migration) digest() string {
	sum := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(sum[:])
}

// readMigrations reads the folder migrations. It refuses a gap in the numbers: a gap is a merge that went wrong.
func readMigrations(files fs.FS) (list []migration, err error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	for i, file := range names {
		m := migration{number: i + 1, name: strings.TrimSuffix(path.Base(file), ".sql")}
		if want := fmt.Sprintf("%04d_", m.number); !strings.HasPrefix(m.name, want) {
			return nil, fmt.Errorf("the name of migration %s does not start with %s", m.name, want)
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		m.text = string(text)
		list = append(list, m)
	}
	return list, nil
}

// applied is a migration that has run in a database.
type applied struct {
	name   string
	digest string // "" if it is not known
}

// compare says what does not fit between the migrations of a database and those of this program.
func compare(ran []applied, own []migration) error {
	for i, was := range ran {
		switch {
		case i >= len(own):
			return fmt.Errorf("its schema is at %s, but this version only knows %d migrations: use a newer holdfast", ran[len(ran)-1].name, len(own))
		case was.name != own[i].name:
			return fmt.Errorf("its migration %d is %s, and this program's is %s: it belongs to another program", i+1, was.name, own[i].name)
		case was.digest != "" && was.digest != own[i].digest():
			return fmt.Errorf("its migration %s differs from this program's: it belongs to another program", was.name)
		}
	}
	return nil
}

// Migrate brings the schema to the version of this program, in one transaction and under a lock. The error is
// ErrOtherSchema for a database that a newer or another program has migrated; nothing is changed then. A schema that is up
// to date is not written.
func (db *DB) Migrate(ctx context.Context) error {
	list, err := readMigrations(migrationFiles)
	if err != nil {
		return err
	}
	return db.migrate(ctx, list)
}

func (db *DB) migrate(ctx context.Context, list []migration) error {
	sqlTx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return db.outward(err)
	}
	defer func() { _ = sqlTx.Rollback() }() // does nothing after a commit
	if _, err := sqlTx.ExecContext(ctx, db.engine.lockSchema); err != nil {
		return db.outward(err)
	}
	ran, err := db.migrationsOf(ctx, sqlTx)
	if err = db.outward(err); err != nil {
		if errs.Is(err, errs.Unavailable) || postgres.MixedUp(err) {
			return err
		}
		return fmt.Errorf("%w: its table schema_migrations was not created by holdfast. Nothing was changed (%w)", ErrOtherSchema, err)
	}
	if err := compare(ran, list); err != nil {
		return fmt.Errorf("%w: %w. Nothing was changed", ErrOtherSchema, err)
	}
	missing := list[len(ran):]
	if err := db.apply(ctx, sqlTx, missing); err != nil {
		return db.outward(err)
	}
	changed := len(missing) > 0
	more, err := db.engine.afterwards(ctx, sqlTx)
	if err != nil {
		return db.outward(err)
	}
	changed = changed || more
	if changed {
		if err := db.commit(ctx, sqlTx); err != nil {
			return db.outward(err)
		}
	}
	return db.files.Mark(db.now())
}

// migrationsOf reads the migrations that have run, in their order.
func (db *DB) migrationsOf(ctx context.Context, sqlTx *sql.Tx) (ran []applied, err error) {
	var made bool
	if err := sqlTx.QueryRowContext(ctx, db.engine.hasSchema).Scan(&made); err != nil || !made {
		return nil, err
	}
	rows, err := sqlTx.QueryContext(ctx, `SELECT name, digest FROM schema_migrations ORDER BY version`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var m applied
		if err := rows.Scan(&m.name, &m.digest); err != nil {
			return nil, err
		}
		ran = append(ran, m)
	}
	return ran, rows.Err()
}

// apply runs migrations and records them.
func (db *DB) apply(ctx context.Context, sqlTx *sql.Tx, list []migration) error {
	for _, m := range list {
		for _, statement := range append(statements(db.engine.ddl.Replace(m.text)), migrationsTable) {
			if _, err := sqlTx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("migration %s: %w in: %s", m.name, err, statement)
			}
		}
		_, err := sqlTx.ExecContext(ctx, `INSERT INTO schema_migrations (version, name, digest, applied_at) VALUES ($1, $2, $3, $4)`,
			m.number, m.name, m.digest(), db.now().Format(time.RFC3339))
		if err != nil {
			return err
		}
	}
	return nil
}

const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version BIGINT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, applied_at TEXT NOT NULL)`

// statements splits a migration at the semicolons that end a line. Comments stay with the statement that follows.
func statements(text string) (list []string) {
	for part := range strings.SplitSeq(text, ";\n") {
		for line := range strings.Lines(part) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
				list = append(list, strings.TrimSpace(part))
				break
			}
		}
	}
	return list
}
