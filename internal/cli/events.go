package cli

import (
	"context"
	"encoding/json"

	"holdfast/internal/api"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/errs"
	feed "holdfast/internal/platform/events"
	"holdfast/internal/store"
)

// eventsCmd groups the event commands.
type eventsCmd struct {
	List eventsListCmd `cmd:"" help:"List the latest events, or those after a cursor, oldest first."`
}

// eventsListCmd reads the feed of events.
type eventsListCmd struct {
	siteFlag
	formFlags
	After  string   `placeholder:"CURSOR" help:"Start after this cursor, or \"now\" for the end of the feed (default: the latest events)."`
	Types  []string `placeholder:"TYPE" help:"Only these types, such as booking.paid or transaction.*."`
	Object string   `placeholder:"KIND:ID" help:"Only events of this object, such as booking:73."`
	Limit  int      `default:"100" placeholder:"N" help:"Maximum number of events to print (default: 100; 0 for all)."`
}

// shownEvent is an event with its JSON from the API.
type shownEvent struct {
	event.Event
	shape json.RawMessage
}

// Run prints the events, and below a table the cursor to continue with.
func (c eventsListCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	f := feed.Filter{After: c.After, Types: c.Types}
	if f.Kind, f.Object, err = event.ParseObject(c.Object); err != nil {
		return err
	}
	if c.Limit < 0 {
		return errs.WrongField("limit", "Enter a number of events, or 0 for all.")
	}
	if c.Limit > 0 && c.After == "" {
		if f.After, err = p.beforeLatest(ctx, actor, f, c.Limit); err != nil {
			return err
		}
	}
	show, left := api.New(p.app, api.Config{}), c.Limit
	list := listing[shownEvent]{
		read: func(actor access.Actor, page store.Page) (list store.List[shownEvent], err error) {
			for more := true; more && len(list.Items) < page.Size && (c.Limit == 0 || left > 0); {
				if f.Size = min(feed.MaxPage, page.Size-len(list.Items)); c.Limit > 0 {
					f.Size = min(f.Size, left)
				}
				found, err := p.app.Events.List(ctx, actor, f)
				if err != nil {
					return list, err
				}
				shapes, err := show.ShowEvents(ctx, actor.SiteID, found.Items)
				if err != nil {
					return list, err
				}
				for i, e := range found.Items {
					list.Items = append(list.Items, shownEvent{e, shapes[i]})
				}
				f.After, more, left = found.Next, found.More, left-len(found.Items)
			}
			return list, nil
		},
		shape:   func(e shownEvent) any { return e.shape },
		columns: columnsOf("id at type object details"),
		row: func(e shownEvent) []cell {
			return []cell{
				ident(e.ID), instant(e.At), words(string(e.Type)), words(event.ObjectText(e.Event)), words(string(e.Details)),
			}
		},
		none: "No events.",
	}
	if err := list.inOrder(actor, 0, false, list.printer(p, c.formFlags, p.now(actor))); err != nil {
		return err
	}
	if !c.JSON && !c.CSV {
		p.printf("Continue with --after %s\n", f.After)
	}
	return nil
}

// beforeLatest returns the cursor before the latest events that match the filter; number says how many.
func (p *program) beforeLatest(ctx context.Context, actor access.Actor, f feed.Filter, number int) (cursor string, err error) {
	before, left := int64(0), number
	for {
		f.Size = min(feed.MaxPage, left)
		found, next, err := p.app.Events.Latest(ctx, actor, f, before)
		if err != nil || next == 0 {
			return "", err // there are no more events: show the feed from its beginning
		}
		if left -= len(found); left <= 0 {
			return p.app.Events.Before(ctx, actor, found[len(found)-1])
		}
		before = next
	}
}
