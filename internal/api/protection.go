package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/report"
)

func (s *server) getProtection(c *call) error {
	q := c.query()
	in := report.ProtectionQuery{Moment: input.Moment(q)}
	in.Problems = q.Problems
	report, err := s.app.Protection.Explain(c.ctx, c.actor, c.id, in)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.ShowProtection(report))
	return nil
}
