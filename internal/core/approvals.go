package core

import (
	"context"
	"encoding/json"
	"fmt"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Approvals are the use cases of four eyes (R0): one person proposes a change, and another operator decides on it.
type Approvals struct{ *Core }

// Request asks for a change that needs two people. It is called inside a write. Outside a sandbox it stores an open
// proposal and changes nothing else. When another operator approves it, perhaps days later, Kind.Carry gets the payload.
// In a sandbox one person is enough: Request runs now at once, and returns a proposal that is approved already. The result
// of now becomes the result of the proposal. Elsewhere the program without a user proposes nothing: NotPossible with the
// reason proposer_unnamed.
func (c *Core) Request(
	tx *db.Tx, actor auth.Actor, p travel.Proposal, payload any, now func() (result any, err error),
) (travel.Proposal, error) {
	site, err := SiteAlone(tx, actor.SiteID)
	if err != nil {
		return p, NotFoundAs(fault.SettingNotFound, err, "There is no site %d.", actor.SiteID)
	}
	if !site.Sandbox && actor.UserID == 0 {
		return p, fault.NotPossibleBecause("proposer_unnamed", "A person has to propose this: say who you are with --as.")
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return p, fmt.Errorf("payload of a proposal: %w", err)
	}
	p.SiteID, p.Payload = actor.SiteID, string(text)
	p.ProposedByID, p.ProposedBy = actor.UserID, actor.Username
	p.State = travel.ProposalOpen
	if p, err = c.withEffect(tx, p); err != nil {
		return p, err
	}
	if p, err = insertProposal(tx, p); err != nil {
		return p, err
	}
	c.tell(tx, p)
	asked := p
	if site.Sandbox {
		result, err := now()
		if err != nil {
			return p, err
		}
		if p, err = decide(tx, actor, p, travel.ProposalApproved, "", result); err != nil {
			return p, err
		}
		c.tell(tx, p)
	}
	if err := Record(tx, actor, "proposal.request", proposalObject(p), nil, auditProposal(asked)); err != nil {
		return p, err
	}
	if p.State == travel.ProposalOpen {
		return p, nil
	}
	return p, Record(tx, actor, "proposal.approve", proposalObject(p), auditProposal(asked), auditProposal(p))
}

func (c *Core) tell(tx *db.Tx, p travel.Proposal) {
	if c.ProposalTold != nil {
		c.ProposalTold(tx, p)
	}
}

// decide stores the decision on a proposal. The caller has locked the proposal, or has just made it.
func decide(
	tx *db.Tx, actor auth.Actor, p travel.Proposal, state travel.ProposalState, reason string, result any,
) (travel.Proposal, error) {
	p.State, p.DecisionReason, p.DecidedAt = state, reason, tx.Now
	p.DecidedByID, p.DecidedBy = actor.UserID, actor.Username
	if state == travel.ProposalApproved {
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
// The program without a user has the id 0, and so is one person, too.
func samePerson(actor auth.Actor, p travel.Proposal) bool { return actor.UserID == p.ProposedByID }

// Approve carries a proposal out. The actor is another operator than the one who proposed it; in a sandbox it may be the
// same. Errors: NotPossible with the reason proposal_closed, approver_unnamed, proposer_unnamed or same_person, and the errors of
// Kind.Carry, because everything is checked again.
func (a *Approvals) Approve(ctx context.Context, actor auth.Actor, id int64, reason string) (travel.Proposal, error) {
	p, err := a.close(ctx, actor, id, "proposal.approve", func(tx *db.Tx, p travel.Proposal) (travel.Proposal, error) {
		if err := mayApprove(tx, actor, p); err != nil {
			return p, err
		}
		result, err := a.carryOut(tx, actor, p)
		if err != nil {
			return p, err
		}
		return decide(tx, actor, p, travel.ProposalApproved, reason, result)
	})
	if kind, _ := a.Kinds.of(p.Kind); err == nil && kind.After != nil {
		err = kind.After(ctx, actor)
	}
	return p, err
}

// carryOut does what an approved proposal asks for.
func (a *Approvals) carryOut(tx *db.Tx, actor auth.Actor, p travel.Proposal) (result any, err error) {
	kind, ok := a.Kinds.of(p.Kind)
	if !ok {
		return nil, fault.New(fault.Internal, "A proposal of the kind %q cannot be carried out.", p.Kind)
	}
	return kind.Carry(tx, actor, p)
}

// mayApprove refuses the person who made the proposal. It also refuses the program without a user, on either side: the same
// person at the command line could then propose and approve.
func mayApprove(tx *db.Tx, actor auth.Actor, p travel.Proposal) error {
	site, err := SiteAlone(tx, p.SiteID)
	switch {
	case err != nil:
		return err
	case site.Sandbox:
		return nil
	case actor.UserID == 0:
		return fault.NotPossibleBecause("approver_unnamed", "A person has to approve this: say who you are with --as.")
	case p.ProposedByID == 0: // of an earlier version: whoever proposed it may be the one who approves it
		return fault.NotPossibleBecause("proposer_unnamed", "Nobody knows who proposed this: reject it, and propose it again with --as.")
	case samePerson(actor, p):
		return fault.NotPossibleBecause("same_person", "You proposed this yourself: another operator has to approve it.")
	}
	return nil
}

// Reject closes a proposal without carrying it out.
func (a *Approvals) Reject(ctx context.Context, actor auth.Actor, id int64, reason string) (travel.Proposal, error) {
	return a.close(ctx, actor, id, "proposal.reject", func(tx *db.Tx, p travel.Proposal) (travel.Proposal, error) {
		return decide(tx, actor, p, travel.ProposalRejected, reason, nil)
	})
}

// Withdraw closes a proposal of the actor without carrying it out.
func (a *Approvals) Withdraw(ctx context.Context, actor auth.Actor, id int64, reason string) (travel.Proposal, error) {
	return a.close(ctx, actor, id, "proposal.withdraw", func(tx *db.Tx, p travel.Proposal) (travel.Proposal, error) {
		if !samePerson(actor, p) {
			return p, fault.NotPossibleBecause("not_the_proposer", "Only the person who proposed this can withdraw it. You can reject it instead.")
		}
		return decide(tx, actor, p, travel.ProposalWithdrawn, reason, nil)
	})
}

// close locks an open proposal, calls decide to close it, and writes both states into the audit.
func (a *Approvals) close(
	ctx context.Context, actor auth.Actor, id int64, action string,
	decide func(tx *db.Tx, p travel.Proposal) (travel.Proposal, error),
) (travel.Proposal, error) {
	if err := actor.Require(auth.DecideProposals); err != nil {
		return travel.Proposal{}, err
	}
	do := func(tx *db.Tx) (travel.Proposal, error) {
		before, err := lockProposal(tx, actor.SiteID, id)
		if err != nil {
			return before, unknownProposal(err, id)
		}
		if before.State != travel.ProposalOpen {
			return before, fault.NotPossibleBecause("proposal_closed", "Proposal %d is %s already.", id, before.State)
		}
		if before, err = a.withEffect(tx, before); err != nil {
			return before, err
		}
		after, err := decide(tx, before)
		if err != nil {
			return before, err
		}
		a.tell(tx, after)
		return after, Record(tx, actor, action, proposalObject(after), auditProposal(before), auditProposal(after))
	}
	return Once(ctx, a.Core, actor, func(tx *db.Tx) (travel.Proposal, Outcome, error) {
		closed, err := do(tx)
		return closed, Outcome{ProposalID: id}, err
	}, func(ctx context.Context, made Outcome) (travel.Proposal, error) {
		return FindProposal(ctx, a.Core, actor, made.ProposalID)
	})
}

// Get reads one proposal of the actor's site.
func (a *Approvals) Get(ctx context.Context, actor auth.Actor, id int64) (travel.Proposal, error) {
	if err := actor.Require(auth.ReadAudit); err != nil {
		return travel.Proposal{}, err
	}
	return FindProposal(ctx, a.Core, actor, id)
}

// FindProposal reads a proposal of the actor's site. The person who made one may always see it. All others need the right to
// read all proposals.
func FindProposal(ctx context.Context, c *Core, actor auth.Actor, id int64) (travel.Proposal, error) {
	p, err := Read(ctx, c, actor, func(tx *db.Tx) (travel.Proposal, error) {
		p, err := findProposal(tx, actor.SiteID, id)
		if err == nil && p.ProposedByID != actor.UserID {
			err = actor.Require(auth.ReadAudit)
		}
		if err != nil {
			return p, err
		}
		return c.withEffect(tx, p)
	})
	return p, unknownProposal(err, id)
}

// List reads one page of the proposals of the actor's site.
func (a *Approvals) List(
	ctx context.Context, actor auth.Actor, filter travel.ProposalFilter, page travel.Page,
) (travel.List[travel.Proposal], error) {
	if err := actor.Require(auth.ReadAudit); err != nil {
		return travel.List[travel.Proposal]{}, err
	}
	return ReadPage(ctx, a.Core, actor, page, func(tx *db.Tx) (travel.List[travel.Proposal], error) {
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
	return NotFoundAs(fault.SettingNotFound, err, "There is no proposal %d.", id)
}

func proposalObject(p travel.Proposal) string { return fmt.Sprintf("proposal %d", p.ID) }

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

func auditProposal(p travel.Proposal) any {
	return auditedProposal{
		ID: p.ID, Kind: string(p.Kind), Subject: p.Subject, State: string(p.State), Alone: p.Alone, Reason: p.Reason,
		ProposedBy: p.ProposedBy, DecidedBy: p.DecidedBy, Decision: p.DecisionReason,
		Payload: json.RawMessage(p.Payload), Result: json.RawMessage(p.Result),
	}
}
