package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"holdfast/internal/account/people"
	"holdfast/internal/account/sessions"
	"holdfast/internal/api/view"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/store"
)

// proposalCmd groups the proposal commands.
type proposalCmd struct {
	List proposalListCmd `cmd:"" help:"List changes that need a second operator's approval."`
	Show proposalShowCmd `cmd:"" help:"Show a proposed change and its effect."`
}

// proposalListCmd lists proposals.
type proposalListCmd struct {
	listFlags
	All bool `help:"Include decided proposals."`
}

// Run prints them, oldest first.
func (c proposalListCmd) Run(ctx context.Context, p *program) error {
	filter := approvals.Filter{States: []proposal.State{proposal.Open}}
	none := "No changes need approval."
	if c.All {
		filter.States, none = nil, "No proposals."
	}
	return printList(ctx, p, c.listFlags, listing[proposal.Proposal]{
		read: func(actor access.Actor, page store.Page) (store.List[proposal.Proposal], error) {
			return p.app.Approvals.List(ctx, actor, filter, page)
		},
		shape:   func(p proposal.Proposal) any { return view.ShowProposal(p) },
		columns: columnsOf("id kind subject effect proposed_by at state decided_by reason"),
		row: func(q proposal.Proposal) []cell {
			return []cell{
				ident(q.ID), words(string(q.Kind)), words(q.Subject), words(effectLine(q)), words(q.ProposedBy),
				instant(q.ProposedAt), words(string(q.State)), words(q.DecidedBy), words(q.Reason),
			}
		},
		none: none,
	})
}

// decisionFlags are the flags shared by all decisions.
type decisionFlags struct {
	siteFlag
	ID     int64  `arg:"" help:"Proposal id."`
	Reason string `help:"Reason."`
}

// decide applies a decision to the proposal and prints its new state.
func (c decisionFlags) decide(
	ctx context.Context, p *program,
	decide func(a *approvals.Approvals, ctx context.Context, actor access.Actor, id int64, reason string) (proposal.Proposal, error),
) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	q, err := decide(p.app.Approvals, ctx, actor, c.ID, c.Reason)
	if err != nil {
		return err
	}
	p.printf("Proposal %d (%s, %s): %s\n", q.ID, q.Kind, q.Subject, q.State)
	return nil
}

// approveCmd approves a proposal.
type approveCmd struct{ decisionFlags }

// Run approves the proposal, which applies the change.
func (c approveCmd) Run(ctx context.Context, p *program) error {
	return c.decide(ctx, p, (*approvals.Approvals).Approve)
}

// rejectCmd rejects a proposal.
type rejectCmd struct{ decisionFlags }

// Run closes the proposal without changing anything.
func (c rejectCmd) Run(ctx context.Context, p *program) error {
	return c.decide(ctx, p, (*approvals.Approvals).Reject)
}

// withdrawCmd withdraws a proposal.
type withdrawCmd struct{ decisionFlags }

// Run closes the proposal without changing anything.
func (c withdrawCmd) Run(ctx context.Context, p *program) error {
	return c.decide(ctx, p, (*approvals.Approvals).Withdraw)
}

// waits reports that a change has become a proposal, and how to approve it. It returns the error with the matching exit
// code.
func (p *program) waits(q proposal.Proposal) error {
	p.printf("Nothing has changed yet: a second operator must approve proposal %d (%s, %s).\n", q.ID, q.Kind, q.Subject)
	p.tellEffect(q)
	p.printf("\n")
	p.printf("An operator other than %s can approve it with:\n\n  holdfast approve %d --site %s --as USERNAME\n", q.ProposedBy, q.ID, p.site.Path)
	return errNothingYet
}

// asPerson signs in the operator given with --as, before the command reads anything else from standard input. Without a password, one
// person could act as two and approve their own proposals.
func (p *program) asPerson(ctx context.Context, onSite access.Actor) (access.Actor, error) {
	password, err := p.readSecret("Password for " + p.as + ": ")
	if errors.Is(err, errNoLine) {
		err = fmt.Errorf("%w. The first line must be the password of %s (--as)", err, p.as)
	}
	if err != nil {
		return access.Actor{}, err
	}
	login := sessions.Login{Username: p.as, Password: password}
	session, err := p.app.Sessions.Login(ctx, login)
	if errs.Is(err, errs.TwoFactorRequired) {
		login.Code, err = p.readLine("Two-factor code: ", "the two-factor code")
		if errors.Is(err, errNoLine) || err == nil && strings.TrimSpace(login.Code) == "" {
			err = fmt.Errorf("%s (--as) needs a two-factor code. Without a terminal, pass it as a line of standard input "+
				"after the password", p.as)
		}
		if err != nil {
			return access.Actor{}, err
		}
		session, err = p.app.Sessions.Login(ctx, login)
	}
	if err != nil {
		return access.Actor{}, err
	}
	if !session.User.Operator {
		return access.Actor{}, errs.WrongField("as", "%s is not an operator. Only operators can use the command line.", session.User.Username)
	}
	actor, _ := session.User.ActorAt(people.Membership{SiteID: onSite.SiteID}) // operators have access to all sites
	actor.Ahead = onSite.Ahead
	return actor, nil
}
