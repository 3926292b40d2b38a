package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
)

func (s *server) getMovement(c *call) error {
	report, err := s.app.Exposure.Movement(c.ctx, c.actor, input.MovementQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowMovement(report))
	return nil
}
