package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
)

func (s *server) getRunOff(c *call) error {
	report, err := s.app.Exposure.RunOff(c.ctx, c.actor, input.ExposureQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.ShowRunOff(report))
	return nil
}

func (s *server) getAgeing(c *call) error {
	report, err := s.app.Exposure.Ageing(c.ctx, c.actor, input.ExposureQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.ShowAgeing(report))
	return nil
}
