package client

import (
	"context"
	"iter"
)

// Mails are receipts to travellers, and notes to merchants about failures and chargebacks.
type Mails struct{ c *connection }

// List reads one page of mails.
func (s *Mails) List(ctx context.Context, query MailsQuery, page Page) ([]Mail, PageInfo, error) {
	return paged[[]Mail](ctx, s.c, s.c.resource("mails"), query, page)
}

// All goes through all of mails, page by page. An error ends it. A list that grows meanwhile may end with the new items, or
// without.
func (s *Mails) All(ctx context.Context, query MailsQuery) iter.Seq2[Mail, error] {
	return each[Mail](ctx, s.c, s.c.resource("mails"), query)
}

// Get reads a mail with its text.
func (s *Mails) Get(ctx context.Context, id int64, options ...CallOption) (MailText, error) {
	return get[MailText](ctx, s.c, s.c.resource("mails", id), nil, options...)
}

// Resend has a mail sent again that is over.
func (s *Mails) Resend(ctx context.Context, id int64, options ...CallOption) (Mail, error) {
	return create[Mail](ctx, s.c, s.c.resource("mails", id, "resend"), nil, options)
}

// Test has a test mail sent.
func (s *Mails) Test(ctx context.Context, in MailTest, options ...CallOption) (Mail, error) {
	return create[Mail](ctx, s.c, s.c.resource("mails", "test"), in, options)
}
