package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
)

func (s *server) getRunOff(c *call) error {
	report, err := s.app.Exposure.RunOff(c.ctx, c.actor, input.ExposureQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowRunOff(report))
	return nil
}

func (s *server) getAgeing(c *call) error {
	report, err := s.app.Exposure.Ageing(c.ctx, c.actor, input.ExposureQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowAgeing(report))
	return nil
}
