package api

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/api/view"
	"holdfast/internal/book/disputes"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

func disputeObject(c disputes.Case) object { return object{id: c.ID, body: reports.ShowDispute(c)} }

func (s *server) listDisputes(c *call) error {
	q := c.query()
	page := q.SearchedPage([]string{disputes.OrderDue, disputes.OrderOpened})
	filter := input.DisputeFilter(q)
	filter.Search = q.Text("search")
	if q.Text("orderby") == "" {
		page.OrderBy = disputes.OrderDue
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Disputes.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, reports.ShowDispute)
}

func (s *server) countDisputes(c *call) error {
	q := c.query()
	filter := input.DisputeFilter(q)
	filter.Search = q.Text("search")
	if err := q.Err(); err != nil {
		return err
	}
	n, err := s.app.Disputes.Count(c.ctx, c.actor, filter)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowDisputeCounts(n))
	return nil
}

func (s *server) getDispute(c *call) error {
	found, err := s.app.Disputes.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, disputeObject(found))
}

func (s *server) createDispute(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	return s.create(c, func() (object, error) {
		made, created, err := s.app.Disputes.Create(c.ctx, c.actor, input.DisputeReport(in))
		o := disputeObject(made)
		o.existing = !created
		return o, err
	})
}

func (s *server) listDisputeEvents(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Disputes.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, reports.ShowDisputeEvents(found))
	return nil
}

func (s *server) createDisputeEvent(c *call) error {
	return s.disputeAction(c, func(in *input.Input) (disputes.Case, error) {
		return s.app.Disputes.AddEvent(c.ctx, c.actor, c.id, input.DisputeReport(in))
	})
}

func (s *server) listDisputeCandidates(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Disputes.Candidates(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.Each(found, reports.ShowCandidate))
	return nil
}

func (s *server) matchDispute(c *call) error {
	return s.disputeAction(c, func(in *input.Input) (disputes.Case, error) {
		choice := disputes.Choice{Reason: in.TextOr("reason")}
		if id := in.Integer("transaction_id"); id != nil {
			choice.TransactionID = *id
		}
		if keep := in.Boolean("keep_merchant"); keep != nil {
			choice.KeepMerchant = *keep
		}
		choice.Problems = *in.Problems
		return s.app.Disputes.Match(c.ctx, c.actor, c.id, choice)
	})
}

func (s *server) unmatchDispute(c *call) error {
	return s.textAction(c, "reason", s.app.Disputes.Unmatch)
}

func (s *server) assignDispute(c *call) error {
	return s.textAction(c, "assigned", s.app.Disputes.Assign)
}

func (s *server) noteDispute(c *call) error { return s.textAction(c, "note", s.app.Disputes.Note) }

func (s *server) acceptDispute(c *call) error { return s.textAction(c, "note", s.app.Disputes.Accept) }

func (s *server) challengeDispute(c *call) error {
	return s.textAction(c, "note", s.app.Disputes.Challenge)
}

func (s *server) representDispute(c *call) error {
	return s.textAction(c, "note", s.app.Disputes.Represent)
}

// textAction carries out an action that takes one text, and answers with the dispute.
func (s *server) textAction(
	c *call, field string, action func(ctx context.Context, actor access.Actor, id int64, text string) (disputes.Case, error),
) error {
	return s.disputeAction(c, func(in *input.Input) (disputes.Case, error) {
		text := in.TextOr(field)
		if err := in.Problems.Err(); err != nil {
			return disputes.Case{}, err
		}
		return action(c.ctx, c.actor, c.id, text)
	})
}

func (s *server) disputeAction(c *call, action func(in *input.Input) (disputes.Case, error)) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	changed, err := action(in)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, disputeObject(changed))
}

func (s *server) listEvidence(c *call) error {
	if err := c.query().Err(); err != nil {
		return err
	}
	found, err := s.app.Disputes.EvidenceOf(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, view.Each(found, reports.ShowEvidence))
	return nil
}

// createEvidence receives a file, so its body is not read at the door.
func (s *server) createEvidence(c *call) error {
	q := c.query()
	name, note := q.Text("name"), q.Text("note")
	contentType(c, q, "The body must be the file itself: a PDF, a PNG or a JPEG.", evidenceTypes)
	if err := q.Err(); err != nil {
		return err
	}
	return s.upload(c, disputes.MaxEvidenceBytes, func(ctx context.Context, body upload) error {
		made, err := s.app.Disputes.Attach(ctx, c.actor, c.id, name, note, body)
		if err != nil {
			return err
		}
		return s.created(c, object{id: made.ID, body: reports.ShowEvidence(made)})
	})
}

// Content types of files. The content decides what a file is.
var (
	evidenceTypes = []string{"application/pdf", "image/png", "image/jpeg", "application/octet-stream"}
	disputeTypes  = []string{
		"text/csv", "text/plain", "application/json", "application/x-ndjson", "application/xml", "text/xml", "application/octet-stream",
	}
)

// contentType notes a problem if the body has none of some content types.
func contentType(c *call, q *input.Query, what string, types []string) {
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(types, kind) {
		q.Problems.Wrong("Content-Type", "%s Its content type must be one of: %s.", what, strings.Join(types, ", "))
	}
}

func (s *server) getEvidence(c *call) error {
	text := c.r.PathValue("evidence")
	if !input.IsDigits(text) {
		return errNoRoute()
	}
	id, ok := input.ParseID(text)
	if card.HoldsCardNumber(text) || !ok { // which no answer may show
		return errs.New(errs.RecordNotFound, "Not found: the id is too long.")
	}
	found, content, err := s.app.Disputes.EvidenceFile(c.ctx, c.actor, c.id, id)
	if err != nil {
		return err
	}
	c.beginFile(found.MIME(), found.Name)
	_, err = c.Write(content)
	return c.finishFile(s, err)
}
