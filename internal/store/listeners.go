package store

import (
	"maps"
	"slices"
	"sync"
)

// Listener is notified when something happens on a site. It carries no details, and many concurrent writes are one notification.
type Listener struct {
	C <-chan struct{}

	of   *Listeners
	site int64
	c    chan struct{}
}

// Listeners are the listeners of one database in this process. The zero value is ready.
type Listeners struct {
	mu sync.Mutex
	by map[int64]map[*Listener]bool // by site
}

// Listen makes a listener of a site. Close ends it. Read after Listen, then wait: so nothing that is stored
// in between is missed.
func (ls *Listeners) Listen(siteID int64) *Listener {
	c := make(chan struct{}, 1)
	l := &Listener{C: c, of: ls, site: siteID, c: c}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.by == nil {
		ls.by = map[int64]map[*Listener]bool{}
	}
	if ls.by[siteID] == nil {
		ls.by[siteID] = map[*Listener]bool{}
	}
	ls.by[siteID][l] = true
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
func (ls *Listeners) Listening() []int64 {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.Sorted(maps.Keys(ls.by))
}

// NotifySites notifies the listeners of sites that something has happened there.
func (ls *Listeners) NotifySites(sites ...int64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, site := range sites {
		for l := range ls.by[site] {
			select {
			case l.c <- struct{}{}:
			default: // it has already been notified
			}
		}
	}
}
