package api

import (
	"holdfast/internal/api/view"
	"holdfast/internal/platform/audit"
)

func (s *server) listAudit(c *call) error {
	q := c.query()
	page := q.Page(audit.Orders)
	filter := audit.Filter{Actions: q.List("action")}
	if at := q.Instant("after"); at != nil {
		filter.After = *at
	}
	if at := q.Instant("before"); at != nil {
		filter.Before = *at
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Audit.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowAudit)
}
