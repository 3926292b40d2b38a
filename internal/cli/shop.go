package cli

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdfast/client"
	"holdfast/internal/book/merchants"
	"holdfast/internal/demo"
	"holdfast/internal/domain/card"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/psp/sandbox"
	"holdfast/internal/web/checkout"
	"holdfast/internal/web/modal"
	"holdfast/internal/web/outbox"
)

// openShop creates the demo's checkout page. The page only knows what a merchant knows: the URL of the script, the channel and
// its secret, and the API, which it calls over the network like any merchant's server.
func (p *program) openShop(w demo.World, addr net.Addr) error {
	if err := p.makeModal(); err != nil {
		return err
	}
	name, integrity := p.modal.Script()
	var channel merchant.Channel
	for _, c := range w.Channels {
		if c.Name == demo.TestChannel {
			channel = c
		}
	}
	// Not the public URL: its proxy may not be running yet.
	service, err := client.New(Config{}.baseURL(addr), w.Site.Path, client.APIToken(w.Token),
		client.WithSegments(p.RESTRoot, p.Namespace), client.WithTimeout(shopTimeout), client.WithPatience(shopPatience))
	if err != nil {
		return err
	}
	shop, err := checkout.New(checkout.Config{
		Merchant: cmp.Or(channel.ReceiptLabel, w.Site.Name), Site: w.Site.Path, Channel: channel.ID,
		Script: p.base + modal.Path + name, Integrity: integrity, Cards: testCards(),
		API: service, Channels: p.app.Channels, As: merchants.SystemAt(w.Site),
	})
	p.shop = shop
	return err
}

// Page loads should not wait long.
const shopTimeout, shopPatience = 10 * time.Second, 2 * time.Second

// openOutbox creates the pages that show the demo's mails.
func (p *program) openOutbox(w demo.World) error {
	pages, err := outbox.New(p.app.Mails, merchants.SystemAt(w.Site))
	p.outbox = pages
	return err
}

// shopOrigins returns the origins at which a browser on this machine may open the shop.
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

// decks are the groups of test cards on the shop's page, by token prefix.
var decks = []struct{ prefix, name string }{
	{"tok_declined", "Declined"}, {"tok_3ds", "Authentication (3DS)"}, {"tok_timeout", "Timeout"},
	{"tok_answer", "Timeout"}, {"tok_chargeback", "Charged back later"}, {"", "Approved"},
}

// testCards returns the sandbox processor's test cards for the shop's page.
func testCards() (list []checkout.Card) {
	for _, c := range sandbox.Cards {
		at := slices.IndexFunc(decks, func(d struct{ prefix, name string }) bool { return strings.HasPrefix(c.Token, d.prefix) })
		list = append(list, checkout.Card{Number: c.Number, Scheme: card.Scheme(c.Scheme).Label(), What: c.What, Group: decks[at].name})
	}
	return list
}
