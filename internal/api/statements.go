package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/protection"
	"holdfast/internal/domain/terms"
)

func (s *server) listStatements(c *call) error {
	q := c.query()
	page := q.Page(statements.StatementOrders)
	filter := statements.StatementFilter{
		Channels:   q.Ids("channels"),
		Issued:     q.Span(""),
		Periods:    input.Words(q, "statement_period", terms.StatementPeriods),
		Currencies: q.Codes("currencies"),
	}
	if q.Text("overdue") != "" {
		overdue := q.Flag("overdue", false)
		filter.Overdue = &overdue
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, now, err := s.app.Statements.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, func(i protection.IssuedStatement) any { return view.ShowStatement(i, now) })
}

func (s *server) getStatement(c *call) error {
	found, now, err := s.app.Statements.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: view.ShowStatement(found, now)})
}

func (s *server) listStatementLines(c *call) error {
	q := c.query()
	page := q.Page(nil)
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Statements.Lines(c.ctx, c.actor, c.id, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowStatementLine)
}

func (s *server) listStatementPayments(c *call) error {
	q := c.query()
	page := q.Page(statements.StatementPaymentOrders)
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Statements.Payments(c.ctx, c.actor, c.id, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowStatementPayment)
}

func (s *server) createStatementPayment(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := statements.StatementPaymentFields{
		PaidOn: in.Day("date"), Amount: in.Integer("total"), Currency: in.Currency("currencies"), Reference: in.Text("reference"),
	}
	fields.Problems = *in.Problems // after all fields are read
	made, created, err := s.app.Statements.Pay(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	// A payment has no address of its own: it is in the list of payments of its statement.
	c.Header().Set("Location", s.cfg.BaseURL+c.r.URL.EscapedPath())
	return c.show(status, object{body: view.ShowStatementPayment(made)})
}
