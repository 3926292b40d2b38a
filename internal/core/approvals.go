package core

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Approvals is the four eyes: what one person asks for, another operator decides on (R0).
type Approvals struct{ *Core }

// Request asks for a change that needs two people, inside a write. payload is what approval will carry out, by
// carryOut, perhaps days later. In a sandbox one person is enough: now is run at once, with the same effect, and the
// proposal that comes back is approved. Elsewhere it comes back open, and nothing has changed. What now gives is kept as
// the proposal's result.
func Request(
	c *Core, tx *db.Tx, actor auth.Actor, p travel.Proposal, payload any, now func() (result any, err error),
) (travel.Proposal, error) {
	site, err := SiteAlone(tx, actor.SiteID)
	if err != nil {
		return p, NotFoundAs(fault.SettingNotFound, err, "There is no site %d.", actor.SiteID)
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return p, fmt.Errorf("payload of a proposal: %w", err)
	}
	p.SiteID, p.Payload = actor.SiteID, string(text)
	p.ProposedByID, p.ProposedBy = actor.UserID, actor.Username
	if p, err = InsertProposal(tx, p); err != nil {
		return p, err
	}
	asked := p
	if site.Sandbox {
		result, err := now()
		if err != nil {
			return p, err
		}
		if p, err = decide(tx, actor, p, travel.ProposalApproved, "", result); err != nil {
			return p, err
		}
	}
	if err := Record(tx, actor, "proposal.request", proposalObject(p), nil, auditProposal(asked)); err != nil {
		return p, err
	}
	if p.State == travel.ProposalOpen {
		return p, nil
	}
	return p, Record(tx, actor, "proposal.approve", proposalObject(p), auditProposal(asked), auditProposal(p))
}

// decide stores a decision on a proposal that is locked or new.
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
	return p, DecideProposal(tx, p)
}

// samePerson: users are told apart by their ids, and the program without a user is one person of its own.
func samePerson(actor auth.Actor, p travel.Proposal) bool { return actor.UserID == p.ProposedByID }

// Kind is something that can be proposed. Carry does what an approved proposal asks for, in the write that approves it:
// what was fine when it was proposed is judged anew, because the world has moved on. After runs when that write is
// durable; nil where there is nothing to do.
type Kind struct {
	Carry func(tx *db.Tx, actor auth.Actor, p travel.Proposal) (result any, err error)
	After func(ctx context.Context, actor auth.Actor) error
}

// Kinds are all kinds of proposals. The room whose business a kind is registers it.
type Kinds struct {
	mu    sync.Mutex
	kinds map[travel.ProposalKind]Kind
}

// Register says how proposals of a kind are carried out.
func (k *Kinds) Register(of travel.ProposalKind, kind Kind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	db.Keep(&k.kinds, of, kind)
}

func (k *Kinds) of(kind travel.ProposalKind) (Kind, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.kinds[kind]
	return found, ok
}

// carryOut does what an approved proposal asks for.
func carryOut(c *Core, tx *db.Tx, actor auth.Actor, p travel.Proposal) (result any, err error) {
	kind, ok := c.Kinds.of(p.Kind)
	if !ok {
		return nil, fault.New(fault.Internal, "A proposal of the kind %q cannot be carried out.", p.Kind)
	}
	return kind.Carry(tx, actor, p)
}

// PayloadOf reads what a proposal asks for.
func PayloadOf[T any](p travel.Proposal) (payload T, err error) {
	if err := json.Unmarshal([]byte(p.Payload), &payload); err != nil {
		return payload, fmt.Errorf("payload of proposal %d: %w", p.ID, err)
	}
	return payload, nil
}

