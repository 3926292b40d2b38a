package events

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/store"
)

// Bounds of watching.
const (
	// lookEvery is how often changes by other processes are polled. One poll serves all who wait in a process.
	lookEvery = time.Second
	// restTime is how long a watcher rests before the second look, and each later one: on a site where much happens, one who
	// waits for something rare reads the feed once a second, and not at each write.
	restTime = time.Second
)

// looks is the shared result of the polls of a process.
type looks struct {
	made atomic.Int64 // how many looks there were
	mu   sync.Mutex   // one looks at a time
	ends map[int64]int64
}

// Watch waits for the next event of a site. It holds no connection to the database.
type Watch struct {
	events   *Events
	listener *store.Listener
	waited   bool
}

// Watch begins to watch a site. Read the feed after this, and then Wait: so no event is missed. Close ends it.
func (e *Events) Watch(siteID int64) *Watch {
	return &Watch{events: e, listener: e.Store.Listen(siteID)}
}

// Close ends the watch.
func (w *Watch) Close() { w.listener.Close() }

// Wait waits until something may have happened, or the context ends. A write of this process is noticed as soon as it
// is durable, one of another process within two seconds.
func (w *Watch) Wait(ctx context.Context) (happened bool) {
	if w.waited {
		rest(ctx)
	}
	w.waited = true
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for seen := w.events.looks.made.Load(); ; seen = w.events.looks.made.Load() {
		select {
		case <-w.listener.C:
			return true
		case <-ctx.Done():
			return false
		case <-tick.C:
			if w.events.looks.made.Load() == seen { // no other call has looked since
				w.events.Look(ctx)
			}
		}
	}
}

func rest(ctx context.Context) {
	timer := time.NewTimer(restTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Look notifies the waiters of each site where something has happened since the last call. If the database does not
// respond, no one is notified: waiters query it in the end and get the error.
func (e *Events) Look(ctx context.Context) {
	e.looks.mu.Lock()
	defer e.looks.mu.Unlock()
	e.looks.made.Add(1)
	ends := map[int64]int64{}
	err := e.Store.Read(ctx, store.Deployment, func(tx *store.Tx) error { return endsOf(tx, e.Store.Listening(), ends) })
	if err != nil {
		return
	}
	for site, end := range ends {
		if before, known := e.looks.ends[site]; !known || end != before || end == growing {
			e.Store.NotifySites(site)
		}
	}
	e.looks.ends = ends
}
