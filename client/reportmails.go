package client

import (
	"context"
	"iter"
	"net/http"
)

// ReportMails are reports sent by e-mail every week or month.
type ReportMails struct{ c *connection }

// List returns one page of the list.
func (s *ReportMails) List(ctx context.Context, query ReportMailsQuery, page Page) ([]ReportMail, PageInfo, error) {
	return paged[[]ReportMail](ctx, s.c, s.c.resource("report-mails"), query, page)
}

// All iterates over the whole list.
func (s *ReportMails) All(ctx context.Context, query ReportMailsQuery) iter.Seq2[ReportMail, error] {
	return each[ReportMail](ctx, s.c, s.c.resource("report-mails"), query)
}

// Get returns a scheduled report.
func (s *ReportMails) Get(ctx context.Context, id int64, options ...CallOption) (ReportMail, error) {
	return get[ReportMail](ctx, s.c, s.c.resource("report-mails", id), nil, options...)
}

// Create schedules a report. It is created with the permissions of the caller.
func (s *ReportMails) Create(ctx context.Context, in ReportMailCreate, options ...CallOption) (ReportMail, error) {
	return create[ReportMail](ctx, s.c, s.c.resource("report-mails"), in, options)
}

// Change updates the fields that are not nil and leaves the others unchanged. Only the owner can do this.
func (s *ReportMails) Change(ctx context.Context, id int64, in ReportMailChange, options ...CallOption) (ReportMail, error) {
	return change[ReportMail](ctx, s.c, s.c.resource("report-mails", id), in, options)
}

// Delete deletes a scheduled report.
func (s *ReportMails) Delete(ctx context.Context, id int64, options ...CallOption) error {
	return remove(ctx, s.c, s.c.resource("report-mails", id), options)
}

// Pause stops sending until Resume.
func (s *ReportMails) Pause(ctx context.Context, id int64) (ReportMail, error) {
	return s.turn(ctx, id, "pause")
}

// Resume resumes a report that is paused or was stopped.
func (s *ReportMails) Resume(ctx context.Context, id int64) (ReportMail, error) {
	return s.turn(ctx, id, "resume")
}

// Send sends the report now, in addition to its schedule: the service creates it within a minute.
func (s *ReportMails) Send(ctx context.Context, id int64) (ReportMail, error) {
	return s.turn(ctx, id, "send")
}

func (s *ReportMails) turn(ctx context.Context, id int64, verb string) (ReportMail, error) {
	r := request{method: http.MethodPost, path: s.c.resource("report-mails", id, verb)}
	return one[ReportMail](ctx, s.c, r, nil, nil)
}
