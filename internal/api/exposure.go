package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
)

func (s *server) getExposure(c *call) error {
	q := c.query()
	in := input.ExposureQuery(q)
	in.By, in.Across = view.Dimensions(q.Text("by"))
	report, err := s.app.Exposure.Report(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.ShowExposure(report))
	return nil
}
