package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// Events are what happened on the site, in one order that never changes.
type Events struct{ c *connection }

// Read reads a piece of the feed. Keep its Next and give it as After of the next query: so you get every event once. 410
// rest_cursor_gone says that events behind the cursor were removed; the error's Oldest is the cursor to go on with.
func (s *Events) Read(ctx context.Context, query EventsQuery) (Feed, error) {
	return get[Feed](ctx, s.c, s.c.resource("events"), query)
}

// Pages goes through the feed up to its end, piece by piece, each with the cursor behind it. An error ends it.
func (s *Events) Pages(ctx context.Context, query EventsQuery) iter.Seq2[Feed, error] {
	return func(yield func(Feed, error) bool) {
		for {
			feed, err := s.Read(ctx, query)
			if !yield(feed, err) || err != nil || !feed.HasMore {
				return
			}
			query.After = feed.Next
		}
	}
}

// Booking is the booking that an event is about, as it is now. It is nil if the booking is gone. The error says that the event
// is about something else.
func (e Event) Booking() (*Booking, error) { return subject[Booking](e, "booking") }

// Transaction is the transaction that an event is about, as it is now. The error says that the event is about something else.
func (e Event) Transaction() (*Transaction, error) { return subject[Transaction](e, "transaction") }

func subject[T any](e Event, kind string) (made *T, err error) {
	if e.ObjectType != kind {
		return nil, fmt.Errorf("event %d is about a %s, and not about a %s", e.ID, e.ObjectType, kind)
	}
	return made, json.Unmarshal(e.Object, &made)
}
