package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/report"
)

func (s *server) getBookingProtection(c *call) error {
	q := c.query()
	in := report.ProtectionQuery{Moment: input.Moment(q)}
	page := q.Part()
	in.Problems = q.Problems
	report, err := s.app.Protection.ExplainBooking(c.ctx, c.actor, c.id, in, page)
	if err != nil {
		return err
	}
	if err := paging(s, c, page, report.Allocations); err != nil {
		return err
	}
	c.json(http.StatusOK, view.ShowBookingProtection(report))
	return nil
}

func (s *server) getStatementLineProtection(c *call) error {
	q := c.query()
	in := report.StatementLineQuery{Line: c.r.PathValue("line"), Page: q.Part()}
	in.Moment = input.Moment(q)
	in.Problems = q.Problems
	report, err := s.app.Protection.ExplainStatementLine(c.ctx, c.actor, c.id, in)
	if err != nil {
		return err
	}
	if report.Payments.Items != nil || report.Payments.PastEnd {
		err = paging(s, c, in.Page, report.Payments)
	} else {
		err = paging(s, c, in.Page, report.Premium)
	}
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.ShowStatementLineProtection(report))
	return nil
}
