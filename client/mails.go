package client

import (
	"context"
	"iter"
)

// Mails are receipts for travellers, and notifications to merchants about failures and chargebacks.
type Mails struct{ c *connection }

// List returns one page of mails.
func (s *Mails) List(ctx context.Context, query MailsQuery, page Page) ([]Mail, PageInfo, error) {
	return paged[[]Mail](ctx, s.c, s.c.resource("mails"), query, page)
}

// All iterates over all mails, page by page, and stops at the first error. Items added during the iteration may or may
// not be included.
func (s *Mails) All(ctx context.Context, query MailsQuery) iter.Seq2[Mail, error] {
	return each[Mail](ctx, s.c, s.c.resource("mails"), query)
}

// Get returns an e-mail with its text.
func (s *Mails) Get(ctx context.Context, id int64, options ...CallOption) (MailText, error) {
	return get[MailText](ctx, s.c, s.c.resource("mails", id), nil, options...)
}

// Resend sends an e-mail again that was sent or has failed.
func (s *Mails) Resend(ctx context.Context, id int64, options ...CallOption) (Mail, error) {
	return create[Mail](ctx, s.c, s.c.resource("mails", id, "resend"), nil, options)
}

// Test sends a test e-mail.
func (s *Mails) Test(ctx context.Context, in MailTest, options ...CallOption) (Mail, error) {
	return create[Mail](ctx, s.c, s.c.resource("mails", "test"), in, options)
}
