package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/limits"
	"holdfast/internal/domain/protection"
)

func (s *server) listLimits(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := limits.LimitFilter{
		Scopes: input.Words(q, "scope", protection.LimitScopes), Channels: q.Ids("channels"), Over: q.Flag("over", false),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Limits.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowLimitRow)
}

func (s *server) createLimit(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Limits.Set(c.ctx, c.actor, input.LimitFields(in))
		return waiting(made.Proposal, object{id: made.ID, body: view.ShowLimit(made)}), err
	})
}

func (s *server) getLimit(c *call) error {
	found, err := s.findLimit(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findLimit(c *call, id int64) (object, error) {
	found, err := s.app.Limits.Get(c.ctx, c.actor, id)
	return object{id: found.ID, body: view.ShowLimit(found)}, err
}

func (s *server) listLimitEvents(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := limits.LimitEvents{
		Scopes: input.Words(q, "scope", protection.LimitScopes), Channels: q.Ids("channels"),
		Recorded: q.Span(""),
	}
	percents := map[string]int64{"80": 80, "95": 95, "100": 100}
	filter.Percent = percents[q.One("percent", "", []string{"80", "95", "100"})]
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Limits.Events(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowLimitEvent)
}
