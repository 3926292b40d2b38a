package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/store/schemasteps"
	"holdfast/internal/store/sqltext"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migrate brings the schema to the version of this program. It holds a lock, and each step is a transaction of its
// own. Before it changes anything, it compares what has run here with its own steps. The error is ErrOtherSchema for a
// database that another program or a newer one has migrated. A schema that is up to date is not written at all.
func (db *DB) Migrate(ctx context.Context) error {
	return db.migrate(ctx, migrationFiles)
}

// ErrOtherSchema: the schema of the database was not made by the steps that this program knows.
var ErrOtherSchema = errors.New("the database does not fit this program")

func (db *DB) migrate(ctx context.Context, files fs.FS) error {
	steps, err := schemasteps.Read(files, "migrations")
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
func (db *DB) migrateOnce(ctx context.Context, steps []schemasteps.Step) (done bool, err error) {
	sqlTx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return false, db.outward(err)
	}
	defer func() { _ = sqlTx.Rollback() }() // after a commit it does nothing
	if _, err := sqlTx.ExecContext(ctx, db.engine.lockSchema); err != nil {
		return false, db.outward(err)
	}
	ran, err := db.ranSteps(ctx, sqlTx)
	if err = db.outward(err); err != nil && !errs.Is(err, errs.Unavailable) && !mixedUp(err) {
		return false, fmt.Errorf("%w: its table schema_migrations is not one of holdfast. Nothing was changed (%w)", ErrOtherSchema, err)
	}
	if err != nil {
		return false, err
	}
	if err := schemasteps.Compare(ran, steps); err != nil {
		return false, fmt.Errorf("%w: %w", ErrOtherSchema, err)
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
func (db *DB) apply(ctx context.Context, sqlTx *sql.Tx, steps []schemasteps.Step) error {
	step := steps[len(steps)-1]
	for _, statement := range sqltext.Statements(db.engine.ddl.Replace(step.Text)) {
		if err := db.engine.alter(ctx, sqlTx, statement); err != nil {
			return fmt.Errorf("migration %s: %w in: %s", step, err, statement)
		}
	}
	_, err := sqlTx.ExecContext(ctx, `INSERT INTO schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)`,
		step.Number, step.Name, db.now().Format(time.RFC3339))
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

// ranSteps reads the steps that have run, in their order.
func (db *DB) ranSteps(ctx context.Context, sqlTx *sql.Tx) (ran []schemasteps.Ran, err error) {
	var made bool
	if err := sqlTx.QueryRowContext(ctx, db.engine.hasSchema).Scan(&made); err != nil || !made {
		return nil, err
	}
	err = eachRow(ctx, sqlTx, `SELECT version, name FROM schema_migrations ORDER BY version`, func(rows *sql.Rows) error {
		var step schemasteps.Ran
		err := rows.Scan(&step.Number, &step.Name)
		ran = append(ran, step)
		return err
	})
	// Before that step there is no column for digests.
	if err != nil || !slices.ContainsFunc(ran, func(s schemasteps.Ran) bool { return s.Name == digestStep }) {
		return ran, err
	}
	next := 0
	return ran, eachRow(ctx, sqlTx, `SELECT digest FROM schema_migrations ORDER BY version`, func(rows *sql.Rows) error {
		next++
		return rows.Scan(&ran[next-1].Digest)
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

// writeDigests notes the digests of the steps that have none. The first time these are those of all steps so far: they
// ran before there were digests, and their names fit.
func writeDigests(ctx context.Context, sqlTx *sql.Tx, steps []schemasteps.Step) error {
	if !slices.ContainsFunc(steps, func(m schemasteps.Step) bool { return m.Name == digestStep }) {
		return nil
	}
	for _, step := range steps {
		_, err := sqlTx.ExecContext(ctx, `UPDATE schema_migrations SET digest = $2 WHERE version = $1 AND digest = ''`,
			step.Number, step.Digest())
		if err != nil {
			return err
		}
	}
	return nil
}
