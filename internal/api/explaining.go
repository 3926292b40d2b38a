package api

import (
	"net/http"

	"holdfast/internal/api/shapes"
	"holdfast/internal/reports"
)

func (s *server) getBookingProtection(c *call) error {
	q := c.query()
	in := reports.ProtectionQuery{Moment: shapes.Moment(q)}
	page := q.Part()
	in.Problems = q.Problems
	report, err := s.app.Protection.ExplainBooking(c.ctx, c.actor, c.id, in, page)
	if err != nil {
		return err
	}
	if err := paging(s, c, page, report.Allocations); err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowBookingProtection(report))
	return nil
}

func (s *server) getStatementLineProtection(c *call) error {
	q := c.query()
	in := reports.StatementLineQuery{Line: c.r.PathValue("line"), Page: q.Part()}
	in.Moment = shapes.Moment(q)
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
	c.json(http.StatusOK, shapes.ShowStatementLineProtection(report))
	return nil
}
