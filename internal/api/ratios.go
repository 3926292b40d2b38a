package api

import (
	"net/http"

	"holdfast/internal/api/reports"
	"holdfast/internal/report"
)

// getDisputeRatios answers with the dispute ratios of a month.
func (s *server) getDisputeRatios(c *call) error {
	q := c.query()
	in := report.RatioQuery{Month: q.Text("period")}
	in.Problems = q.Problems
	found, err := s.app.Exposure.Ratios(c.ctx, c.actor, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowRatios(found))
	return nil
}
