package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/store"
)

// webhookCmd groups the webhook commands.
type webhookCmd struct {
	Create webhookCreateCmd `cmd:"" help:"Create a webhook. Its signing secret is shown only once."`
	Set    webhookSetCmd    `cmd:"" help:"Update, enable or disable a webhook."`
	List   webhookListCmd   `cmd:"" help:"List a site's webhooks."`
	Delete webhookDeleteCmd `cmd:"" help:"Delete a webhook and its pending deliveries."`
	Rotate webhookRotateCmd `cmd:"" help:"Create a new signing secret. The old one stays valid for 24 hours."`
	Test   webhookTestCmd   `cmd:"" help:"Send a webhook.test event."`
	Log    webhookLogCmd    `cmd:"" help:"List a webhook's deliveries, or show one delivery and its attempts."`
	Replay webhookReplayCmd `cmd:"" help:"Resend an event, or all events in a period."`
}

// oneWebhook selects a webhook.
type oneWebhook struct {
	siteFlag
	ID int64 `arg:"" help:"Webhook id."`
}

// typesOf parses comma-separated event types.
func typesOf(text *string) *[]string {
	if text == nil {
		return nil
	}
	types := strings.FieldsFunc(*text, func(r rune) bool { return r == ',' || r == ' ' })
	return &types
}

// webhookCreateCmd creates a webhook.
type webhookCreateCmd struct {
	siteFlag
	URL   string  `arg:"" help:"Endpoint URL, such as https://shop.example/webhooks."`
	Types *string `placeholder:"TYPE,…" help:"Event types to send, such as booking.*,transaction.completed (default: all)."`
}

// Run creates it.
func (c webhookCreateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	made, err := p.app.Webhooks.Create(ctx, actor, webhooks.EndpointFields{URL: &c.URL, Types: typesOf(c.Types)})
	if err != nil {
		return err
	}
	p.printf("Created webhook %d\n", made.ID)
	p.tellSecret(made)
	return nil
}

func (p *program) tellSecret(e webhooks.Endpoint) {
	p.printf("Signing secret (shown only once): %s\n", e.Secret)
}

// webhookSetCmd updates a webhook. Fields without a flag do not change.
type webhookSetCmd struct {
	oneWebhook
	URL     *string `name:"url" help:"Endpoint URL."`
	Types   *string `placeholder:"TYPE,…" help:"Event types to send. An empty value means all."`
	Enabled *bool   `negatable:"" help:"Enable or disable the webhook. When enabled again, it continues where it stopped."`
}

// Run changes it.
func (c webhookSetCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := webhooks.EndpointFields{URL: c.URL, Types: typesOf(c.Types), Enabled: c.Enabled}
	changed, err := p.app.Webhooks.Change(ctx, actor, c.ID, in)
	if err != nil {
		return err
	}
	p.printf("Webhook %d is %s\n", changed.ID, changed.State)
	return nil
}

// webhookListCmd lists webhooks.
type webhookListCmd struct{ listFlags }

// Run prints them.
func (c webhookListCmd) Run(ctx context.Context, p *program) error {
	return printList(ctx, p, c.listFlags, listing[webhooks.Endpoint]{
		read: func(actor access.Actor, _ store.Page) (store.List[webhooks.Endpoint], error) {
			list, err := p.app.Webhooks.List(ctx, actor) // a site has few: one page has them all
			return store.List[webhooks.Endpoint]{Items: list, Total: int64(len(list))}, err
		},
		shape:   func(e webhooks.Endpoint) any { return view.ShowWebhook(e) },
		columns: columnsOf("id url types state reason"),
		row: func(e webhooks.Endpoint) []cell {
			return []cell{ident(e.ID), words(e.URL), words(strings.Join(e.Types, " ")), words(string(e.State)), words(e.Reason)}
		},
		none: "No webhooks.",
	})
}

// webhookDeleteCmd deletes a webhook.
type webhookDeleteCmd struct{ oneWebhook }

