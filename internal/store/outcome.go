package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/store/postgres"
	"holdfast/internal/store/sqlite"
)

// OutcomeUnknown is the reason of a fault that came when the changes were about to be stored: they are stored, or they
// are not. Repeating the request with the same idempotency key or payment reference shows the outcome.
const OutcomeUnknown = "outcome_unknown"

// errOutcomeUnknown: the commit was sent to the database, but it has not responded.
var errOutcomeUnknown = errors.New("it is unknown whether the database has stored the changes")

// commit ends a transaction. An error that is errOutcomeUnknown leaves open whether the changes are stored; after any
// other one nothing is.
func (db *DB) commit(ctx context.Context, sqlTx transaction) error {
	if err := ctx.Err(); err != nil { // nothing more is sent
		_ = sqlTx.Rollback()
		return err
	}
	err := sqlTx.Commit()
	if err == nil {
		db.work.commits.Add(1)
	}
	db.files.HaltAfter(err)
	if err != nil && db.engine.notCommitted(err) {
		return err
	}
	if err == nil {
		err = db.files.Writable()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errOutcomeUnknown, err)
	}
	return nil
}

// outward turns driver errors into the errors that callers check for. Faults and the caller's own errors pass
// unchanged.
func (db *DB) outward(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errOutcomeUnknown):
		return &errs.Error{
			Kind: errs.Unavailable, Reason: OutcomeUnknown, RetryAfter: time.Second, Err: err,
			Message: "The database did not confirm whether the change was stored. " +
				"To find out, send the request again with the same idempotency key or payment reference.",
		}
	case errors.Is(err, sqlite.ErrHalted):
		return &errs.Error{
			Kind: errs.Unavailable, RetryAfter: time.Minute, Err: err,
			Message: "A disk write failed, so no more writes are accepted until the service is restarted. Reads still work.",
		}
	case db.engine.sumTooLarge(err):
		return fmt.Errorf("%w: %w", money.ErrRange, err)
	case errs.KindOf(err) != errs.Internal, errors.Is(err, ErrNotFound), errors.Is(err, context.Canceled):
		return err
	case db.engine.conflict(err):
		return fmt.Errorf("%w: %w", ErrConflict, err)
	case db.engine.unreachable(err), db.engine.transient(err), postgres.LostNode(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, sqlite.ErrMoved),
		errors.Is(err, errAway):
		return &errs.Error{
			Kind:       errs.Unavailable,
			Message:    "The database cannot be reached at the moment.",
			RetryAfter: time.Second,
			Err:        err,
		}
	case postgres.MixedUp(err):
		return fmt.Errorf("a pooler such as PgBouncer gives each transaction a different connection: "+
			"add default_query_exec_mode=cache_describe to the database URL: %w", err)
	default:
		return err
	}
}

// troubleLasts is how long a full disk or queue makes the next writes fail early.
const troubleLasts = 5 * time.Second

// trouble remembers that a write could not be stored because of the disk or the server. A tiny write may succeed where
// an ordinary one finds no room, so trying one is not enough to know that the database takes writes. A write that
// succeeds does not end the trouble, because it may have changed nothing.
type trouble struct {
	mu    sync.Mutex
	err   error
	until time.Time
}

func (t *trouble) note(db *DB, err error) {
	if err == nil || !db.engine.stuck(err) && !errors.Is(err, sqlite.ErrMoved) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err, t.until = err, db.clock().Add(troubleLasts)
}

func (t *trouble) at(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil && now.Before(t.until) {
		return t.err
	}
	return nil
}

// Ready returns an error if the database takes no writes. try is a small write that shows whether one succeeds. If it
// does, but an ordinary write has found no room in the last five seconds, that counts. A cluster is ready while a node with sites
// answers (see Nodes): their requests are served, even without the coordinator.
func (db *DB) Ready(ctx context.Context, try func(tx *Tx) error) error {
	err := db.writer.write(ctx, Deployment, false, try)
	if db.cluster != nil && len(db.cluster.Holding()) > 0 {
		holding := db.cluster.Holding()
		if !slices.ContainsFunc(holding, func(n *postgres.Node) bool { return !n.Away() }) {
			return db.outward(fmt.Errorf("%w: none with sites", errAway))
		}
		if !slices.Contains(holding, db.cluster.Coordinator()) && errs.Is(db.outward(err), errs.Unavailable) {
			err = nil
		}
	}
	if err != nil {
		return db.outward(err)
	}
	return db.outward(db.trouble.at(db.clock()))
}
