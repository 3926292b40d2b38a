package approvals

import (
	"context"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/errs"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Waiting is an open proposal in the inbox of the operator's people.
type Waiting struct {
	proposal.Proposal
	Site merchant.Site // path, name and sandbox
}

// Inbox reads one page of the open proposals of all sites, the oldest first. The effect of each is the one that it had when
// somebody made it; Get computes it anew. It is for operators, and not for API tokens, which are for one site.
func (a *Approvals) Inbox(ctx context.Context, actor access.Actor, page store.Page) (list store.List[Waiting], err error) {
	if err := actor.Require(access.DecideProposals); err != nil {
		return list, err
	}
	if !actor.Everywhere() {
		return list, errs.New(errs.Forbidden, "An API token can only see the proposals of its own site.")
	}
	return sites.ReadPage(ctx, a.DB, actor, page, func(tx *store.Tx) (store.List[Waiting], error) { return inboxPage(tx, page) })
}
