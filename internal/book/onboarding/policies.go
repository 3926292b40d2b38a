package onboarding

import (
	"context"
	"errors"
	"fmt"

	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/terms"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/platform/audit"
	"holdfast/internal/platform/idempotency"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
)

// Policies are the use cases of policies: what a site has agreed with the provider of the protection, and when. A policy
// is never changed; a new one is added instead.
type Policies struct {
	*sites.DB
	Approvals *approvals.Approvals
}

// Register registers how an approved proposal of a policy is carried out.
func (p *Policies) Register() *Policies {
	p.Approvals.Register(proposal.Policy, approvals.Kind{Carry: p.carryOut, Effect: p.effect})
	return p
}

// List reads one page of the site's policies. When on is a day, the page has only the policy that is in force on that day.
func (p *Policies) List(
	ctx context.Context, actor access.Actor, on *civil.Day, page store.Page,
) (store.List[terms.Policy], error) {
	return sites.ReadPage(ctx, p.DB, actor, page, func(tx *store.Tx) (store.List[terms.Policy], error) {
		list, err := merchants.PoliciesPage(tx, actor.SiteID, on, page)
		for i := range list.Items {
			if err == nil {
				err = limits.NotCounting(tx, actor.SiteID, &list.Items[i])
			}
		}
		return list, err
	})
}

// Get reads one policy.
func (p *Policies) Get(ctx context.Context, actor access.Actor, id int64) (terms.Policy, error) {
	found, err := sites.Read(ctx, p.DB, actor, func(tx *store.Tx) (terms.Policy, error) {
		found, err := merchants.Policy(tx, actor.SiteID, id)
		if err != nil {
			return found, err
		}
		return found, limits.NotCounting(tx, actor.SiteID, &found)
	})
	return found, store.NotFoundAs(errs.SettingNotFound, err, "Policy %d not found.", id)
}

// On reads the policy that is in force on a day. nil means today.
func (p *Policies) On(ctx context.Context, actor access.Actor, day *civil.Day) (terms.Policy, error) {
	return sites.Read(ctx, p.DB, actor, func(tx *store.Tx) (terms.Policy, error) {
		on := civil.DayOf(tx.Now)
		if day != nil {
			on = *day
		}
		found, err := merchants.PolicyOn(tx, actor.SiteID, on)
		if err != nil {
			return found, err
		}
		return found, limits.NotCounting(tx, actor.SiteID, &found)
	})
}

// aboutPolicy gives the subject of a proposal of a policy. It names the limits that will no longer count, because the
// operator who approves the policy might not think of them.
func aboutPolicy(p terms.Policy) string {
	text := "policy from " + p.FromDay.String()
	if len(p.LimitsNotCounting) > 0 {
		text += fmt.Sprintf(" in %s, under which nothing counts against these limits in another currency: %s", p.Currency,
			p.NamesOfLimits())
	}
	return text
}

// Set adds a policy that is in force from a day on. Fields that are nil have the values of the policy that was in force on
// that day before. Allocations that are already recorded keep their policy. A policy needs two people: outside a sandbox,
// Set stores an open proposal, and returns it in an otherwise empty policy.
func (p *Policies) Set(ctx context.Context, actor access.Actor, in terms.PolicyFields) (terms.Policy, error) {
	if err := actor.Require(access.WritePolicies); err != nil {
		return terms.Policy{}, err
	}
	set := func(tx *store.Tx) (made terms.Policy, outcome idempotency.Outcome, err error) {
		next, err := p.next(tx, actor.SiteID, in)
		if err != nil {
			return made, outcome, err
		}
		asked, err := p.Approvals.Request(tx, actor, proposal.Proposal{
			Kind: proposal.Policy, Subject: aboutPolicy(next), Reason: in.Reason,
		}, termsOf(in), func() (any, error) {
			made, err = p.add(tx, actor, next)
			return approvals.MadeID{ID: made.ID}, err
		})
		if err == nil && asked.State == proposal.Open {
			return terms.Policy{Proposal: &asked}, idempotency.Outcome{ProposalID: asked.ID}, nil
		}
		return made, idempotency.Outcome{ID: made.ID}, err
	}
	return idempotency.Once(ctx, p.DB, actor, set, func(ctx context.Context, made idempotency.Outcome) (terms.Policy, error) {
		if made.ProposalID == 0 {
			return p.Get(ctx, actor, made.ID)
		}
		proposal, err := p.Approvals.Find(ctx, actor, made.ProposalID)
		return terms.Policy{Proposal: &proposal}, err
	})
}

// next checks the fields of a new policy, and completes it with the values of the policy before it.
func (p *Policies) next(tx *store.Tx, siteID int64, in terms.PolicyFields) (terms.Policy, error) {
	problems := in.Problems.Clone()
	from := civil.DayOf(tx.Now)
	if in.From != nil {
		from = *in.From
	}
	before, err := merchants.PolicyOn(tx, siteID, from)
	if err != nil {
		return terms.Policy{}, store.NotFoundAs(errs.SettingNotFound, err, "Site %d not found.", siteID)
	}
	next := in.After(before, &problems)
	for _, id := range next.RateCard.Channels() {
		_, err := merchants.Channel(tx, siteID, id)
		if errors.Is(err, store.ErrNotFound) {
			problems.Wrong("rate_card", "Channel %d not found.", id)
		} else if err != nil {
			return terms.Policy{}, err
		}
	}
	if err := problems.Err(); err != nil {
		return next, err
	}
	return next, limits.NotCounting(tx, siteID, &next)
}

// add stores a policy that next has checked.
func (p *Policies) add(tx *store.Tx, actor access.Actor, policy terms.Policy) (terms.Policy, error) {
	before, err := merchants.PolicyOn(tx, actor.SiteID, policy.FromDay)
	if err != nil {
		return policy, err
	}
	made, err := merchants.InsertPolicy(tx, actor.SiteID, policy)
	if err != nil {
		return made, err
	}
	limits.PolicyChanged(tx, actor.SiteID)
	if err := limits.NotCounting(tx, actor.SiteID, &made); err != nil {
		return made, err
	}
	return made, audit.Record(tx, actor, "policy.change", policyObject(made), auditPolicy(before), auditPolicy(made))
}
