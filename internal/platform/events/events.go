// Package events stores what happened, for each site's event feed and for webhooks. It owns the tables events and
// event_heads. Start at Record, then Events.Place, which assigns the events of a site their positions.
package events

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Events are the use cases of events.
type Events struct {
	*sites.DB
	Batch int // events that get a position in one write
	looks looks
}

// Bounds of a read of the feed.
const (
	// MaxPage is how many events a page has at most.
	MaxPage = 100
	// looked is how many positions one read scans for the requested types.
	looked = 10_000
)

// Filter says which events are wanted. The zero value wants all from the oldest one.
type Filter struct {
	After  string     // a cursor, "now" for the end of the feed, or "" for its beginning
	Types  []string   // as TypesOf takes them
	Kind   event.Kind // of ObjectID
	Object int64      // events about this object alone; 0: about all
	Size   int        // how many at most, up to MaxPage
}

// Page is a piece of the feed.
type Page struct {
	Items []event.Event
	Next  string // the cursor behind this page
	More  bool   // there are events behind it
}

// List reads a page of the feed of the actor's site: events after a cursor, each once and in the order of their
// positions. Continuing from Next misses none. A page can be empty and still have More, if none of the events that it
// scanned match. The error has the kind CursorGone if events after the cursor have been deleted.
func (e *Events) List(ctx context.Context, actor access.Actor, f Filter) (Page, error) {
	if err := actor.Require(access.Read); err != nil {
		return Page{}, err
	}
	types, known := event.TypesOf(f.Types)
	if !known {
		return Page{}, errs.WrongField("types", "Unknown event type.")
	}
	q := query{siteID: actor.SiteID, types: event.Readable(actor, types), kind: f.Kind, object: f.Object, size: f.Size}
	if err := q.begin(f.After); err != nil {
		return Page{}, err
	}
	page, unplaced, err := e.read(ctx, actor, q)
	if err != nil || !unplaced || page.More || len(page.Items) == q.size {
		page.More = page.More || unplaced
		return page, err
	}
	// The page has room, and there are events without a position: they get theirs first.
	if _, err := e.Place(ctx, actor.SiteID); err != nil {
		return Page{}, err
	}
	page, _, err = e.read(ctx, actor, q)
	return page, err
}

// Latest reads events of the actor's site for people, the newest first: those before a position, or from the end of the feed
// where it is 0. f.After does not count. next is the value of before for the next page; 0 if there are no older ones. A page may
// have no events and a next, as with List.
func (e *Events) Latest(ctx context.Context, actor access.Actor, f Filter, before int64) (list []event.Event, next int64, err error) {
	if err := actor.Require(access.Read); err != nil {
		return nil, 0, err
	}
	types, known := event.TypesOf(f.Types)
	if !known {
		return nil, 0, errs.WrongField("types", "Unknown event type.")
	}
	if _, err := e.Place(ctx, actor.SiteID); err != nil { // it reads once where there is nothing to place
		return nil, 0, err
	}
	q := query{siteID: actor.SiteID, types: event.Readable(actor, types), kind: f.Kind, object: f.Object, size: min(max(f.Size, 1), MaxPage)}
	list, err = sites.Read(ctx, e.DB, actor, func(tx *store.Tx) (list []event.Event, err error) {
		h, _, err := headOf(tx, q.siteID)
		if err == nil {
			list, next, err = q.older(tx, h, before)
		}
		return list, err
	})
	return list, next, err
}

// Before returns the cursor just before an event.
func (e *Events) Before(ctx context.Context, actor access.Actor, of event.Event) (string, error) {
	return sites.Read(ctx, e.DB, actor, func(tx *store.Tx) (string, error) {
		h, _, err := headOf(tx, actor.SiteID)
		return cursor{h.epoch, of.Position - 1}.String(), err
	})
}

// read reads a page as it is. unplaced reports whether there are events without a position.
func (e *Events) read(ctx context.Context, actor access.Actor, q query) (page Page, unplaced bool, err error) {
	page, err = sites.Read(ctx, e.DB, actor, func(tx *store.Tx) (page Page, err error) {
		var h head
		if h, unplaced, err = headOf(tx, q.siteID); err != nil {
			return page, err
		}
		return q.page(tx, h)
	})
	return page, unplaced, err
}

// Place assigns the next positions to the events of a site that are visible by now, and returns how many it assigned.
// Ids are drawn before the commit, so events do not become visible in the order of their ids. Positions only grow: an
// event comes after all that already had a position. The events of one object stay in the order of their writes,
// because writes of an object wait for each other. Place only writes if there are events without a position.
func (e *Events) Place(ctx context.Context, siteID int64) (placed int, err error) {
	var unplaced bool
	err = e.Store.Read(ctx, siteID, func(tx *store.Tx) (err error) {
		_, unplaced, err = headOf(tx, siteID)
		return err
	})
	if err != nil || !unplaced {
		return 0, err
	}
	piece := e.Batch
	for n := piece; n == piece; placed += n {
		err = e.Store.Write(ctx, siteID, func(tx *store.Tx) (err error) {
			n, err = place(tx, siteID, piece)
			return err
		})
		if err != nil {
			return placed, fmt.Errorf("positions of events of site %d: %w", siteID, err)
		}
	}
	return placed, nil
}

// PlaceAll assigns positions to the events of all sites, so that few remain to be assigned when the feed is read. An
// error at one site does not stop the others.
func (e *Events) PlaceAll(ctx context.Context) (more bool, err error) {
	var sites []int64
	err = e.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		sites, err = sitesUnplaced(tx)
		return err
	})
	for _, site := range sites {
		if ctx.Err() != nil {
			break
		}
		_, failed := e.Place(ctx, site)
		err = errors.Join(err, failed)
	}
	return false, err
}

// IsCursor reports whether a text may be the After of a Filter.
func IsCursor(after string) bool {
	_, ok := parseCursor(after)
	return ok || after == "" || after == now
}

// Kept is how long events can be read, by the real clock.
const Kept = 90 * 24 * time.Hour

// Forget deletes events that are older than 90 days, a bounded number per site and call. more reports whether there may
// be others. An error at one site does not stop the others.
func (e *Events) Forget(ctx context.Context) (more bool, err error) {
	var sites []int64
	err = e.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		sites, err = sitesToForget(tx, tx.Now.Add(-Kept))
		return err
	})
	for _, site := range sites {
		if ctx.Err() != nil {
			break
		}
		removed := 0
		failed := e.Store.Write(ctx, site, func(tx *store.Tx) (err error) {
			removed, err = forget(tx, site, tx.Now.Add(-Kept), e.Batch)
			return err
		})
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("old events of site %d: %w", site, failed))
			continue
		}
		more = more || removed == e.Batch
	}
	return more, err
}

// cursor is a place in the feed of a site: behind the event of a position.
type cursor struct {
	epoch, position int64
}

// now is the cursor of the end of the feed.
const now = "now"

func (c cursor) String() string {
	return strconv.FormatInt(c.epoch, 36) + "-" + strconv.FormatInt(c.position, 36)
}

// parseCursor reads what String wrote.
func parseCursor(text string) (c cursor, ok bool) {
	epoch, position, _ := strings.Cut(text, "-")
	var err, err2 error
	c.epoch, err = strconv.ParseInt(epoch, 36, 64)
	c.position, err2 = strconv.ParseInt(position, 36, 64)
	return c, err == nil && err2 == nil && c.epoch >= 0 && c.position >= 0 && c.String() == text
}
