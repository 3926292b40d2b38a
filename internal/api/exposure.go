package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
)

func (s *server) getExposure(c *call) error {
	q := c.query()
	in := input.ExposureQuery(q)
	in.By, in.Across = reports.Dimensions(q.Text("by"))
	report, err := s.app.Exposure.Report(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowExposure(report))
	return nil
}
