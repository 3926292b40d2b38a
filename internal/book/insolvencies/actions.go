package insolvencies

import (
	"context"
	"fmt"

	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Confirm makes a reported insolvency count, from now on (K). The actor must not be the person who reported it; in a sandbox it
// may be the same, and the audit says so. It changes one row of the channel, however many payments there are. A job makes the
// snapshot afterwards. Errors: ActionNotPossible, SamePerson.
func (r *Insolvencies) Confirm(ctx context.Context, actor access.Actor, id int64, reason string) (Insolvency, error) {
	return r.act(ctx, actor, access.DecideFailures, id, "insolvency.confirm", reason, func(tx *store.Tx, i *Insolvency) error {
		if err := mustBe(*i, Reported); err != nil {
			return err
		}
		if err := secondPerson(tx, actor, *i); err != nil {
			return err
		}
		i.State, i.ConfirmedAt, i.ConfirmedBy, i.Alone = Confirmed, tx.Now, actor.Username, actor.UserID == i.ReportedByID
		return tellChannel(tx, *i)
	})
}

// secondPerson refuses the person who reported the failure. It also refuses the program without a user on either side: the same
// person at the command line could report and confirm.
func secondPerson(tx *store.Tx, actor access.Actor, i Insolvency) error {
	site, err := sites.Alone(tx, i.SiteID)
	switch {
	case err != nil || site.Sandbox:
		return err
	case actor.UserID == 0:
		return NotPossible(i, "approver_unnamed", "Only a person can confirm this. Use --as to give your user name.")
	case i.ReportedByID == 0:
		return NotPossible(i, "reporter_unnamed", "It is unknown who reported this. Withdraw it, then report it again with --as.")
	case actor.UserID == i.ReportedByID:
		return errs.New(errs.SamePerson, "You reported this yourself. Another operator must confirm it.")
	}
	return nil
}

// Check returns the reason why a step is not possible, by the data of rooms above, or nil.
type Check func(tx *store.Tx, i Insolvency) error

// Withdraw ends an insolvency that was a mistake: from now on the channel takes new protection again. What was logged meanwhile
// stays unprotected. possible checks the claims.
func (r *Insolvencies) Withdraw(ctx context.Context, actor access.Actor, id int64, reason string, possible Check) (Insolvency, error) {
	return r.act(ctx, actor, access.ReportFailures, id, "insolvency.withdraw", reason, func(tx *store.Tx, i *Insolvency) error {
		if err := mustBe(*i, Reported, Confirmed, Open); err != nil {
			return err
		}
		if err := possible(tx, *i); err != nil {
			return err
		}
		was := i.State
		i.State = Withdrawn
		if was == Reported {
			return nil
		}
		before, err := lastBefore(tx, *i)
		if err != nil {
			return err
		}
		if err := merchants.SetInsolvency(tx, i.SiteID, i.ChannelID, before); err != nil {
			return err
		}
		return beginPremium(tx, *i)
	})
}

// CloseClaims closes the claims: disputes received later are not payable.
func (r *Insolvencies) CloseClaims(ctx context.Context, actor access.Actor, id int64, reason string) (Insolvency, error) {
	return r.act(ctx, actor, access.DecideFailures, id, "insolvency.close_claims", reason, func(_ *store.Tx, i *Insolvency) error {
		err := mustBe(*i, Open)
		i.State = ClaimsClosed
		return err
	})
}

// Close ends an insolvency. The channel stays insolvent until it is reinstated. possible checks the claims and payouts.
func (r *Insolvencies) Close(ctx context.Context, actor access.Actor, id int64, reason string, possible Check) (Insolvency, error) {
	return r.act(ctx, actor, access.DecideFailures, id, "insolvency.close", reason, func(tx *store.Tx, i *Insolvency) error {
		if err := mustBe(*i, ClaimsClosed); err != nil {
			return err
		}
		i.State = Closed
		return possible(tx, *i)
	})
}

// act changes an insolvency and notes it.
func (r *Insolvencies) act(
	ctx context.Context, actor access.Actor, right access.Permission, id int64, action, reason string,
	change func(tx *store.Tx, i *Insolvency) error,
) (Insolvency, error) {
	if err := actor.Require(right); err != nil {
		return Insolvency{}, err
	}
	if err := checkReason(reason); err != nil {
		return Insolvency{}, err
	}
	changed, err := idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (Insolvency, idempotency.Outcome, error) {
		i, err := r.change(tx, actor, id, action, reason, change)
		return i, idempotency.Outcome{ID: id}, err
	}, r.again(actor))
	return changed, unknown(err, id)
}

// change is act inside a write.
func (r *Insolvencies) change(
	tx *store.Tx, actor access.Actor, id int64, action, reason string, change func(tx *store.Tx, i *Insolvency) error,
) (Insolvency, error) {
	before, err := lockInsolvency(tx, actor.SiteID, id)
	if err != nil {
		return before, err
	}
	after := before
	if err := change(tx, &after); err != nil {
		return before, err
	}
	if err := saveInsolvency(tx, &after); err != nil {
		return before, err
	}
	return after, r.note(tx, actor, action, audited(before), after, reason)
}