// Approve carries a proposal out, for an operator who did not propose it. In a sandbox it may be the same one.
func (a *Approvals) Approve(ctx context.Context, actor auth.Actor, id int64, reason string) (travel.Proposal, error) {
	p, err := a.close(ctx, actor, id, "proposal.approve", func(tx *db.Tx, p travel.Proposal) (travel.Proposal, error) {
		if err := mayApprove(tx, actor, p); err != nil {
			return p, err
		}
		result, err := carryOut(a.Core, tx, actor, p)
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

// mayApprove lets through another person than the one who proposed it. The program without a user is nobody in
// particular: anyone at the command line could be behind both.
func mayApprove(tx *db.Tx, actor auth.Actor, p travel.Proposal) error {
	site, err := SiteAlone(tx, p.SiteID)
	switch {
	case err != nil:
		return err
	case site.Sandbox:
		return nil
	case actor.UserID == 0:
		return fault.NotPossibleBecause("approver_unnamed", "An approval is a person's: say who you are with --as.")
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

// Withdraw closes a proposal for who made it.
func (a *Approvals) Withdraw(ctx context.Context, actor auth.Actor, id int64, reason string) (travel.Proposal, error) {
	return a.close(ctx, actor, id, "proposal.withdraw", func(tx *db.Tx, p travel.Proposal) (travel.Proposal, error) {
		if !samePerson(actor, p) {
			return p, fault.NotPossibleBecause("not_the_proposer", "Only who proposed something can withdraw it; you can reject it.")
		}
		return decide(tx, actor, p, travel.ProposalWithdrawn, reason, nil)
	})
}

// close takes an open proposal, lets decide close it, and writes both states into the audit.
func (a *Approvals) close(
	ctx context.Context, actor auth.Actor, id int64, action string,
	decide func(tx *db.Tx, p travel.Proposal) (travel.Proposal, error),
) (travel.Proposal, error) {
	if err := actor.Require(auth.DecideProposals); err != nil {
		return travel.Proposal{}, err
	}
	return Write(ctx, a.Core, actor, func(tx *db.Tx) (travel.Proposal, error) {
		before, err := LockProposal(tx, actor.SiteID, id)
		if err != nil {
			return before, unknownProposal(err, id)
		}
		if before.State != travel.ProposalOpen {
			return before, fault.NotPossibleBecause("proposal_closed", "Proposal %d is %s already.", id, before.State)
		}
		after, err := decide(tx, before)
		if err != nil {
			return before, err
		}
		return after, Record(tx, actor, action, proposalObject(after), auditProposal(before), auditProposal(after))
	})
}

// Get reads one proposal of the actor's site.
func (a *Approvals) Get(ctx context.Context, actor auth.Actor, id int64) (travel.Proposal, error) {
	if err := actor.Require(auth.ReadAudit); err != nil {
		return travel.Proposal{}, err
	}
	return FindProposal(ctx, a.Core, actor, id)
}

// FindProposal reads a proposal for whoever made it, or may see it.
func FindProposal(ctx context.Context, c *Core, actor auth.Actor, id int64) (travel.Proposal, error) {
	p, err := Read(ctx, c, actor, func(tx *db.Tx) (travel.Proposal, error) { return Proposal(tx, actor.SiteID, id) })
	return p, unknownProposal(err, id)
}

// List reads one page of the proposals of the actor's site.
func (a *Approvals) List(
	ctx context.Context, actor auth.Actor, filter travel.ProposalFilter, page travel.Page,
) (travel.List[travel.Proposal], error) {
	if err := actor.Require(auth.ReadAudit); err != nil {
		return travel.List[travel.Proposal]{}, err
	}
	return Read(ctx, a.Core, actor, func(tx *db.Tx) (travel.List[travel.Proposal], error) {
		return Proposals(tx, actor.SiteID, filter, page)
	})
}

func unknownProposal(err error, id int64) error {
	return NotFoundAs(fault.SettingNotFound, err, "There is no proposal %d.", id)
}

func proposalObject(p travel.Proposal) string { return fmt.Sprintf("proposal %d", p.ID) }

// auditedProposal is a proposal in the audit.
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

// MadeID is what carrying out a change of terms gives.
type MadeID struct {
	ID int64 `json:"id"`
}
