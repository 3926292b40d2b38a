// Package approvals implements the four-eyes principle (R0): one person proposes a change, and another operator
// approves or rejects it. It owns the table proposals. Start at Approvals.Request.
package approvals

import (
	"context"
	"encoding/json"
	"fmt"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Approvals are the use cases of four eyes (R0): one person proposes a change, and another operator decides on it.
type Approvals struct {
	*sites.DB
	kinds kinds
}

// Request asks for a change that needs two people. It is called inside a write. Outside a sandbox it stores an open
// proposal and changes nothing else. When another operator approves it, perhaps days later, Kind.Carry gets the
// payload. In a sandbox one person is enough: Request calls now immediately and returns an approved proposal. The
// result of now becomes the result of the proposal. Elsewhere the program cannot propose anything without a user:
// NotPossible with the reason proposer_unnamed.
func (a *Approvals) Request(
	tx *store.Tx, actor access.Actor, p proposal.Proposal, payload any, now func() (result any, err error),
) (proposal.Proposal, error) {
	site, err := sites.Alone(tx, actor.SiteID)
	if err != nil {
		return p, store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", actor.SiteID)
	}
	if !site.Sandbox && actor.UserID == 0 {
		return p, errs.NotPossibleBecause("proposer_unnamed", "Only a person can propose this. Use --as to give your user name.")
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return p, fmt.Errorf("payload of a proposal: %w", err)
	}
	p.SiteID, p.Payload = actor.SiteID, string(text)
	p.ProposedByID, p.ProposedBy = actor.UserID, actor.Username
	p.State = proposal.Open
	if p, err = a.withEffect(tx, p); err != nil {
		return p, err
	}
	if p, err = insertProposal(tx, p); err != nil {
		return p, err
	}
	events.RecordProposal(tx, p)
	asked := p
	if site.Sandbox {
		result, err := now()
		if err != nil {
			return p, err
		}
		if p, err = decide(tx, actor, p, proposal.Approved, "", result); err != nil {
			return p, err
		}
		events.RecordProposal(tx, p)
	}
	if err := audit.Record(tx, actor, "proposal.request", proposalObject(p), nil, auditProposal(asked)); err != nil {
		return p, err
	}
	if p.State == proposal.Open {
		return p, nil
	}
	return p, audit.Record(tx, actor, "proposal.approve", proposalObject(p), auditProposal(asked), auditProposal(p))
}

// decide stores the decision on a proposal. The caller has locked the proposal, or has just made it.
func decide(
	tx *store.Tx, actor access.Actor, p proposal.Proposal, state proposal.State, reason string, result any,
) (proposal.Proposal, error) {
	p.State, p.DecisionReason, p.DecidedAt = state, reason, tx.Now
	p.DecidedByID, p.DecidedBy = actor.UserID, actor.Username
	if state == proposal.Approved {
		p.Alone = samePerson(actor, p)
		text, err := json.Marshal(result)
		if err != nil {
			return p, fmt.Errorf("result of a proposal: %w", err)
		}
		p.Result = string(text)
	}
	return p, storeDecision(tx, p)
}

// samePerson reports whether the actor made the proposal. Two actors are the same person when their user ids are equal.
// The program without a user has the id 0, and so counts as one person.
func samePerson(actor access.Actor, p proposal.Proposal) bool { return actor.UserID == p.ProposedByID }

// Approve carries a proposal out. The actor must not be the operator who proposed it; in a sandbox it may be the
// same. Errors: NotPossible with the reason proposal_closed, approver_unnamed, proposer_unnamed or same_person, and the errors of
// Kind.Carry, because everything is checked again.
func (a *Approvals) Approve(ctx context.Context, actor access.Actor, id int64, reason string) (proposal.Proposal, error) {
	p, err := a.close(ctx, actor, id, "proposal.approve", func(tx *store.Tx, p proposal.Proposal) (proposal.Proposal, error) {
		if err := mayApprove(tx, actor, p); err != nil {
			return p, err
		}
		result, err := a.carryOut(tx, actor, p)
		if err != nil {
			return p, err
		}
		return decide(tx, actor, p, proposal.Approved, reason, result)
	})
	if kind, _ := a.kinds.of(p.Kind); err == nil && kind.After != nil {
		err = kind.After(ctx, actor)
	}
	return p, err
}

// carryOut executes an approved proposal.
func (a *Approvals) carryOut(tx *store.Tx, actor access.Actor, p proposal.Proposal) (result any, err error) {
	kind, ok := a.kinds.of(p.Kind)
	if !ok {
		return nil, errs.New(errs.Internal, "Proposals of the kind %q cannot be carried out.", p.Kind)
	}
	return kind.Carry(tx, actor, p)
}

// mayApprove refuses the person who made the proposal. It also refuses the program without a user, on either side: the same
// person at the command line could then propose and approve.
func mayApprove(tx *store.Tx, actor access.Actor, p proposal.Proposal) error {
	site, err := sites.Alone(tx, p.SiteID)
	switch {
	case err != nil:
		return err
	case site.Sandbox:
		return nil
	case actor.UserID == 0:
		return errs.NotPossibleBecause("approver_unnamed", "Only a person can approve this. Use --as to give your user name.")
	case p.ProposedByID == 0: // of an earlier version: proposer and approver may be the same person
		return errs.NotPossibleBecause("proposer_unnamed", "It is unknown who proposed this. Reject it, then propose it again with --as.")
	case samePerson(actor, p):
		return errs.NotPossibleBecause("same_person", "You proposed this yourself. Another operator must approve it.")
	}
	return nil
}

// Reject closes a proposal without carrying it out.
func (a *Approvals) Reject(ctx context.Context, actor access.Actor, id int64, reason string) (proposal.Proposal, error) {
	return a.close(ctx, actor, id, "proposal.reject", func(tx *store.Tx, p proposal.Proposal) (proposal.Proposal, error) {
		return decide(tx, actor, p, proposal.Rejected, reason, nil)
	})
}

// Withdraw closes a proposal of the actor without carrying it out.
func (a *Approvals) Withdraw(ctx context.Context, actor access.Actor, id int64, reason string) (proposal.Proposal, error) {
	return a.close(ctx, actor, id, "proposal.withdraw", func(tx *store.Tx, p proposal.Proposal) (proposal.Proposal, error) {
		if !samePerson(actor, p) {
			return p, errs.NotPossibleBecause("not_the_proposer", "Only the person who proposed this can withdraw it. You can reject it instead.")
		}
		return decide(tx, actor, p, proposal.Withdrawn, reason, nil)
	})
}

// close locks an open proposal, calls decide to close it, and writes both states into the audit.
func (a *Approvals) close(
	ctx context.Context, actor access.Actor, id int64, action string,
	decide func(tx *store.Tx, p proposal.Proposal) (proposal.Proposal, error),
) (proposal.Proposal, error) {
	if err := actor.Require(access.DecideProposals); err != nil {
		return proposal.Proposal{}, err
	}
	do := func(tx *store.Tx) (proposal.Proposal, error) {
		before, err := lockProposal(tx, actor.SiteID, id)
		if err != nil {
			return before, unknownProposal(err, id)
		}
		if before.State != proposal.Open {
			return before, errs.NotPossibleBecause("proposal_closed", "Proposal %d is already %s.", id, before.State)
		}
		if before, err = a.withEffect(tx, before); err != nil {
			return before, err
		}
		after, err := decide(tx, before)
		if err != nil {
			return before, err
		}
		events.RecordProposal(tx, after)
		return after, audit.Record(tx, actor, action, proposalObject(after), auditProposal(before), auditProposal(after))
	}
	return idempotency.Once(ctx, a.DB, actor, func(tx *store.Tx) (proposal.Proposal, idempotency.Outcome, error) {
		closed, err := do(tx)
		return closed, idempotency.Outcome{ProposalID: id}, err
	}, func(ctx context.Context, made idempotency.Outcome) (proposal.Proposal, error) {
		return a.Find(ctx, actor, made.ProposalID)
	})
}

// Get reads one proposal of the actor's site.
func (a *Approvals) Get(ctx context.Context, actor access.Actor, id int64) (proposal.Proposal, error) {
	if err := actor.Require(access.ReadAudit); err != nil {
		return proposal.Proposal{}, err
	}
	return a.Find(ctx, actor, id)
}

// Find reads a proposal of the actor's site. The person who made one may always see it. Everyone else needs permission
// to read all proposals.
func (a *Approvals) Find(ctx context.Context, actor access.Actor, id int64) (proposal.Proposal, error) {
	p, err := sites.Read(ctx, a.DB, actor, func(tx *store.Tx) (proposal.Proposal, error) {
		p, err := findProposal(tx, actor.SiteID, id)
		if err == nil && p.ProposedByID != actor.UserID {
			err = actor.Require(access.ReadAudit)
		}
		if err != nil {
			return p, err
		}
		return a.withEffect(tx, p)
	})
	return p, unknownProposal(err, id)
}

// List reads one page of the proposals of the actor's site.
func (a *Approvals) List(
	ctx context.Context, actor access.Actor, filter Filter, page store.Page,
) (store.List[proposal.Proposal], error) {
	if err := actor.Require(access.ReadAudit); err != nil {
		return store.List[proposal.Proposal]{}, err
	}
	return sites.ReadPage(ctx, a.DB, actor, page, func(tx *store.Tx) (store.List[proposal.Proposal], error) {
		list, err := proposalsPage(tx, actor.SiteID, filter, page)
		for i := range list.Items {
			if err == nil {
				list.Items[i], err = a.withEffect(tx, list.Items[i])
			}
		}
		return list, err
	})
}

func unknownProposal(err error, id int64) error {
	return store.NotFoundAs(errs.SettingNotFound, err, "Proposal %d not found.", id)
}

func proposalObject(p proposal.Proposal) string { return fmt.Sprintf("proposal %d", p.ID) }

// auditedProposal is the shape of a proposal in the audit.
type auditedProposal struct {
	ID         int64           `json:"id"`
	Kind       string          `json:"kind"`
	Subject    string          `json:"subject"`
	State      string          `json:"state"`
	Alone      bool            `json:"alone"`
	Reason     string          `json:"reason,omitempty"`
	ProposedBy string          `json:"proposed_by"`
	DecidedBy  string          `json:"decided_by,omitempty"`
	Decision   string          `json:"decision_reason,omitempty"`
	Payload    json.RawMessage `json:"payload"`
	Result     json.RawMessage `json:"result,omitempty"`
}

func auditProposal(p proposal.Proposal) any {
	return auditedProposal{
		ID: p.ID, Kind: string(p.Kind), Subject: p.Subject, State: string(p.State), Alone: p.Alone, Reason: p.Reason,
		ProposedBy: p.ProposedBy, DecidedBy: p.DecidedBy, Decision: p.DecisionReason,
		Payload: json.RawMessage(p.Payload), Result: json.RawMessage(p.Result),
	}
}
