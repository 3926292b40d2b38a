package api

import (
	"fmt"
	"io"
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/paper"
)

func (s *server) listInsolvencies(c *call) error {
	q := c.query()
	page := q.Page([]string{"trigger_at"})
	filter := insolvencies.Filter{States: input.Words(q, "state", insolvencies.States), Channels: q.Ids("channels")}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Insolvencies.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowInsolvency)
}

func (s *server) getInsolvency(c *call) error {
	found, err := s.app.Insolvencies.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, insolvencyObject(found))
}

func insolvencyObject(i insolvencies.Insolvency) object {
	return waiting(i.Proposal, object{id: i.ID, body: view.ShowInsolvency(i)})
}

func (s *server) listInsolvencyEvents(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Insolvencies.History(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowInsolvencyHistory(found))
	return nil
}

func (s *server) reportInsolvency(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, err := s.app.Insolvencies.Report(c.ctx, c.actor, input.InsolvencyReport(in))
		return insolvencyObject(made), err
	})
}

func (s *server) confirmInsolvency(c *call) error {
	return act(s, c, s.app.Insolvencies.Confirm, insolvencyObject)
}

func (s *server) withdrawInsolvency(c *call) error {
	return act(s, c, s.app.Claims.WithdrawInsolvency, insolvencyObject)
}

func (s *server) closeInsolvencyClaims(c *call) error {
	return act(s, c, s.app.Insolvencies.CloseClaims, insolvencyObject)
}

func (s *server) closeInsolvency(c *call) error {
	return act(s, c, s.app.Claims.CloseInsolvency, insolvencyObject)
}

func (s *server) reinstateInsolvency(c *call) error {
	return act(s, c, s.app.Insolvencies.Reinstate, insolvencyObject)
}

func (s *server) allowInsolvencyProcessing(c *call) error {
	return act(s, c, s.app.Insolvencies.AllowProcessing, insolvencyObject)
}

func (s *server) listAffected(c *call) error {
	q := c.query()
	page := q.Page(insolvencies.AffectedOrders)
	if q.Text("orderby") == "" {
		page.OrderBy = insolvencies.OrderTravel
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Insolvencies.Affected(c.ctx, c.actor, c.id, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, reports.ShowAffected)
}

// getSnapshot answers with the snapshot as text, whose SHA-256 is that of the insolvency.
func (s *server) getSnapshot(c *call) error {
	return s.insolvencyFile(c, "text/csv; charset=utf-8", "snapshot.csv", func(w io.Writer) error {
		return s.app.Insolvencies.WriteSnapshot(c.ctx, c.actor, c.id, w)
	})
}

func (s *server) getAffectedCSV(c *call) error {
	return s.insolvencyFile(c, "text/csv; charset=utf-8", "affected.csv", func(w io.Writer) error {
		return paper.WriteAffectedCSV(w, s.app.Insolvencies.AllAffected(c.ctx, c.actor, c.id))
	})
}

func (s *server) getAffectedXLSX(c *call) error {
	const xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	return s.insolvencyFile(c, xlsx, "affected.xlsx", func(w io.Writer) error {
		return paper.WriteAffectedXLSX(w, s.app.Insolvencies.AllAffected(c.ctx, c.actor, c.id))
	})
}

// insolvencyFile answers with a file of an insolvency that has a snapshot, while it is written.
func (s *server) insolvencyFile(c *call, contentType, name string, write func(w io.Writer) error) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	if _, err := s.app.Insolvencies.Opened(c.ctx, c.actor, c.id); err != nil {
		return err
	}
	c.beginFile(contentType, fmt.Sprintf("insolvency-%d-%s", c.id, name))
	return c.finishFile(s, write(c))
}
