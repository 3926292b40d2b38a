package client

import (
	"context"
	"iter"
	"net/http"
)

// Channels are the merchants of a site.
type Channels struct{ c *connection }

// List reads one page of channels.
func (s *Channels) List(ctx context.Context, query ChannelsQuery, page Page) ([]Channel, PageInfo, error) {
	return paged[[]Channel](ctx, s.c, s.c.resource("channels"), query, page)
}

// All goes through all of channels, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Channels) All(ctx context.Context, query ChannelsQuery) iter.Seq2[Channel, error] {
	return each[Channel](ctx, s.c, s.c.resource("channels"), query)
}

// Get reads a channel.
func (s *Channels) Get(ctx context.Context, id int64, options ...CallOption) (Channel, error) {
	return get[Channel](ctx, s.c, s.c.resource("channels", id), nil, options...)
}

// Create makes a channel. Outside a sandbox, what opens cover waits for another person: then the error is a
// *WaitingError.
func (s *Channels) Create(ctx context.Context, in ChannelCreate, options ...CallOption) (Channel, error) {
	return create[Channel](ctx, s.c, s.c.resource("channels"), in, options)
}

// Change changes the fields that are not nil, and no others. Outside a sandbox, what opens cover waits for another
// person: then the error is a *WaitingError.
func (s *Channels) Change(ctx context.Context, id int64, in ChannelChange, options ...CallOption) (Channel, error) {
	return change[Channel](ctx, s.c, s.c.resource("channels", id), in, options)
}

// Delete deletes a channel. One with bookings is not deleted: rest_cannot_delete.
func (s *Channels) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("channels", id), options)
}

// RotateSecret replaces the secret of a channel at once: auth strings of the secret before are refused. If its answer is
// lost, Get shows the secret.
func (s *Channels) RotateSecret(ctx context.Context, id int64, options ...CallOption) (ChannelSecret, error) {
	r := request{method: http.MethodPost, path: s.c.resource("channels", id, "secret")}
	return one[ChannelSecret](ctx, s.c, r, nil, options)
}

// Suppliers provide parts of trips.
type Suppliers struct{ c *connection }

// List reads one page of suppliers.
func (s *Suppliers) List(ctx context.Context, query SuppliersQuery, page Page) ([]Supplier, PageInfo, error) {
	return paged[[]Supplier](ctx, s.c, s.c.resource("suppliers"), query, page)
}

// All goes through all of suppliers, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Suppliers) All(ctx context.Context, query SuppliersQuery) iter.Seq2[Supplier, error] {
	return each[Supplier](ctx, s.c, s.c.resource("suppliers"), query)
}

// Get reads a supplier.
func (s *Suppliers) Get(ctx context.Context, id int64, options ...CallOption) (Supplier, error) {
	return get[Supplier](ctx, s.c, s.c.resource("suppliers", id), nil, options...)
}

// Create makes a supplier. Only the operator may.
func (s *Suppliers) Create(ctx context.Context, in SupplierCreate, options ...CallOption) (Supplier, error) {
	return create[Supplier](ctx, s.c, s.c.resource("suppliers"), in, options)
}

// Change changes the fields that are not nil, and no others. Only the operator may.
func (s *Suppliers) Change(ctx context.Context, id int64, in SupplierChange, options ...CallOption) (Supplier, error) {
	return change[Supplier](ctx, s.c, s.c.resource("suppliers", id), in, options)
}

// Delete deletes a supplier that no booking and no channel has. Only the operator may.
func (s *Suppliers) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("suppliers", id), options)
}

// Sites are the customers of the service. A client sees the one of its address, and an operator all.
type Sites struct{ c *connection }

// List reads one page of sites.
func (s *Sites) List(ctx context.Context, query SitesQuery, page Page) ([]Site, PageInfo, error) {
	return paged[[]Site](ctx, s.c, s.c.resource("sites"), query, page)
}

// All goes through all of sites, page by page. An error ends it. A list that grows meanwhile may end with the new
// items, or without.
func (s *Sites) All(ctx context.Context, query SitesQuery) iter.Seq2[Site, error] {
	return each[Site](ctx, s.c, s.c.resource("sites"), query)
}

// Get reads a site.
func (s *Sites) Get(ctx context.Context, id int64, options ...CallOption) (Site, error) {
	return get[Site](ctx, s.c, s.c.resource("sites", id), nil, options...)
}

// Change changes the fields that are not nil, and no others. PermittedURLs are the origins on which the payment modal
// may open.
func (s *Sites) Change(ctx context.Context, id int64, in SiteChange, options ...CallOption) (Site, error) {
	return change[Site](ctx, s.c, s.c.resource("sites", id), in, options)
}

// Tokens are the API tokens of the site, two at most.
type Tokens struct{ c *connection }

// List reads all of them, without their secrets.
func (s *Tokens) List(ctx context.Context) ([]Token, error) {
	return get[[]Token](ctx, s.c, s.c.siteAddress("api-tokens"), nil)
}

// Create makes an API token, which only this answer shows. It is never sent twice, so a lost answer leaves a token behind:
// List shows it, and Delete removes it.
func (s *Tokens) Create(ctx context.Context, in TokenInput) (TokenCreated, error) {
	r := request{method: http.MethodPost, path: s.c.siteAddress("api-tokens"), noKey: true}
	return one[TokenCreated](ctx, s.c, r, in, nil)
}

// Delete ends a token at once.
func (s *Tokens) Delete(ctx context.Context, id int64) error {
	return remove(ctx, s.c, s.c.siteAddress("api-tokens", id), nil)
}

// DeleteAll ends all tokens of the site at once, the one of this client included.
func (s *Tokens) DeleteAll(ctx context.Context) error {
	return remove(ctx, s.c, s.c.siteAddress("api-tokens"), nil)
}
