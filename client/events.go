package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
)

// Events are what happened on the site, in an order that never changes.
type Events struct{ c *connection }

// Read returns part of the feed. Store its Next and pass it as After of the next query to get every event once. 410
// rest_cursor_gone means that events after the cursor have been deleted; the error's Oldest is the cursor to continue
// from.
func (s *Events) Read(ctx context.Context, query EventsQuery) (Feed, error) {
	return get[Feed](ctx, s.c, s.c.resource("events"), query)
}

// Pages iterates over the feed until its end, page by page, each with the cursor after it. It stops at the first error.
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

// Booking returns the booking of an event in its current state, or nil if the booking has been deleted. It returns an
// error if the event is about something else.
func (e Event) Booking() (*Booking, error) { return subject[Booking](e, "booking") }

// Transaction returns the transaction of an event in its current state. It returns an error if the event is about
// something else.
func (e Event) Transaction() (*Transaction, error) { return subject[Transaction](e, "transaction") }

func subject[T any](e Event, kind string) (made *T, err error) {
	if e.ObjectType != kind {
		return nil, fmt.Errorf("event %d is about a %s, and not about a %s", e.ID, e.ObjectType, kind)
	}
	return made, json.Unmarshal(e.Object, &made)
}
