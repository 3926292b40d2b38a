package events_test

import (
	"slices"
	"testing"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestTheLatestAreTheFeedFromItsEnd: paging backwards shows each event once, like paging forwards.
func TestTheLatestAreTheFeedFromItsEnd(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		w.App.Events.Batch = 3
		dbtest.Write(t, w.App.DB.Store, func(tx *store.Tx) error {
			for i := range int64(11) {
				of := []event.Type{event.BookingUpdated, event.StatementIssued, event.BookingPaid}[i%3]
				events.Record(tx, w.Site.ID, of, i%2+1, event.Details{})
			}
			return nil
		})
		reader := access.Actor{SiteID: w.Site.ID, UserID: 1, Role: access.ReadOnly}
		for name, c := range map[string]struct {
			actor access.Actor
			f     events.Filter
		}{
			"all": {w.Actor, events.Filter{}}, "some types": {w.Actor, events.Filter{Types: []string{"booking.*"}}},
			"one object":          {w.Actor, events.Filter{Kind: event.Booking, Object: 2}},
			"as somebody sees it": {reader, events.Filter{}},
		} {
			c.f.Size = events.MaxPage
			feed, err := w.App.Events.List(t.Context(), c.actor, c.f)
			if err != nil || feed.More || len(feed.Items) == 0 {
				t.Fatalf("%s: %d events, more: %v, %v", name, len(feed.Items), feed.More, err)
			}
			var want, got []int64
			for _, e := range feed.Items {
				want = append(want, e.ID)
			}
			slices.Reverse(want)
			c.f.Size = 2
			for before := int64(0); ; {
				list, next, err := w.App.Events.Latest(t.Context(), c.actor, c.f, before)
				if err != nil || len(list) > 2 {
					t.Fatalf("%s: %d events, %v", name, len(list), err)
				}
				for _, e := range list {
					got = append(got, e.ID)
				}
				if before = next; next == 0 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	})
}
