package core

import (
	"context"

	"holdfast/internal/auth"
	"holdfast/internal/db"
	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// Waiting is an open proposal in the inbox of the operator's people.
type Waiting struct {
	travel.Proposal
	Site travel.Site // path, name and sandbox
}

// Inbox reads one page of the open proposals of all sites, the oldest first. The effect of each is the one that it had when
// somebody made it; Get computes it anew. It is for operators, and not for API tokens, which are for one site.
func (a *Approvals) Inbox(ctx context.Context, actor auth.Actor, page travel.Page) (list travel.List[Waiting], err error) {
	if err := actor.Require(auth.DecideProposals); err != nil {
		return list, err
	}
	if !actor.Everywhere() {
		return list, fault.New(fault.Forbidden, "An API token sees the proposals of its own site only.")
	}
	return ReadPage(ctx, a.Core, actor, page, func(tx *db.Tx) (travel.List[Waiting], error) { return inboxPage(tx, page) })
}
