package client

import (
	"context"
	"iter"
	"net/http"
)

// Channels are the merchants of a site.
type Channels struct{ c *connection }

// List returns one page of channels.
func (s *Channels) List(ctx context.Context, query ChannelsQuery, page Page) ([]Channel, PageInfo, error) {
	return paged[[]Channel](ctx, s.c, s.c.resource("channels"), query, page)
}

// All iterates over all channels, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *Channels) All(ctx context.Context, query ChannelsQuery) iter.Seq2[Channel, error] {
	return each[Channel](ctx, s.c, s.c.resource("channels"), query)
}

// Get returns a channel.
func (s *Channels) Get(ctx context.Context, id int64, options ...CallOption) (Channel, error) {
	return get[Channel](ctx, s.c, s.c.resource("channels", id), nil, options...)
}

// Create creates a channel. Outside a sandbox, a change that opens cover has to be approved by a second person: the
// error is then a *WaitingError.
func (s *Channels) Create(ctx context.Context, in ChannelCreate, options ...CallOption) (Channel, error) {
	return create[Channel](ctx, s.c, s.c.resource("channels"), in, options)
}

// Change updates the fields that are not nil and leaves the others unchanged. Outside a sandbox, a change that opens
// cover has to be approved by a second person: the error is then a *WaitingError.
func (s *Channels) Change(ctx context.Context, id int64, in ChannelChange, options ...CallOption) (Channel, error) {
	return change[Channel](ctx, s.c, s.c.resource("channels", id), in, options)
}

// Delete deletes a channel. If the channel has bookings, the error code is rest_cannot_delete.
func (s *Channels) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("channels", id), options)
}

// RotateSecret replaces the secret of a channel immediately: auth strings signed with the previous secret are rejected.
// If the response is lost, Get returns the secret.
func (s *Channels) RotateSecret(ctx context.Context, id int64, options ...CallOption) (ChannelSecret, error) {
	r := request{method: http.MethodPost, path: s.c.resource("channels", id, "secret")}
	return one[ChannelSecret](ctx, s.c, r, nil, options)
}

// Suppliers provide parts of trips.
type Suppliers struct{ c *connection }

// List returns one page of suppliers.
func (s *Suppliers) List(ctx context.Context, query SuppliersQuery, page Page) ([]Supplier, PageInfo, error) {
	return paged[[]Supplier](ctx, s.c, s.c.resource("suppliers"), query, page)
}

// All iterates over all suppliers, page by page, and stops at the first error. Items added during the iteration may or
// may not be included.
func (s *Suppliers) All(ctx context.Context, query SuppliersQuery) iter.Seq2[Supplier, error] {
	return each[Supplier](ctx, s.c, s.c.resource("suppliers"), query)
}

// Get returns a supplier.
func (s *Suppliers) Get(ctx context.Context, id int64, options ...CallOption) (Supplier, error) {
	return get[Supplier](ctx, s.c, s.c.resource("suppliers", id), nil, options...)
}

// Create creates a supplier. Only operators can.
func (s *Suppliers) Create(ctx context.Context, in SupplierCreate, options ...CallOption) (Supplier, error) {
	return create[Supplier](ctx, s.c, s.c.resource("suppliers"), in, options)
}

// Change updates the fields that are not nil and leaves the others unchanged. Only operators can.
func (s *Suppliers) Change(ctx context.Context, id int64, in SupplierChange, options ...CallOption) (Supplier, error) {
	return change[Supplier](ctx, s.c, s.c.resource("suppliers", id), in, options)
}

// Delete deletes a supplier that no booking or channel uses. Only operators can.
func (s *Suppliers) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("suppliers", id), options)
}

// Sites are the customers of the service. A client sees the site that it was created for; an operator sees all sites.
type Sites struct{ c *connection }

// List returns one page of sites.
func (s *Sites) List(ctx context.Context, query SitesQuery, page Page) ([]Site, PageInfo, error) {
	return paged[[]Site](ctx, s.c, s.c.resource("sites"), query, page)
}

// All iterates over all sites, page by page, and stops at the first error. Items added during the iteration may or may
// not be included.
func (s *Sites) All(ctx context.Context, query SitesQuery) iter.Seq2[Site, error] {
	return each[Site](ctx, s.c, s.c.resource("sites"), query)
}

// Get returns a site.
func (s *Sites) Get(ctx context.Context, id int64, options ...CallOption) (Site, error) {
	return get[Site](ctx, s.c, s.c.resource("sites", id), nil, options...)
}

// Change updates the fields that are not nil and leaves the others unchanged. PermittedURLs are the origins where the
// payment modal may open.
func (s *Sites) Change(ctx context.Context, id int64, in SiteChange, options ...CallOption) (Site, error) {
	return change[Site](ctx, s.c, s.c.resource("sites", id), in, options)
}

// Tokens are the API tokens of the site, two at most.
type Tokens struct{ c *connection }

// List returns all tokens, without their secrets.
func (s *Tokens) List(ctx context.Context) ([]Token, error) {
	return get[[]Token](ctx, s.c, s.c.siteAddress("api-tokens"), nil)
}

// Create creates an API token. Its secret is only in this response. The request is never repeated, so a lost response
// leaves an unused token behind: find it with List and remove it with Delete.
func (s *Tokens) Create(ctx context.Context, in TokenInput) (TokenCreated, error) {
	r := request{method: http.MethodPost, path: s.c.siteAddress("api-tokens"), noKey: true}
	return one[TokenCreated](ctx, s.c, r, in, nil)
}

// Delete revokes a token immediately.
func (s *Tokens) Delete(ctx context.Context, id int64) error {
	return remove(ctx, s.c, s.c.siteAddress("api-tokens", id), nil)
}

// DeleteAll revokes all tokens of the site immediately, including the one this client uses.
func (s *Tokens) DeleteAll(ctx context.Context) error {
	return remove(ctx, s.c, s.c.siteAddress("api-tokens"), nil)
}
