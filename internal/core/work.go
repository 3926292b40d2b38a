package core

import (
	"context"
	"errors"
	"time"

	"holdfast/internal/db"
)

// Work hands out the program's own due work: any number of processes may ask, one at a time gets a job.
type Work struct{ *Core }

// Lease is the right to run a job until an instant.
type Lease struct{ lease leaseRow }

// Attempts is how often the job failed since it last went well.
func (l Lease) Attempts() int { return l.lease.Attempts }

// Claim leases a job for a time; ok is false when it is not due or another process has it.
func (w *Work) Claim(ctx context.Context, name string, length time.Duration) (l Lease, ok bool, err error) {
	err = w.Store.Write(ctx, func(tx *db.Tx) error {
		l.lease, err = ClaimJob(tx, name, length)
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return Lease{}, false, nil
	}
	return l, err == nil, err
}

// Finish gives a lease back after a run that ended with failure, or well; the job is due again after a time.
func (w *Work) Finish(ctx context.Context, l Lease, after time.Duration, failure error) error {
	text := ""
	if failure != nil {
		text = failure.Error()
		text = text[:min(len(text), 500)] // the row is for a person to read
	}
	return w.Store.Write(ctx, func(tx *db.Tx) error {
		return FinishJob(tx, l.lease, tx.Now.Add(after), text)
	})
}
