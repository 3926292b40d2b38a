package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"holdfast/internal/auth"
	"holdfast/internal/civil"
	"holdfast/internal/travel"
)

// proposalShape is a proposal in answers.
type proposalShape struct {
	ID             int64           `json:"id"`
	Kind           string          `json:"kind"`
	Subject        string          `json:"subject"`
	Payload        json.RawMessage `json:"payload"`
	Effect         json.RawMessage `json:"effect"`
	Reason         string          `json:"reason"`
	State          string          `json:"state"`
	Alone          bool            `json:"alone"`
	ProposedBy     string          `json:"proposed_by"`
	ProposedByID   int64           `json:"proposed_by_id"`
	ProposedAt     string          `json:"proposed_at"`
	DecidedBy      *string         `json:"decided_by"`
	DecidedByID    *int64          `json:"decided_by_id"`
	DecidedAt      *string         `json:"decided_at"`
	DecisionReason string          `json:"decision_reason"`
	Result         json.RawMessage `json:"result"`
}

// ShowProposal gives the shape of a proposal, to be encoded as JSON.
func ShowProposal(p travel.Proposal) any { return showProposal(p) }

func showProposal(p travel.Proposal) proposalShape {
	shape := proposalShape{
		ID: p.ID, Kind: string(p.Kind), Subject: p.Subject, Payload: json.RawMessage(p.Payload), Effect: json.RawMessage("null"), Reason: p.Reason,
		State: string(p.State), Alone: p.Alone, ProposedBy: p.ProposedBy, ProposedByID: p.ProposedByID,
		ProposedAt: civil.FormatInstant(p.ProposedAt), DecisionReason: p.DecisionReason, Result: json.RawMessage("null"),
	}
	if p.Effect != "" {
		shape.Effect = json.RawMessage(p.Effect)
	}
	if !p.DecidedAt.IsZero() {
		at := civil.FormatInstant(p.DecidedAt)
		shape.DecidedBy, shape.DecidedByID, shape.DecidedAt = &p.DecidedBy, &p.DecidedByID, &at
	}
	if p.Result != "" {
		shape.Result = json.RawMessage(p.Result)
	}
	return shape
}

// waiting makes the answer to a request that became the proposal p. It returns o when p is nil.
func waiting(p *travel.Proposal, o object) object {
	if p == nil {
		return o
	}
	return object{proposal: p.ID, body: showProposal(*p)}
}

// accepted answers a request that waits for another operator: 202 with the proposal and its address.
func (s *server) accepted(c *call, o object) error {
	c.Header().Set("Location", fmt.Sprintf("%s/%s/%s/%s/v2/proposals/%d", s.cfg.BaseURL, c.r.PathValue("site"),
		s.cfg.RESTRoot, s.cfg.Namespace, o.proposal))
	return c.show(http.StatusAccepted, o)
}

func (s *server) listProposals(c *call) error {
	q := c.query()
	page := q.page(travel.ProposalOrders)
	filter := travel.ProposalFilter{
		Include: q.ids("include"), Exclude: q.ids("exclude"),
		States: words(q, "state", travel.ProposalStates), Kinds: words(q, "kind", travel.ProposalKinds),
	}
	if err := q.err(); err != nil {
		return err
	}
	found, err := s.app.Approvals.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, showProposal)
}

func (s *server) getProposal(c *call) error {
	found, err := s.app.Approvals.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: found.ID, body: showProposal(found)})
}

func (s *server) approveProposal(c *call) error  { return s.decide(c, s.app.Approvals.Approve) }
func (s *server) rejectProposal(c *call) error   { return s.decide(c, s.app.Approvals.Reject) }
func (s *server) withdrawProposal(c *call) error { return s.decide(c, s.app.Approvals.Withdraw) }

// decide reads the reason of a decision, makes the decision, and answers with the proposal.
func (s *server) decide(
	c *call, decide func(ctx context.Context, actor auth.Actor, id int64, reason string) (travel.Proposal, error),
) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	reason := in.reason()
	if err := in.problems.Err(); err != nil {
		return err
	}
	decided, err := decide(c.ctx, c.actor, c.id, reason)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{id: decided.ID, body: showProposal(decided)})
}

// reason reads the reason of a proposal or of a decision. The other person and the audit see it.
func (in *input) reason() string {
	text := in.textOr("reason")
	travel.CheckNote(in.problems, "reason", text)
	return text
}
