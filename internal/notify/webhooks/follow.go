package webhooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"holdfast/internal/domain/event"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Bounds of following the feed.
const (
	piecesALook = 4               // writes for one endpoint in one look, so that each gets its turn
	lookTime    = 2 * time.Second // for a look: nothing new is sent meanwhile
	maxWaiting  = 10_000          // deliveries of an endpoint; above that its events wait in the feed
	sitesALook  = 1000            // endpoints with something due that one look for it reads
)

// Follow creates the deliveries of the events since the last call. The same write advances the endpoint's mark, so each
// event gets one delivery, even after a crash. One call takes each endpoint a few batches further, starting after the
// endpoint served last. An error at one endpoint does not stop the others. more reports that some have not reached the
// end of the feed; running out of time is not an error.
func (w *Webhooks) Follow(ctx context.Context) (more bool, err error) {
	look, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var behind []endpointKey
	err = w.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		behind, err = endpointsBehind(tx, w.followed.after(), w.Followers)
		return err
	})
	placed := map[int64]error{}
	for _, key := range behind {
		if look.Err() != nil {
			more = true
			break
		}
		problem, done := placed[key.site]
		if !done {
			_, problem = w.Events.Place(look, key.site)
			placed[key.site] = problem
		}
		left := false
		if problem == nil {
			left, problem = w.followFew(look, key)
		}
		w.followed.note(key)
		switch {
		case problem != nil && look.Err() != nil:
			more = true
		case problem != nil:
			err = errors.Join(err, fmt.Errorf("events for the webhook %d: %w", key.id, problem))
		default:
			more = more || left
		}
	}
	if ctx.Err() != nil {
		return true, nil
	}
	return more, err
}

// followFew takes an endpoint a few batches further. A batch that is cut off by the end of the call is created by the
// next one.
func (w *Webhooks) followFew(look context.Context, key endpointKey) (more bool, err error) {
	more = true
	for n := 0; more && err == nil && n < piecesALook && look.Err() == nil; n++ {
		err = w.WriteBy(look, sites.Clock{SiteID: key.site}, func(tx *store.Tx) (err error) {
			more, err = followOne(tx, key, int64(w.Followed))
			return err
		})
	}
	return more, err
}

// turn remembers whose turn it was last.
type turn struct {
	mu   sync.Mutex
	last endpointKey
}

func (t *turn) after() endpointKey {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

func (t *turn) note(key endpointKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = key
}

// followOne takes an endpoint a piece further in the feed. more reports that it is not at the end.
func followOne(tx *store.Tx, key endpointKey, piece int64) (more bool, err error) {
	n, err := tx.Exec(`UPDATE webhook_endpoints SET position = position WHERE site_id = $1 AND id = $2 AND state = 'enabled'`,
		key.site, key.id)
	if err != nil || n == 0 {
		return false, err
	}
	e, err := endpoint(tx, key.site, key.id)
	if err != nil {
		return false, err
	}
	waiting, err := countWaiting(tx, key)
	if err != nil || waiting >= maxWaiting {
		return false, err
	}
	end, err := events.End(tx, key.site)
	if err != nil || end <= e.position {
		return false, err
	}
	last := min(end, e.position+piece)
	found, err := events.Between(tx, key.site, e.position, last)
	if err != nil {
		return false, err
	}
	insertDeliveries(tx, e, e.wanted(found))
	_, err = tx.Exec(`UPDATE webhook_endpoints SET position = $3 WHERE site_id = $1 AND id = $2`, key.site, key.id, last)
	return last < end, err
}

// wanted are those of some events that an endpoint gets.
func (e Endpoint) wanted(list []event.Event) (wanted []event.Event) {
	types, _ := event.TypesOf(e.Types)
	chosen := map[event.Type]bool{}
	for _, t := range types {
		chosen[t] = true
	}
	for _, happened := range list {
		// A test goes to the endpoint that is tested, and to no other.
		if happened.Type == event.WebhookTest && happened.ObjectID == e.ID || happened.Type != event.WebhookTest && chosen[happened.Type] {
			wanted = append(wanted, happened)
		}
	}
	return wanted
}
