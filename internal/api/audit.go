package api

import (
	"holdfast/internal/api/view"
	"holdfast/internal/platform/audit"
)

func (s *server) listAudit(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := audit.Filter{Actions: q.List("action"), At: q.Span("")}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Audit.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowAudit)
}
