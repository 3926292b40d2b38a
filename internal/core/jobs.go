package core

import (
	"errors"
	"time"

	"holdfast/internal/db"
)

// leaseRow is the right of one process to run a job until an instant.
type leaseRow struct {
	Name     string
	Until    time.Time
	Attempts int // failed runs since the last good one
}

// ClaimJob leases a job to the caller for a time; ErrNotFound when it is not due or leased to another. The row is made
// where it is missing, due at once.
func ClaimJob(tx *db.Tx, name string, length time.Duration) (leaseRow, error) {
	lease := leaseRow{Name: name, Until: tx.Now.Add(length)}
	// A job that is not due is the common case: it costs a look and no write.
	var due bool
	err := tx.Row(`SELECT due_at <= $2 AND leased_until <= $2 FROM jobs WHERE name = $1`, []any{name, db.Micros(tx.Now)}, &due)
	if errors.Is(err, db.ErrNotFound) {
		_, err = tx.Exec(`INSERT INTO jobs (name, due_at, leased_until, attempts, last_error) VALUES ($1, 0, 0, 0, '')
			ON CONFLICT (name) DO NOTHING`, name)
		due = true
	}
	if err != nil {
		return leaseRow{}, err
	}
	if !due {
		return leaseRow{}, db.ErrNotFound
	}
	// Of several processes that got here one changes the row, and the others, who waited for it, find it leased.
	err = tx.Row(`UPDATE jobs SET leased_until = $2 WHERE name = $1 AND due_at <= $3 AND leased_until <= $3
		RETURNING attempts`, []any{name, db.Micros(lease.Until), db.Micros(tx.Now)}, &lease.Attempts)
	return lease, err
}

// FinishJob gives a lease back and says when the job is due next. failure is what went wrong, "" when nothing did. A
// lease that has run out and was taken over by another process is not given back.
func FinishJob(tx *db.Tx, l leaseRow, due time.Time, failure string) error {
	attempts, lastRun := 0, tx.Now
	if failure != "" {
		attempts, lastRun = l.Attempts+1, time.Time{}
	}
	_, err := tx.Exec(`UPDATE jobs SET due_at = $3, leased_until = 0, attempts = $4, last_error = $5,
			last_run_at = COALESCE($6, last_run_at)
		WHERE name = $1 AND leased_until = $2`,
		l.Name, db.Micros(l.Until), db.Micros(due), attempts, failure, db.MaybeMicros(lastRun))
	return err
}
