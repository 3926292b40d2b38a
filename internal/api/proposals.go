package api

import (
	"context"
	"fmt"
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/platform/approvals"
)

// waiting makes the answer to a request that became the proposal p. It returns o when p is nil.
func waiting(p *proposal.Proposal, o object) object {
	if p == nil {
		return o
	}
	return object{proposal: p.ID, body: view.ShowProposal(*p)}
}

// accepted answers a request that waits for another operator: 202 with the proposal and its address.
func (s *server) accepted(c *call, o object) error {
	c.Header().Set("Location", s.proposalAddress(c, o.proposal))
	return c.show(http.StatusAccepted, o)
}

func (s *server) proposalAddress(c *call, id int64) string {
	return fmt.Sprintf("%s/%s/%s/%s/v2/proposals/%d", s.cfg.BaseURL, c.r.PathValue("site"), s.cfg.RESTRoot, s.cfg.Namespace, id)
}

func (s *server) listProposals(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := approvals.Filter{
		States: input.Words(q, "state", proposal.States), Kinds: input.Words(q, "kind", proposal.Kinds),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Approvals.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowProposal)
}

func (s *server) getProposal(c *call) error {
	found, err := s.app.Approvals.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, proposalObject(found))
}

func (s *server) approveProposal(c *call) error {
	return act(s, c, s.app.Approvals.Approve, proposalObject)
}

func (s *server) rejectProposal(c *call) error {
	return act(s, c, s.app.Approvals.Reject, proposalObject)
}

func (s *server) withdrawProposal(c *call) error {
	return act(s, c, s.app.Approvals.Withdraw, proposalObject)
}

func proposalObject(p proposal.Proposal) object { return object{id: p.ID, body: view.ShowProposal(p)} }

// act reads the reason of an action, carries it out, and answers with the object that it returns, or with the proposal to do it.
func act[T any](
	s *server, c *call, action func(ctx context.Context, actor access.Actor, id int64, reason string) (T, error), show func(T) object,
) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	reason := in.Reason()
	if err := in.Problems.Err(); err != nil {
		return err
	}
	changed, err := action(c.ctx, c.actor, c.id, reason)
	if err != nil {
		return err
	}
	shown := show(changed)
	if shown.proposal != 0 {
		return s.accepted(c, shown)
	}
	return c.show(http.StatusOK, shown)
}
