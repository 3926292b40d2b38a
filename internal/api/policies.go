package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/civil"
)

func (s *server) listPolicies(c *call) error {
	q := c.query()
	page := q.Page(merchants.PolicyOrders)
	var on *civil.Day
	if day := q.Day("on"); day != civil.NoDay {
		on = &day
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Policies.List(c.ctx, c.actor, on, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowPolicy)
}

func (s *server) getPolicy(c *call) error {
	found, err := s.findPolicy(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findPolicy(c *call, id int64) (object, error) {
	found, err := s.app.Policies.Get(c.ctx, c.actor, id)
	return object{id: found.ID, body: view.ShowPolicy(found)}, err
}

func (s *server) createPolicy(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Policies.Set(c.ctx, c.actor, input.PolicyFields(in))
		return waiting(made.Proposal, object{id: made.ID, body: view.ShowPolicy(made)}), err
	})
}
