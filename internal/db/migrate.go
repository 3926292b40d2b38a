package db

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
	"regexp"
	"slices"
	"strconv"
	"time"

	"holdfast/internal/fault"
	"holdfast/internal/sqltext"
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
// own. Before it changes anything, it compares what has run here with its own steps. The error is ErrOtherSchema for a
// database that another program or a newer one has migrated. A schema that is up to date is not written at all.
func (db *DB) Migrate(ctx context.Context) error {
	return db.migrate(ctx, migrationFiles)
}

// ErrOtherSchema: the schema of the database was not made by the steps that this program knows.
var ErrOtherSchema = errors.New("the database does not fit this program")

func (db *DB) migrate(ctx context.Context, files fs.FS) error {
	steps, err := migrations(files)
	if err != nil {
		return err
	}
	for {
		done, err := db.migrateOnce(ctx, steps)
		if err != nil {
			return err
		}
		if done {
			return db.files.Mark(db.now())
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
	if _, err := sqlTx.ExecContext(ctx, db.engine.lockSchema); err != nil {
		return false, db.outward(err)
	}
	ran, err := db.ranSteps(ctx, sqlTx)
	if err = db.outward(err); err != nil && !fault.Is(err, fault.Unavailable) && !mixedUp(err) {
		return false, fmt.Errorf("%w: its table schema_migrations is not one of holdfast. Nothing was changed (%w)", ErrOtherSchema, err)
	}
	if err != nil {
		return false, err
	}
	if err := compareSteps(ran, steps); err != nil {
		return false, err
	}
	if len(ran) == len(steps) {
		return true, db.tell(ctx, sqlTx)
	}
	if err := makeStepsTable(ctx, sqlTx); err != nil {
		return false, db.outward(err)
	}
	if err := db.apply(ctx, sqlTx, steps[:len(ran)+1]); err != nil {
		return false, db.outward(err)
	}
	return false, db.outward(db.commit(ctx, sqlTx))
}

// tell says to the database for how many rows it plans, if it wants to be told.
func (db *DB) tell(ctx context.Context, sqlTx *sql.Tx) error {
	if db.engine.tell == nil {
		return nil
	}
	changed, err := db.engine.tell(ctx, sqlTx)
	if err == nil && changed {
		err = db.commit(ctx, sqlTx)
	}
	return db.outward(err)
}

func makeStepsTable(ctx context.Context, sqlTx *sql.Tx) error {
	_, err := sqlTx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)`)
	return err
}

// apply carries the last of some steps out, and notes it. Those before have run.
func (db *DB) apply(ctx context.Context, sqlTx *sql.Tx, steps []migration) error {
	step := steps[len(steps)-1]
	for _, statement := range sqltext.Statements(db.engine.ddl.Replace(step.text)) {
		if err := db.engine.alter(ctx, sqlTx, statement); err != nil {
			return fmt.Errorf("migration %04d_%s: %w in: %s", step.number, step.name, err, statement)
		}
	}
	_, err := sqlTx.ExecContext(ctx, `INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)`,
		step.number, step.name, db.now().Format(time.RFC3339))
	if err != nil {
		return err
	}
	return writeDigests(ctx, sqlTx, steps)
}

func alter(ctx context.Context, tx *sql.Tx, statement string) error {
	_, err := tx.ExecContext(ctx, statement)
	return err
}

// digestStep is the step that gives schema_migrations a column for the digests of the steps.
const digestStep = "step_digests"

// ranStep is a step that has run in a database.
type ranStep struct {
	number int
	name   string
	digest string // of its text; "" if it is not known
}

// ranSteps reads the steps that have run, in their order.
func (db *DB) ranSteps(ctx context.Context, sqlTx *sql.Tx) (ran []ranStep, err error) {
	var made bool
	if err := sqlTx.QueryRowContext(ctx, db.engine.hasSchema).Scan(&made); err != nil || !made {
		return nil, err
	}
	err = eachRow(ctx, sqlTx, `SELECT version, name FROM schema_migrations ORDER BY version`, func(rows *sql.Rows) error {
		var step ranStep
		err := rows.Scan(&step.number, &step.name)
		ran = append(ran, step)
		return err
	})
	// Before that step there is no column for digests.
	if err != nil || !slices.ContainsFunc(ran, func(s ranStep) bool { return s.name == digestStep }) {
		return ran, err
	}
	next := 0
	return ran, eachRow(ctx, sqlTx, `SELECT digest FROM schema_migrations ORDER BY version`, func(rows *sql.Rows) error {
		next++
		return rows.Scan(&ran[next-1].digest)
	})
}

func eachRow(ctx context.Context, sqlTx *sql.Tx, query string, each func(rows *sql.Rows) error) error {
	rows, err := sqlTx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// compareSteps says what does not fit between the steps that have run and those of this program.
func compareSteps(ran []ranStep, steps []migration) error {
	for i, was := range ran {
		switch {
		case i >= len(steps):
			return fmt.Errorf("%w: its schema is at step %d, and this program knows %d steps. Use a newer holdfast",
				ErrOtherSchema, ran[len(ran)-1].number, len(steps))
		case was.number != i+1:
			return fmt.Errorf("%w: step %d of its schema is missing. Nothing was changed", ErrOtherSchema, i+1)
		case was.name != steps[i].name:
			return fmt.Errorf("%w: step %d of its schema is %q, and this program's is %q. "+
				"Another program, or another line of holdfast, has made it. Nothing was changed", ErrOtherSchema, i+1, was.name, steps[i].name)
		case was.digest != "" && was.digest != steps[i].digest():
			return fmt.Errorf("%w: step %d of its schema, %q, had another text than this program's. "+
				"Another line of holdfast has made it. Nothing was changed", ErrOtherSchema, i+1, was.name)
		}
	}
	return nil
}

// digest is the SHA-256 of the text of a step, in hexadecimal.
func (m migration) digest() string {
	sum := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(sum[:])
}

// writeDigests notes the digests of the steps that have none. The first time these are those of all steps so far: they
// ran before there were digests, and their names fit.
func writeDigests(ctx context.Context, sqlTx *sql.Tx, steps []migration) error {
	if !slices.ContainsFunc(steps, func(m migration) bool { return m.name == digestStep }) {
		return nil
	}
	for _, step := range steps {
		_, err := sqlTx.ExecContext(ctx, `UPDATE schema_migrations SET digest = $2 WHERE version = $1 AND digest = ''`,
			step.number, step.digest())
		if err != nil {
			return err
		}
	}
	return nil
}
