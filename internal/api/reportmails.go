package api

import (
	"context"
	"net/http"
	"time"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/store"
)

func reportMailObject(o schedules.Schedule) object {
	return object{id: o.ID, version: o.Version, body: view.ShowReportMail(o)}
}

// listReportMails answers with all of them: a site has 50 at most.
func (s *server) listReportMails(c *call) error {
	q := c.query()
	page := q.Page(nil)
	if err := q.Err(); err != nil {
		return err
	}
	all, err := s.app.Schedules.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	found := store.PageOf(all, page, func(e schedules.Schedule) (int64, time.Time) { return e.ID, e.ModifiedAt })
	return list(s, c, page, found, view.ShowReportMail)
}

func (s *server) getReportMail(c *call) error {
	found, _, err := s.app.Schedules.Get(c.ctx, c.actor, c.id)
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
		made, err := s.app.Schedules.Create(c.ctx, c.actor, input.ReportMailFields(in))
		return reportMailObject(made), err
	})
}

func (s *server) changeReportMail(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := input.ReportMailFields(in)
	var changed schedules.Schedule
	err = c.ifVersion(func(version int64) (err error) {
		fields.IfVersion = version
		changed, err = s.app.Schedules.Change(c.ctx, c.actor, c.id, fields)
		return err
	})
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, reportMailObject(changed))
}

func (s *server) pauseReportMail(c *call) error { return turnReportMail(c, s.app.Schedules.Pause) }

func (s *server) resumeReportMail(c *call) error { return turnReportMail(c, s.app.Schedules.Resume) }

func (s *server) sendReportMail(c *call) error { return turnReportMail(c, s.app.Schedules.SendNow) }

func turnReportMail(c *call, do func(ctx context.Context, actor access.Actor, id int64) (schedules.Schedule, error)) error {
	changed, err := do(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, reportMailObject(changed))
}

func (s *server) deleteReportMail(c *call) error {
	if err := s.app.Schedules.End(c.ctx, c.actor, c.id); err != nil {
		return err
	}
	c.json(http.StatusOK, view.Deleted{Deleted: true})
	return nil
}
