package api

import (
	"net/http"

	"holdfast/internal/api/shapes"
)

func (s *server) getRunOff(c *call) error {
	report, err := s.app.Exposure.RunOff(c.ctx, c.actor, shapes.ExposureQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowRunOff(report))
	return nil
}

func (s *server) getAgeing(c *call) error {
	report, err := s.app.Exposure.Ageing(c.ctx, c.actor, shapes.ExposureQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowAgeing(report))
	return nil
}