func checkReason(reason string) error {
	var p errs.Problems
	check.Note(&p, "reason", reason)
	return p.Err()
}

// Reinstate takes on the channel of a closed insolvency again: what is logged from then on can be protected. It needs two people:
// outside a sandbox it stores an open proposal, and returns it in an otherwise empty insolvency.
func (r *Insolvencies) Reinstate(ctx context.Context, actor access.Actor, id int64, reason string) (Insolvency, error) {
	return r.propose(ctx, actor, id, proposal.Reinstate, reason, reinstate)
}

// AllowProcessing lets the processor of an insolvent channel carry out refunds and voids. It needs two people, as Reinstate does.
func (r *Insolvencies) AllowProcessing(ctx context.Context, actor access.Actor, id int64, reason string) (Insolvency, error) {
	return r.propose(ctx, actor, id, proposal.InsolventProcessing, reason, allowProcessing)
}

// approved is an action that needs two people: what it is called, whether it is possible now, and what it changes.
type approved struct {
	action   string
	possible func(i Insolvency) error
	change   func(tx *store.Tx, i *Insolvency)
}

var reinstate = approved{"insolvency.reinstate", func(i Insolvency) error {
	if err := mustBe(i, Closed); err != nil || i.ReinstatedAt.IsZero() {
		return err
	}
	return NotPossible(i, "already_reinstated", "Channel %d has already been reinstated.", i.ChannelID)
}, func(tx *store.Tx, i *Insolvency) { i.ReinstatedAt = tx.Now }}

var allowProcessing = approved{"insolvency.allow_processing", func(i Insolvency) error {
	if err := mustBe(i, Confirmed, Open, ClaimsClosed, Closed); err != nil || !i.ProcessingAllowed && i.ReinstatedAt.IsZero() {
		return err
	}
	return NotPossible(i, "already_allowed", "Refunds of channel %d are already allowed.", i.ChannelID)
}, func(_ *store.Tx, i *Insolvency) { i.ProcessingAllowed = true }}

// apply is the change of an approved action.
func (what approved) apply(tx *store.Tx, i *Insolvency) error {
	if err := what.possible(*i); err != nil {
		return err
	}
	what.change(tx, i)
	return tellChannel(tx, *i)
}

// payload is the content of a proposal about an insolvency.
type payload struct {
	Insolvency int64 `json:"insolvency"`
}

func (r *Insolvencies) propose(
	ctx context.Context, actor access.Actor, id int64, kind proposal.Kind, reason string, what approved,
) (Insolvency, error) {
	if err := actor.Require(access.DecideFailures); err != nil {
		return Insolvency{}, err
	}
	if err := checkReason(reason); err != nil {
		return Insolvency{}, err
	}
	made, err := idempotency.Once(ctx, r.DB, actor, func(tx *store.Tx) (made Insolvency, _ idempotency.Outcome, err error) {
		i, err := ByID(tx, actor.SiteID, id)
		if err != nil {
			return made, idempotency.Outcome{}, err
		}
		if err := what.possible(i); err != nil { // so that nobody is asked to approve it
			return made, idempotency.Outcome{}, err
		}
		subject := fmt.Sprintf("channel %d", i.ChannelID)
		p, err := r.Approvals.Request(tx, actor, proposal.Proposal{Kind: kind, Subject: subject, Reason: reason}, payload{id},
			func() (any, error) {
				made, err = r.change(tx, actor, id, what.action, reason, what.apply)
				return approvals.MadeID{ID: id}, err
			})
		if err == nil && p.State == proposal.Open {
			return Insolvency{Proposal: &p}, idempotency.Outcome{ProposalID: p.ID}, nil
		}
		return made, idempotency.Outcome{ID: id}, err
	}, r.again(actor))
	return made, unknown(err, id)
}

// carry returns the function that carries out an approved proposal.
func (r *Insolvencies) carry(what approved) func(tx *store.Tx, actor access.Actor, p proposal.Proposal) (any, error) {
	return func(tx *store.Tx, actor access.Actor, p proposal.Proposal) (any, error) {
		asked, err := approvals.PayloadOf[payload](p)
		if err != nil {
			return nil, err
		}
		_, err = r.change(tx, actor, asked.Insolvency, what.action, p.Reason, what.apply)
		return approvals.MadeID{ID: asked.Insolvency}, unknown(err, asked.Insolvency)
	}
}

// tellChannel stores the insolvency in its channel, where payments look (R2).
func tellChannel(tx *store.Tx, i Insolvency) error {
	return merchants.SetInsolvency(tx, i.SiteID, i.ChannelID, i.ofChannel())
}

func (i Insolvency) ofChannel() merchant.Insolvency {
	return merchant.Insolvency{
		ID: i.ID, TriggerAt: i.TriggerAt, ConfirmedAt: i.ConfirmedAt, ReinstatedAt: i.ReinstatedAt, ProcessingAllowed: i.ProcessingAllowed,
	}
}