// Run deletes it.
func (c webhookDeleteCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if err := p.app.Webhooks.Delete(ctx, actor, c.ID, 0); err != nil {
		return err
	}
	p.printf("Deleted webhook %d\n", c.ID)
	return nil
}

// webhookRotateCmd makes a new secret.
type webhookRotateCmd struct {
	oneWebhook
	Now bool `help:"Expire the old secret immediately, because it has leaked."`
}

// Run makes it.
func (c webhookRotateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	changed, err := p.app.Webhooks.Rotate(ctx, actor, c.ID, 0, c.Now)
	if err != nil {
		return err
	}
	p.printf("Created a new signing secret for webhook %d\n", changed.ID)
	p.tellSecret(changed)
	return nil
}

// webhookTestCmd records a test event.
type webhookTestCmd struct{ oneWebhook }

// Run records it.
func (c webhookTestCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if _, err := p.app.Webhooks.Test(ctx, actor, c.ID); err != nil {
		return err
	}
	p.printf("Queued a test event for webhook %d. See `holdfast webhook log %d`.\n", c.ID, c.ID)
	return nil
}

// webhookLogCmd shows the log.
type webhookLogCmd struct {
	oneWebhook
	formFlags
	orderFlags
	Delivery int64 `placeholder:"ID" help:"Show this delivery and its attempts."`
}

// Run prints the log, or one delivery.
func (c webhookLogCmd) Run(ctx context.Context, p *program) error {
	if c.Delivery != 0 {
		return c.one(ctx, p)
	}
	return printList(ctx, p, listFlags{c.siteFlag, c.formFlags, c.orderFlags}, listing[webhooks.Delivery]{
		read: func(actor access.Actor, page store.Page) (store.List[webhooks.Delivery], error) {
			return p.app.Webhooks.Deliveries(ctx, actor, c.ID, webhooks.DeliveryFilter{}, page)
		},
		shape:   func(d webhooks.Delivery) any { return view.ShowDelivery(d) },
		columns: columnsOf("id event type object state attempts made done"),
		row: func(d webhooks.Delivery) []cell {
			return []cell{ident(d.ID), ident(d.EventID), words(string(d.Type)), words(fmt.Sprintf("%s:%d", d.Kind, d.ObjectID)),
				words(string(d.State)), count(d.Attempts), instant(d.MadeAt), never(d.DoneAt)}
		},
		none: "No deliveries.",
	})
}

func (c webhookLogCmd) one(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	d, attempts, err := p.app.Webhooks.Delivery(ctx, actor, c.ID, c.Delivery)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(view.ShowDeliveryWith(d, attempts))
	}
	p.printf("Delivery %d of event %d, %s: %s\n", d.ID, d.EventID, d.Type, d.State)
	for _, a := range attempts {
		said := fmt.Sprintf("status %d", a.Status)
		if a.Status == 0 {
			said = a.Error
		}
		p.printf("%s GMT  %s  %s\n", civil.FormatInstant(a.At), a.Took.Round(time.Millisecond), said)
	}
	return nil
}

// webhookReplayCmd sends events again.
type webhookReplayCmd struct {
	oneWebhook
	Event *int64    `placeholder:"ID" help:"Event to resend."`
	From  time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Resend events from this time (GMT, site clock)."`
	To    time.Time `placeholder:"\"YYYY-MM-DD HH:MM:SS\"" help:"Resend events up to this time (GMT, site clock)."`
}

// Run sends them.
func (c webhookReplayCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	in := webhooks.ReplayFields{Event: c.Event}
	if !c.From.IsZero() {
		in.From = &c.From
	}
	if !c.To.IsZero() {
		in.To = &c.To
	}
	n, err := p.app.Webhooks.Replay(ctx, actor, c.ID, in)
	if err != nil {
		return err
	}
	p.printf("Resending %s to webhook %d\n", counted(int64(n), "event"), c.ID)
	return nil
}
