package api

import (
	"context"
	"fmt"
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/domain/access"

	"github.com/xuri/excelize/v2"
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
	return s.actOnInsolvency(c, func(ctx context.Context, actor access.Actor, id int64, _ string) (insolvencies.Insolvency, error) {
		return s.app.Insolvencies.Confirm(ctx, actor, id)
	})
}

func (s *server) withdrawInsolvency(c *call) error {
	return s.actOnInsolvency(c, s.app.Insolvencies.Withdraw)
}

func (s *server) closeInsolvencyClaims(c *call) error {
	return s.actOnInsolvency(c, s.app.Insolvencies.CloseClaims)
}

func (s *server) closeInsolvency(c *call) error {
	return s.actOnInsolvency(c, s.app.Insolvencies.Close)
}

func (s *server) reinstateInsolvency(c *call) error {
	return s.actOnInsolvency(c, s.app.Insolvencies.Reinstate)
}

func (s *server) allowInsolvencyProcessing(c *call) error {
	return s.actOnInsolvency(c, s.app.Insolvencies.AllowProcessing)
}

// actOnInsolvency reads the reason of an action, carries it out, and answers with the insolvency, or with the proposal that waits
// for another operator.
func (s *server) actOnInsolvency(
	c *call, act func(ctx context.Context, actor access.Actor, id int64, reason string) (insolvencies.Insolvency, error),
) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	reason := in.Reason()
	if err := in.Problems.Err(); err != nil {
		return err
	}
	changed, err := act(c.ctx, c.actor, c.id, reason)
	if err != nil {
		return err
	}
	if changed.Proposal != nil {
		return s.accepted(c, insolvencyObject(changed))
	}
	return c.show(http.StatusOK, insolvencyObject(changed))
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
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Insolvencies.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	if !found.Snapshot.MadeAt.IsZero() {
		c.beginFile("text/csv; charset=utf-8", fmt.Sprintf("insolvency-%d-snapshot.csv", c.id))
	}
	return c.finishFile(s, s.app.Insolvencies.WriteSnapshot(c.ctx, c.actor, c.id, c))
}

func (s *server) getAffectedCSV(c *call) error {
	if err := s.hasSnapshot(c); err != nil {
		return err
	}
	c.beginFile("text/csv; charset=utf-8", fmt.Sprintf("insolvency-%d-affected.csv", c.id))
	return c.finishFile(s, reports.WriteAffectedCSV(c, s.app.Insolvencies.AllAffected(c.ctx, c.actor, c.id)))
}

func (s *server) getAffectedXLSX(c *call) error {
	if err := s.hasSnapshot(c); err != nil {
		return err
	}
	book := excelize.NewFile()
	defer book.Close()
	if err := reports.WriteAffectedSheet(book, s.app.Insolvencies.AllAffected(c.ctx, c.actor, c.id)); err != nil {
		return err
	}
	c.beginFile("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", fmt.Sprintf("insolvency-%d-affected.xlsx", c.id))
	_, err := book.WriteTo(c)
	return c.finishFile(s, err)
}

// hasSnapshot returns the error of an insolvency without a snapshot before a file is begun.
func (s *server) hasSnapshot(c *call) error {
	q := c.query()
	if err := q.Err(); err != nil {
		return err
	}
	page := q.Part()
	_, err := s.app.Insolvencies.Affected(c.ctx, c.actor, c.id, page)
	return err
}
