package api

import (
	"net/http"

	"holdfast/internal/api/shapes"
	"holdfast/internal/reports"
)

func (s *server) getProtection(c *call) error {
	q := c.query()
	in := reports.ProtectionQuery{Moment: shapes.Moment(q)}
	in.Problems = q.Problems
	report, err := s.app.Protection.Explain(c.ctx, c.actor, c.id, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.ShowProtection(report))
	return nil
}
