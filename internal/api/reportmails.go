package api

import (
	"context"
	"net/http"
	"slices"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/standing"
)

// reportMailShape is a report that goes to people by mail, on the wire.
type reportMailShape struct {
	ID         int64           `json:"id"`
	Name       string          `json:"name"`
	View       string          `json:"view"`
	Format     standing.Format `json:"format"`
	Every      standing.Every  `json:"every"`
	On         int64           `json:"on"`
	Owner      string          `json:"owner"`
	Recipients []string        `json:"recipients"`
	State      standing.State  `json:"state"`
	Reason     string          `json:"reason"`
	Due        civil.Day       `json:"due"`
}

// ShowReportMail gives the shape of a report by mail, to be encoded as JSON.
func ShowReportMail(o standing.Order) any { return showReportMail(o) }

func showReportMail(o standing.Order) reportMailShape {
	return reportMailShape{
		ID: o.ID, Name: o.Name, View: o.View, Format: o.Format, Every: o.Every, On: o.On, Owner: o.Owner, Recipients: slices.Sorted(slices.Values(o.Recipients)),
		State: o.State, Reason: o.Reason, Due: o.Due,
	}
}

func reportMailObject(o standing.Order) object {
	return object{id: o.ID, version: o.Version, body: showReportMail(o)}
}

// listReportMails answers with all of them: a site has 50 at most, so there are no pages.
func (s *server) listReportMails(c *call) error {
	found, err := s.app.Orders.List(c.ctx, c.actor)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, shapes(found, showReportMail))
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
		made, err := s.app.Orders.Create(c.ctx, c.actor, reportMailFields(in))
		return reportMailObject(made), err
	})
}

func (s *server) changeReportMail(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := reportMailFields(in)
	fields.IfVersion = c.ifVersion()
	changed, err := s.app.Orders.Change(c.ctx, c.actor, c.id, fields)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, reportMailObject(changed))
}

// reportMailFields reads the fields of a report by mail.
func reportMailFields(in *input) standing.Fields {
	f := standing.Fields{
		Name: in.text("name"), View: in.text("view"), Format: word[standing.Format](in, "format"), Every: word[standing.Every](in, "every"),
		On: in.integer("on"), Recipients: in.texts("recipients"),
	}
	f.Problems = *in.problems // now that all fields are read
	return f
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
	c.json(http.StatusOK, deleted{true})
	return nil
}
