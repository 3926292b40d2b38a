package api

import (
	"net/http"

	"holdfast/internal/api/shapes"
)

func (s *server) getMovement(c *call) error {
	report, err := s.app.Exposure.Movement(c.ctx, c.actor, shapes.MovementQuery(c.query()))
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowMovement(report))
	return nil
}
