package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/book/bookings"
	"holdfast/internal/book/claims"
	"holdfast/internal/book/disputes"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/payments"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/booking"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/events"
	"holdfast/internal/store"
)

// apiVersion is the version of the API in addresses, and so that of the shapes in events.
const apiVersion = "v2"

// mostWait is the maximum number of seconds that a request waits for the next event. It is less than what a proxy in front waits for an
// answer, mostly.
const mostWait = 20

func (s *server) listEvents(c *call) error {
	q := c.query()
	wait := q.Number("wait", 0, 0, mostWait)
	f := events.Filter{
		After: q.Text("after"), Types: q.List("types"), Size: q.Number("per_page", input.DefaultPerPage, 1, events.MaxPage),
	}
	var err error
	if f.Kind, f.Object, err = event.ParseObject(q.Text("object")); err != nil {
		q.Problems.Wrong("object", "Must be an object such as booking:73.")
	}
	if _, ok := event.TypesOf(f.Types); !ok {
		q.Problems.Wrong("types", "Must be event types such as booking.created, or groups such as booking.*.")
	}
	if !events.IsCursor(f.After) {
		q.Problems.Wrong("after", "Must be the next of an earlier response, or now.")
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.nextEvents(c, f, time.Duration(wait)*time.Second)
	if err != nil {
		return err
	}
	shown, err := s.showEvents(c.ctx, c.actor, c.r.PathValue("site"), found.Items)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.Feed{Events: shown, Next: found.Next, HasMore: found.More})
	return nil
}

// nextEvents reads a page of the feed. If it would be empty, it waits for the next event, and releases its slot in the
// meantime.
func (s *server) nextEvents(c *call, f events.Filter, wait time.Duration) (events.Page, error) {
	if wait == 0 {
		return s.app.Events.List(c.ctx, c.actor, f)
	}
	caller := cmp.Or(c.actor.Caller(), c.caller)
	if err := c.acquire(s.door.watchers, caller, 1); err != nil {
		return events.Page{}, err
	}
	defer s.door.watchers.Release(caller, 1)
	watch := s.app.Events.Watch(c.actor.SiteID)
	defer watch.Close()
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	defer context.AfterFunc(s.stopping, cancel)()
	for happened := true; ; {
		found, err := s.app.Events.List(c.ctx, c.actor, f)
		if err != nil || len(found.Items) > 0 || found.More || !happened {
			return found, err
		}
		f.After = found.Next
		if err := c.aside(func() { happened = watch.Wait(ctx) }); err != nil {
			return events.Page{}, err
		}
		// The clock of a sandbox may have been moved in the meantime.
		site, err := s.app.Sites.Get(c.ctx, access.System(c.actor.SiteID), c.actor.SiteID)
		if err != nil {
			return events.Page{}, err
		}
		c.actor.Ahead = site.ClockAhead
	}
}

// Stop ends requests that wait for events: they are answered immediately. The program calls it when it stops, and otherwise
// would wait for them.
func (s Service) Stop() { s.stop() }

// ShowEvents returns events of a site as in the feed, each with its object in its current state. It is for webhooks;
// the objects contain no secrets.
func (s Service) ShowEvents(ctx context.Context, siteID int64, list []event.Event) ([]json.RawMessage, error) {
	site, err := s.app.Sites.Get(ctx, access.System(siteID), siteID)
	if err != nil {
		return nil, err
	}
	actor := access.System(siteID)
	actor.Ahead = site.ClockAhead
	shown, err := s.showEvents(ctx, actor, site.Path, list)
	texts := make([]json.RawMessage, len(shown))
	for i, event := range shown {
		if err == nil {
			texts[i], err = encoded(event)
		}
	}
	return texts, err
}

// showEvents gives events with their objects. It reads the objects of each kind together.
func (s *server) showEvents(ctx context.Context, actor access.Actor, site string, list []event.Event) ([]view.Happening, error) {
	ids := map[event.Kind][]int64{}
	for _, e := range list {
		ids[e.Type.Kind()] = append(ids[e.Type.Kind()], e.ObjectID)
	}
	v := objectView{s, ctx, actor, site}
	objects := map[event.Kind]map[int64]any{}
	for _, kind := range event.Kinds {
		if len(ids[kind]) == 0 {
			continue
		}
		var err error
		if objects[kind], err = v.of(kind, ids[kind]); err != nil && !errs.Is(err, errs.Forbidden) { // events are open to every role
			return nil, err
		}
	}
	shown := make([]view.Happening, len(list))
	for i, e := range list {
		kind := e.Type.Kind()
		shown[i] = view.Happening{
			ID: e.ID, Type: e.Type, APIVersion: apiVersion, Created: civil.FormatInstant(e.At), ObjectType: kind,
			ObjectID: e.ObjectID, Details: e.Details, Object: objects[kind][e.ObjectID],
		}
	}
	return shown, nil
}

// objectView shows objects of one site to one actor, in batches.
type objectView struct {
	*server
	ctx   context.Context
	actor access.Actor
	site  string // its path
}

