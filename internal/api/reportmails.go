package api

import (
	"context"
	"net/http"

	"holdfast/internal/api/shapes"
	"holdfast/internal/api/wire"
	"holdfast/internal/auth"
	"holdfast/internal/standing"
)

func reportMailObject(o standing.Order) object {
	return object{id: o.ID, version: o.Version, body: shapes.ShowReportMail(o)}
}

// listReportMails answers with all of them: a site has 50 at most, so there are no pages.
func (s *server) listReportMails(c *call) error {
	found, err := s.app.Orders.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes.Each(found, shapes.ShowReportMail))
	return nil
}

func (s *server) getReportMail(c *call) error {
	found, _, err := s.app.Orders.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, reportMailObject(found))
}

func (s *server) createReportMail(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Orders.Create(c.ctx, c.actor, shapes.ReportMailFields(in))
		return reportMailObject(made), err
	})
}

func (s *server) changeReportMail(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := shapes.ReportMailFields(in)
	fields.IfVersion = c.ifVersion()
	changed, err := s.app.Orders.Change(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, reportMailObject(changed))
}

func (s *server) pauseReportMail(c *call) error  { return turnReportMail(c, s.app.Orders.Pause) }
func (s *server) resumeReportMail(c *call) error { return turnReportMail(c, s.app.Orders.Resume) }
func (s *server) sendReportMail(c *call) error   { return turnReportMail(c, s.app.Orders.SendNow) }

func turnReportMail(c *call, do func(ctx context.Context, actor auth.Actor, id int64) (standing.Order, error)) error {
	changed, err := do(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, reportMailObject(changed))
}

func (s *server) deleteReportMail(c *call) error {
	if err := s.app.Orders.End(c.ctx, c.actor, c.id); err != nil {
		return err
	}
	c.json(http.StatusOK, wire.Deleted{Deleted: true})
	return nil
}
