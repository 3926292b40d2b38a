package webhooks

import (
	"context"
	"fmt"

	"holdfast/internal/core"
	"holdfast/internal/db"
	"holdfast/internal/events"
)

// Bounds of following the feed.
const (
	piece      = 500    // positions that one write goes through
	maxWaiting = 10_000 // deliveries of an endpoint; above that its events wait in the feed
	sitesALook = 1000   // endpoints that one look follows
)

// Follow makes the deliveries of the events that happened since the last time. The write that makes them moves the mark of
// the endpoint, so an event gets one delivery, whoever dies meanwhile.
func (w *Webhooks) Follow(ctx context.Context) error {
	var behind []endpointKey
	err := w.Store.Read(ctx, func(tx *db.Tx) (err error) {
		behind, err = endpointsBehind(tx, sitesALook)
		return err
	})
	feed := &events.Events{Core: w.Core}
	placed := int64(0)
	for _, key := range behind {
		if err == nil && key.site != placed {
			_, err = feed.Place(ctx, key.site)
			placed = key.site
		}
		for more := err == nil; more; {
			err = w.WriteBy(ctx, core.SiteClock{SiteID: key.site}, func(tx *db.Tx) (err error) {
				more, err = followOne(tx, key)
				return err
			})
			more = more && err == nil
		}
		if err != nil {
			return fmt.Errorf("events for the webhook %d: %w", key.id, err)
		}
	}
	return err
}

// followOne takes an endpoint a piece further in the feed. more reports that it is not at the end.
func followOne(tx *db.Tx, key endpointKey) (more bool, err error) {
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
	if err := insertDeliveries(tx, e, e.wanted(found)); err != nil {
		return false, err
	}
	_, err = tx.Exec(`UPDATE webhook_endpoints SET position = $3 WHERE site_id = $1 AND id = $2`, key.site, key.id, last)
	return last < end, err
}

// wanted are those of some events that an endpoint gets.
func (e Endpoint) wanted(list []events.Event) (wanted []events.Event) {
	types, _ := events.TypesOf(e.Types)
	chosen := map[events.Type]bool{}
	for _, t := range types {
		chosen[t] = true
	}
	for _, event := range list {
		// A test goes to the endpoint that is tested, and to no other.
		if event.Type == events.WebhookTest && event.ObjectID == e.ID || event.Type != events.WebhookTest && chosen[event.Type] {
			wanted = append(wanted, event)
		}
	}
	return wanted
}
