// Package health checks whether the program is working, and how far behind the database replica is. It owns the
// table write_tries. Start at Health.
package health

import (
	"bytes"
	"context"
	"sync"
	"time"

	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of the question whether the program can work: how long an answer may take, and how long it counts.
const (
	readyWithin = time.Second
	readyFor    = time.Second
)

// Health checks whether the program can work: it tries a small write on request. Reading is not enough: with a full disk,
// or on a server that takes no writes, every read succeeds. One try serves all who ask at the time and for a second after it,
// so that asking costs a write per second at most. A try that hangs is not joined by a second one.
type Health struct {
	*sites.DB
	mu      sync.Mutex
	running chan struct{} // closed when the try under way ends; nil without one
	since   time.Time     // when the last try ended
	err     error         // of the last try
	looking sync.Mutex    // held while checking the replica
}

// Ready returns an error when the database takes no writes. It returns within a second.
func (h *Health) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	select {
	case <-h.tried():
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return &errs.Error{Kind: errs.Unavailable, Message: "The database does not respond.", RetryAfter: time.Second, Err: err}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// tried returns a channel that is closed when the result of a try is there.
func (h *Health) tried() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running != nil {
		return h.running
	}
	done := make(chan struct{})
	if !h.since.IsZero() && h.Clock().Sub(h.since) < readyFor {
		close(done)
		return done
	}
	h.running = done
	go func() {
		// The first caller tries; the others wait for its result.
		ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
		defer cancel()
		err := h.Store.Ready(ctx, tryWrite)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.err, h.since, h.running = err, h.Clock(), nil
		close(done)
		go h.lookAtReplica() // no caller waits for it
	}()
	return done
}

// lookAtReplica checks the state of the replica that reports are read from. The result is in the next response.
func (h *Health) lookAtReplica() {
	if !h.Store.Following() || !h.looking.TryLock() {
		return
	}
	defer h.looking.Unlock()
	h.Store.LookAtReplica(context.Background()) // it has a bound of its own
}

// Replica is the state of the replica that long reports are read from: following, behind or away; "" without a replica.
func (h *Health) Replica() string {
	state, _ := h.Store.Replica()
	return state.String()
}

// Nodes returns how many nodes the database has, and how many of them do not respond. Without a cluster there is one,
// which Ready checks.
func (h *Health) Nodes() (all, away int) { return h.Store.Nodes() }

// triedBytes is how much a try writes: as many pages of SQLite as a small change takes. PostgreSQL stores them in a few
// bytes, because they are all the same.
const triedBytes = 16 << 10

func tryWrite(tx *store.Tx) error {
	_, err := tx.Exec(`INSERT INTO write_tries (name, tried_at, filler) VALUES ('ready', $1, $2)
		ON CONFLICT (name) DO UPDATE SET tried_at = excluded.tried_at, filler = excluded.filler`,
		store.Micros(tx.Now), bytes.Repeat([]byte{byte(tx.Now.Unix())}, triedBytes))
	return err
}
