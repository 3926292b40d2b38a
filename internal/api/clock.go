package api

import (
	"net/http"

	"holdfast/internal/api/view"
)

func (s *server) getClock(c *call) error {
	found, err := s.app.Clocks.Show(c.ctx, c.actor)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{body: view.ShowClock(found)})
}

func (s *server) moveClock(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	to := in.Instant("to")
	if to == nil && !in.Problems.Has("to") {
		in.Problems.Missing("to")
	}
	if err := in.Problems.Err(); err != nil {
		return err
	}
	moved, err := s.app.Rates.MoveClock(c.ctx, c.actor, *to)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{body: view.ShowClock(moved)})
}
