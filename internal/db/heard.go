package db

import (
	"maps"
	"slices"
	"sync"
)

// Listener hears that something has happened on a site: in writes of this process by Tx.Tell, and by DB.Tell. It says no more
// than that, and many writes at once are heard once.
type Listener struct {
	C <-chan struct{}

	of   *listeners
	site int64
	c    chan struct{}
}

// listeners are those of one database, in this process.
type listeners struct {
	mu sync.Mutex
	by map[int64]map[*Listener]bool // by site
}

// Listen makes a listener of a site. Close ends it. Who waits for a change reads after Listen and then waits: so nothing that
// is stored in between is missed.
func (db *DB) Listen(siteID int64) *Listener {
	c := make(chan struct{}, 1)
	l := &Listener{C: c, of: &db.listeners, site: siteID, c: c}
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	if l.of.by == nil {
		l.of.by = map[int64]map[*Listener]bool{}
	}
	if l.of.by[siteID] == nil {
		l.of.by[siteID] = map[*Listener]bool{}
	}
	l.of.by[siteID][l] = true
	return l
}

// Close ends the listener.
func (l *Listener) Close() {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	delete(l.of.by[l.site], l)
	if len(l.of.by[l.site]) == 0 {
		delete(l.of.by, l.site)
	}
}

// Listening are the sites that have listeners in this process, in order.
func (db *DB) Listening() []int64 {
	db.listeners.mu.Lock()
	defer db.listeners.mu.Unlock()
	return slices.Sorted(maps.Keys(db.listeners.by))
}

// Tell tells the listeners of sites that something has happened there.
func (db *DB) Tell(sites ...int64) {
	db.listeners.mu.Lock()
	defer db.listeners.mu.Unlock()
	for _, site := range sites {
		for l := range db.listeners.by[site] {
			select {
			case l.c <- struct{}{}:
			default: // it has been told already
			}
		}
	}
}

// Tell tells the listeners of a site that something has happened there, once this write is durable. If a savepoint is taken
// back, they may be told of nothing.
func (tx *Tx) Tell(siteID int64) {
	if !slices.Contains(tx.told, siteID) {
		tx.told = append(tx.told, siteID)
	}
}
