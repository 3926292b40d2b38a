package client

import (
	"context"
	"iter"
	"net/http"
)

// ReportMails are reports that go to people by mail, each week or month.
type ReportMails struct{ c *connection }

// List reads a page of the list.
func (s *ReportMails) List(ctx context.Context, query ReportMailsQuery, page Page) ([]ReportMail, PageInfo, error) {
	return paged[[]ReportMail](ctx, s.c, s.c.resource("report-mails"), query, page)
}

// All goes through the whole list.
func (s *ReportMails) All(ctx context.Context, query ReportMailsQuery) iter.Seq2[ReportMail, error] {
	return each[ReportMail](ctx, s.c, s.c.resource("report-mails"), query)
}

// Get reads one.
func (s *ReportMails) Get(ctx context.Context, id int64, options ...CallOption) (ReportMail, error) {
	return get[ReportMail](ctx, s.c, s.c.resource("report-mails", id), nil, options...)
}

// Create orders one. It is made with the rights of the caller.
func (s *ReportMails) Create(ctx context.Context, in ReportMailCreate, options ...CallOption) (ReportMail, error) {
	return create[ReportMail](ctx, s.c, s.c.resource("report-mails"), in, options)
}

// Change changes the fields that are not nil, and no others. Only the owner can.
func (s *ReportMails) Change(ctx context.Context, id int64, in ReportMailChange, options ...CallOption) (ReportMail, error) {
	return change[ReportMail](ctx, s.c, s.c.resource("report-mails", id), in, options)
}

// Delete ends one.
func (s *ReportMails) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("report-mails", id), options)
}

// Pause lets no mail go out until Resume.
func (s *ReportMails) Pause(ctx context.Context, id int64) (ReportMail, error) {
	return s.turn(ctx, id, "pause")
}

// Resume lets one go on that is paused or was stopped.
func (s *ReportMails) Resume(ctx context.Context, id int64) (ReportMail, error) {
	return s.turn(ctx, id, "resume")
}

// Send sends one at once, too: the service makes it within a minute.
func (s *ReportMails) Send(ctx context.Context, id int64) (ReportMail, error) {
	return s.turn(ctx, id, "send")
}

func (s *ReportMails) turn(ctx context.Context, id int64, verb string) (ReportMail, error) {
	r := request{method: http.MethodPost, path: s.c.resource("report-mails", id, verb)}
	return one[ReportMail](ctx, s.c, r, nil, nil)
}
