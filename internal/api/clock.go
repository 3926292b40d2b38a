package api

import (
	"net/http"
	"time"

	"holdfast/internal/civil"
	"holdfast/internal/core"
)

// clockShape is the time of a site on the wire.
type clockShape struct {
	Now          string `json:"now"`
	RealNow      string `json:"real_now"`
	AheadSeconds int64  `json:"ahead_seconds"`
	Sandbox      bool   `json:"sandbox"`
}

// ShowClock gives the time of a site in the shape of the wire, to be encoded as JSON. The command line prints it, too.
func ShowClock(t core.SiteTime) any { return showClock(t) }

func showClock(t core.SiteTime) clockShape {
	return clockShape{
		Now: civil.FormatInstant(t.Now), RealNow: civil.FormatInstant(t.Real),
		AheadSeconds: int64(t.Now.Sub(t.Real) / time.Second), Sandbox: t.Sandbox,
	}
}

func (s *server) getClock(c *call) error {
	found, err := s.app.Clocks.Show(c.ctx, c.actor)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{body: showClock(found)})
}

func (s *server) moveClock(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	to := in.instant("to")
	if to == nil && !in.problems.Has("to") {
		in.problems.Missing("to")
	}
	if err := in.problems.Err(); err != nil {
		return err
	}
	moved, err := s.app.Clocks.Move(c.ctx, c.actor, *to)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{body: showClock(moved)})
}
