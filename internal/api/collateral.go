package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
)

func (s *server) listCollateral(c *call) error {
	q := c.query()
	page := q.Page(nil)
	history := q.Flag("history", false)
	channels, moment := q.Ids("channels"), input.Moment(q)
	if err := q.Err(); err != nil {
		return err
	}
	// history returns all rows ever written. Without it, the response is the collateral held at a moment.
	if history {
		found, err := s.app.Collaterals.List(c.ctx, c.actor, channels, page)
		if err != nil {
			return err
		}
		return list(s, c, page, found, view.ShowCollateral)
	}
	found, err := s.app.Collaterals.Held(c.ctx, c.actor, moment, q.Problems, channels, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowCollateral)
}

func (s *server) getCollateral(c *call) error {
	found, err := s.findCollateral(c, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, found)
}

func (s *server) findCollateral(c *call, id int64) (object, error) {
	found, err := s.app.Collaterals.Get(c.ctx, c.actor, id)
	return object{id: found.ID, body: view.ShowCollateral(found)}, err
}

func (s *server) createCollateral(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Collaterals.Add(c.ctx, c.actor, input.CollateralFields(in))
		return object{id: made.ID, body: view.ShowCollateral(made)}, err
	})
}
