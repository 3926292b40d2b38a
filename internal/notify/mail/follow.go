package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"holdfast/internal/account/people"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// followBatch is how many events one write handles: few enough for a slow database to finish in time.
const followBatch = 50

// followTurns is how many rounds through the sites one call makes.
const followTurns = 100

// news are the event types that e-mails are about.
var news = append([]event.Type{event.TransactionCompleted, event.TransactionFailed, event.WebhookDisabled, event.ChannelProtectionAsked,
	event.ChannelProtectionAnswered, event.DisputeDue}, slices.Concat(failures, payouts)...)

// Follow queues the e-mails about events since the last call, a bounded number per call. It returns more if there may be
// some left. A site's mark advances in the same write that stores its e-mails, so a crash neither loses nor duplicates any,
// and with any number of processes each event gets its e-mails once. An error at one site does not stop the others: sites
// take turns, and the errors are joined. Running out of time is not an error.
func (m *Mails) Follow(ctx context.Context) (more bool, err error) {
	broken := map[int64]error{}
	for range followTurns {
		if more, err = m.turn(ctx, broken); err != nil || !more {
			break
		}
	}
	for _, site := range slices.Sorted(maps.Keys(broken)) {
		err = errors.Join(err, broken[site])
	}
	return more, err
}

// turn advances each site that is behind, except broken ones, and adds newly broken ones.
func (m *Mails) turn(ctx context.Context, broken map[int64]error) (more bool, err error) {
	var behind []sites.Clock
	err = m.Store.Read(ctx, store.Deployment, func(tx *store.Tx) (err error) {
		behind, err = sitesBehind(tx)
		return err
	})
	if err != nil {
		return false, err
	}
	for _, clock := range behind {
		if broken[clock.SiteID] != nil {
			continue
		}
		_, err := m.Events.Place(ctx, clock.SiteID)
		left := false
		if err == nil {
			left, err = m.followSite(ctx, clock)
		}
		switch {
		case ctx.Err() != nil:
			return true, nil
		case err != nil:
			broken[clock.SiteID] = fmt.Errorf("mails of site %d: %w", clock.SiteID, err)
		}
		more = more || left
	}
	return more, nil
}

// followSite continues in the feed of one site.
func (m *Mails) followSite(ctx context.Context, clock sites.Clock) (more bool, err error) {
	var at mark
	var to int64
	var list []Mail
	err = m.ReadBy(ctx, clock, func(tx *store.Tx) error {
		if at, err = markOf(tx, clock.SiteID); err != nil {
			return err
		}
		var due []event.Event
		if due, to, more, err = events.Behind(tx, clock.SiteID, at.position, news, followBatch); err != nil {
			return err
		}
		facts, err := readFacts(tx, clock.SiteID, due)
		if err != nil {
			return err
		}
		list = nil
		for _, e := range due {
			made, err := m.mailsAbout(tx, facts, e)
			if err != nil {
				return fmt.Errorf("event %d: %w", e.ID, err)
			}
			if e.ID <= at.unsureTo {
				doubt(made, sites.RealNow(tx))
			}
			if list = append(list, made...); len(list) >= m.Batch && e.Position < to {
				to, more = e.Position, true
				break
			}
		}
		return nil
	})
	if err != nil || to == at.position {
		return false, err
	}
	err = m.Store.Write(ctx, clock.SiteID, func(tx *store.Tx) error {
		ok, err := moveMark(tx, clock.SiteID, at.position, to)
		if err != nil || !ok { // another process was here
			return err
		}
		return insertMails(tx, list)
	})
	return more && err == nil, err
}

// mailsAbout creates the e-mails about one event.
func (m *Mails) mailsAbout(tx *store.Tx, f facts, e event.Event) ([]Mail, error) {
	switch {
	case e.Type == event.WebhookDisabled:
		return m.mailsAboutWebhook(tx, f.site, e)
	case e.Type == event.DisputeDue:
		return m.mailsAboutDispute(tx, f.site, e)
	case slices.Contains(payouts, e.Type):
		return m.mailsAboutPayout(tx, f.site, e)
	case slices.Contains(failures, e.Type):
		return m.mailsAboutInsolvency(tx, f.site, e)
	case !aboutPayment(e.Type):
		return m.mailsAboutProtection(tx, f.site, e)
	}
	h, known := f.happened(tx, e)
	if !known {
		return nil, nil // transactions are never deleted; a missing one gets no e-mail
	}
	h.outbox = m.onlyKept(f.site.Sandbox || h.payment.Simulated)
	return h.mails(tx)
}

// onlyKept reports whether a new e-mail is only shown, not sent. test means that no real money is involved.
func (m *Mails) onlyKept(test bool) bool { return m.Transport == nil || test && !m.Sandboxes }

// mailsAboutWebhook creates the e-mails about a disabled endpoint, for those who can fix it: none if it has since been
// enabled or deleted.
func (m *Mails) mailsAboutWebhook(tx *store.Tx, site merchant.Site, e event.Event) ([]Mail, error) {
	endpoint, err := webhooks.Stored(tx, site.ID, e.ObjectID)
	if errors.Is(err, store.ErrNotFound) || err == nil && endpoint.State != webhooks.Disabled {
		return nil, nil
	}
	var details event.Details
	if err == nil {
		err = json.Unmarshal(e.Details, &details)
	}
	if err != nil {
		return nil, err
	}
	readers, err := people.Managers(tx, site.ID, maxCopies)
	if err != nil {
		return nil, err
	}
	letter := Letter{
		Address: shortened(endpoint.URL),
	}
	if details.Reason != webhooks.WantsNoMore {
		letter.Days = int64(webhooks.TryFor / (24 * time.Hour))
	}
	return m.toStaff(tx, site, site.Sandbox, e, Webhook, readers, letter), nil
}

// shortened is a URL without its query, which may contain secrets: e-mail is not confidential.
func shortened(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.RawQuery = ""
	return u.String()
}

// doubt marks unsent e-mails as possibly sent.
func doubt(list []Mail, now time.Time) {
	for i := range list {
		if m := &list[i]; m.State == Waiting {
			m.State, m.Answer, m.NextAt, m.ForgetAt = Unknown, restoredAnswer, time.Time{}, now.Add(remember)
		}
	}
}

// restoredAnswer is the note on e-mails that may have been sent after the backup was taken.
const restoredAnswer = "The database was restored from a backup. This e-mail may have been sent after the backup was taken."
