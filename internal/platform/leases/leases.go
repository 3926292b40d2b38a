// Package leases distributes the background jobs among the running processes: each job is leased to one process at a
// time. It owns the table jobs. Start at Work.
package leases

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"

	"golang.org/x/sync/errgroup"
)

// ForgetAtOnce is how many rows one write of the housekeeping removes at most.
const ForgetAtOnce = 1000

// longestError is how much of an error's text is stored, in bytes.
const longestError = 500

// Restored ends the leases that processes had when the backup was taken.
func Restored(tx *store.Tx) error {
	_, err := tx.Exec(`UPDATE jobs SET leased_until = 0, due_at = 0`)
	return err
}

// Work hands out the due jobs of the program. Any number of processes may ask; only one at a time gets a job.
type Work struct{ *sites.DB }

// Lease is the right of one process to run a job until an instant.
type Lease struct {
	job      string
	until    time.Time
	attempts int // failed runs since the last good one
}

// Attempts is how often the job has failed since its last good run.
func (l Lease) Attempts() int { return l.attempts }

// Claim leases a job for a time. ok is false when the job is not due, or another process has it.
func (w *Work) Claim(ctx context.Context, name string, length time.Duration) (l Lease, ok bool, err error) {
	err = w.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		l, err = claimJob(tx, name, length)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return Lease{}, false, nil
	}
	return l, err == nil, err
}

// Finish gives a lease back after a run. failure is nil after a good run. The job is due again after the given time.
func (w *Work) Finish(ctx context.Context, l Lease, after time.Duration, failure error) error {
	return w.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		return finishJob(tx, l, tx.Now.Add(after), failure)
	})
}

// claimJob leases a job to the caller for a time. The error is store.ErrNotFound when the job is not due, or leased to
// another process. A job without a row gets one, and is due immediately.
func claimJob(tx *store.Tx, name string, length time.Duration) (Lease, error) {
	lease := Lease{job: name, until: tx.Now.Add(length)}
	// Most often the job is not due: then this look is all, and nothing is written.
	var due bool
	err := tx.QueryRow(`SELECT due_at <= $2 AND leased_until <= $2 FROM jobs WHERE name = $1`, []any{name, store.Micros(tx.Now)}, &due)
	if errors.Is(err, store.ErrNotFound) {
		_, err = tx.Exec(`INSERT INTO jobs (name, due_at, leased_until, attempts, last_error) VALUES ($1, 0, 0, 0, '')
			ON CONFLICT (name) DO NOTHING`, name)
		due = true
	}
	if err != nil {
		return Lease{}, err
	}
	if !due {
		return Lease{}, store.ErrNotFound
	}
	// Several processes may get here concurrently. One changes the row; the others wait and then find it leased.
	err = tx.QueryRow(`UPDATE jobs SET leased_until = $2 WHERE name = $1 AND due_at <= $3 AND leased_until <= $3
		RETURNING attempts`, []any{name, store.Micros(lease.until), store.Micros(tx.Now)}, &lease.attempts)
	return lease, err
}

// finishJob gives a lease back and stores when the job is due next. failure is nil after a good run. It changes nothing
// when the lease has run out and another process has the job.
func finishJob(tx *store.Tx, l Lease, due time.Time, failure error) error {
	attempts, lastRun, text := 0, tx.Now, ""
	if failure != nil {
		attempts, lastRun, text = l.attempts+1, time.Time{}, legible(failure.Error())
	}
	_, err := tx.Exec(`UPDATE jobs SET due_at = $3, leased_until = 0, attempts = $4, last_error = $5,
			last_run_at = COALESCE($6, last_run_at)
		WHERE name = $1 AND leased_until = $2`,
		l.job, store.Micros(l.until), store.Micros(due), attempts, text, store.MaybeMicros(lastRun))
	return err
}

// legible returns the beginning of an error's text as PostgreSQL can store it: valid UTF-8 without NUL.
func legible(text string) string {
	text = strings.ReplaceAll(text[:min(len(text), longestError)], "\x00", "")
	return strings.ToValidUTF8(text, "")
}

// AtOnce calls do for every item, at most n of them at the same time, and returns when all are done.
func AtOnce[T any](items []T, n int, do func(item T)) {
	var running errgroup.Group
	running.SetLimit(n)
	for _, item := range items {
		running.Go(func() error {
			do(item)
			return nil
		})
	}
	_ = running.Wait() // no function fails
}

// JobState is the state of a job. Times are of the real clock; zero means never.
type JobState struct {
	Name        string
	DueAt       time.Time
	LeasedUntil time.Time // a process has it until then
	Attempts    int64     // failed runs since the last good one
	LastError   string    // text of the last failure; "" after a good run, or if the failure has no text
	LastRunAt   time.Time // the last good run
}

// Running says whether a process has the job.
func (s JobState) Running(now time.Time) bool { return s.LeasedUntil.After(now) }

// States reads the states of all jobs, in order of their names. It is for operators, and not for API tokens.
func (w *Work) States(ctx context.Context, actor access.Actor) (list []JobState, err error) {
	if err := mayManage(actor); err != nil {
		return nil, err
	}
	err = w.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error {
		list = nil
		return tx.Query(`SELECT name, due_at, leased_until, attempts, last_error, last_run_at FROM jobs ORDER BY name`, nil,
			func(scan func(dest ...any) error) error {
				var s JobState
				var due, leased int64
				var run sql.NullInt64
				err := scan(&s.Name, &due, &leased, &s.Attempts, &s.LastError, &run)
				s.DueAt, s.LeasedUntil, s.LastRunAt = store.Instant(due), store.Instant(leased), store.MaybeInstant(run)
				list = append(list, s)
				return err
			})
	})
	return list, err
}

func mayManage(actor access.Actor) error {
	if err := actor.Require(access.ManageSites); err != nil || actor.Everywhere() {
		return err
	}
	return errs.New(errs.Forbidden, "An API token is limited to one site, but jobs cover all sites.")
}

// RunSoon makes a job due now, so that the next process that looks runs it. The error is SettingNotFound for a job that there is
// not, and NotPossible with the reason job_running while a process has it.
func (w *Work) RunSoon(ctx context.Context, actor access.Actor, name string) error {
	if err := mayManage(actor); err != nil {
		return err
	}
	return w.Store.Write(ctx, store.Deployment, func(tx *store.Tx) error {
		var leased int64
		err := tx.QueryRow(`SELECT leased_until FROM jobs WHERE name = $1`, []any{name}, &leased)
		if err != nil {
			return store.NotFoundAs(errs.SettingNotFound, err, "Job %q not found.", name)
		}
		n, err := tx.Exec(`UPDATE jobs SET due_at = $2 WHERE name = $1 AND leased_until <= $2`, name, store.Micros(tx.Now))
		if err == nil && n == 0 {
			err = errs.NotPossibleBecause("job_running", "This job is already running.")
		}
		if err != nil {
			return err
		}
		return audit.Record(tx, audit.OfDeployment(actor), "job.run", "job "+name, nil, struct{}{})
	})
}
