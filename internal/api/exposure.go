package api

import (
	"net/http"

	"holdfast/internal/api/shapes"
)

func (s *server) getExposure(c *call) error {
	q := c.query()
	in := shapes.ExposureQuery(q)
	in.By, in.Across = shapes.Dimensions(q.Text("by"))
	report, err := s.app.Exposure.Report(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowExposure(report))
	return nil
}
