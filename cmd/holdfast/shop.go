package main

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdfast/internal/auth"
	"holdfast/internal/demo"
	"holdfast/internal/merchants"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/travel"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/modal"
)

// openShop makes the checkout page of the demo. The page knows only what a merchant knows: the address of the script, the
// channel and its secret, and the API.
func (p *program) openShop(w demo.World) error {
	name, integrity := p.modal.Script()
	merchant := merchants.SystemAt(w.Site)
	var channel travel.Channel
	for _, c := range w.Channels {
		if c.Name == demo.TestChannel {
			channel = c
		}
	}
	now := func(ctx context.Context) (time.Time, error) {
		shown, err := p.app.Clocks.Show(ctx, merchant)
		return shown.Now, err
	}
	shop, err := checkout.New(checkout.Config{
		Merchant: cmp.Or(channel.ReceiptLabel, w.Site.Name), Site: w.Site.Path, Channel: channel.ID,
		Script: p.base + modal.Path + name, Integrity: integrity, Cards: testCards(), Now: now,
		Sign: func(ctx context.Context, values map[string]string) (string, error) {
			stamp, err := now(ctx)
			if err != nil {
				return "", err
			}
			// The secret is read each time, so that a new one is used at once.
			c, err := p.app.Channels.Get(ctx, merchant, channel.ID)
			if err != nil {
				return "", err
			}
			secret, err := p.app.Channels.Secret(c)
			return auth.ModalString(secret, values, stamp), err
		},
		Outcome: func(ctx context.Context, booking int64) (checkout.Outcome, error) {
			return p.outcome(ctx, merchant, booking)
		},
	})
	p.shop = shop
	return err
}

// outcome finds the result of a payment as the API's description advises: it reads the booking, and then the last of
// its transactions.
func (p *program) outcome(ctx context.Context, merchant auth.Actor, booking int64) (checkout.Outcome, error) {
	b, err := p.app.Bookings.Get(ctx, merchant, booking)
	if err != nil || len(b.TransactionIDs) == 0 {
		return checkout.Outcome{Booking: b.ID}, err
	}
	t, err := p.app.Payments.Get(ctx, merchant, b.TransactionIDs[len(b.TransactionIDs)-1])
	return checkout.Outcome{Booking: b.ID, Transaction: t.ID, Status: string(t.Status), Content: t.Content}, err
}

// shopOrigins are the origins under which a browser on this machine may open the shop.
func (p *program) shopOrigins() []string {
	base, err := url.Parse(p.base)
	if err != nil {
		return nil
	}
	origins := []string{base.Scheme + "://" + base.Host}
	if ip := net.ParseIP(base.Hostname()); ip != nil && ip.IsLoopback() {
		origins = append(origins, base.Scheme+"://"+net.JoinHostPort("localhost", base.Port()))
	}
	return origins
}

// decks are the groups of test cards on the shop's page, with the beginning of their tokens.
var decks = []struct{ prefix, name string }{
	{"tok_declined", "Declined"}, {"tok_3ds", "Authentication (3DS)"}, {"tok_timeout", "No answer in time"},
	{"tok_answer", "No answer in time"}, {"tok_chargeback", "Charged back later"}, {"", "Approved"},
}

// testCards are the test cards of the sandbox processor, in the form that the shop's page needs.
func testCards() (list []checkout.Card) {
	for _, c := range sandbox.Cards {
		at := slices.IndexFunc(decks, func(d struct{ prefix, name string }) bool { return strings.HasPrefix(c.Token, d.prefix) })
		list = append(list, checkout.Card{Number: c.Number, Scheme: travel.Scheme(c.Scheme).Label(), What: c.What, Group: decks[at].name})
	}
	return list
}