// of gives the objects of a kind as the API shows them, by their ids. Deleted ones are missing.
func (v objectView) of(kind event.Kind, ids []int64) (map[int64]any, error) {
	page := store.Of(ids)
	switch kind {
	case event.Booking:
		today := civil.DayOf(v.app.DB.Clock().Add(v.actor.Ahead))
		found, err := v.app.Bookings.List(v.ctx, v.actor, bookings.BookingFilter{}, page)
		return byID(found.Items, err, func(b booking.Booking) (int64, any, error) {
			shape := bookingOn(b, today)
			shape.Links = v.linksAt(v.site, "bookings")(b.ID)
			return b.ID, shape, nil
		})
	case event.Webhook:
		found, err := v.app.Webhooks.List(v.ctx, v.actor)
		return byID(found, err, func(e webhooks.Endpoint) (int64, any, error) { return e.ID, view.ShowWebhook(e), nil })
	case event.Transaction:
		found, err := v.app.Disputes.Transactions(v.ctx, v.actor, payments.TransactionFilter{}, page)
		return byID(found.Items, err, func(t payment.Transaction) (int64, any, error) {
			shown, err := v.transactionObject(t, nil)
			return t.ID, shown.body, err
		})
	case event.Dispute:
		found, err := v.app.Disputes.List(v.ctx, v.actor, disputes.Filter{}, page)
		return byID(found.Items, err, func(c disputes.Case) (int64, any, error) { return c.ID, reports.ShowDispute(c), nil })
	case event.Payment:
		found, err := v.app.Payments.ListPayments(v.ctx, v.actor, payments.PaymentFilter{}, page)
		return byID(found.Items, err, func(p payment.Payment) (int64, any, error) { return p.ID, view.ShowPayment(p), nil })
	case event.LimitEvent:
		found, err := v.app.Limits.Events(v.ctx, v.actor, limits.LimitEvents{}, page)
		return byID(found.Items, err, func(e protection.LimitEvent) (int64, any, error) { return e.ID, view.ShowLimitEvent(e), nil })
	case event.Statement:
		found, now, err := v.app.Statements.List(v.ctx, v.actor, statements.StatementFilter{}, page)
		return byID(found.Items, err, func(s protection.IssuedStatement) (int64, any, error) { return s.ID, view.ShowStatement(s, now), nil })
	case event.Insolvency:
		found, err := v.app.Insolvencies.List(v.ctx, v.actor, insolvencies.Filter{}, page)
		return byID(found.Items, err, func(i insolvencies.Insolvency) (int64, any, error) { return i.ID, view.ShowInsolvency(i), nil })
	case event.Claim:
		found, err := v.app.Claims.List(v.ctx, v.actor, claims.Filter{}, page)
		return byID(found.Items, err, func(c claims.Claim) (int64, any, error) { return c.ID, reports.ShowClaim(c), nil })
	case event.Payout:
		found, err := v.app.Claims.Payouts(v.ctx, v.actor, claims.PayoutFilter{}, page)
		return byID(found.Items, err, func(p claims.Payout) (int64, any, error) { return p.ID, reports.ShowPayout(p), nil })
	case event.Recovery:
		found, err := v.app.Claims.Recoveries(v.ctx, v.actor, claims.RecoveryFilter{}, page)
		return byID(found.Items, err, func(r claims.Recovery) (int64, any, error) { return r.ID, reports.ShowRecovery(r), nil })
	case event.Channel:
		return v.channels(ids, page)
	case event.Proposal:
		found, err := v.app.Approvals.List(v.ctx, v.actor, approvals.Filter{}, page)
		return byID(found.Items, err, func(p proposal.Proposal) (int64, any, error) { return p.ID, view.ShowProposal(p), nil })
	default:
		return nil, fmt.Errorf("objects of the kind %q cannot be shown", kind)
	}
}

// channels gives channels without their secrets.
func (v objectView) channels(ids []int64, page store.Page) (map[int64]any, error) {
	found, err := v.app.Channels.List(v.ctx, v.actor, merchants.ChannelFilter{}, page)
	if err != nil {
		return nil, err
	}
	show, err := v.channelViewWith(v.ctx, v.actor, nil, found.Items)
	return byID(found.Items, err, func(c merchant.Channel) (int64, any, error) { return c.ID, show(c), nil })
}

// encoded is a shape as JSON, in the bytes in which answers have it.
func encoded(shape any) (json.RawMessage, error) {
	var text bytes.Buffer
	err := view.Encode(&text, shape)
	return bytes.TrimSpace(text.Bytes()), err
}

// byID shows items by their ids. It returns err as it is.
func byID[T any](items []T, err error, show func(T) (id int64, shape any, err error)) (map[int64]any, error) {
	if err != nil {
		return nil, err
	}
	shapes := map[int64]any{}
	for _, item := range items {
		id, shape, err := show(item)
		if err != nil {
			return nil, err
		}
		shapes[id] = shape
	}
	return shapes, nil
}
